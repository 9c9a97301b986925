/**
 * The digest of a parsed configuration: SHA-256 of its JSON, byte for byte as nats-server's `-t` prints it, so that two
 * servers can be seen to run the same file. The JSON is that of Go's encoder: keys in byte order, integers exact, `<`,
 * `>`, `&`, the two line separators and bytes that are not UTF-8 escaped, one line end behind it all.
 */

import { sha256 } from '@noble/hashes/sha2.js';
import { isDatetime } from './tree.ts';
import type { ConfigMap, ConfigValue } from './tree.ts';

/** `sha256:` and the hexadecimal digest. */
export function configDigest(map: ConfigMap): string {
  const digest = sha256(Buffer.from(`${json(map)}\n`));
  return `sha256:${Buffer.from(digest).toString('hex')}`;
}

function json(value: ConfigValue): string {
  switch (typeof value) {
    case 'string':
      return jsonString(value);
    case 'bigint':
      return value.toString();
    case 'number':
      // Go's encoder and JavaScript agree on the shortest form of a float, but for this one.
      return Object.is(value, -0) ? '-0' : String(value);
    case 'boolean':
      return String(value);
    default:
      if (Array.isArray(value)) return `[${value.map((node) => json(node.value)).join(',')}]`;
      if (isDatetime(value)) return jsonString(value.datetime);
      return `{${jsonEntries(value).join(',')}}`;
  }
}

function jsonEntries(map: ConfigMap): string[] {
  const entries = [...map].map(([key, node]) => ({ key, order: Buffer.from(key), node }));
  entries.sort((a, b) => Buffer.compare(a.order, b.order));
  return entries.map(({ key, node }) => `${jsonString(key)}:${json(node.value)}`);
}

/** JSON.stringify writes a lone surrogate as an escape, which here stands for a byte that was not UTF-8. */
function jsonString(text: string): string {
  return JSON.stringify(text)
    .replaceAll(/\\\\|\\ud[89a-f][0-9a-f]{2}/g, (escape) => (escape === '\\\\' ? escape : '\\ufffd'))
    .replaceAll(/[<>&\u2028\u2029]/g, (character) => {
      return `\\u${character.codePointAt(0)!.toString(16).padStart(4, '0')}`;
    });
}
