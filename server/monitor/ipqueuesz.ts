/**
 * /ipqueuesz: what waits in the queues between nats-server's threads. Here one thread does everything, and hands nothing
 * over to others by queues: none has anything in it.
 */

import type { HttpResponse } from '../io/io.ts';
import { jsonResponse, type MonitorContext } from './endpoint.ts';
import type { Query } from './query.ts';

export function ipqueuesz(query: Query, _context: MonitorContext): HttpResponse {
  query.boolean('all');
  return jsonResponse(200, '{}');
}
