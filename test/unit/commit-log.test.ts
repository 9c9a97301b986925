/** How the commit log gathers what is appended: one write is in flight, and what arrives meanwhile forms the next. */
import { expect, test } from 'vitest';
import type { LogParticipant } from '../../jetstream/store/batch.ts';
import { CommitLog } from '../../jetstream/store/commit-log.ts';
import { Coverage } from '../../jetstream/store/coverage.ts';
import { FRAME_HEADER_BYTES, FrameKind } from '../../jetstream/store/frame.ts';
import { SegmentPool } from '../../jetstream/store/segment-pool.ts';
import { STORE_SIZES } from '../../jetstream/store/store-sizes.ts';
import { SimulatedWorld } from '../../server/io/simulated/simulated-world.ts';

const BODY_BYTES = 10;
const FRAME_BYTES = FRAME_HEADER_BYTES + BODY_BYTES;

class Participant implements LogParticipant {
  joinedLsn = -1;
  lastLsn = 0;
  readonly coverage: Coverage = new Coverage();
  readonly durableAt: number[] = [];

  sealed(): void {
    // What leaves together is seen when it is durable.
  }

  durable(lsn: number): void {
    this.durableAt.push(lsn);
  }

  abandoned(): void {
    throw new Error('nothing fails here');
  }
}

class LogOfOneWorld {
  readonly world: SimulatedWorld = new SimulatedWorld(1);
  readonly io = this.world.machine('site').start().io;
  readonly log: CommitLog;

  constructor() {
    this.io.disk.makeDirectoryNow('/log');
    const segments = new SegmentPool(this.io, '/log', 'write-synced', STORE_SIZES, []);
    this.log = new CommitLog(this.io, segments, 0, 'always', { waitingBytes: 0 });
  }

  append(participant: Participant): void {
    const at = this.log.begin(BODY_BYTES);
    this.log.end(at + BODY_BYTES, FrameKind.consumer, 1, participant);
  }

  /** Appends one frame in each of so many turns, one after the other. */
  appendInTurns(participant: Participant, turns: number, done: () => void): void {
    if (turns === 0) {
      done();
      return;
    }
    this.append(participant);
    this.io.timers.afterTurn(() => this.appendInTurns(participant, turns - 1, done));
  }

  settle(): void {
    this.world.scheduler.runUntilIdle(1000);
  }
}

test('what several turns append while one write is in flight leaves in one following write', () => {
  const site = new LogOfOneWorld();
  const [first, others] = [new Participant(), new Participant()];
  const warm = new Participant();
  site.append(warm);
  site.settle();
  expect(site.log.statistics.commits).toBe(1);

  site.append(first);
  let stillInFlight: boolean | null = null;
  site.io.timers.afterTurn(() => {
    site.appendInTurns(others, 25, () => (stillInFlight = first.durableAt.length === 0));
  });
  site.settle();
  expect(stillInFlight).toBe(true);
  expect(site.log.statistics.commits).toBe(3);
  expect(first.durableAt).toEqual([2 * FRAME_BYTES]);
  expect(others.durableAt).toEqual([27 * FRAME_BYTES]);
});

test('what one turn appends leaves in one write, however many take part', () => {
  const site = new LogOfOneWorld();
  const participants = Array.from({ length: 100 }, () => new Participant());
  for (const each of participants) site.append(each);
  for (const each of participants) site.append(each);
  site.settle();
  expect(site.log.statistics.commits).toBe(1);
  for (const each of participants) expect(each.durableAt).toEqual([200 * FRAME_BYTES]);
});

test('what is on either side of a fence leaves in different writes', () => {
  const site = new LogOfOneWorld();
  const participant = new Participant();
  site.append(participant);
  site.log.fence();
  site.append(participant);
  site.settle();
  expect(participant.durableAt).toEqual([FRAME_BYTES, 2 * FRAME_BYTES]);
});
