/**
 * The keys of a config block, as rows of a table. A row says everything there is to know about its key: the names it
 * goes by, what it takes, what it defaults to, whether nats-server applies a change of it without a restart, a line for
 * people, and how its value gets into the draft. A key that petiole does not have yet has, in place of the last, the
 * values that are harmless to write down because they are the default.
 *
 *     block ──► for each entry of the map: find the row by name or alias, in any case
 *                 ├─ none           unknown field, unless the entry only serves as a variable
 *                 ├─ read           reads the value into the draft
 *                 └─ accepts        not supported by petiole yet, unless the value is one of these
 */

import { formatDuration } from './duration.ts';
import type { ServerOptions } from './options.ts';
import type { Reading } from './reading.ts';
import { goQuote } from '../protocol/go-quote.ts';
import { isMap } from './tree.ts';
import type { ConfigMap, ConfigNode, ConfigValue } from './tree.ts';

/** A value that can be compared: all but maps, arrays and moments. */
type Scalar = Extract<ConfigValue, string | bigint | number | boolean>;

/** How a change of the option is seen when the configuration is loaded again. */
export interface Compared {
  /** The name of the field that nats-server's messages use. */
  readonly field: string;
  /** What is compared, and shown when a change is refused. */
  readonly value: (options: ServerOptions) => unknown;
}

/** What a row says for people and for `reload.ts`. */
export interface KeyFacts {
  readonly name: string;
  readonly aliases: readonly string[];
  /** In a word, what is to be written: `integer`, `size`, `duration`, `host:port` … */
  readonly type: string;
  /** As it would be written; '' if there is none. */
  readonly default: string;
  readonly doc: string;
  /** Whether nats-server applies a change while it runs. */
  readonly isLive: boolean;
  /** Empty where another row or a whole section is compared instead. */
  readonly compared: readonly Compared[];
}

/** Reads the value of the key written as `name` into the draft. */
export type Read<D> = (draft: D, node: ConfigNode, reading: Reading, name: string) => void;

export interface SupportedKey<D> extends KeyFacts {
  readonly read: Read<D>;
}

export interface AbsentKey extends KeyFacts {
  readonly accepts: readonly Scalar[];
  /** Whether an empty map or array is accepted, and a map in which every key is. */
  readonly acceptsEmpty: boolean;
  /** The keys of its map, if they are fixed. */
  readonly keys: readonly AbsentKey[] | null;
}

export type Key<D> = SupportedKey<D> | AbsentKey;

/** Reads the entries of a map. `unknownField` words the complaint about a key that is not in the table. */
export function readEntries<D>(
  keys: readonly Key<D>[],
  map: ConfigMap,
  draft: D,
  reading: Reading,
  unknownField: (name: string) => string = (name) => `unknown field ${goQuote(name)}`,
): void {
  for (const [name, node] of map) {
    const key = findKey(keys, name);
    if (key === undefined) {
      if (!node.usedAsVariable) reading.error(node.place, unknownField(name));
    } else if ('read' in key) {
      key.read(draft, node, reading, name);
    } else if (!isAccepted(key, node, reading)) {
      reading.notSupported(node.place, name);
    }
  }
}

function findKey<K extends KeyFacts>(keys: readonly K[], name: string): K | undefined {
  const lower = name.toLowerCase();
  return keys.find((key) => key.name === lower || key.aliases.includes(lower));
}

/** Whether what is written for an absent key changes nothing. Unknown fields within it are reported. */
function isAccepted(key: AbsentKey, node: ConfigNode, reading: Reading): boolean {
  const { value } = node;
  if (Array.isArray(value)) return key.acceptsEmpty && value.length === 0;
  if (typeof value !== 'object') return key.accepts.includes(value);
  if (!isMap(value)) return false;
  if (key.keys === null) return key.acceptsEmpty && value.size === 0;
  let accepted = key.acceptsEmpty;
  for (const [name, child] of value) {
    const inner = findKey(key.keys, name);
    if (inner !== undefined) accepted = isAccepted(inner, child, reading) && accepted;
    else if (!child.usedAsVariable) reading.error(child.place, `unknown field ${goQuote(name)}`);
  }
  return accepted;
}

/**
 * What the makers of rows are told of every kind of key. `live` and `restart` name the field in nats-server's messages
 * and say whether it applies a change while it runs.
 */
export type Facts = {
  readonly aliases?: readonly string[];
  readonly default?: string;
  readonly doc: string;
} & ({ readonly live: string } | { readonly restart: string });

type OptionOf<S, T> = { [K in keyof S]-?: S[K] extends T ? (T extends S[K] ? K : never) : never }[keyof S] & string;

/**
 * Makes rows for the options of one section of a draft. `section` finds the same section in finished options, to
 * compare them; null if the section is one of many (a user, a remote) and compared as a whole.
 */
export class Keys<D extends object> {
  readonly #section: ((options: ServerOptions) => object) | null;

  constructor(section: ((options: ServerOptions) => object) | null) {
    this.#section = section;
  }

  string(name: string, option: OptionOf<D, string>, facts: Facts): SupportedKey<D> {
    return this.custom(name, 'string', this.#compared(option, facts), (draft, node, reading) => {
      const value = reading.string(node);
      if (value !== null) assign(draft, option, value);
    });
  }

  boolean(name: string, option: OptionOf<D, boolean>, facts: Facts): SupportedKey<D> {
    return this.custom(name, 'boolean', this.#compared(option, facts), (draft, node, reading) => {
      const value = reading.boolean(node);
      if (value !== null) assign(draft, option, value);
    });
  }

  /** A key that says the opposite of its option. */
  negation(name: string, option: OptionOf<D, boolean>, facts: Facts): SupportedKey<D> {
    const value = (options: ServerOptions): boolean => this.#value(options, option) !== true;
    return this.custom(name, 'boolean', { ...facts, value }, (draft, node, reading) => {
      const value = reading.boolean(node);
      if (value !== null) assign(draft, option, !value);
    });
  }

  integer(name: string, option: OptionOf<D, number>, facts: Facts & { readonly type?: string }): SupportedKey<D> {
    return this.custom(name, facts.type ?? 'integer', this.#compared(option, facts), (draft, node, reading) => {
      const value = reading.integer(node);
      if (value !== null) assign(draft, option, value);
    });
  }

  duration(name: string, option: OptionOf<D, number>, facts: Facts): SupportedKey<D> {
    const value = (options: ServerOptions): string => formatDuration(Number(this.#value(options, option)));
    return this.custom(name, 'duration', { ...facts, value }, (draft, node, reading) => {
      const ms = reading.duration(node, name);
      if (ms !== null) assign(draft, option, ms);
    });
  }

  custom(name: string, type: string, facts: ComparedFacts, read: Read<D>): SupportedKey<D> {
    return { ...commonFacts(name, type, facts), compared: comparedOf(facts, this.#section !== null), read };
  }

  #compared(option: string, facts: Facts): ComparedFacts {
    return { ...facts, value: (options) => this.#value(options, option) };
  }

  #value(options: ServerOptions, option: string): unknown {
    const section: object = this.#section?.(options) ?? {};
    return (section as Readonly<Record<string, unknown>>)[option];
  }
}

type ComparedFacts = Facts & {
  readonly value?: (options: ServerOptions) => unknown;
  /** Further fields that the key sets. */
  readonly also?: readonly Compared[];
};

/** What is told of a key that petiole does not have yet. */
export type AbsentFacts = Facts & {
  readonly accepts?: readonly Scalar[];
  readonly acceptsEmpty?: boolean;
  readonly keys?: readonly AbsentKey[];
};

/** A row for a key that petiole does not have yet. */
export function absent(name: string, type: string, facts: AbsentFacts): AbsentKey {
  return {
    ...commonFacts(name, type, facts),
    compared: [],
    accepts: facts.accepts ?? [],
    acceptsEmpty: facts.acceptsEmpty ?? false,
    keys: facts.keys ?? null,
  };
}

/**
 * Rows for keys that petiole does not have yet, in short: `name|alias|alias` with type, doc and the values that are
 * accepted, the default first. `change` says what a change of any of them means.
 */
export function absentRows(
  change: { readonly live: string } | { readonly restart: string },
  lines: Readonly<Record<string, readonly [type: string, doc: string, ...accepts: Scalar[]]>>,
): AbsentKey[] {
  return Object.entries(lines).map(([names, [type, doc, ...accepts]]) => {
    const [name = '', ...aliases] = names.split('|');
    return absent(name, type, { ...change, aliases, accepts, doc, default: String(accepts[0] ?? '') });
  });
}

function commonFacts(name: string, type: string, facts: Facts): Omit<KeyFacts, 'compared'> {
  const { aliases = [], default: byDefault = '', doc } = facts;
  return { name, aliases, type, default: byDefault, doc, isLive: 'live' in facts };
}

function comparedOf(facts: ComparedFacts, isCompared: boolean): readonly Compared[] {
  if (!isCompared || facts.value === undefined) return [];
  return [{ field: 'live' in facts ? facts.live : facts.restart, value: facts.value }, ...(facts.also ?? [])];
}

/** `OptionOf` has checked that the option takes such a value, which indexing by it loses. */
function assign(draft: object, option: string, value: unknown): void {
  (draft as Record<string, unknown>)[option] = value;
}
