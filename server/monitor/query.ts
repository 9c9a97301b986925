/**
 * The parameters of a request, read by the rules of Go's net/url and strconv: which spellings count as a number or a
 * boolean, and the words for those that don't.
 *
 * Of several values of one name the first counts. A pair with a semicolon or a broken escape is as good as absent, and
 * so is an empty value.
 */

import { goQuote } from '../protocol/go-quote.ts';
import { BadRequest } from './endpoint.ts';

const TRUE: ReadonlySet<string> = new Set(['1', 't', 'T', 'true', 'TRUE', 'True']);
const FALSE: ReadonlySet<string> = new Set(['0', 'f', 'F', 'false', 'FALSE', 'False']);
const INT64_MAX = 2n ** 63n - 1n;
const UINT64_MAX = 2n ** 64n - 1n;

export class Query {
  private readonly parameters: URLSearchParams;

  /** `text` is what stands behind the question mark. */
  constructor(text: string) {
    const whole = text.split('&').filter((pair) => !/;|%(?![\da-fA-F]{2})/.test(pair));
    this.parameters = new URLSearchParams(whole.join('&'));
  }

  /** '' if it is absent. */
  text(name: string): string {
    return this.parameters.get(name) ?? '';
  }

  /** False if it is absent. Throws a BadRequest. */
  boolean(name: string): boolean {
    const text = this.text(name);
    if (text === '' || FALSE.has(text)) return false;
    if (TRUE.has(text)) return true;
    throw undecodable('boolean', name, 'ParseBool', text, 'invalid syntax');
  }

  /** 0 if it is absent. Throws a BadRequest. */
  integer(name: string): bigint {
    const text = this.text(name);
    if (text === '') return 0n;
    if (!/^[-+]?\d+$/.test(text)) throw undecodable('int', name, 'Atoi', text, 'invalid syntax');
    const value = BigInt(text.replace('+', ''));
    if (value <= INT64_MAX && value >= -INT64_MAX - 1n) return value;
    throw undecodable('int', name, 'Atoi', text, 'value out of range');
  }

  /** 0 if it is absent. Throws a BadRequest. */
  unsigned(name: string): bigint {
    const text = this.text(name);
    if (text === '') return 0n;
    if (!/^\d+$/.test(text)) throw undecodable('uint64', name, 'ParseUint', text, 'invalid syntax');
    const value = BigInt(text);
    if (value <= UINT64_MAX) return value;
    throw undecodable('uint64', name, 'ParseUint', text, 'value out of range');
  }
}

function undecodable(kind: string, name: string, reader: string, text: string, problem: string): BadRequest {
  return new BadRequest(
    `Error decoding ${kind} for '${name}': strconv.${reader}: parsing ${goQuote(text)}: ${problem}`,
  );
}
