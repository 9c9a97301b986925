/** What streams do with what is published to them: nats-server and petiole say and store the same. */
import { headers, type Msg } from '@nats-io/transport-node';
import { describe, expect, it } from 'vitest';
import { until } from '../helpers/until.ts';
import { sameTalk, type StreamTalk } from '../helpers/stream-talk.ts';

const ROLLUP = 'Nats-Rollup';
const TTL = 'Nats-TTL';
const EXPECTED = 'Nats-Expected-Last-Subject-Sequence';
const EXPECTED_SUBJECT = `${EXPECTED}-Subject`;

describe.each(['file', 'memory'])('a %s stream', (storage) => {
  it('rolls up', async () => {
    const lines = await sameTalk(async (talk) => {
      await talk.stream({ name: 'R', subjects: ['r.>'], storage, allow_rollup_hdrs: true, max_msgs: 8 });
      for (let i = 0; i < 8; i++) await talk.publish(`r.${i % 3}`, `${i}`);
      for (const word of ['sub', 'SUB', 'all', 'ALL', 'al', '', ' sub', 'sub ']) {
        for (let i = 0; i < 5; i++) await talk.publish(`r.${i % 3}`, `${word}${i}`);
        await talk.publish('r.1', `rolled up ${word}`, { [ROLLUP]: word });
        await talk.state('R');
      }
      await talk.content('R');
      await talk.publish('r.1', 'x', { [ROLLUP]: 'sub', 'Nats-Msg-Id': 'a' });
      await talk.publish('r.1', 'x', { [ROLLUP]: 'sub', 'Nats-Msg-Id': 'a' });
      await talk.publish('r.1', 'x', { [ROLLUP]: 'sub', [EXPECTED]: '1' });
      await talk.state('R');
    });
    expect(lines.length).toBeGreaterThan(70);
  });

  it('rolls up what a pattern matches under which a message is published', async () => {
    const lines = await sameTalk(async (talk) => {
      const patterns = ['*', 'a.*', 'a.>', '*.*', '>', 'none.*'];
      for (const [at, pattern] of patterns.entries()) {
        await talk.stream({ name: `W${at}`, subjects: [`w${at}.>`], storage, allow_rollup_hdrs: true });
        for (const each of ['a', 'b', 'a.1', 'a.2.x', 'a']) await talk.publish(`w${at}.${each}`, each);
        await talk.publish(`w${at}.${pattern}`, 'rolled up', { [ROLLUP]: 'sub' });
        await talk.state(`W${at}`);
        await talk.content(`W${at}`);
      }
    });
    expect(lines.length).toBeGreaterThan(50);
  });

  it('stores a message without its status', async () => {
    const lines = await sameTalk(async (talk) => {
      await talk.stream({ name: 'S', subjects: ['s.>'], storage, allow_direct: true });
      const status = headers(503, 'No Responders');
      await talk.client.request('s.1', 'only a status', { timeout: 5000, headers: status });
      status.set('Nats-Msg-Id', 'a');
      status.set('Other', 'b');
      await talk.client.request('s.1', 'and headers', { timeout: 5000, headers: status });
      const repeated = await talk.client.request('s.1', 'again', { timeout: 5000, headers: status });
      talk.note('a repeated id', repeated.string());
      talk.client.publish('$JS.API.DIRECT.GET.S', '{"seq":99}', { reply: 's.2' });
      await until(
        async () => (await talk.client.request('$JS.API.STREAM.INFO.S')).string().includes('"last_seq":3'),
        's.2',
      );
      for (const seq of [1, 2, 3]) await talk.api('STREAM.MSG.GET.S', { seq });
      await talk.state('S');
    });
    expect(lines.length).toBe(6);
  });

  it('refuses to roll up where that is not allowed', async () => {
    const lines = await sameTalk(async (talk) => {
      await talk.stream({ name: 'N', subjects: ['n.>'], storage });
      await talk.stream({ name: 'D', subjects: ['d.>'], storage, allow_rollup_hdrs: true, deny_purge: true });
      await talk.publish('n.1', 'x', { [ROLLUP]: 'sub' });
      await talk.publish('n.1', 'x', { [ROLLUP]: 'wrong' });
      await talk.update({ name: 'N', subjects: ['n.>'], storage, allow_rollup_hdrs: true });
      await talk.publish('n.1', 'x', { [ROLLUP]: 'sub' });
      await talk.publish('n.1', 'x', { [ROLLUP]: 'wr"ong' });
      await talk.update({ name: 'N', subjects: ['n.>'], storage, allow_rollup_hdrs: true, deny_purge: true });
      await talk.update({ name: 'N', subjects: ['n.>'], storage, deny_purge: true });
      await talk.publish('n.1', 'x', { [ROLLUP]: 'all' });
      await talk.state('N');
    });
    expect(lines.length).toBe(11);
  });

  it('rolls up where the number of messages is limited and new ones are discarded', async () => {
    const lines = await sameTalk(async (talk) => {
      const limits = { discard: 'new', max_msgs_per_subject: 2, discard_new_per_subject: true };
      await talk.stream({ name: 'L', subjects: ['l.>'], storage, allow_rollup_hdrs: true, ...limits });
      for (let i = 0; i < 3; i++) await talk.publish('l.1', `${i}`);
      await talk.publish('l.1', 'x', { [ROLLUP]: 'sub' });
      await talk.publish('l.1', 'y', { [ROLLUP]: 'all' });
      await talk.state('L');
      await talk.stream({
        name: 'M',
        subjects: ['m.>'],
        storage,
        allow_rollup_hdrs: true,
        discard: 'new',
        max_msgs: 2,
      });
      for (let i = 0; i < 2; i++) await talk.publish('m.1', `${i}`);
      await talk.publish('m.1', 'x', { [ROLLUP]: 'sub' });
      await talk.publish('m.1', 'x', { [ROLLUP]: 'all' });
      await talk.state('M');
    });
    expect(lines).not.toEqual([]);
  });

  it('reads TTLs', async () => {
    const ttls = [
      '1',
      '10',
      '0',
      '00',
      '-1',
      '+5',
      '1s',
      '1.5s',
      '999ms',
      '1h30m',
      '1d',
      'never',
      'NEVER',
      'nev',
      '5x',
      '1e3',
    ];
    const lines = await sameTalk(async (talk) => {
      await talk.stream({ name: 'A', subjects: ['a.>'], storage });
      await talk.stream({ name: 'T', subjects: ['t.>'], storage, allow_msg_ttl: true });
      for (const ttl of [...ttls, '', '3 ', ' 3', '100000000000000000000']) {
        await talk.publish('a.1', 'x', { [TTL]: ttl });
        await talk.publish('t.1', 'x', { [TTL]: ttl });
        await talk.publish('t.1', 'x', { [TTL]: ttl, [ROLLUP]: 'sub' });
      }
      await talk.update({ name: 'T', subjects: ['t.>'], storage });
    });
    expect(lines.length).toBeGreaterThan(50);
  });

  it('lets messages go when their time is over, and keeps others', async () => {
    const lines = await sameTalk(async (talk) => {
      await talk.stream({ name: 'T', subjects: ['t.>'], storage, allow_msg_ttl: true, max_age: 3e9 });
      await talk.publish('t.1', 'one second', { [TTL]: '1' });
      await talk.publish('t.2', 'forever', { [TTL]: 'never' });
      await talk.publish('t.2', 'three seconds');
      await talk.publish('t.1', 'a minute, in vain', { [TTL]: '1m' });
      await talk.publish('t.3', 'one second', { [TTL]: '1s' });
      await talk.messages('T', 3);
      await talk.content('T');
      await talk.messages('T', 1);
      await talk.publish('t.2', 'behind');
      await talk.content('T');
      await talk.messages('T', 1);
      await talk.state('T');
    });
    expect(lines.length).toBe(13);
  });

  it('leaves a delete marker for the last message of a subject', async () => {
    const lines = await sameTalk(async (talk) => {
      await talk.stream({ name: 'M', subjects: ['m.>'], storage, subject_delete_marker_ttl: 2e9 });
      await talk.publish('m.1', 'raised', { [TTL]: '1' });
      await talk.publish('m.1', 'raised to the end', { [TTL]: '1s', Note: 'x', 'Nats-Msg-Id': 'i' });
      await talk.publish('m.2', 'no marker, it is a purge', { 'KV-Operation': 'PURGE', [TTL]: '2s' });
      await talk.publish('m.3', 'a marker', { 'KV-Operation': 'DEL', [TTL]: '2s' });
      await talk.publish('m.4', 'stays');
      await talk.publish('m.4', 'goes without a marker', { [TTL]: '2s' });
      await talk.content('M');
      await talk.messages('M', 3);
      await talk.content('M');
      await talk.messages('M', 1);
      await talk.content('M');
      await talk.state('M');
    });
    expect(lines.filter((line) => line.includes('Nats-Marker-Reason: MaxAge')).length).toBe(2);
  });

  it('leaves a delete marker by age, and raises no TTL where a subject has one message', async () => {
    const lines = await sameTalk(async (talk) => {
      const ttls = { subject_delete_marker_ttl: 61e9, max_age: 1e9, max_msgs_per_subject: 1, duplicate_window: 1e9 };
      await talk.stream({ name: 'G', subjects: ['g.>'], storage, ...ttls });
      await talk.publish('g.1', 'old', { [TTL]: '1' });
      await talk.publish('g.2', 'old', { [TTL]: '5' });
      await talk.publish('g.1', 'new');
      await talk.content('G');
      const isMarked = (): boolean => talk.lines.filter((line) => line.includes('MaxAge')).length === 2;
      for (let i = 0; i < 50 && !isMarked(); i++) {
        talk.lines.length = 8;
        await talk.pause(100);
        await talk.content('G');
      }
    });
    expect(lines.filter((line) => line.includes('Nats-TTL: 1m1s')).length).toBe(2);
  });

  it('leaves no delete marker that nobody wants', async () => {
    const lines = await sameTalk(async (talk) => {
      const config = { retention: 'interest', subject_delete_marker_ttl: 2e9, max_msgs_per_subject: 1 };
      await talk.stream({ name: 'I', subjects: ['i.>'], storage, ...config });
      const consumer = { name: 'c', durable_name: 'c', ack_policy: 'explicit', filter_subject: 'i.1' };
      const request = { stream_name: 'I', config: consumer };
      await talk.client.request('$JS.API.CONSUMER.CREATE.I.c.i.1', JSON.stringify(request));
      await talk.publish('i.1', 'wanted', { [TTL]: '1s' });
      await talk.publish('i.2', 'not wanted', { [TTL]: '1s' });
      await talk.pause(2000);
      await talk.content('I');
      await talk.messages('I', 0);
    });
    expect(lines.filter((line) => line.includes('MaxAge'))).toHaveLength(1);
  });

  it('checks what is expected of the subject', async () => {
    const lines = await sameTalk(async (talk) => {
      await talk.stream({ name: 'E', subjects: ['e.>'], storage });
      await talk.publish('e.1', '', { [EXPECTED]: '0' });
      await talk.publish('e.1', '', { [EXPECTED]: '0' });
      await talk.publish('e.1', '', { [EXPECTED]: '1' });
      await talk.publish('e.2', '', { [EXPECTED]: '2', [EXPECTED_SUBJECT]: 'e.1' });
      await talk.publish('e.2', '', { [EXPECTED]: '3', [EXPECTED_SUBJECT]: 'e.*' });
      await talk.publish('e.2', '', { [EXPECTED]: '3', [EXPECTED_SUBJECT]: 'e.*' });
      await talk.publish('e.2', '', { [EXPECTED]: '0', [EXPECTED_SUBJECT]: 'x' });
      await talk.publish('e.2', '', { [EXPECTED]: '5', [EXPECTED_SUBJECT]: '>' });
      await talk.publish('e.2', '', { [EXPECTED_SUBJECT]: 'e.1' });
      await talk.publish('e.2', '', { [EXPECTED]: 'x' });
      await talk.publish('e.2', '', { [EXPECTED]: '-1' });
      await talk.publish('e.2', '', { 'Nats-Expected-Last-Sequence': '7' });
      await talk.publish('e.2', '', { 'Nats-Expected-Last-Sequence': '1' });
      await talk.publish('e.2', '', { 'Nats-Expected-Stream': 'X' });
      await talk.api('STREAM.MSG.DELETE.E', { seq: 2 });
      await talk.publish('e.1', '', { [EXPECTED]: '1' });
      await talk.api('STREAM.PURGE.E', { filter: 'e.1' });
      await talk.publish('e.1', '', { [EXPECTED]: '0' });
    });
    expect(lines.length).toBe(19);
  });

  it('checks what is expected against messages that are on their way', async () => {
    const lines = await sameTalk(async (talk) => {
      await talk.stream({ name: 'F', subjects: ['f.>'], storage, allow_rollup_hdrs: true });
      await talk.publish('f.1', 'before');
      const rows: [subject: string, lines: Record<string, string>][] = [
        ['f.1', { [EXPECTED]: '0' }],
        ['f.1', { [EXPECTED]: '1' }],
        ['f.1', { [EXPECTED]: '1' }],
        ['f.1', { [EXPECTED]: '2', [ROLLUP]: 'sub' }],
        ['f.2', { [EXPECTED]: '3', [EXPECTED_SUBJECT]: 'f.1' }],
        ['f.3', { 'Nats-Expected-Last-Sequence': '4' }],
        ['f.3', { 'Nats-Expected-Last-Sequence': '4' }],
        ['f.3', { [ROLLUP]: 'all' }],
        ['f.1', { [EXPECTED]: '3' }],
        ['f.2', { [EXPECTED]: '0' }],
        ['f.1', { [EXPECTED]: '0' }],
        ['f.3', { [EXPECTED]: '6', 'Nats-Msg-Id': 'a', 'Nats-Expected-Last-Msg-Id': 'b' }],
        ['f.3', { [EXPECTED]: '6', 'Nats-Msg-Id': 'a' }],
        ['f.3', { 'Nats-Msg-Id': 'a', 'Nats-Expected-Last-Msg-Id': 'a' }],
        ['f.3', { 'Nats-Msg-Id': 'b', 'Nats-Expected-Last-Msg-Id': 'a' }],
      ];
      const first = talk.lines.length;
      await Promise.all(rows.map(([subject, own]) => talk.publish(subject, 'x', own)));
      talk.lines.splice(first, rows.length, ...talk.lines.slice(first).sort());
      await talk.content('F');
    });
    expect(lines.length).toBeGreaterThan(16);
  });

  it('stores under transformed subjects, which is what counts', async () => {
    const lines = await sameTalk(async (talk) => {
      const transform = { src: 'a.*.*', dest: 'c.$2.{{partition(3,1)}}.$1' };
      await talk.stream({
        name: 'X',
        subjects: ['a.>'],
        storage,
        subject_transform: transform,
        max_msgs_per_subject: 2,
      });
      for (const subject of ['a.x.1', 'a.y.1', 'a.x.2', 'a.x', 'a.x.1.z']) await talk.publish(subject, subject);
      await talk.content('X');
      await talk.publish('a.x.1', '', { [EXPECTED]: '1' });
      await talk.publish('a.x.1', '', { [EXPECTED]: '1', [EXPECTED_SUBJECT]: 'a.x.1' });
      await talk.publish('a.x.1', '', { [EXPECTED]: '6', [EXPECTED_SUBJECT]: 'c.1.>' });
      for (let i = 0; i < 4; i++) await talk.publish('a.x.1', `${i}`);
      await talk.content('X');
      await talk.update({ name: 'X', subjects: ['a.>'], storage, subject_transform: { src: '', dest: 'all.>' } });
      await talk.publish('a.x.1', 'all');
      await talk.update({ name: 'X', subjects: ['a.>'], storage });
      await talk.publish('a.x.1', 'plain');
      await talk.content('X');
    });
    expect(lines.length).toBeGreaterThan(30);
  });

  it('publishes again what it has stored', async () => {
    const lines = await sameTalk(async (talk) => {
      const came = listen(talk, 'again.>');
      const republish = { src: 'p.*', dest: 'again.$1' };
      await talk.stream({ name: 'P', subjects: ['p.>'], storage, republish, allow_rollup_hdrs: true });
      await talk.publish('p.1', 'one');
      await talk.publish('p.2', 'two', { Note: 'x', 'Nats-Msg-Id': 'i' });
      await talk.publish('p.2', 'two', { Note: 'x', 'Nats-Msg-Id': 'i' });
      await talk.publish('p.1', 'three');
      await talk.publish('p.1.x', 'not again');
      await talk.publish('p.1', 'four', { [ROLLUP]: 'all' });
      await talk.publish('p.2', '', { [EXPECTED]: '9' });
      await talk.publish('p.2', '');
      await until(() => came.length === 5, 'five messages again');
      await talk.update({ name: 'P', subjects: ['p.>'], storage, republish: { dest: 'again.>', headers_only: true } });
      await talk.publish('p.1.x', 'only headers');
      await talk.publish('p.1', 'only headers', { Note: 'x' });
      await until(() => came.length === 7, 'seven messages again');
      await talk.update({ name: 'P', subjects: ['p.>'], storage });
      await talk.publish('p.1', 'not again');
      await talk.client.flush();
      note(talk, came);
    });
    expect(lines.filter((line) => line.startsWith('again.'))).toHaveLength(7);
  });

  it('rolls up and takes TTLs in batches', async () => {
    const lines = await sameTalk(async (talk) => {
      const config = { allow_atomic: true, allow_rollup_hdrs: true, allow_msg_ttl: true };
      await talk.stream({ name: 'B', subjects: ['b.>'], storage, ...config });
      const rows: [subject: string, lines: Record<string, string>][][] = [
        [
          ['b.1', {}],
          ['b.2', { [ROLLUP]: 'sub' }],
          ['b.1', {}],
        ],
        [
          ['b.1', { [ROLLUP]: 'sub' }],
          ['b.1', {}],
        ],
        [
          ['b.1', {}],
          ['b.1', { [ROLLUP]: 'sub' }],
        ],
        [
          ['b.1', { [ROLLUP]: 'all' }],
          ['b.1', {}],
        ],
        [
          ['b.1', {}],
          ['b.2', { [ROLLUP]: 'all' }],
        ],
        [['b.1', { [ROLLUP]: 'x' }]],
        [
          ['b.1', { [TTL]: 'never' }],
          ['b.2', { [TTL]: '1h' }],
        ],
        [['b.1', { [TTL]: '0' }]],
        [
          ['b.1', { [TTL]: 'x' }],
          ['b.2', {}],
        ],
      ];
      for (const [number, batch] of rows.entries()) {
        for (const [at, [subject, own]] of batch.entries()) {
          const isLast = at === batch.length - 1;
          const place = { 'Nats-Batch-Id': `${number}`, 'Nats-Batch-Sequence': `${at + 1}` };
          await talk.publish(subject, `${number} ${at}`, {
            ...own,
            ...place,
            ...(isLast ? { 'Nats-Batch-Commit': '1' } : {}),
          });
        }
        await talk.state('B');
      }
      await talk.content('B');
    });
    expect(lines.length).toBeGreaterThan(30);
  });
});

function listen(talk: StreamTalk, subject: string): Msg[] {
  const came: Msg[] = [];
  talk.client.subscribe(subject, { callback: (_error, message) => void came.push(message) });
  return came;
}

function note(talk: StreamTalk, came: readonly Msg[]): void {
  for (const message of came) {
    const lines = message.headers?.keys().map((name) => `${name}: ${message.headers?.values(name).join(', ')}`);
    talk.note(message.subject, `[${lines?.join('; ')}] ${message.string()}`);
  }
}
