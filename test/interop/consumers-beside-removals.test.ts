/**
 * What consumers think of a stream whose messages are replaced, expire, or are purged: the same as nats-server's
 * consumers. Among it nats-server#2607, #3838: a purge of one subject disturbed consumers of another.
 */
import { describe, expect, it } from 'vitest';
import { sameTalk, type StreamTalk } from '../helpers/stream-talk.ts';

const FILTERS = { all: '', one: 'r.1', two: 'r.2' };

describe.each(['file', 'memory'])('consumers of a %s stream', (storage) => {
  it('count what is left after purges', async () => {
    const lines = await sameTalk(async (talk) => {
      await filled(talk, storage);
      await talk.api('STREAM.PURGE.R', { filter: 'r.1', seq: 6 });
      await described(talk);
      await talk.api('STREAM.PURGE.R', { filter: 'r.1' });
      await described(talk);
      await fetched(talk, 'two', 2);
      await described(talk);
      await talk.api('STREAM.PURGE.R', { keep: 2 });
      await described(talk);
      await talk.api('STREAM.PURGE.R');
      await described(talk);
      await talk.publish('r.2', 'behind');
      await fetched(talk, 'two', 1);
      await fetched(talk, 'all', 1);
      await described(talk);
    });
    expect(lines.length).toBeGreaterThan(30);
  });

  it('count what is left after roll-ups', async () => {
    const lines = await sameTalk(async (talk) => {
      await filled(talk, storage);
      // nats-server moves consumers of the subject on, petiole when they go on.
      await talk.publish('r.1', 'rolled up', { 'Nats-Rollup': 'sub' });
      await described(talk, false);
      await fetched(talk, 'all', 3);
      await described(talk, false);
      await talk.publish('r.2', 'rolled up', { 'Nats-Rollup': 'all' });
      await described(talk, false);
      for (const name of Object.keys(FILTERS)) await fetched(talk, name, 2);
      await described(talk, false);
    });
    expect(lines.length).toBeGreaterThan(25);
  });

  it('count what is left after messages expired or were deleted', async () => {
    const lines = await sameTalk(async (talk) => {
      await filled(talk, storage);
      await talk.publish('r.1', 'short', { 'Nats-TTL': '1s' });
      await talk.publish('r.2', 'short', { 'Nats-TTL': '1s' });
      await fetched(talk, 'two', 4);
      await talk.messages('R', 12);
      await described(talk);
      for (const seq of [1, 2, 8, 12]) await talk.api('STREAM.MSG.DELETE.R', { seq });
      await described(talk);
      for (const name of Object.keys(FILTERS)) await fetched(talk, name, 3);
      await described(talk);
    });
    expect(lines.length).toBeGreaterThan(25);
  });
});

/** A stream of twelve messages, of which each consumer has one, and one acknowledged. */
async function filled(talk: StreamTalk, storage: string): Promise<void> {
  await talk.stream({ name: 'R', subjects: ['r.*'], storage, allow_rollup_hdrs: true, allow_msg_ttl: true });
  for (const [name, filter] of Object.entries(FILTERS)) {
    const config = { name, durable_name: name, ack_policy: 'explicit', filter_subject: filter };
    await talk.client.request(
      `$JS.API.CONSUMER.CREATE.R.${name}${filter === '' ? '' : `.${filter}`}`,
      JSON.stringify({ stream_name: 'R', config }),
    );
  }
  for (let i = 1; i <= 12; i++) await talk.publish(`r.${i % 3}`, `${i}`);
  for (const name of Object.keys(FILTERS)) await fetched(talk, name, 2);
  await described(talk);
}

/** Fetches so many messages; every second one is acknowledged. */
async function fetched(talk: StreamTalk, name: string, batch: number): Promise<void> {
  const inbox = `_INBOX.${Math.random().toString(36).slice(2)}`;
  const said: string[] = [];
  let acknowledged = 0;
  const isOver = (): boolean => said.at(-1)?.length === 3 || said.length === batch;
  const subscription = talk.client.subscribe(inbox, {
    callback: (_error, message) => {
      const code = message.headers?.code ?? 0;
      said.push(
        code > 0
          ? `${code}`
          : `${message.subject} ${message.string()} ${message.reply?.split('.').slice(4, 7).join('.')}`,
      );
      if (code === 0 && ++acknowledged % 2 === 0) message.respond('+ACK');
    },
  });
  talk.client.publish(`$JS.API.CONSUMER.MSG.NEXT.R.${name}`, JSON.stringify({ batch, no_wait: true }), {
    reply: inbox,
  });
  while (!isOver()) await talk.pause(10);
  subscription.unsubscribe();
  talk.note(`fetch from ${name}`, said.join('; '));
}

/** `withFloors`: also how far they are in the stream. */
async function described(talk: StreamTalk, withFloors = true): Promise<void> {
  await talk.pause();
  for (const name of Object.keys(FILTERS)) {
    const info = (await talk.client.request(`$JS.API.CONSUMER.INFO.R.${name}`)).json<Described>();
    const { delivered, ack_floor, num_ack_pending, num_pending, num_redelivered } = info;
    const floors = [delivered, ack_floor].map(({ consumer_seq, stream_seq }) => `${consumer_seq}/${stream_seq}`);
    const shown = withFloors || name === 'all' ? floors.join(' ') : '';
    talk.note(name, `${shown} ${num_ack_pending} ${num_pending} ${num_redelivered}`);
  }
}

interface Pair {
  readonly consumer_seq: number;
  readonly stream_seq: number;
}

interface Described {
  readonly delivered: Pair;
  readonly ack_floor: Pair;
  readonly num_ack_pending: number;
  readonly num_pending: number;
  readonly num_redelivered: number;
}
