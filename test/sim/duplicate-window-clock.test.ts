/**
 * The duplicate window while the host's clock jumps, and the power goes: an id counts for as long as the window, whatever
 * the clock says, and the times of a stream's messages never run backwards.
 */
import { expect, it } from 'vitest';
import { RecordView } from '../../jetstream/store/record.ts';
import { BatchWorld } from './batch-world.ts';

const SEEDS = [1, 2, 3];
/** The window of a stream that says nothing of it. */
const WINDOW_MS = 120_000;
const DAY_MS = 86_400_000;
const YEARS_MS = 56 * 365 * DAY_MS;

const JUMPS: readonly (readonly [string, number])[] = [
  ['a day ahead', DAY_MS],
  ['a day back', -DAY_MS],
  ['to about 1970', -YEARS_MS],
  ['not at all', 0],
];

for (const [title, jumpMs] of JUMPS) {
  it.each(SEEDS)(`ids count as long as the window when the clock jumps ${title} (seed %i)`, (seed) => {
    const world = new BatchWorld(seed);
    expect(publish(world, 'first')).toBe('{"stream":"S","seq":1}');
    world.world.scheduler.runFor(WINDOW_MS / 2);
    expect(publish(world, 'second')).toBe('{"stream":"S","seq":2}');
    world.machine.clock.jumpWall(jumpMs);
    expect(publish(world, 'first')).toBe('{"stream":"S","seq":1,"duplicate": true}');
    world.world.scheduler.runFor(WINDOW_MS / 2 - 1000);
    expect(publish(world, 'first')).toBe('{"stream":"S","seq":1,"duplicate": true}');
    expect(publish(world, 'second')).toBe('{"stream":"S","seq":2,"duplicate": true}');
    world.world.scheduler.runFor(2000);
    expect(publish(world, 'first')).toBe('{"stream":"S","seq":3}');
    expect(publish(world, 'second')).toBe('{"stream":"S","seq":2,"duplicate": true}');
    expect(timesOf(world)).toEqual(timesOf(world).toSorted((a, b) => a - b));
  });
}

it.each(SEEDS)('ids count after a power cut, also when the clock starts anew in 1970 (seed %i)', (seed) => {
  const world = new BatchWorld(seed);
  for (const id of ['a', 'b', 'c']) publish(world, id);
  world.machine.clock.jumpWall(-YEARS_MS);
  world.restart();
  for (const [at, id] of ['a', 'b', 'c'].entries()) {
    expect(publish(world, id)).toBe(`{"stream":"S","seq":${at + 1},"duplicate": true}`);
  }
  expect(publish(world, 'd')).toBe('{"stream":"S","seq":4}');
  world.world.scheduler.runFor(WINDOW_MS - 1000);
  expect(publish(world, 'd')).toBe('{"stream":"S","seq":4,"duplicate": true}');
  world.world.scheduler.runFor(2000);
  expect(publish(world, 'd')).toBe('{"stream":"S","seq":5}');
  expect(timesOf(world)).toEqual(timesOf(world).toSorted((a, b) => a - b));
});

it('times go on behind those before an orderly end, also when the clock starts anew in 1970', () => {
  const world = new BatchWorld(1);
  publish(world, 'a');
  // With a checkpoint no message is read from the log.
  let isClosed = false;
  world.server.close(() => (isClosed = true));
  world.until(() => isClosed, 'the server to be closed');
  world.machine.clock.jumpWall(-YEARS_MS);
  world.restart();
  publish(world, 'b');
  expect(timesOf(world)).toHaveLength(2);
  expect(timesOf(world)).toEqual(timesOf(world).toSorted((a, b) => a - b));
});

function publish(world: BatchWorld, id: string): string {
  const client = world.client('publisher');
  let answer = '';
  client.onMessage = ({ payload }) => (answer = payload.toString());
  const block = `NATS/1.0\r\nNats-Msg-Id: ${id}\r\n\r\n`;
  client.subscribe('1', 'A');
  client.send(`HPUB s.a A ${block.length} ${block.length}\r\n${block}\r\n`);
  world.until(() => answer !== '', 'the answer');
  client.end();
  return answer;
}

/** Milliseconds of all messages, in the order of their sequences. */
function timesOf(world: BatchWorld): number[] {
  const { store } = world.stream;
  const view = new RecordView(Buffer.alloc(0));
  const times: number[] = [];
  for (let sequence = store.firstSequence; sequence <= store.lastSequence; sequence++) {
    if (store.read(sequence, view) === 'found') times.push(view.seconds * 1000 + view.nanoseconds / 1e6);
  }
  return times;
}
