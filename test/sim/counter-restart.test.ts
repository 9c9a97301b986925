/** Counters go on where they stood: after a power cut, what they stand at has to be read from the disk first. */
import { expect, it } from 'vitest';
import { BatchWorld } from './batch-world.ts';

const SEEDS = [1, 2, 3];
const COUNTERS = 16;
const ROUNDS = 3;
/** Large messages are not in memory after a restart. */
const LARGE = 'x'.repeat(40_000);

it.each(SEEDS)('counters go on where they stood before a power cut (seed %i)', (seed) => {
  const world = new BatchWorld(seed);
  world.request(
    'STREAM.CREATE.C',
    JSON.stringify({ name: 'C', subjects: ['c.>'], allow_msg_counter: true, allow_atomic: true }),
  );
  const stood = new Map<string, number>();
  for (let round = 0; round < ROUNDS; round++) {
    const increments = incrementsOf(round);
    const answers = addAll(world, increments);
    for (const [at, [subject, by]] of increments.entries()) {
      stood.set(subject, (stood.get(subject) ?? 0) + by);
      expect(answers[at]).toMatch(new RegExp(`"seq":\\d+,"val":"${stood.get(subject)}"`));
    }
    const sequences = answers.map((answer) => Number(/"seq":(\d+)/.exec(answer)?.[1]));
    expect(sequences).toEqual(sequences.toSorted((a, b) => a - b));
    world.restart();
  }
});

it.each(SEEDS)('a batch of increments goes on where counters stood before a power cut (seed %i)', (seed) => {
  const world = new BatchWorld(seed);
  world.request(
    'STREAM.CREATE.C',
    JSON.stringify({ name: 'C', subjects: ['c.>'], allow_msg_counter: true, allow_atomic: true }),
  );
  addAll(world, [
    ['c.a', 5],
    ['c.b', 7],
  ]);
  world.restart();
  const lines = (at: number, more = ''): string =>
    `Nats-Incr: 1\r\nNats-Batch-Id: b\r\nNats-Batch-Sequence: ${at}${more}`;
  const [, , committed] = ask(world, [
    ['c.a', lines(1)],
    ['c.b', lines(2)],
    ['c.a', lines(3, '\r\nNats-Batch-Commit: 1')],
  ]);
  expect(committed).toContain('"batch":"b","count":3');
  expect(addAll(world, [['c.a', 0]])[0]).toContain('"val":"7"');
  expect(addAll(world, [['c.b', 0]])[0]).toContain('"val":"8"');
});

function incrementsOf(round: number): [string, number][] {
  const increments: [string, number][] = [];
  for (let i = 0; i < COUNTERS * 2; i++) increments.push([`c.${(i * 7 + round) % COUNTERS}`, i - round]);
  return increments;
}

function addAll(world: BatchWorld, increments: readonly (readonly [string, number])[]): string[] {
  return ask(
    world,
    increments.map(([subject, by]) => [subject, `Nats-Incr: ${by}\r\nX: ${LARGE}`]),
  );
}

/** Publishes messages with these header lines in one write; their answers, in order. */
function ask(world: BatchWorld, messages: readonly (readonly [string, string])[]): string[] {
  const client = world.client('publisher');
  const answers: string[] = [];
  client.onMessage = ({ payload }) => void answers.push(payload.toString());
  client.subscribe('1', 'A');
  client.send(
    messages
      .map(([subject, lines]) => {
        const block = `NATS/1.0\r\n${lines}\r\n\r\n`;
        return `HPUB ${subject} A ${block.length} ${block.length}\r\n${block}\r\n`;
      })
      .join(''),
  );
  world.until(() => answers.length === messages.length, 'the answers');
  client.end();
  return answers;
}
