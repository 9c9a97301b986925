/** Gets of stored messages, one and many, and what is refused: nats-server and petiole say the same. */
import { describe, expect, it } from 'vitest';
import { sameTalk, type StreamTalk } from '../helpers/stream-talk.ts';

const FAR = '2100-01-01T00:00:00Z';
const LONG_AGO = '2000-01-01T00:00:00Z';

describe.each(['file', 'memory'])('a %s stream', (storage) => {
  async function filled(talk: StreamTalk): Promise<void> {
    await talk.stream({ name: 'S', subjects: ['s.>'], storage, allow_direct: true, allow_rollup_hdrs: true });
    for (let i = 1; i <= 12; i++) await talk.publish(`s.${i % 4}`, `m${i}`, i % 3 === 0 ? { Note: `n${i}` } : {});
    await talk.api('STREAM.MSG.DELETE.S', { seq: 5 });
    await talk.api('STREAM.MSG.DELETE.S', { seq: 12 });
  }

  it('gives one message by the API', async () => {
    const lines = await sameTalk(async (talk) => {
      await filled(talk);
      const bodies = [
        ...[0, 1, 3, 5, 11, 12, 13].map((seq) => ({ seq })),
        { seq: 3, no_hdr: true },
        { last_by_subj: 's.1' },
        { last_by_subj: 's.*' },
        { last_by_subj: '>' },
        { last_by_subj: 's.0' },
        { last_by_subj: 'x' },
        { next_by_subj: 's.1' },
        { next_by_subj: 's.1', seq: 2 },
        { next_by_subj: 's.1', seq: 10 },
        { next_by_subj: '>', seq: 5 },
        { next_by_subj: 's.3', seq: 12 },
        { start_time: LONG_AGO },
        { start_time: FAR },
        { start_time: LONG_AGO, next_by_subj: 's.3' },
        { start_time: LONG_AGO, seq: 1 },
        { start_time: LONG_AGO, last_by_subj: 's.1' },
        { seq: 1, last_by_subj: 's.1' },
        { next_by_subj: 's.1', last_by_subj: 's.1' },
        { seq: 1, batch: 1 },
        { seq: 1, batch: -1 },
        { seq: 1, max_bytes: 10 },
        { seq: 1, multi_last: ['s.1'] },
        { multi_last: ['s.1'] },
        { seq: 1, up_to_seq: 1, up_to_time: FAR },
        '',
        '{}',
        ' { } ',
        '[]',
        'null',
        '7',
        '{"seq":"1"}',
        '{"seq":-1}',
        '{"seq":1',
        '{"x":1}',
        '{"start_time":"x"}',
      ];
      for (const body of bodies) await talk.api('STREAM.MSG.GET.S', body);
      for (const body of [{ seq: 1 }, '', '{"x":1}', { seq: 1, batch: 1 }]) await talk.api('STREAM.MSG.GET.T', body);
    });
    expect(lines.length).toBeGreaterThan(50);
  });

  it('gives messages directly', async () => {
    const lines = await sameTalk(async (talk) => {
      await filled(talk);
      const bodies = [
        ...[0, 1, 3, 5, 11, 12, 13].map((seq) => ({ seq })),
        { seq: 3, no_hdr: true },
        { seq: 4, no_hdr: true },
        { last_by_subj: 's.1' },
        { last_by_subj: 's.*' },
        { last_by_subj: '>' },
        { last_by_subj: 'x' },
        { next_by_subj: 's.1' },
        { next_by_subj: 's.1', seq: 10 },
        { start_time: LONG_AGO },
        { start_time: FAR },
        { start_time: LONG_AGO, next_by_subj: 's.3' },
        { start_time: LONG_AGO, seq: 1 },
        { start_time: LONG_AGO, last_by_subj: 's.1' },
        { seq: 1, last_by_subj: 's.1' },
        { next_by_subj: 's.1', last_by_subj: 's.1' },
        { seq: 1, up_to_seq: 1, up_to_time: FAR },
        { seq: 1, max_bytes: 1 },
        { batch: 3 },
        '',
        '{}',
        'null',
        '7',
        '{"x":1}',
        '{"seq":1,"x":1}',
        '{"seq":"1"}',
        '{"seq":1',
      ];
      for (const body of bodies) await talk.get('S', body);
      await talk.get('S', { seq: 1 }, { 'Nats-Required-Api-Level': '9' });
      for (const subject of ['s.1', 's.*', 's.>', 'x', '>']) await talk.get(`S.${subject}`);
      for (const body of ['{}', '{"x":1}', '{', { no_hdr: true }, { max_bytes: 1 }, { seq: 1 }, { up_to_seq: 1 }]) {
        await talk.get('S.s.1', body);
      }
    });
    expect(lines).not.toEqual([]);
  });

  it('gives many messages directly', async () => {
    const lines = await sameTalk(async (talk) => {
      await filled(talk);
      const bodies = [
        { seq: 1, batch: 1 },
        { seq: 1, batch: 3 },
        { seq: 4, batch: 3 },
        { seq: 1, batch: 100 },
        { seq: 9, batch: 100 },
        { seq: 12, batch: 100 },
        { seq: 1, batch: 100, no_hdr: true },
        { seq: 1, batch: 100, max_bytes: 20 },
        { seq: 1, batch: 100, max_bytes: 1 },
        { next_by_subj: 's.1', batch: 100 },
        { next_by_subj: 's.1', seq: 2, batch: 1 },
        { next_by_subj: 's.*', seq: 8, batch: 2 },
        { next_by_subj: 'x', batch: 2 },
        { start_time: LONG_AGO, batch: 2 },
        { start_time: FAR, batch: 2 },
        { start_time: LONG_AGO, next_by_subj: 's.2', batch: 2 },
        { last_by_subj: 's.1', batch: 2 },
        { multi_last: ['s.*'] },
        { multi_last: ['s.1', 's.2', 's.1'] },
        { multi_last: ['s.1', 's.*'] },
        { multi_last: ['>'] },
        { multi_last: ['x'] },
        { multi_last: [], seq: 1 },
        { multi_last: ['s.*'], up_to_seq: 4 },
        { multi_last: ['s.*'], up_to_seq: 1 },
        // nats-server finds nothing here in files, and everything in memory.
        ...(storage === 'memory' ? [{ multi_last: ['s.*'], up_to_seq: 100 }] : []),
        { multi_last: ['s.*'], up_to_time: FAR },
        { multi_last: ['s.*'], up_to_time: LONG_AGO },
        { multi_last: ['s.*'], up_to_seq: 4, up_to_time: FAR },
        { multi_last: ['s.*'], batch: 2 },
        { multi_last: ['s.*'], seq: 10 },
        { multi_last: ['s.*'], seq: 100 },
        { multi_last: ['s.*'], max_bytes: 10 },
        { multi_last: ['s.*'], no_hdr: true },
        { multi_last: ['s.*'], next_by_subj: 's.1' },
        { multi_last: ['s.*'], last_by_subj: 's.1' },
      ];
      for (const body of bodies) await talk.get('S', body);
    });
    expect(lines).not.toEqual([]);
  });

  it('gives the last of no more than 1024 subjects', async () => {
    const lines = await sameTalk(async (talk) => {
      await talk.stream({ name: 'M', subjects: ['m.>'], storage, allow_direct: true });
      for (let i = 0; i < 1024; i++) talk.client.publish(`m.${i}`);
      await talk.publish('m.1023');
      await talk.get('M', { multi_last: ['m.>'], batch: 2 });
      await talk.publish('m.1024');
      await talk.get('M', { multi_last: ['m.>'], batch: 2 });
      await talk.get('M', { multi_last: ['m.>'], up_to_seq: 1000, batch: 1 });
    });
    expect(lines).not.toEqual([]);
  });

  it('deletes and purges', async () => {
    const lines = await sameTalk(async (talk) => {
      await filled(talk);
      const deletions = [
        { seq: 1 },
        { seq: 1 },
        { seq: 4, no_erase: true },
        { seq: 5 },
        { seq: 0 },
        { seq: 13 },
        '',
        '{}',
      ];
      for (const body of [...deletions, '{"x":1}', '{"seq":"x"}', '[]', 'null'])
        await talk.api('STREAM.MSG.DELETE.S', body);
      for (const body of [{ seq: 1 }, '', '{"x":1}']) await talk.api('STREAM.MSG.DELETE.T', body);
      await talk.state('S');
      const purges = [
        { seq: 1 },
        { seq: 1, filter: 's.1' },
        { keep: 100 },
        { keep: 1, seq: 2 },
        { filter: 's.1', keep: 1 },
        { filter: 's.1', keep: 1 },
        { filter: 's.2', seq: 7 },
        { filter: 'x' },
        { filter: 's.3' },
        { seq: 4 },
        { keep: 2 },
        { filter: '>', keep: 1 },
        '{"x":1}',
        'x',
        '[]',
        { filter: 's.*' },
        { seq: 50 },
        { seq: 20 },
      ];
      for (const body of purges) {
        await talk.api('STREAM.PURGE.S', body);
        await talk.state('S');
      }
      for (const body of ['', { keep: 1, seq: 2 }, '{"x":1}']) await talk.api('STREAM.PURGE.T', body);
      await talk.publish('s.1', 'behind');
      await talk.api('STREAM.PURGE.S');
      await talk.state('S');
      await talk.publish('s.1', 'behind');
      await talk.update({
        name: 'S',
        subjects: ['s.>'],
        storage,
        allow_direct: true,
        deny_delete: true,
        deny_purge: true,
      });
      await talk.api('STREAM.PURGE.S');
      await talk.api('STREAM.MSG.DELETE.S', { seq: 51 });
      await talk.update({ name: 'S', subjects: ['s.>'], storage, deny_delete: true, deny_purge: true, sealed: true });
      await talk.api('STREAM.PURGE.S', { keep: 1, seq: 2 });
      await talk.api('STREAM.PURGE.S');
      await talk.api('STREAM.MSG.DELETE.S', { seq: 51 });
      await talk.api('STREAM.MSG.DELETE.S', '{}');
    });
    expect(lines).not.toEqual([]);
  });
});
