/**
 * What a config file says, before anybody knows what it means: a tree of values that each know where they stand.
 *
 * A value in a map stands where its key begins, one in an array where it begins itself; a map or array in an array
 * where it ends. That is where nats-server's messages point. Nodes are shared, not copied, when a variable repeats a
 * value.
 */

export interface Place {
  /** The path as it was opened; '' for text that came from no file. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** A moment as it was written, `YYYY-MM-DDTHH:MM:SSZ`, already checked. */
export interface Datetime {
  readonly datetime: string;
}

export type ConfigMap = Map<string, ConfigNode>;

/** Integers are signed 64-bit, so bigint; a number is a float. */
export type ConfigValue = string | bigint | number | boolean | Datetime | ConfigNode[] | ConfigMap;

export interface ConfigNode {
  readonly value: ConfigValue;
  place: Place;
  /** Somebody refers to it as a variable, so its name need not be a known key. */
  usedAsVariable: boolean;
  /** How many values it holds, itself included and repetitions counted. */
  readonly valueCount: number;
  /** How many values lie within each other, itself included. */
  readonly depth: number;
}

/** A peer's mistake in the configuration or on the command line; the message is what the operator sees. */
export class ConfigError extends Error {
  readonly code = 'ERR_CONFIG';

  constructor(message: string, options?: ErrorOptions) {
    super(message.toWellFormed(), options);
  }
}

export function isMap(value: ConfigValue): value is ConfigMap {
  return value instanceof Map;
}

export function isDatetime(value: ConfigValue): value is Datetime {
  return typeof value === 'object' && 'datetime' in value;
}

/** `file:line:column` as messages begin with it. */
export function placeText(place: Place): string {
  return `${place.file}:${place.line}:${place.column}`;
}

/** The name of the value's type in Go, which nats-server's messages use. */
export function goType(value: ConfigValue): string {
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'bigint':
      return 'int64';
    case 'number':
      return 'float64';
    case 'boolean':
      return 'bool';
    default:
      if (Array.isArray(value)) return '[]interface {}';
      return isMap(value) ? 'map[string]interface {}' : 'time.Time';
  }
}
