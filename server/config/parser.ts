/**
 * The second half of the config grammar: tokens to a tree, with includes and variables resolved.
 *
 * The parser keeps the chain of open maps and arrays, and a stack of keys that still wait for a value. A key without a
 * value (`{ a: }`) stays on that stack and is given to the next map that closes, as in nats-server; the digest and the
 * positions depend on it.
 *
 * Variables: `$NAME` is looked up in the open maps from the inside out, then in the environment. A value from the
 * environment is parsed as a config value (so `8080` is an integer and `$OTHER` refers on); an environment variable that
 * leads back to itself is refused. Text that begins like a bcrypt hash (`$2a$`) is itself.
 *
 * Includes: the keys of the file are put where the `include` stands. The path is relative to the including file, also
 * when it begins with `/`. An included file sees none of the variables of the including one.
 *
 * Bounds, each with an error that names it: VALUES_MAX values counting what variables repeat (a few lines can spell an
 * exponential tree), INCLUDES_MAX includes, no file that includes itself. Nesting is bounded by the lexer, and here again
 * because variables can add to it.
 *
 * Differs from nats-server where that would drop a value without a word: an integer with a suffix it does not know
 * (`5kbb`) is an error here.
 */

import { dirname, join } from 'node:path';
import type { Token } from './cursor.ts';
import { fileErrorText } from './file-error.ts';
import { Lexer, NESTING_MAX } from './lexer.ts';
import { ConfigError } from './tree.ts';
import type { ConfigSources } from './sources.ts';
import type { ConfigMap, ConfigNode, ConfigValue, Datetime, Place } from './tree.ts';

export const VALUES_MAX = 1_000_000;
export const INCLUDES_MAX = 1_000;

/** What one parse and all its includes share. */
interface Budget {
  readonly sources: ConfigSources;
  /** Names of environment variables being resolved now. */
  readonly environmentNames: Set<string>;
  includesLeft: number;
  valuesLeft: number;
}

/** The tree of the file at `path`. Throws a ConfigError whose message is nats-server's. */
export function parseConfigFile(path: string, sources: ConfigSources): ConfigMap {
  const budget = { sources, environmentNames: new Set<string>(), includesLeft: INCLUDES_MAX, valuesLeft: VALUES_MAX };
  return parseFile(path, budget, []);
}

function parseFile(path: string, budget: Budget, includedFrom: readonly string[]): ConfigMap {
  const bytes = budget.sources.readFile(path);
  if (!ArrayBuffer.isView(bytes)) throw new ConfigError(fileErrorText(path, bytes), { cause: bytes });
  return new Parser(bytes, path, budget, [...includedFrom, path]).parse();
}

class Parser {
  readonly #lexer: Lexer;
  readonly #file: string;
  readonly #budget: Budget;
  /** The files this one is included from, itself last. */
  readonly #files: readonly string[];
  readonly #root: ConfigMap = new Map();
  readonly #open: (ConfigMap | ConfigNode[])[] = [this.#root];
  readonly #keys: Token[] = [];
  /** If set, every node is said to stand here: the parser reads the value of an environment variable. */
  readonly #fixedPlace: Place | null;

  constructor(bytes: Uint8Array, file: string, budget: Budget, files: readonly string[], fixedPlace?: Place) {
    this.#lexer = new Lexer(bytes);
    this.#file = file;
    this.#budget = budget;
    this.#files = files;
    this.#fixedPlace = fixedPlace ?? null;
  }

  parse(): ConfigMap {
    let before: Token | null = null;
    for (;;) {
      const token = this.#lexer.next();
      if (token.kind === 'end') {
        // A closing brace may end the file like a key: the outer brace of JSON.
        if (before?.kind === 'key' && before.text !== '}') {
          throw new ConfigError(`config is invalid (${this.#file}:${token.line}:${token.column})`);
        }
        return this.#root;
      }
      before = token;
      this.#process(token);
    }
  }

  #process(token: Token): void {
    switch (token.kind) {
      case 'error':
        throw new ConfigError(`Parse error on line ${token.line}: '${token.text}'`);
      case 'key':
        this.#keys.push(token);
        return;
      case 'map-start':
        this.#open.push(new Map());
        return;
      case 'array-start':
        this.#open.push([]);
        return;
      case 'map-end':
      case 'array-end':
        this.#put(this.#node(token, this.#open.pop()!));
        return;
      case 'string':
        this.#put(this.#node(token, token.text));
        return;
      case 'boolean':
        this.#put(this.#node(token, /^(?:true|yes|on)$/i.test(token.text)));
        return;
      case 'integer':
        this.#put(this.#node(token, integerValue(token)));
        return;
      case 'float':
        this.#put(this.#node(token, floatValue(token.text)));
        return;
      case 'datetime':
        this.#put(this.#node(token, datetimeValue(token.text)));
        return;
      case 'variable':
        this.#putVariable(token);
        return;
      case 'include':
        this.#include(token);
        return;
      case 'end':
    }
  }

  #place(token: Token): Place {
    return this.#fixedPlace ?? { file: this.#file, line: token.line, column: token.column };
  }

  #node(token: Token, value: ConfigValue): ConfigNode {
    let [valueCount, depth] = [1, 1];
    if (value instanceof Map || Array.isArray(value)) {
      for (const child of value.values()) {
        valueCount += child.valueCount;
        depth = Math.max(depth, child.depth + 1);
      }
    }
    if (depth > NESTING_MAX) throw new ConfigError(`values nested deeper than ${NESTING_MAX} levels`);
    return { value, place: this.#place(token), usedAsVariable: false, valueCount, depth };
  }

  /** Puts a value where it belongs: at the end of the open array, or under the newest waiting key of the open map. */
  #put(node: ConfigNode, newValues: number = 1): void {
    this.#budget.valuesLeft -= newValues;
    if (this.#budget.valuesLeft < 0) {
      throw new ConfigError(`config has more than ${VALUES_MAX} values`);
    }
    const container = this.#open[this.#open.length - 1]!;
    if (Array.isArray(container)) {
      container.push(node);
      return;
    }
    const key = this.#keys.pop()!;
    node.place = this.#fixedPlace ?? { file: node.place.file, line: key.line, column: key.column };
    container.set(key.text, node);
  }

  // Variables.

  #putVariable(token: Token): void {
    const found = this.#lookUp(token);
    if (found === null) {
      throw new ConfigError(`variable reference for '${token.text}' on line ${token.line} can not be found`);
    }
    this.#put({ ...found, place: this.#place(token), usedAsVariable: false }, found.valueCount);
  }

  #lookUp(token: Token): ConfigNode | null {
    const name = token.text;
    if (name.startsWith('2a$')) return this.#node(token, `$${name}`);
    for (const container of this.#open.toReversed()) {
      const node = container instanceof Map ? container.get(name) : undefined;
      if (node !== undefined) {
        node.usedAsVariable = true;
        return node;
      }
    }
    try {
      return this.#lookUpEnvironment(token);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      throw new ConfigError(
        `variable reference for '${name}' on line ${token.line} could not be parsed: ${error.message}`,
        { cause: error },
      );
    }
  }

  #lookUpEnvironment(token: Token): ConfigNode | null {
    const { environmentNames, sources } = this.#budget;
    const name = token.text;
    if (environmentNames.has(name)) throw new ConfigError(`variable reference cycle for '${name}'`);
    const text = Object.hasOwn(sources.environment, name) ? sources.environment[name] : undefined;
    if (text === undefined) return null;
    environmentNames.add(name);
    const bytes = Buffer.from(`${ENVIRONMENT_KEY}=${text}`);
    try {
      const parser = new Parser(bytes, '', this.#budget, this.#files, this.#place(token));
      return parser.parse().get(ENVIRONMENT_KEY) ?? null;
    } finally {
      environmentNames.delete(name);
    }
  }

  // Includes.

  #include(token: Token): void {
    const path = join(dirname(this.#file), token.text).replace(/(?<=.)\/$/, '');
    let included: ConfigMap;
    try {
      if (this.#files.includes(path)) throw new ConfigError(`include cycle for '${path}'`);
      if (--this.#budget.includesLeft < 0) throw new ConfigError(`more than ${INCLUDES_MAX} includes`);
      included = parseFile(path, this.#budget, this.#files);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      throw new ConfigError(`error parsing include file '${token.text}', ${error.message}`, { cause: error });
    }
    const container = this.#open[this.#open.length - 1]!;
    for (const [key, node] of included) {
      if (Array.isArray(container)) container.push(node);
      else container.set(key, node);
    }
  }
}

const ENVIRONMENT_KEY = 'pk';

// Numbers and moments.

const SIZE_FACTORS: Readonly<Record<string, bigint>> = (() => {
  const factors: Record<string, bigint> = { '': 1n };
  ['k', 'm', 'g', 't', 'p', 'e'].forEach((letter, index) => {
    factors[letter] = 1000n ** BigInt(index + 1);
    for (const suffix of ['b', 'i', 'ib']) factors[letter + suffix] = 1024n ** BigInt(index + 1);
  });
  return factors;
})();

const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;

function integerValue(token: Token): bigint {
  const [, digits = '', suffix = ''] = /^([-\p{Nd}]*)(.*)$/su.exec(token.text) ?? [];
  if (!/^-?[0-9]+$/.test(digits)) throw new ConfigError(`expected integer, but got '${token.text}'`);
  const number = BigInt(digits);
  if (number < INT64_MIN || number > INT64_MAX) throw new ConfigError(`integer '${token.text}' is out of the range`);
  const factor = SIZE_FACTORS[suffix.toLowerCase()];
  if (factor === undefined) {
    throw new ConfigError(
      `integer '${token.text}' on line ${token.line} has an unknown size suffix; quote it if it is a string`,
    );
  }
  return BigInt.asIntN(64, number * factor);
}

function floatValue(text: string): number {
  if (!/^-?[0-9]+\.[0-9]+$/.test(text)) throw new ConfigError(`expected float, but got '${text}'`);
  const number = Number(text);
  if (!Number.isFinite(number)) throw new ConfigError(`float '${text}' is out of the range`);
  return number;
}

const DAYS_OF_MONTH = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

function datetimeValue(text: string): Datetime {
  const match = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)Z$/.exec(text);
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match?.slice(1).map(Number) ?? [];
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const days = month === 2 && leap ? 29 : (DAYS_OF_MONTH[month - 1] ?? 0);
  if (match === null || day < 1 || day > days || hour > 23 || minute > 59 || second > 59) {
    throw new ConfigError(`expected Zulu formatted DateTime, but got '${text}'`);
  }
  return { datetime: text };
}
