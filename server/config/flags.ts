/**
 * The command line by the rules of Go's flag package: `-x` and `--x` are one, a value follows after `=` or as the next
 * argument, a boolean takes one only after `=`, `--` or the first argument without a dash ends the flags, and of a flag
 * given twice the last counts.
 */

import type { Draft } from './draft.ts';
import { FLAGS } from './flag-table.ts';
import type { Flag, FlagValue } from './flag-table.ts';
import { goQuote } from '../protocol/go-quote.ts';
import { safeNumber } from './reading.ts';
import { ConfigError } from './tree.ts';

/** A command line that is no command line. The usage is shown along with it. */
export class FlagError extends ConfigError {}

interface GivenFlag {
  readonly flag: Flag;
  /** The name by which it was given. */
  readonly name: string;
  readonly value: FlagValue;
}

export class CommandLine {
  readonly #given: readonly GivenFlag[];
  /** What follows the flags. */
  readonly rest: readonly string[];

  constructor(given: readonly GivenFlag[], rest: readonly string[]) {
    this.#given = given;
    this.rest = rest;
  }

  /** The value of the flag with this name, or of its other names; undefined if it was not given. */
  value(name: string): FlagValue | undefined {
    return this.#given.findLast(({ flag }) => flag.names.includes(name))?.value;
  }

  isSet(name: string): boolean {
    return this.value(name) === true;
  }

  text(name: string): string {
    return String(this.value(name) ?? '');
  }

  /** The first flag that is refused, as it was given; null if there is none. */
  get refused(): string | null {
    for (const { flag, name } of this.#given) {
      const value = this.value(name);
      const isOff = value === false || value === 0 || value === '';
      if (flag.isAbsent && !isOff) return `-${name}`;
    }
    return null;
  }

  /** Writes what the flags say into the draft. */
  applyTo(draft: Draft): void {
    for (const { flag, value } of this.#given) flag.set?.(draft, value);
    this.#applyVerbosity(draft);
  }

  /** The flags that stand for several come last, in this order. */
  #applyVerbosity(draft: Draft): void {
    const [both, debugAndVerbose, verbose] = [this.value('DV'), this.value('DVV'), this.value('VV')];
    if (both !== undefined) draft.debug = draft.trace = both === true;
    if (debugAndVerbose !== undefined) draft.debug = draft.trace = draft.traceVerbose = debugAndVerbose === true;
    if (verbose !== undefined) draft.trace = draft.traceVerbose = verbose === true;
  }
}

/** Takes the arguments behind the program's name apart. Throws a FlagError. */
export function parseFlags(args: readonly string[]): CommandLine {
  const given: GivenFlag[] = [];
  for (let at = 0; at < args.length;) {
    const argument = args[at++]!;
    if (argument.length < 2 || !argument.startsWith('-')) return new CommandLine(given, args.slice(at - 1));
    if (argument === '--') return new CommandLine(given, args.slice(at));
    const [, name = '', valueText] = /^--?([^=-][^=]*)(?:=(.*))?$/s.exec(argument) ?? [];
    if (name === '') throw new FlagError(`bad flag syntax: ${argument}`);
    const flag = FLAGS.find(({ names }) => names.includes(name));
    if (flag === undefined) throw new FlagError(`flag provided but not defined: -${name}`);
    const takesNext = valueText === undefined && flag.kind !== 'boolean';
    if (takesNext && at === args.length) throw new FlagError(`flag needs an argument: -${name}`);
    given.push({ flag, name, value: flagValue(flag, name, takesNext ? args[at++]! : (valueText ?? 'true')) });
  }
  return new CommandLine(given, []);
}

function flagValue({ kind }: Flag, name: string, text: string): FlagValue {
  switch (kind) {
    case 'string':
      return text;
    case 'boolean':
      if (TRUE_WORDS.has(text)) return true;
      if (FALSE_WORDS.has(text)) return false;
      throw new FlagError(`invalid boolean value ${goQuote(text)} for -${name}: parse error`);
    case 'integer': {
      const integer = parseInteger(text);
      if (typeof integer === 'bigint') return safeNumber(integer);
      throw new FlagError(`invalid value ${goQuote(text)} for flag -${name}: ${integer}`);
    }
    default:
      return kind satisfies never;
  }
}

const TRUE_WORDS: ReadonlySet<string> = new Set(['1', 't', 'T', 'true', 'TRUE', 'True']);
const FALSE_WORDS: ReadonlySet<string> = new Set(['0', 'f', 'F', 'false', 'FALSE', 'False']);

const INT64_MAX = 2n ** 63n - 1n;

/** A 64-bit integer in decimal, or with `0x`, `0b`, `0o` or `0` before it; `_` may stand between digits. */
function parseInteger(text: string): bigint | 'parse error' | 'value out of range' {
  const match = /^([-+]?)(0x(?:_?[0-9a-f])+|0b(?:_?[01])+|0o?(?:_?[0-7])+|[1-9](?:_?\d)*|0)$/i.exec(text);
  const [, sign = '', number = ''] = match ?? [];
  if (number === '') return 'parse error';
  const digits = number.replaceAll('_', '').replace(/^0(?=\d)/, '0o');
  const value = sign === '-' ? -BigInt(digits) : BigInt(digits);
  return value > INT64_MAX || value < -INT64_MAX - 1n ? 'value out of range' : value;
}
