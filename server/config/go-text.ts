/**
 * Values as Go prints them, for messages that must read as nats-server's do.
 */

import { goType, isMap } from './tree.ts';
import type { ConfigValue } from './tree.ts';

/** `%v` of a value of the configuration; inside maps and arrays the values and not, as Go would, their addresses. */
export function goValue(value: ConfigValue): string {
  if (typeof value === 'number') return goFloat(value);
  if (typeof value !== 'object') return String(value);
  if (Array.isArray(value)) return `[${value.map((node) => goValue(node.value)).join(' ')}]`;
  if (isMap(value)) return `map[${[...value].map(([key, node]) => `${key}:${goValue(node.value)}`).join(' ')}]`;
  return value.datetime.replace('T', ' ').replace('Z', ' +0000 UTC');
}

/** `%s`, which Go marks when the value is no string. */
export function goString(value: ConfigValue): string {
  return typeof value === 'string' ? value : `%!s(${goType(value)}=${goValue(value)})`;
}

/** A float in the shorter of plain and scientific notation; Go changes over earlier than JavaScript. */
function goFloat(value: number): string {
  const [, digits = '', exponent = ''] = /^(.*)e([+-]\d+)$/.exec(value.toExponential()) ?? [];
  const power = Number(exponent);
  if (value === 0 || (power >= -4 && power < 6)) return String(value);
  return `${digits}e${exponent[0]}${exponent.slice(1).padStart(2, '0')}`;
}
