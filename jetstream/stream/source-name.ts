/**
 * How a stream tells the streams apart that it draws from, and what it writes of each message into the header
 * `Nats-Stream-Source`:
 *
 *     <origin>[:<hash of its API prefix>][:C=<hash of its consumer>] <sequence> <filters> <destinations> <subject> [<identity>]
 *     └──────────────── index name, with the filters and destinations ────────────────┘
 *
 * Several filters, and the destinations of their transforms, are joined by form feeds. The subject is the one the message
 * had in the origin; the identity tells a stream from an earlier one by its name. Servers before 2.10 wrote the subject by
 * which the message could have been acknowledged; such headers name the origin and the sequence alone.
 *
 * Source: nats-server's composeIName, genSourceHeader and streamAndSeq.
 */

import { shortHash } from './short-hash.ts';
import type { StreamConfig } from './stream-config-fields.ts';
import type { StreamSource } from './stream-config-parts.ts';

/** Under this name a mirror keeps the identity of its origin. */
export const MIRROR_INDEX_NAME = '';

const ALL = '>';
const BETWEEN_FILTERS = '\f';
const ACK_PREFIX = '$JS.ACK.';
const SHORT_ACK_TOKENS = 9;
const LONG_ACK_TOKENS = 11;

/** What stands in the header of one message; `indexName` is empty where only the origin is known. */
export interface SourceHeader {
  readonly origin: string;
  readonly indexName: string;
  readonly sequence: number;
  /** Empty: unknown. */
  readonly identity: string;
}

/** The name of a source among those of its stream: the same for the same messages under the same subjects. */
export function sourceIndexName(source: StreamSource): string {
  return `${originName(source)} ${filtersText(source)}`;
}

/** The index names of all sources of a stream, or of what a mirror knows of its origin. */
export function sourceIndexNames({ mirror, sources }: StreamConfig): string[] {
  if (mirror !== null) return [MIRROR_INDEX_NAME];
  return (sources ?? []).flatMap((source) => (source === null ? [] : [sourceIndexName(source)]));
}

/** The origin with its consumer, where somebody made one for the stream: no two sources may share it. */
export function sourceConsumerName(source: StreamSource): string {
  return `${source.name}${externalText(source)} ${source.consumer?.name ?? ''}`;
}

/** The value of the header. `subject`: what the message had in the origin. */
export function sourceHeader(source: StreamSource, sequence: number, subject: string, identity: string): string {
  const value = `${originName(source)} ${sequence} ${filtersText(source)} ${subject}`;
  return identity === '' ? value : `${value} ${identity}`;
}

/** Reads the value of the header in any of its forms; `null` when it is none of them. */
export function readSourceHeader(value: string): SourceHeader | null {
  if (value.startsWith(ACK_PREFIX)) return readAckSubject(value);
  const [origin = '', sequence = '', filters, destinations, , identity = ''] = value.split(' ');
  if (!/^\d{1,15}$/.test(sequence)) return null;
  const indexName = filters === undefined || destinations === undefined ? '' : `${origin} ${filters} ${destinations}`;
  return { origin, indexName, sequence: Number(sequence), identity };
}

function readAckSubject(subject: string): SourceHeader | null {
  const tokens = subject.split('.');
  if (tokens.length !== SHORT_ACK_TOKENS && tokens.length < LONG_ACK_TOKENS) return null;
  const first = tokens.length === SHORT_ACK_TOKENS ? 2 : 4;
  const sequence = tokens[first + 3] as string;
  if (!/^\d{1,15}$/.test(sequence)) return null;
  return { origin: tokens[first] as string, indexName: '', sequence: Number(sequence), identity: '' };
}

function originName(source: StreamSource): string {
  const consumer = source.consumer === null ? '' : `:C=${shortHash(source.consumer.name)}`;
  return `${source.name}${externalText(source)}${consumer}`;
}

function externalText({ external }: StreamSource): string {
  return external === null ? '' : `:${shortHash(external.apiPrefix)}`;
}

function filtersText({ filterSubject, subjectTransforms }: StreamSource): string {
  const transforms = subjectTransforms ?? [];
  if (transforms.length === 0) return `${filterSubject || ALL} ${ALL}`;
  const filters = transforms.map(({ source }) => source || ALL).join(BETWEEN_FILTERS);
  return `${filters} ${transforms.map(({ destination }) => destination || ALL).join(BETWEEN_FILTERS)}`;
}
