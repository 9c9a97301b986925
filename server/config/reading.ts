/**
 * One reading of a config file into a draft: what was wrong so far, and the conversions that every key needs. A reader
 * that finds something wrong reports it, leaves its option alone and goes on, so that all mistakes are told at once.
 *
 * Messages are nats-server's: `<file>:<line>:<column>: <reason>`, warnings first. It reports what Go's runtime says of
 * a value of the wrong type, at the value itself, except that within some blocks the blame falls on the whole block.
 */

import { parseDuration } from './duration.ts';
import type { ConfigSources } from './sources.ts';
import { goQuote } from '../protocol/go-quote.ts';
import { ConfigError, goType, isMap, placeText } from './tree.ts';
import type { ConfigMap, ConfigNode, Place } from './tree.ts';

export class Reading {
  /** Where files that the configuration names are read from. */
  readonly sources: ConfigSources;
  readonly #errors: string[] = [];
  readonly #warnings: string[] = [];
  /** Where values of the wrong type are reported, if not where they stand. */
  #blamed: Place | null = null;

  constructor(sources: ConfigSources) {
    this.sources = sources;
  }

  /** Everything reported, a line each. */
  get text(): string {
    return [...this.#warnings, ...this.#errors].map((line) => `${line}\n`).join('');
  }

  get hasErrors(): boolean {
    return this.#errors.length > 0;
  }

  get hasWarnings(): boolean {
    return this.#warnings.length > 0;
  }

  error(place: Place, reason: string): void {
    this.#errors.push(`${placeText(place)}: ${reason}`);
  }

  /** A warning about the file as a whole. */
  warnOfFile(file: string, reason: string): void {
    this.#warnings.push(`${file}: ${reason}`);
  }

  warn(place: Place, field: string, reason: string): void {
    this.#warnings.push(`${placeText(place)}: invalid use of field ${goQuote(field)}: ${reason}`);
  }

  /** A key or form of a value that nats-server has and petiole does not have yet. */
  notSupported(place: Place, what: string): void {
    this.error(place, `${what}: not supported by petiole yet`);
  }

  /** Reports values of the wrong type at `place` while `read` runs. */
  blaming<T>(place: Place, read: () => T): T {
    const before = this.#blamed;
    this.#blamed = place;
    const value = read();
    this.#blamed = before;
    return value;
  }

  #wrongType(node: ConfigNode, wanted: string): null {
    const reason = `interface conversion: interface {} is ${goType(node.value)}, not ${wanted}`;
    this.error(this.#blamed ?? node.place, reason);
    return null;
  }

  string(node: ConfigNode): string | null {
    return typeof node.value === 'string' ? node.value : this.#wrongType(node, 'string');
  }

  boolean(node: ConfigNode): boolean | null {
    return typeof node.value === 'boolean' ? node.value : this.#wrongType(node, 'bool');
  }

  integer(node: ConfigNode): number | null {
    return typeof node.value === 'bigint' ? safeNumber(node.value) : this.#wrongType(node, 'int64');
  }

  map(node: ConfigNode): ConfigMap | null {
    return isMap(node.value) ? node.value : this.#wrongType(node, 'map[string]interface {}');
  }

  /** Milliseconds of a duration, written as a string and nothing else. */
  durationText(node: ConfigNode, name: string): number | null {
    const text = this.string(node);
    return text === null ? null : this.#duration(node, name, text);
  }

  /** Milliseconds of a duration; a bare integer counts seconds, which is warned of. */
  duration(node: ConfigNode, name: string): number | null {
    if (typeof node.value === 'string') return this.#duration(node, name, node.value);
    this.warn(node.place, name, `${name} should be converted to a duration`);
    const seconds = this.integer(node);
    return seconds === null ? null : seconds * 1_000;
  }

  #duration(node: ConfigNode, name: string, text: string): number | null {
    try {
      return parseDuration(text);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      this.error(node.place, `error parsing ${name}: ${error.message}`);
      return null;
    }
  }
}

/** The number, or the nearest that can still be counted exactly: sizes beyond mean "without limit" anyway. */
export function safeNumber(integer: bigint): number {
  const max = BigInt(Number.MAX_SAFE_INTEGER);
  if (integer > max) return Number.MAX_SAFE_INTEGER;
  return integer < -max ? -Number.MAX_SAFE_INTEGER : Number(integer);
}
