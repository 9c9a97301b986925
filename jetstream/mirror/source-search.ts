/**
 * Up to where a source was read that the stream had before: the last message with its header says so. Looked for when a
 * source is added to a stream that has messages; at any other time the stream knows (`source-positions.ts`).
 */

import { Buffer } from 'node:buffer';
import type { Paced } from '../store/paced-work.ts';
import { RecordView } from '../store/record.ts';
import type { MessageStore } from '../store/store.ts';
import { PublishHeaders } from '../stream/publish-headers.ts';
import { readSourceHeader, type SourceHeader } from '../stream/source-name.ts';

const PER_STEP = 100;

/** The header of the last message of the source by this index name; `null`: there is none. */
export function* lastOfSource(store: MessageStore, indexName: string): Paced<SourceHeader | null> {
  const headers = new PublishHeaders();
  const view = new RecordView(Buffer.alloc(0));
  let looked = 0;
  for (let at = store.lastSequence; at >= store.firstSequence && at > 0; at--) {
    let outcome = store.read(at, view);
    for (; outcome === 'loading'; outcome = store.read(at, view)) yield at;
    if (outcome === 'found' && view.payloadStart > view.bodyStart) {
      headers.read(view.buffer, view.bodyStart, view.payloadStart);
      const source = headers.streamSource === null ? null : readSourceHeader(headers.streamSource);
      if (source?.indexName === indexName) return source;
    }
    if (++looked % PER_STEP === 0) yield 0;
  }
  return null;
}
