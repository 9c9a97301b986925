/** Message schedules, streams with `allow_msg_schedules`: what they take, refuse, publish and leave, as with nats-server. */
import { headers } from '@nats-io/transport-node';
import { describe, expect, it } from 'vitest';
import { describeTalks, type JetStreamTalk } from '../helpers/jetstream-talk.ts';
import { sameTalk, type StreamTalk } from '../helpers/stream-talk.ts';

const FAR = '@at 2200-01-01T00:00:00Z';

describeTalks('a schedule', '', [
  [
    'is a pattern',
    async (to) => {
      await create(to, 'P1', {});
      for (const pattern of [
        FAR,
        '@at 2201-01-01T00:00:00.5+02:00',
        '@at 0001-01-01T00:00:00Z',
        '@at 2200-01-01',
        '@at',
        '@every 5m',
        '@every 999ms',
        '@every -5s',
        '@every 5',
        '@every x',
        '@hourly',
        '@daily',
        '@midnight',
        '@weekly',
        '@monthly',
        '@annually',
        '@yearly',
        '@Hourly',
        '@never',
        'x',
        '* * * * *',
        '* * * * * * *',
        '0 0 0 31 2 *',
        '0 0 0 29 2 ?',
        '60 * * * * *',
        '0 60 * * * *',
        '0 0 24 * * *',
        '0 0 0 0 * *',
        '0 0 0 32 * *',
        '0 0 0 1 0 *',
        '0 0 0 1 13 *',
        '0 0 0 1 * 7',
        '0 0 0 1 JAN-mar mon,FRI',
        '0 0 0 1 foo *',
        '*/15 10-40/5 5/3 * * *',
        '*/0 * * * * *',
        '5-1 * * * * *',
        '1-2-3 * * * * *',
        '1/2/3 * * * * *',
        '1,,2 * * * * *',
        '-1 * * * * *',
        '+1 * * * * *',
      ]) {
        await plan(to, 'P1.a', pattern);
      }
      await to.state('P1');
    },
  ],
  [
    'knows time zones',
    async (to) => {
      await create(to, 'P2', {});
      for (const zone of [
        'Europe/Berlin',
        'America/New_York',
        'UTC',
        '',
        'Nowhere',
        'europe/berlin',
        '+01:00',
        '../x',
      ]) {
        await plan(to, 'P2.a', '0 30 14 * * *', { 'Nats-Schedule-Time-Zone': zone });
      }
      await plan(to, 'P2.a', FAR, { 'Nats-Schedule-Time-Zone': 'UTC' });
      await plan(to, 'P2.a', '@every 5m', { 'Nats-Schedule-Time-Zone': 'UTC' });
      await plan(to, 'P2.a', '@daily', { 'Nats-Schedule-Time-Zone': 'Asia/Tokyo' });
      await to.publish('P2.a', '', { 'Nats-Schedule-Time-Zone': 'Nowhere' });
      await to.publish('P2.a', '', { 'Nats-Schedule-Time-Zone': 'UTC' });
    },
  ],
  [
    'has a target, and perhaps a source',
    async (to) => {
      await create(to, 'P3', { allow_msg_ttl: true });
      for (const more of [
        { 'Nats-Schedule-Target': '' },
        { 'Nats-Schedule-Target': 'P3.a' },
        { 'Nats-Schedule-Target': 'P3.*' },
        { 'Nats-Schedule-Target': 'P3..b' },
        { 'Nats-Schedule-Target': 'other' },
        { 'Nats-Schedule-Source': 'P3.c' },
        { 'Nats-Schedule-Source': 'P3.a' },
        { 'Nats-Schedule-Source': 'P3.b' },
        { 'Nats-Schedule-Source': 'P3.*' },
        { 'Nats-Schedule-Source': 'other' },
        { 'Nats-Schedule-TTL': '5s' },
        { 'Nats-Schedule-TTL': 'x' },
        { 'Nats-Schedule-TTL': 'never' },
        { 'Nats-Schedule-TTL': '500ms' },
        { 'Nats-Schedule-Rollup': 'sub' },
        { 'Nats-Schedule-Rollup': 'SUB' },
        { 'Nats-Schedule-Rollup': 'all' },
        { 'Nats-Rollup': 'sub' },
        { 'Nats-Rollup': 'SUB' },
        { 'Nats-Rollup': 'all' },
        { 'Nats-TTL': '1h' },
        { 'Nats-Scheduler': 'P3.x' },
        { 'Nats-Schedule-Next': 'purge' },
        { 'Nats-Schedule-Next': 'purge', 'Nats-Scheduler': 'P3.x' },
      ]) {
        await plan(to, 'P3.a', FAR, more);
      }
      await to.state('P3');
      await create(to, 'P4', {});
      await plan(to, 'P4.a', FAR, { 'Nats-Schedule-TTL': '5s' });
    },
  ],
  [
    'is ended by who says so',
    async (to) => {
      await create(to, 'P5', {});
      await plan(to, 'P5.a', FAR);
      await to.publish('P5.plain', 'x');
      const end = (subject: string, scheduler: string, next = 'purge'): Promise<void> =>
        to.publish(subject, '', { 'Nats-Scheduler': scheduler, 'Nats-Schedule-Next': next });
      await end('P5.a', 'P5.a');
      await end('P5.b', '');
      await end('P5.b', 'P5.*');
      await end('P5.b', 'P5.plain');
      await end('P5.b', 'P5.a', '2200-01-01T00:00:00Z');
      await end('P5.b', 'P5.a', 'PURGE');
      await to.publish('P5.b', '', { 'Nats-Scheduler': 'P5.a' });
      await end('P5.b', 'P5.none');
      await to.state('P5');
      await end('P5.b', 'P5.a');
      await to.state('P5');
      await to.api('STREAM.CREATE.P6', { name: 'P6', subjects: ['P6.>'] });
      await plan(to, 'P6.a', FAR);
      await plan(to, 'P6.a', 'x');
      await end('P6.b', 'P6.a');
      await end('P6.b', 'P6.b');
    },
  ],
  [
    'belongs to streams that may have it',
    async (to) => {
      await create(to, 'P7', { discard: 'new' });
      for (const fields of [{ deny_purge: true }, { retention: 'workqueue' }, { storage: 'memory' }]) {
        const name = `P7${Object.values(fields)[0]}`;
        await create(to, name, fields);
        await plan(to, `${name}.a`, FAR);
      }
      await create(to, 'P8', {});
      await to.api('STREAM.UPDATE.P8', { name: 'P8', subjects: ['P8.>'] });
      await to.api('STREAM.CREATE.P9', { name: 'P9', subjects: ['P9.>'] });
      await to.api('STREAM.UPDATE.P9', { name: 'P9', subjects: ['P9.>'], allow_msg_schedules: true });
      await plan(to, 'P9.a', FAR);
    },
  ],
  [
    'comes in atomic batches',
    async (to) => {
      await create(to, 'P10', { allow_atomic: true });
      const batch = async (...messages: [string, Record<string, string>][]): Promise<void> => {
        for (const [at, [subject, own]] of messages.entries()) {
          const place = { 'Nats-Batch-Id': 'b', 'Nats-Batch-Sequence': String(at + 1) };
          const end: Record<string, string> = at === messages.length - 1 ? { 'Nats-Batch-Commit': '1' } : {};
          await to.publish(subject, '', { ...own, ...place, ...end });
        }
      };
      const later = { 'Nats-Schedule': FAR, 'Nats-Schedule-Target': 'P10.target' };
      const ends = { 'Nats-Scheduler': 'P10.a', 'Nats-Schedule-Next': 'purge' };
      await batch(['P10.a', later], ['P10.b', later]);
      await batch(['P10.a', later], ['P10.a', later]);
      await batch(['P10.c', {}], ['P10.c', later]);
      await batch(['P10.c', {}], ['P10.b', { ...ends, 'Nats-Scheduler': 'P10.c' }]);
      await batch(['P10.a', later], ['P10.z', ends]);
      await to.state('P10');
    },
  ],
]);

describe('a schedule that comes due', () => {
  it.each(['file', 'memory'])('publishes once, in %s', async (storage) => {
    const lines = await sameTalk(async (to) => {
      await streamOf(to, { storage, allow_msg_ttl: true });
      const more = { 'Nats-Msg-Id': 'i', 'Nats-Expected-Stream': 'S', Other: 'x', 'Nats-Schedule-TTL': '1h' };
      await later(to, 's.a', soon(1200), 'one', more);
      await later(to, 's.b', soon(1300), 'two', { 'Nats-Schedule-Rollup': 'sub' });
      await to.messages('S', 2);
      await to.pause(2500);
      await to.state('S');
      await to.content('S');
    });
    expect(publishedIn(lines)).toBe(1);
  });

  it('is overtaken by another, or by a message', async () => {
    const lines = await sameTalk(async (to) => {
      await streamOf(to, {});
      await later(to, 's.a', soon(1000), 'one');
      await later(to, 's.a', '@at 2200-01-01T00:00:00Z', 'two');
      await later(to, 's.b', soon(1000), 'three');
      await to.publish('s.b', 'four');
      await later(to, 's.c', soon(1000), 'five');
      await to.api('STREAM.MSG.DELETE.S', { seq: 5 });
      await to.pause(2500);
      await to.state('S');
      await to.content('S');
    });
    expect(publishedIn(lines)).toBe(0);
  });

  it('publishes what its source had last', async () => {
    const lines = await sameTalk(async (to) => {
      await streamOf(to, {});
      await to.publish('s.source', 'earlier');
      await to.publish('s.source', 'last', { Other: 'y', 'Nats-Msg-Id': 'j' });
      await later(to, 's.a', soon(1000), 'own', { 'Nats-Schedule-Source': 's.source', Mine: 'z' });
      await to.pause(2500);
      await later(to, 's.b', soon(1000), 'own', { 'Nats-Schedule-Source': 's.nothing', Mine: 'z' });
      await to.pause(2500);
      await to.state('S');
      await to.content('S');
    });
    expect(publishedIn(lines)).toBe(2);
  });

  it('publishes at once what was due long ago', async () => {
    const lines = await sameTalk(async (to) => {
      await streamOf(to, {});
      await later(to, 's.a', '@at 2001-01-01T00:00:00Z', 'one');
      await to.pause(1500);
      await to.state('S');
      await to.content('S');
    });
    expect(publishedIn(lines)).toBe(1);
  });

  it('publishes again and again until it is ended', async () => {
    const lines = await sameTalk(async (to) => {
      await streamOf(to, { max_msgs_per_subject: 2 });
      await later(to, 's.a', '@every 1s', 'one');
      await later(to, 's.b', '* * * * * *', 'two', { 'Nats-Schedule-Time-Zone': 'UTC' });
      await to.pause(4500);
      await kinds(to);
      for (const scheduler of ['s.a', 's.b']) {
        const end = headers();
        end.set('Nats-Scheduler', scheduler);
        end.set('Nats-Schedule-Next', 'purge');
        await to.client.request('s.c', '', { headers: end, timeout: 5000 });
      }
      await to.client.request('$JS.API.STREAM.PURGE.S', '{"filter":"s.target"}');
      await to.pause(2500);
      await kinds(to);
    });
    expect(lines.filter((line) => line.startsWith('kinds')).length).toBe(2);
  }, 60_000);
});

/** What is stored, without sequences: how often something comes due in a while is chance. */
async function kinds(to: StreamTalk): Promise<void> {
  const before = to.lines.length;
  await to.content('S');
  const found = to.lines.splice(before).map((line) => line.replace(/^S \d+/, 'S'));
  to.note('kinds', [...new Set(found)].toSorted().join('; '));
}

async function create(to: JetStreamTalk, name: string, fields: object): Promise<void> {
  await to.api(`STREAM.CREATE.${name}`, { name, subjects: [`${name}.>`], allow_msg_schedules: true, ...fields });
}

async function plan(to: JetStreamTalk, subject: string, pattern: string, more: object = {}): Promise<void> {
  const target = `${subject.split('.')[0]}.b`;
  await to.publish(subject, '', { 'Nats-Schedule': pattern, 'Nats-Schedule-Target': target, ...more });
}

async function streamOf(to: StreamTalk, fields: object): Promise<void> {
  await to.stream({ name: 'S', subjects: ['s.>'], allow_msg_schedules: true, ...fields });
}

async function later(to: StreamTalk, subject: string, pattern: string, payload: string, more = {}): Promise<void> {
  await to.publish(subject, payload, { 'Nats-Schedule': pattern, 'Nats-Schedule-Target': 's.target', ...more });
}

/** How many stored messages come from a schedule. */
function publishedIn(lines: readonly string[]): number {
  return lines.filter((line) => /^S \d+ → .*Nats-Scheduler/.test(line)).length;
}

/** In so many milliseconds. */
function soon(ms: number): string {
  return `@at ${new Date(Date.now() + ms).toISOString()}`;
}
