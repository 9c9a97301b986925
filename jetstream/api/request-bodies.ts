/** The bodies of API requests, as nats-server's structs have them. */

import { type Decoded, decodeRequest } from '../../server/protocol/go-json.ts';
import { goBool, goInt, goList, goString, goTime, goUint64 } from '../../server/protocol/go-json-schema.ts';
import { embedded, field, GoStruct } from '../../server/protocol/go-json-struct.ts';
import type { Timestamp } from '../../server/protocol/rfc3339.ts';
import { type ApiError, ApiErrors } from '../errors.ts';

interface Paged {
  offset: number;
}

export interface NamesBody {
  paged: Paged;
  subject: string;
}

export interface InfoBody {
  paged: Paged;
  deletedDetails: boolean;
  subjectsFilter: string;
}

export interface PurgeBody {
  sequence: number;
  filter: string;
  keep: number;
}

export interface MessageGetBody {
  sequence: number;
  lastFor: string;
  nextFor: string;
  batch: number;
  maxBytes: number;
  startTime: Timestamp | null;
  multiLastFor: readonly string[] | null;
  upToSequence: number;
  upToTime: Timestamp | null;
  noHeaders: boolean;
}

export interface MessageDeleteBody {
  sequence: number;
  noErase: boolean;
}

export interface ConsumersBody {
  paged: Paged;
}

/** Where a page begins; nothing is before the first. */
const goOffset: typeof goInt = { ...goInt, read: (reader, current) => Math.max(0, goInt.read(reader, current)) };

const paged = new GoStruct<Paged>('server.ApiPagedRequest', [field('offset', 'offset', goOffset)]);

const namesFields = [
  ...embedded<NamesBody, 'paged'>('paged', paged),
  field<NamesBody, 'subject'>('subject', 'subject', goString),
];

export const namesBody: GoStruct<NamesBody> = new GoStruct('server.JSApiStreamNamesRequest', namesFields);

export const listBody: GoStruct<NamesBody> = new GoStruct('server.JSApiStreamListRequest', namesFields);

export const consumersBody: GoStruct<ConsumersBody> = new GoStruct(
  'server.JSApiConsumersRequest',
  embedded<ConsumersBody, 'paged'>('paged', paged),
);

export const infoBody: GoStruct<InfoBody> = new GoStruct('server.JSApiStreamInfoRequest', [
  ...embedded<InfoBody, 'paged'>('paged', paged),
  field<InfoBody, 'deletedDetails'>('deleted_details', 'deletedDetails', goBool),
  field<InfoBody, 'subjectsFilter'>('subjects_filter', 'subjectsFilter', goString),
]);

export const purgeBody: GoStruct<PurgeBody> = new GoStruct('server.JSApiStreamPurgeRequest', [
  field<PurgeBody, 'sequence'>('seq', 'sequence', goUint64),
  field<PurgeBody, 'filter'>('filter', 'filter', goString),
  field<PurgeBody, 'keep'>('keep', 'keep', goUint64),
]);

export const messageGetBody: GoStruct<MessageGetBody> = new GoStruct('server.JSApiMsgGetRequest', [
  field<MessageGetBody, 'sequence'>('seq', 'sequence', goUint64),
  field<MessageGetBody, 'lastFor'>('last_by_subj', 'lastFor', goString),
  field<MessageGetBody, 'nextFor'>('next_by_subj', 'nextFor', goString),
  field<MessageGetBody, 'batch'>('batch', 'batch', goInt),
  field<MessageGetBody, 'maxBytes'>('max_bytes', 'maxBytes', goInt),
  field<MessageGetBody, 'startTime'>('start_time', 'startTime', goTime),
  field<MessageGetBody, 'multiLastFor'>('multi_last', 'multiLastFor', goList(goString)),
  field<MessageGetBody, 'upToSequence'>('up_to_seq', 'upToSequence', goUint64),
  field<MessageGetBody, 'upToTime'>('up_to_time', 'upToTime', goTime),
  field<MessageGetBody, 'noHeaders'>('no_hdr', 'noHeaders', goBool),
]);

export const messageDeleteBody: GoStruct<MessageDeleteBody> = new GoStruct('server.JSApiMsgDeleteRequest', [
  field<MessageDeleteBody, 'sequence'>('seq', 'sequence', goUint64),
  field<MessageDeleteBody, 'noErase'>('no_erase', 'noErase', goBool),
]);

/** The body as `type`, or the error that refuses the request. */
export function readBody<T extends object>(text: string, type: GoStruct<T>, isStrict: boolean): T | ApiError {
  const { value, error }: Decoded<T> = decodeRequest(text, type, isStrict);
  return error === null ? value : ApiErrors.invalidJson(error);
}

/** The same where the body only narrows what is asked for: one that is neither an object nor a list says nothing. */
export function readOptions<T extends object>(text: string, type: GoStruct<T>, isStrict: boolean): T | ApiError {
  return readBody(/^[ \t\n\r]*[{[]/.test(text) ? text : '', type, isStrict);
}

/** Whether a request that takes no body has none: an object without fields counts as none. */
export function isEmptyBody(text: string): boolean {
  return text === '' || /^\s*\{\s*\}\s*$/.test(text);
}
