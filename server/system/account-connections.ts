/**
 * How many are connected to an account: told to whoever asks, and to whoever listens when it changes.
 *
 *     {"type":"io.nats.server.advisory.v1.account_connections",…,"server":{…},"acc":"A","name":"A","conns":2,…}
 */

import { accountStatistics } from '../monitor/accstatz.ts';
import { bytesAsText } from '../monitor/byte-text.ts';
import { jsonText } from '../monitor/json-text.ts';
import type { MonitorSource } from '../monitor/monitor-source.ts';
import { EVENT_ID_BYTES, eventId } from '../protocol/event-id.ts';
import { goString } from '../protocol/go-json-schema.ts';
import { field, GoStruct } from '../protocol/go-json-struct.ts';
import { bytesOfText } from '../protocol/go-json-reader.ts';
import { decode } from '../protocol/go-json.ts';
import { beginning } from './connection-event.ts';
import type { ServerDescription } from './server-description.ts';

interface ConnectionsRequest {
  acc: string;
}

const BODY = new GoStruct<ConnectionsRequest>('server.accNumConnsReq', [field('acc', 'acc', goString)]);

/** JSON of the event, `null` if there is no such account. */
export function accountConnections(
  source: MonitorSource,
  description: ServerDescription,
  account: string,
): string | null {
  const [statistics] = accountStatistics(source, { accounts: [bytesAsText(account)], withUnused: true });
  if (statistics === undefined) return null;
  const { random, clock } = source.io;
  const id = eventId(random.bytes(EVENT_ID_BYTES));
  const common = beginning('account_connections', { id, wallMs: clock.wallMs(), server: description.next() });
  return `{${common},${bytesOfText(jsonText(statistics)).slice(1)}`;
}

/** The same for whoever asks; `null` if nobody is connected, or the request is about another account than it says. */
export function connectionsEvent(
  source: MonitorSource,
  description: ServerDescription,
  account: string,
  body: string,
): string | null {
  if (body !== '') {
    const { value, error } = decode(body, BODY);
    if (error !== null) source.log.error(`Error unmarshalling account connections request message: ${error}`);
    else if (value.acc !== '' && value.acc !== account) {
      source.log.error('Error unmarshalled account does not match subject');
    }
    if (error !== null || (value.acc !== '' && value.acc !== account)) return null;
  }
  const known = source.accounts.get(bytesAsText(account));
  if (known === undefined || known.limits.clients === 0) return null;
  return accountConnections(source, description, account);
}
