/** /routez: the links to other servers of a cluster. There are none: a server stands alone, or joins others by leaf links. */

import type { HttpResponse } from '../io/io.ts';
import { readList } from './connz-request.ts';
import { jsonResponse, type MonitorContext } from './endpoint.ts';
import { jsonText } from './json-text.ts';
import type { MonitorSource } from './monitor-source.ts';
import type { Query } from './query.ts';
import { momentText } from './time-text.ts';

export function routez(query: Query, { source, requests }: MonitorContext): HttpResponse {
  readList(query);
  requests.count('/routez');
  return jsonResponse(200, jsonText(routezBody(source), 2));
}

/** The page, whatever is asked for. */
function routezBody({ id, name, io }: MonitorSource): object {
  return { server_id: id, server_name: name, now: momentText(io.clock.wallMs()), num_routes: 0, routes: [] };
}
