/** When messages are due, against a sorted array: whatever is added, swept and saved in between. */
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { ExpiryQueue } from '../../jetstream/stream/expiry-queue.ts';

type Command =
  | { readonly kind: 'add'; readonly deadlineMs: number }
  | { readonly kind: 'expire'; readonly upToMs: number }
  | { readonly kind: 'remove'; readonly share: number }
  | { readonly kind: 'sweep'; readonly count: number }
  | { readonly kind: 'restart' };

const DEADLINES = fc.oneof(fc.integer({ min: 0, max: 40 }), fc.double({ min: 0, max: 40, noNaN: true }));

const COMMANDS: fc.Arbitrary<Command> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('add' as const), deadlineMs: DEADLINES }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('expire' as const), upToMs: DEADLINES }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('remove' as const), share: fc.integer({ min: 1, max: 5 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('sweep' as const), count: fc.integer({ min: 1, max: 9 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart' as const) }) },
);

it('is a sorted array', () => {
  fc.assert(
    fc.property(fc.array(COMMANDS, { maxLength: 300 }), (commands) => {
      let queue = new ExpiryQueue();
      const model = new Map<number, number>();
      let sequence = 0;
      for (const command of commands) {
        if (command.kind === 'add') {
          queue.add(command.deadlineMs, ++sequence);
          model.set(sequence, command.deadlineMs);
        } else if (command.kind === 'remove') {
          for (const each of model.keys()) if (each % command.share === 0) model.delete(each);
        } else if (command.kind === 'sweep') queue.sweep(command.count, (each) => model.has(each));
        else if (command.kind === 'restart') queue = restarted(queue, model, sequence);
        else expireBoth(queue, model, command.upToMs);
        expect(queue.size).toBeGreaterThanOrEqual(model.size);
      }
      // What was looked at before it went is found by the second sweep.
      for (let sweeps = 0; sweeps < 2; sweeps++) while (queue.sweep(3, (each) => model.has(each)));
      expect(queue.size).toBe(model.size);
      expect(queue.isSweeping).toBe(false);
      expireBoth(queue, model, Infinity);
      expect([queue.size, model.size, queue.nextMs]).toEqual([0, 0, Infinity]);
    }),
  );
});

it('saves only what a checkpoint reflects', () => {
  const queue = new ExpiryQueue();
  for (let sequence = 1; sequence <= 200; sequence++) queue.add(1_700_000_000_000.25 + sequence * 1000, sequence);
  queue.sweep(50, () => true);
  const restored = new ExpiryQueue();
  restored.decode(queue.encode(120));
  expect([restored.size, restored.nextSequence, restored.nextMs]).toEqual([120, 1, 1_700_000_001_001]);
});

it('holds the farthest deadlines', () => {
  const queue = new ExpiryQueue();
  queue.add(Infinity, 1);
  queue.add(2 ** 60, 2);
  const restored = new ExpiryQueue();
  restored.decode(queue.encode(2));
  expect([restored.size, restored.nextMs]).toEqual([2, 2 ** 48 - 1]);
});

/** Takes what is due from both; it comes in the order of the deadlines, and nothing is forgotten. */
function expireBoth(queue: ExpiryQueue, model: Map<number, number>, upToMs: number): void {
  let last = 0;
  while (queue.size > 0 && queue.nextMs <= upToMs) {
    const { nextMs, nextSequence } = queue;
    expect(nextMs).toBeGreaterThanOrEqual(last);
    last = nextMs;
    queue.shift();
    expect(model.get(nextSequence) ?? nextMs).toBe(nextMs);
    model.delete(nextSequence);
  }
  for (const deadlineMs of model.values()) expect(deadlineMs).toBeGreaterThan(upToMs);
}

/** A checkpoint holds whole milliseconds, rounded up. */
function restarted(queue: ExpiryQueue, model: Map<number, number>, lastSequence: number): ExpiryQueue {
  const next = new ExpiryQueue();
  next.decode(queue.encode(lastSequence));
  for (const [sequence, deadlineMs] of model) model.set(sequence, Math.ceil(deadlineMs));
  return next;
}
