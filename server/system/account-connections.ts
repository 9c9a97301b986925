/**
 * How many are connected to an account: told to whoever asks, and to whoever listens when it changes.
 *
 *     {"type":"io.nats.server.advisory.v1.account_connections",…,"server":{…},"acc":"A","name":"A","conns":2,…}
 */

import { accountStatistics } from '../monitor/accstatz.ts';
import { bytesAsText } from '../monitor/byte-text.ts';
import { jsonText } from '../monitor/json-text.ts';
import type { MonitorSource } from '../monitor/monitor-source.ts';
import { goString } from '../protocol/go-json-schema.ts';
import { field, GoStruct } from '../protocol/go-json-struct.ts';
import { bytesOfText } from '../protocol/go-json-reader.ts';
import { decode } from '../protocol/go-json.ts';
import { beginning, type EventStamp } from './connection-event.ts';

interface ConnectionsRequest {
  acc: string;
}

const BODY = new GoStruct<ConnectionsRequest>('server.accNumConnsReq', [field('acc', 'acc', goString)]);

/** JSON of the event, `null` if there is no such account. `account` is a string of bytes. */
export function accountConnections(source: MonitorSource, stamp: EventStamp, account: string): string | null {
  const [statistics] = accountStatistics(source, { accounts: [bytesAsText(account)], withUnused: true });
  if (statistics === undefined) return null;
  return `{${beginning('account_connections', stamp)},${bytesOfText(jsonText(statistics)).slice(1)}`;
}

/** Whether to answer a request: not if nobody is connected, nor if its body is about another account. */
export function readConnectionsRequest(body: string, account: string, source: MonitorSource): boolean {
  const known = source.accounts.get(bytesAsText(account));
  if (known === undefined || known.limits.clients === 0) return false;
  if (body === '') return true;
  const { value, error } = decode(body, BODY);
  if (error !== null) source.log.error(`Error unmarshalling account connections request message: ${error}`);
  else if (value.acc === '' || value.acc === account) return true;
  else source.log.error('Error unmarshalled account does not match subject');
  return false;
}
