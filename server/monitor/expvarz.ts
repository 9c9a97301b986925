/**
 * /debug/vars: what a Go program tells of itself by default, as far as it means something here: of its memory what it
 * takes from the system. The command line is not shown, there may be passwords on it.
 */

import type { HttpResponse } from '../io/io.ts';
import { type MonitorContext, typedResponse } from './endpoint.ts';
import type { MonitorSource } from './monitor-source.ts';
import type { Query } from './query.ts';

export function expvarz(_query: Query, { source }: MonitorContext): HttpResponse {
  const members = Object.entries(expvarzBody(source)).map(([name, value]) => `"${name}": ${JSON.stringify(value)}`);
  return typedResponse('application/json; charset=utf-8', Buffer.from(`{\n${members.join(',\n')}\n}\n`));
}

function expvarzBody({ io }: Pick<MonitorSource, 'io'>): object {
  return { cmdline: [], memstats: { Sys: io.host.residentBytes() } };
}
