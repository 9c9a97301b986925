/** Messages for stores, and what a store holds as plain values. */
import { NONE, type MessageStore, type Time } from '../../jetstream/store/store.ts';
import { RecordView } from '../../jetstream/store/record.ts';
import { Message } from '../../server/protocol/message.ts';

export interface Stored {
  readonly sequence: number;
  readonly subject: string;
  readonly headers: string;
  readonly payload: string;
  readonly time: Time;
}

/** A message as a connection hands it over: its bytes in the middle of a larger buffer. */
export function messageOf(subject: string, payload: string | Buffer, headers = ''): Message {
  const message = new Message();
  const subjectBytes = Buffer.from(`  ${subject}  `, 'latin1');
  message.setSubject(subjectBytes, 2, subjectBytes.length - 2);
  const head = Buffer.from(headers, 'latin1');
  const payloadBytes = typeof payload === 'string' ? Buffer.from(payload, 'latin1') : payload;
  const body = Buffer.concat([Buffer.from('..'), head, payloadBytes, Buffer.from('\r\n')]);
  message.setBody(body, 2, 2 + head.length, body.length - 2);
  return message;
}

/** A header block with this message id. */
export function idHeaders(id: string): string {
  return `NATS/1.0\r\nNats-Msg-Id: ${id}\r\n\r\n`;
}

/** The message id in a header block, `null` when there is none. */
export function idOf(headers: string): string | null {
  return /Nats-Msg-Id: (.*)\r\n/.exec(headers)?.[1] ?? null;
}

/** The message that a view shows, copied. */
function storedOf(view: RecordView): Stored {
  const { buffer } = view;
  return {
    sequence: view.sequence,
    subject: view.subject,
    headers: buffer.toString('latin1', view.bodyStart, view.payloadStart),
    payload: buffer.toString('latin1', view.payloadStart, view.end),
    time: { seconds: view.seconds, nanoseconds: view.nanoseconds },
  };
}

/** Every visible sequence, found by asking for the next one. `settle` lets what is loading arrive. */
export function sequencesOf(store: MessageStore, settle: () => void): number[] {
  const found: number[] = [];
  for (let at = store.firstSequence; ;) {
    const next = nextOf(store, at, null, settle);
    if (next === NONE) return found;
    found.push(next);
    at = next + 1;
  }
}

/** The next sequence whose subject is accepted, waited for. */
export function nextOf(
  store: MessageStore,
  from: number,
  accepts: ((subject: number) => boolean) | null,
  settle: () => void,
): number {
  for (let attempt = 0; attempt < 10_000; attempt++) {
    const next = store.next(from, accepts);
    if (next >= 0) return next;
    awaitReadable(store, from, settle);
  }
  throw new Error(`the store never says what comes after ${from}`);
}

/** The last message of the subject up to a sequence, waited for. */
export function lastOf(store: MessageStore, subject: string, atMost: number, settle: () => void): number {
  for (let attempt = 0; attempt < 10_000; attempt++) {
    const last = store.lastOf(store.subjects.findText(subject), atMost);
    if (last >= 0) return last;
    awaitReadable(store, Math.min(atMost, store.lastSequence), settle);
  }
  throw new Error(`the store never says what the last message of ${subject} is`);
}

/** The message, waited for; `null` when there is none. */
export function readStored(store: MessageStore, sequence: number, settle: () => void): Stored | null {
  const view = new RecordView(Buffer.alloc(0));
  for (let attempt = 0; attempt < 1000; attempt++) {
    const outcome = store.read(sequence, view);
    if (outcome === 'found') return storedOf(view);
    if (outcome === 'missing') return null;
    awaitReadable(store, sequence, settle);
  }
  throw new Error(`message ${sequence} never becomes readable`);
}

export function readAll(store: MessageStore, settle: () => void): Stored[] {
  return sequencesOf(store, settle).flatMap((sequence) => readStored(store, sequence, settle) ?? []);
}

/** Shows each message of the store, oldest first. `wait` lets the world go on until its condition holds. */
export function visitMessages(
  store: MessageStore,
  wait: (condition: () => boolean) => void,
  visit: (view: RecordView) => void,
): void {
  const view = new RecordView(Buffer.alloc(0));
  for (let sequence = store.firstSequence; sequence <= store.lastSequence; sequence++) {
    let outcome = store.read(sequence, view);
    while (outcome === 'loading') {
      let isReadable = false;
      store.whenReadable(sequence, () => (isReadable = true));
      wait(() => isReadable);
      outcome = store.read(sequence, view);
    }
    if (outcome === 'found') visit(view);
  }
}

function awaitReadable(store: MessageStore, sequence: number, settle: () => void): void {
  let calls = 0;
  store.whenReadable(sequence, () => calls++);
  if (calls > 0) throw new Error('whenReadable calls back inside the call');
  settle();
  if (calls !== 1) throw new Error(`whenReadable called back ${calls} times`);
}
