/** Reads everything that a stream holds, by direct gets, as any client would. */
import type { Held } from './load-ledger.ts';
import type { LoadLink } from './load-link.ts';

const BATCH = 500;
const RETRY_MS = 20;

/** Calls back with all messages in their order and the stream's last sequence; with `null`: there is no such stream. */
export function readStream(
  link: LoadLink,
  stream: string,
  done: (held: readonly Held[] | null, lastSequence: number) => void,
): void {
  link.request(`STREAM.INFO.${stream}`, null, ({ state, error }) => {
    if (error?.code === 404) done(null, 0);
    else if (state === undefined) link.after(RETRY_MS, () => readStream(link, stream, done));
    else readFrom(link, stream, 1, [], (held) => done(held, state.last_seq));
  });
}

function readFrom(
  link: LoadLink,
  stream: string,
  sequence: number,
  held: Held[],
  done: (held: readonly Held[]) => void,
): void {
  let last = 0;
  const reply = link.inbox(({ headers, payload }) => {
    const status = /^NATS\/1\.0 (\d+)/.exec(headers)?.[1];
    if (status === undefined) {
      last = Number(/Nats-Sequence: (\d+)/.exec(headers)?.[1]);
      const subject = /Nats-Subject: (\S+)/.exec(headers)?.[1] ?? '';
      const [id = ''] = payload.toString('latin1', 0, 100).split(' ', 1);
      held.push({ sequence: last, subject, id });
      return false;
    }
    const isMore = status === '204' && !headers.includes('Nats-Num-Pending: 0\r\n') && last > 0;
    if (isMore) readFrom(link, stream, last + 1, held, done);
    else if (status === '204' || status === '404') done(held);
    else throw new Error(`a direct get of ${stream} was answered with ${headers}`);
    return true;
  });
  link.publish(`$JS.API.DIRECT.GET.${stream}`, [], JSON.stringify({ seq: sequence, batch: BATCH }), reply);
}
