/**
 * The types that JSON is read into and written from, each behaving like the Go type that it is named after:
 *
 *     null            leaves what is there, but for lists, maps and pointers, which become `null`
 *     keys            in any case; a field that comes twice is read twice, the second time over the first
 *     wrong type      an error of the reader, which goes on
 *     own readers     (enumerations, times) end the reading with an error of their own
 *
 * A type reads the value at the reader's place, over what the field holds until now, and turns a value into what
 * `JSON.stringify` makes Go's text of. Structs are plain objects; their fields are written in the order given, those
 * marked `omitempty` only when they are not empty.
 *
 * Integers are `number`s. Go's have 64 bits: the largest value of a type, by which clients say "no limit", is Infinity
 * here, the smallest -Infinity, and both are written as they came; others beyond 2^53 are refused as out of range.
 * Durations are exact over the whole range.
 */

import { nanoseconds, type Nanoseconds } from './nanoseconds.ts';
import { quotedBytes, type GoJsonReader } from './go-json-reader.ts';
import { parseTime, formatTime, type Timestamp } from './rfc3339.ts';

export interface GoType<T> {
  /** As Go's messages have it: `int64`, `[]string`. */
  readonly name: string;
  /** What a field holds that no JSON has mentioned. */
  zero(): T;
  read(reader: GoJsonReader, current: T): T;
  toJson(value: T): unknown;
  /** Whether it says nothing, and `omitempty` leaves it out. */
  isEmpty(value: T): boolean;
}

export const goString: GoType<string> = {
  name: 'string',
  zero: () => '',
  read: (reader, current) => readKind(reader, 'string', 'string', current, () => reader.string()),
  toJson: (value) => value,
  isEmpty: (value) => value === '',
};

export const goBool: GoType<boolean> = {
  name: 'bool',
  zero: () => false,
  read: (reader, current) => readKind(reader, 'bool', 'bool', current, () => reader.raw() === 'true'),
  toJson: (value) => value,
  isEmpty: (value) => !value,
};

export const goInt: GoType<number> = integer('int', -(2n ** 63n), 2n ** 63n - 1n);
export const goInt32: GoType<number> = integer('int32', -(2n ** 31n), 2n ** 31n - 1n);
export const goInt64: GoType<number> = integer('int64', -(2n ** 63n), 2n ** 63n - 1n);
export const goUint64: GoType<number> = integer('uint64', 0n, 2n ** 64n - 1n);

/** A time.Duration: nanoseconds. */
export const goDuration: GoType<Nanoseconds> = {
  name: 'time.Duration',
  zero: () => 0,
  read: (reader, current) =>
    readKind(reader, 'number', 'time.Duration', current, () => {
      const literal = reader.raw();
      const value = int64Of(literal);
      if (value !== null) return nanoseconds(value);
      reader.outOfRange('time.Duration', `number ${literal}`);
      return current;
    }),
  toJson: (value) => value,
  isEmpty: (value) => value === 0,
};

/** A *time.Time. */
export const goTime: GoType<Timestamp | null> = {
  name: '*time.Time',
  zero: () => null,
  read(reader) {
    const kind = reader.kind();
    const literal = reader.raw();
    if (kind === 'null') return null;
    const time = kind === 'string' ? parseTime(literal.slice(1, -1)) : 'Time.UnmarshalJSON: input is not a JSON string';
    if (typeof time !== 'string') return time;
    reader.abort(time);
    return null;
  },
  toJson: (value) => value && formatTime(value),
  isEmpty: (value) => value === null,
};

/** A map from strings; written in the order of its keys. */
export function goMap<T>(element: GoType<T>): GoType<ReadonlyMap<string, T> | null> {
  const name = `map[string]${element.name}`;
  return {
    name,
    zero: () => null,
    read(reader, current) {
      const members = (): ReadonlyMap<string, T> => {
        const map = new Map(current);
        reader.members((key) => map.set(key, element.read(reader, element.zero())));
        return map;
      };
      return readKind(reader, 'object', name, current, members, null);
    },
    toJson: (value) =>
      value && Object.fromEntries(inOrderOfKeys(value).map(([key, each]) => [key, element.toJson(each)])),
    isEmpty: (value) => value === null || value.size === 0,
  };
}

export const goStringMap: GoType<ReadonlyMap<string, string> | null> = goMap(goString);

function inOrderOfKeys<T>(map: ReadonlyMap<string, T>): [string, T][] {
  return [...map].toSorted(([a], [b]) => (a < b ? -1 : 1));
}

/** A slice; `null` and `[]` are two values, and Go's comparisons tell them apart. */
export function goList<T>(element: GoType<T>): GoType<readonly T[] | null> {
  const name = `[]${element.name}`;
  return {
    name,
    zero: () => null,
    read(reader, current) {
      const elements = (): readonly T[] => {
        const list: T[] = [];
        reader.elements((index) => list.push(element.read(reader, current?.[index] ?? element.zero())));
        return list;
      };
      return readKind(reader, 'array', name, current, elements, null);
    },
    toJson: (value) => value && value.map((item) => element.toJson(item)),
    isEmpty: (value) => value === null || value.length === 0,
  };
}

export function goPointer<T>(type: GoType<T>): GoType<T | null> {
  return {
    name: `*${type.name}`,
    zero: () => null,
    read(reader, current) {
      if (reader.kind() !== 'null') return type.read(reader, current ?? type.zero());
      reader.raw();
      return null;
    },
    toJson: (value) => (value === null ? null : type.toJson(value)),
    isEmpty: (value) => value === null,
  };
}

/** Integers in a Go type that spells them as words and reads them itself. */
export interface Enumeration<T extends string> {
  readonly name: string;
  /** The words; the first is the zero value. */
  readonly values: readonly T[];
  /** Further JSON texts that are read, quotes included. */
  readonly aliases?: ReadonlyMap<string, T>;
  readonly isCaseIgnored?: boolean;
  /** The error for a JSON text that is none of them, where it is not the usual one. */
  readonly error?: (json: string) => string;
}

export function goEnumeration<T extends string>(enumeration: Enumeration<T>): GoType<T> {
  const { name, values, aliases, isCaseIgnored, error = cannotUnmarshal } = enumeration;
  const [zero] = values as [T];
  const byText = new Map([...values.map((value): [string, T] => [`"${value}"`, value]), ...(aliases ?? [])]);
  return {
    name,
    zero: () => zero,
    read(reader, current) {
      const json = reader.raw();
      const value = byText.get(isCaseIgnored === true ? json.toLowerCase() : json);
      if (value === undefined) reader.abort(error(json));
      return value ?? current;
    },
    toJson: (value) => value,
    isEmpty: (value) => value === zero,
  };
}

function cannotUnmarshal(json: string): string {
  return `can not unmarshal ${quotedBytes(json)}`;
}

/** Reads a value of one kind; of `null` comes `ifNull`, of any other kind an error. */
function readKind<T>(
  reader: GoJsonReader,
  kind: string,
  type: string,
  current: T,
  read: () => T,
  ifNull: T = current,
): T {
  const found = reader.kind();
  if (found === kind) return read();
  if (found === 'null') reader.raw();
  else reader.mismatch(type);
  return found === 'null' ? ifNull : current;
}

function integer(name: string, min: bigint, max: bigint): GoType<number> {
  const read = (literal: string): number | null => {
    const value = /^-?\d{1,20}$/.test(literal) ? BigInt(literal) : null;
    if (value === null || (min === 0n && literal.startsWith('-'))) return null;
    const isWide = max > BigInt(Number.MAX_SAFE_INTEGER);
    if (isWide && value === max) return Infinity;
    if (isWide && value === min && min < 0n) return -Infinity;
    const number = Number(value);
    return value >= min && value <= max && Number.isSafeInteger(number) ? number : null;
  };
  return {
    name,
    zero: () => 0,
    read: (reader, current) =>
      readKind(reader, 'number', name, current, () => {
        const literal = reader.raw();
        const value = read(literal);
        if (value === null) reader.outOfRange(name, `number ${literal}`);
        return value ?? current;
      }),
    toJson(value) {
      if (Number.isFinite(value)) return value;
      return value > 0 ? max : min;
    },
    isEmpty: (value) => value === 0,
  };
}

function int64Of(literal: string): bigint | null {
  if (!/^-?\d{1,20}$/.test(literal)) return null;
  const value = BigInt(literal);
  return value === BigInt.asIntN(64, value) ? value : null;
}
