/**
 * Which servers a request to all of them is meant for. A server that does not fit stays silent, so that only those that
 * fit answer. Every request can have these members beside its own.
 */

import type { ServerOptions } from '../config/options.ts';
import { bytesOfText } from '../protocol/go-json-reader.ts';
import { goBool, goList, goString } from '../protocol/go-json-schema.ts';
import { embedded, field, GoStruct } from '../protocol/go-json-struct.ts';
import type { ServerInfo } from '../protocol/server-info.ts';

/** Strings of bytes; what is '' or null asks for any. */
export interface RequestFilter {
  name: string;
  cluster: string;
  host: string;
  /** The first three have to be the same, and not only to occur. */
  isExact: boolean;
  /** A server has to have all of them. */
  tags: readonly string[] | null;
  domain: string;
}

export const REQUEST_FILTER: GoStruct<RequestFilter> = new GoStruct<RequestFilter>('server.EventFilterOptions', [
  field('server_name', 'name', goString),
  field('cluster', 'cluster', goString),
  field('host', 'host', goString),
  field('exact_match', 'isExact', goBool),
  field('tags', 'tags', goList(goString)),
  field('domain', 'domain', goString),
]);

/** A request that has nothing but a filter. */
export interface Filtered {
  filter: RequestFilter;
}

export const STATISTICS_BODY: GoStruct<Filtered> = new GoStruct<Filtered>(
  'server.StatszEventOptions',
  embedded<Filtered, 'filter'>('filter', REQUEST_FILTER),
);

interface FilteredServer {
  readonly options: ServerOptions;
  readonly info: Readonly<Pick<ServerInfo, 'server_name' | 'host'>>;
}

/** Whether the server is one that is asked. It belongs to no cluster. */
export function isMeant({ options, info }: FilteredServer, filter: RequestFilter): boolean {
  const fits = (own: string, wanted: string): boolean =>
    wanted === '' || (filter.isExact ? own === wanted : own.includes(wanted));
  const tags = new Set(options.serverTags.map(bytesOfText));
  return (
    fits(bytesOfText(info.server_name), filter.name) &&
    fits(info.host, filter.host) &&
    fits('', filter.cluster) &&
    (filter.tags ?? []).every((tag) => tags.has(tag.trim().toLowerCase())) &&
    (filter.domain === '' || filter.domain === bytesOfText(options.jetstream.domain))
  );
}
