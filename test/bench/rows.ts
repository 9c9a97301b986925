/** All rows, in the order in which they run. */
import { CONNECTIONS_ROW } from './connections-row.ts';
import { CORE_ROWS } from './core-rows.ts';
import { HUB_RESTART_ROW } from './hub-restart-row.ts';
import { JETSTREAM_ROWS } from './jetstream-rows.ts';
import { LEAF_HUB_ROW } from './leaf-hub-row.ts';
import { LEAF_ROWS } from './leaf-rows.ts';
import { LONG_WORK_ROWS } from './long-work-rows.ts';
import { OUTAGE_ROWS } from './outage-rows.ts';
import type { Row } from './row.ts';
import { SLOW_DISK_ROWS } from './slow-disk-rows.ts';
import { START_ROWS } from './start-rows.ts';
import { STORE_ROWS } from './store-rows.ts';
import { SUBSCRIPTIONS_ROW } from './subscriptions-row.ts';

const ROWS: readonly Row[] = [
  ...CORE_ROWS,
  ...JETSTREAM_ROWS,
  ...LEAF_ROWS,
  LEAF_HUB_ROW,
  HUB_RESTART_ROW,
  ...OUTAGE_ROWS,
  CONNECTIONS_ROW,
  SUBSCRIPTIONS_ROW,
  ...LONG_WORK_ROWS,
  ...START_ROWS,
  ...STORE_ROWS,
  ...SLOW_DISK_ROWS,
];

/** The rows whose names begin with one of these, or all. Throws an `Error` for people if one of these fits none. */
export function rowsNamed(beginnings: readonly string[]): readonly Row[] {
  for (const beginning of beginnings) {
    if (ROWS.some(({ name }) => name.startsWith(beginning))) continue;
    throw new Error(`no row begins with "${beginning}"; these are there:\n${listOfRows()}`);
  }
  if (beginnings.length === 0) return ROWS;
  return ROWS.filter(({ name }) => beginnings.some((beginning) => name.startsWith(beginning)));
}

export function listOfRows(): string {
  return ROWS.map(({ name, title }) => `    ${name.padEnd(24)}${title}\n`).join('');
}
