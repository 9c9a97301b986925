/**
 * Buckets of keys and of objects, as clients make them of streams: the requests that client libraries send, answered the
 * same by nats-server and petiole.
 */
import type { Msg } from '@nats-io/transport-node';
import { describe, expect, it } from 'vitest';
import { until } from '../helpers/until.ts';
import { sameTalk, type StreamTalk } from '../helpers/stream-talk.ts';

const EXPECTED = 'Nats-Expected-Last-Subject-Sequence';
const OPERATION = 'KV-Operation';
const ROLLUP = 'Nats-Rollup';
const TTL = 'Nats-TTL';
const CHUNK = 128 * 1024;

function bucket(storage: string, fields: object = {}) {
  return {
    name: 'KV_B',
    subjects: ['$KV.B.>'],
    storage,
    discard: 'new',
    max_msgs_per_subject: 3,
    allow_rollup_hdrs: true,
    deny_delete: true,
    allow_direct: true,
    ...fields,
  };
}

describe.each(['file', 'memory'])('in %s', (storage) => {
  it('a bucket of keys is put to, created in, updated, deleted from and purged', async () => {
    const lines = await sameTalk(async (talk) => {
      await talk.stream(bucket(storage));
      const key = '$KV.B.k';
      await talk.get(`KV_B.${key}`);
      await talk.publish(key, 'created', { [EXPECTED]: '0' });
      await talk.publish(key, 'created again', { [EXPECTED]: '0' });
      await talk.publish(key, 'updated', { [EXPECTED]: '1' });
      await talk.publish(key, 'updated too late', { [EXPECTED]: '1' });
      for (let i = 0; i < 4; i++) await talk.publish(key, `put ${i}`);
      await talk.get(`KV_B.${key}`);
      await talk.get('KV_B', { seq: 5 });
      await talk.get('KV_B', { seq: 1 });
      await talk.publish(key, '', { [OPERATION]: 'DEL' });
      await talk.get(`KV_B.${key}`);
      await talk.publish(key, 'created', { [EXPECTED]: '0' });
      await talk.publish(key, 'created where it was deleted', { [EXPECTED]: '7' });
      await talk.publish(key, '', { [OPERATION]: 'DEL', [EXPECTED]: '3' });
      await talk.publish(key, '', { [OPERATION]: 'PURGE', [ROLLUP]: 'sub' });
      await talk.content('KV_B');
      for (const name of ['a', 'b.c', 'd']) await talk.publish(`$KV.B.${name}`, name);
      await talk.publish('$KV.B.a', '', { [OPERATION]: 'PURGE', [ROLLUP]: 'sub', [EXPECTED]: '99' });
      await talk.api('STREAM.PURGE.KV_B', { filter: '$KV.B.k', keep: 0 });
      await talk.api('STREAM.PURGE.KV_B', { filter: '$KV.B.d', keep: 1 });
      await talk.api('STREAM.MSG.DELETE.KV_B', { seq: 10 });
      await talk.get('KV_B', { multi_last: ['$KV.B.>'] });
      await talk.state('KV_B');
    });
    expect(lines.length).toBeGreaterThan(30);
  });

  it('a bucket with TTLs lets keys go and tells those who watch', async () => {
    const lines = await sameTalk(async (talk) => {
      const limits = { max_msgs_per_subject: 1, allow_msg_ttl: true, subject_delete_marker_ttl: 2e9 };
      await talk.stream(bucket(storage, limits));
      const came = await watch(talk, 'KV_B', '$KV.B.>');
      await talk.publish('$KV.B.a', 'created', { [EXPECTED]: '0', [TTL]: '1s' });
      await talk.publish('$KV.B.b', 'stays');
      await until(() => came.length >= 3, 'the marker of a');
      await talk.publish('$KV.B.a', 'created again', { [EXPECTED]: '0' });
      await talk.publish('$KV.B.a', 'created again', { [EXPECTED]: '3', [TTL]: '1s' });
      await talk.publish('$KV.B.b', '', { [OPERATION]: 'PURGE', [ROLLUP]: 'sub', [TTL]: '1s' });
      await until(() => came.length >= 6, 'the second marker of a');
      await talk.messages('KV_B', 0);
      await talk.state('KV_B');
      note(talk, came);
    });
    expect(lines.filter((line) => line.includes('Nats-Marker-Reason: MaxAge'))).toHaveLength(2);
  });

  it('keys are listed and watched, their history is read', async () => {
    const lines = await sameTalk(async (talk) => {
      await talk.stream(bucket(storage));
      for (let i = 0; i < 12; i++) await talk.publish(`$KV.B.${'abcd'[i % 4]}`, `${i}`);
      await talk.publish('$KV.B.b', '', { [OPERATION]: 'DEL' });
      await talk.publish('$KV.B.c', '', { [OPERATION]: 'PURGE', [ROLLUP]: 'sub' });
      const kinds = [
        { deliver_policy: 'last_per_subject', headers_only: true },
        { deliver_policy: 'last_per_subject' },
        { deliver_policy: 'all' },
        { deliver_policy: 'new' },
        { deliver_policy: 'by_start_sequence', opt_start_seq: 9 },
      ];
      for (const kind of kinds) note(talk, await watched(talk, 'KV_B', '$KV.B.>', kind));
      note(talk, await watched(talk, 'KV_B', '$KV.B.c', { deliver_policy: 'all' }));
    });
    expect(lines.length).toBeGreaterThan(30);
  });

  it('an object is put in chunks, replaced and deleted', async () => {
    const lines = await sameTalk(async (talk) => {
      const config = { allow_rollup_hdrs: true, allow_direct: true, discard: 'new' };
      await talk.stream({ name: 'OBJ_O', subjects: ['$O.O.C.>', '$O.O.M.>'], storage, ...config });
      for (const [round, id] of ['first', 'second'].entries()) {
        for (let i = 0; i < 5; i++) {
          const { seq } = (await talk.client.request(`$O.O.C.${id}`, 'x'.repeat(CHUNK))).json<{ seq: number }>();
          talk.note(`chunk ${i}`, `${seq}`);
        }
        await talk.publish('$O.O.M.bmFtZQ==', JSON.stringify({ name: 'name', nuid: id, chunks: 5 }), {
          [ROLLUP]: 'sub',
        });
        if (round > 0) await talk.api('STREAM.PURGE.OBJ_O', { filter: '$O.O.C.first' });
        await talk.get('OBJ_O.$O.O.M.bmFtZQ==');
        await talk.state('OBJ_O');
      }
      const chunks = await watched(talk, 'OBJ_O', '$O.O.C.second', { deliver_policy: 'all' });
      talk.note('chunks', chunks.map((message) => message.data.length).join());
      note(talk, await watched(talk, 'OBJ_O', '$O.O.M.>', { deliver_policy: 'last_per_subject' }));
      await talk.publish('$O.O.M.bmFtZQ==', JSON.stringify({ name: 'name', deleted: true }), { [ROLLUP]: 'sub' });
      await talk.api('STREAM.PURGE.OBJ_O', { filter: '$O.O.C.second' });
      await talk.update({ name: 'OBJ_O', subjects: ['$O.O.C.>', '$O.O.M.>'], storage, ...config, sealed: true });
      await talk.publish('$O.O.M.bmFtZQ==', 'sealed', { [ROLLUP]: 'sub' });
      await talk.state('OBJ_O');
    });
    expect(lines.length).toBeGreaterThan(20);
  });
});

/** What an ordered consumer brings from now on. */
async function watch(talk: StreamTalk, stream: string, filter: string, kind: object = {}): Promise<Msg[]> {
  const came: Msg[] = [];
  const inbox = `_INBOX.${Math.random().toString(36).slice(2)}`;
  talk.client.subscribe(inbox, { callback: (_error, message) => void came.push(message) });
  const config = { deliver_subject: inbox, ack_policy: 'none', filter_subject: filter, mem_storage: true, ...kind };
  const answer = await talk.client.request(
    `$JS.API.CONSUMER.CREATE.${stream}`,
    JSON.stringify({ stream_name: stream, config: { max_deliver: 1, ...config } }),
  );
  const { num_pending, error } = answer.json<{ num_pending?: number; error?: object }>();
  talk.note(`watch ${filter} ${JSON.stringify(kind)}`, JSON.stringify({ num_pending, error }));
  return came;
}

/** What an ordered consumer finds, when nothing more comes. */
async function watched(talk: StreamTalk, stream: string, filter: string, kind: object): Promise<Msg[]> {
  const came = await watch(talk, stream, filter, kind);
  let count = -1;
  while (count < came.length) {
    count = came.length;
    await talk.pause();
  }
  return came;
}

function note(talk: StreamTalk, came: readonly Msg[]): void {
  for (const message of came) {
    const lines = message.headers?.keys().map((name) => `${name}: ${message.headers?.values(name).join(', ')}`);
    const pending = message.reply?.split('.').at(-1);
    talk.note(message.subject, `[${lines?.join('; ')}] ${message.string()} ${pending}`);
  }
}
