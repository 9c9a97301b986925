/** /gatewayz: the links between clusters. There are none. */

import type { HttpResponse } from '../io/io.ts';
import { readList } from './connz-request.ts';
import { jsonResponse, type MonitorContext } from './endpoint.ts';
import { jsonText } from './json-text.ts';
import type { MonitorSource } from './monitor-source.ts';
import type { Query } from './query.ts';
import { momentText } from './time-text.ts';

export function gatewayz(query: Query, { source, requests }: MonitorContext): HttpResponse {
  requests.count('/gatewayz');
  readList(query);
  query.boolean('accs');
  return jsonResponse(200, jsonText(gatewayzBody(source), 2));
}

/** The page, whatever is asked for. */
function gatewayzBody({ id, io }: MonitorSource): object {
  return { server_id: id, now: momentText(io.clock.wallMs()), outbound_gateways: {}, inbound_gateways: {} };
}
