/**
 * A Go struct as a plain object: which JSON key belongs to which property, in the order in which Go writes them.
 *
 *     interface Placement { readonly cluster: string; readonly tags: readonly string[] | null }
 *
 *     const placement = new GoStruct<Placement>('server.Placement', [
 *       field('cluster', 'cluster', goString, 'omitempty'),
 *       field('tags', 'tags', goList(goString), 'omitempty'),
 *     ]);
 *
 * A struct embedded in another is a property of its own here, though its fields stand among the outer ones in JSON.
 */

import type { GoJsonReader } from './go-json-reader.ts';
import type { GoType } from './go-json-schema.ts';

/** One key of the JSON. `T` is the object that the value ends up in, directly or in an embedded one. */
export interface StructField<T> {
  readonly json: string;
  /** The names of the embedded structs on the way to it, and its own: what Go's messages show. */
  readonly path: readonly string[];
  clear(object: T): void;
  read(reader: GoJsonReader, object: T): void;
  write(object: T, json: Record<string, unknown>): void;
  isEmpty(object: T): boolean;
}

export function field<T, K extends keyof T>(
  json: string,
  key: K,
  type: GoType<T[K]>,
  omit: 'omitempty' | 'kept' = 'kept',
): StructField<T> {
  return {
    json,
    path: [json],
    clear(object) {
      object[key] = type.zero();
    },
    read(reader, object) {
      object[key] = type.read(reader, object[key]);
    },
    write(object, into) {
      const value = object[key];
      if (omit === 'kept' || !type.isEmpty(value)) into[json] = type.toJson(value);
    },
    isEmpty: (object) => type.isEmpty(object[key]),
  };
}

/** The fields of a struct that another embeds; they go into its property `key`. */
export function embedded<T, K extends keyof T>(key: K, struct: GoStruct<T[K] & object>): readonly StructField<T>[] {
  const inner = (object: T): T[K] & object => (object[key] ??= {} as T[K]) as T[K] & object;
  return struct.fields.map((each) => ({
    json: each.json,
    path: [struct.shortName, ...each.path],
    clear: (object) => each.clear(inner(object)),
    read: (reader, object) => each.read(reader, inner(object)),
    write: (object, into) => each.write(inner(object), into),
    isEmpty: (object) => each.isEmpty(inner(object)),
  }));
}

export class GoStruct<T extends object> implements GoType<T> {
  /** With its package: `server.Placement`. */
  readonly name: string;
  /** Without. */
  readonly shortName: string;
  readonly fields: readonly StructField<T>[];
  private readonly byKey = new Map<string, StructField<T>>();

  constructor(name: string, fields: readonly StructField<T>[]) {
    this.name = name;
    this.shortName = name.slice(name.indexOf('.') + 1);
    this.fields = fields;
    for (const each of fields) this.byKey.set(each.json, each);
  }

  zero(): T {
    const object = {} as T;
    for (const each of this.fields) each.clear(object);
    return object;
  }

  /** Reads into `current` itself, which therefore must be nobody else's. */
  read(reader: GoJsonReader, current: T): T {
    const kind = reader.kind();
    if (kind === 'null') reader.raw();
    else if (kind !== 'object') reader.mismatch(this.name);
    else reader.members((key) => this.readField(reader, key, current));
    return current;
  }

  private readField(reader: GoJsonReader, key: string, object: T): void {
    const found = this.byKey.get(key) ?? this.byKey.get(fold(key));
    if (found === undefined) reader.unknownField(key);
    else reader.within(this.shortName, found.path, () => found.read(reader, object));
  }

  toJson(value: T): Record<string, unknown> {
    const json: Record<string, unknown> = {};
    for (const each of this.fields) each.write(value, json);
    return json;
  }

  /** Whether all its fields are. Go never leaves a struct out, so that `omitempty` is for pointers to one. */
  isEmpty(value: T): boolean {
    return this.fields.every((each) => each.isEmpty(value));
  }
}

/** A key as its field spells it. Beside the ASCII letters, long s and the Kelvin sign are a case of s and k. */
function fold(key: string): string {
  return key
    .replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase())
    .replaceAll('\u00c5\u00bf', 's')
    .replaceAll('\u00e2\u0084\u00aa', 'k');
}
