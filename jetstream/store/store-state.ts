/** The state of a store as the API shows it. The time of the first message stands in its record, which may be on disk. */

import { Buffer } from 'node:buffer';
import { RecordView } from './record.ts';
import type { MessageStore, StoreState, Time } from './store.ts';

/** Calls back with the state; reads the first message if need be. */
export function readState(store: MessageStore, done: (state: StoreState) => void): void {
  const view = new RecordView(Buffer.alloc(0));
  const first = store.firstSequence;
  const outcome = store.messages > 0 ? store.read(first, view) : 'missing';
  if (outcome !== 'loading') {
    done(stateOf(store, outcome === 'found' ? timeOf(view) : null));
    return;
  }
  store.whenReadable(first, () => {
    // The first message may have gone meanwhile, or it can't be read.
    const again = store.firstSequence === first && store.read(first, view) !== 'found';
    if (again) done(stateOf(store, null));
    else readState(store, done);
  });
}

function timeOf(view: RecordView): Time {
  return { seconds: view.seconds, nanoseconds: view.nanoseconds };
}

function stateOf(store: MessageStore, firstTime: Time | null): StoreState {
  const { messages, bytes, firstSequence, lastSequence, lastTime, lost } = store;
  const span = messages === 0 ? 0 : lastSequence - firstSequence + 1;
  return {
    messages,
    bytes,
    firstSequence,
    firstTime,
    lastSequence,
    lastTime,
    subjects: store.subjects.live,
    deleted: messages === 0 ? 0 : span - messages,
    lost,
  };
}
