/** What a schedule publishes is published once, whenever the power is cut, and the schedule goes; others go on. */
import { describe, expect, it } from 'vitest';
import { RecordView } from '../../jetstream/store/record.ts';
import type { Stream } from '../../jetstream/stream/stream.ts';
import { PublishHeaders } from '../../jetstream/stream/publish-headers.ts';
import { BatchWorld } from './batch-world.ts';
import { replayable, seedsFor } from './seeds.ts';

const SCHEDULES = 32;
const CUTS = 8;
const REPEATED_MS = 4000;
const AHEAD_MS_MAX = 4000;
const RUN_MS_MAX = 3000;
/** Intervals begin at whole seconds. */
const TOLERANCE_MS = 1100;
const AGAIN = 't.again';
/** Enough of them that checkpoints are made. */
const LARGE = 'x'.repeat(60_000);

describe('power cuts while messages are scheduled', () => {
  it.each(seedsFor('schedule-power-cut'))(
    'leave each published once, and no schedule that is over (seed %i)',
    (seed) => {
      replayable(seed, () => {
        const world = new BatchWorld(seed);
        const random = world.world.random.fork('schedules');
        const config = { name: 'T', subjects: ['t.>'], allow_msg_schedules: true };
        world.request('STREAM.CREATE.T', JSON.stringify(config));
        const planned: string[] = [];
        plan(world, AGAIN, `@every ${REPEATED_MS}ms`);
        for (let cut = 0; cut < CUTS; cut++) {
          for (let i = 0; i < SCHEDULES / CUTS; i++) {
            const subject = `t.once.${planned.length}`;
            const at = wallMs(world) + Math.floor(random.fraction() * AHEAD_MS_MAX);
            plan(world, subject, `@at ${new Date(at).toISOString()}`);
            planned.push(subject);
          }
          world.world.scheduler.runFor(random.fraction() * RUN_MS_MAX);
          world.restart();
        }
        world.world.scheduler.runFor(AHEAD_MS_MAX + 3 * REPEATED_MS);
        const found = recordsIn(world);
        const fired = found.flatMap((view) => schedulerOf(view) ?? []);
        expect(fired.filter((subject) => subject !== AGAIN).toSorted()).toEqual(planned.toSorted());
        expect(fired.filter((subject) => subject === AGAIN).length).toBeGreaterThan(2);
        expect(found.map(({ subject }) => subject).filter((subject) => subject.startsWith('t.once'))).toEqual([]);
        expect(timesOf(found.filter((view) => schedulerOf(view) === AGAIN))).toEqual([]);
        expect(world.log.filter((line) => line.includes('[ERR]'))).toEqual([]);
      });
    },
  );
});

/** What was published again too early. */
function timesOf(found: readonly RecordView[]): string[] {
  const times = found.map(({ seconds, nanoseconds }) => seconds * 1000 + nanoseconds / 1e6);
  return times.flatMap((time, i) => {
    const before = times[i - 1];
    return before === undefined || time - before > REPEATED_MS - TOLERANCE_MS ? [] : [`${before} and ${time}`];
  });
}

function streamOf(world: BatchWorld): Stream {
  const entry = world.server.jetstream?.accounts.get('$G')?.streams.get('T');
  if (entry === undefined) throw world.world.scheduler.failure('the stream is gone');
  return entry.stream;
}

function wallMs(world: BatchWorld): number {
  return world.stream.host.io.clock.wallMs();
}

function plan(world: BatchWorld, subject: string, pattern: string): void {
  const client = world.client('planner');
  let answer = '';
  client.onMessage = ({ payload }) => (answer = payload.toString());
  const block = `NATS/1.0\r\nNats-Schedule: ${pattern}\r\nNats-Schedule-Target: t.target\r\n\r\n`;
  client.subscribe('1', 'A');
  client.send(`HPUB ${subject} A ${block.length} ${block.length + LARGE.length}\r\n${block}${LARGE}\r\n`);
  world.until(() => answer !== '', 'the answer');
  expect(answer).toContain('"seq"');
  client.end();
}

/** The schedule that published the message. */
function schedulerOf(view: RecordView): string | null {
  const headers = new PublishHeaders();
  headers.read(view.buffer, view.bodyStart, view.payloadStart);
  return headers.scheduler;
}

function recordsIn(world: BatchWorld): RecordView[] {
  const { store } = streamOf(world);
  const records: RecordView[] = [];
  for (let sequence = store.firstSequence; sequence <= store.lastSequence; sequence++) {
    const view = new RecordView(Buffer.alloc(0));
    let outcome = store.read(sequence, view);
    for (; outcome === 'loading'; outcome = store.read(sequence, view)) {
      let isThere = false;
      store.whenReadable(sequence, () => (isThere = true));
      world.until(() => isThere, 'a message to be read');
    }
    // What is read next may take the place of this.
    if (outcome === 'found') view.set(Buffer.from(view.buffer.subarray(view.at, view.end + 4)), 0);
    if (outcome === 'found') records.push(view);
  }
  return records;
}
