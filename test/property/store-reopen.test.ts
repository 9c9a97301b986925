/**
 * A stream's store against an array of messages, under random commands among which the store is closed, killed or loses
 * power, and is opened again: what was visible is there, what was removed stays away, sequences go on.
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Command, type Ending, type NewMessage, StorePlay, SUBJECTS } from '../helpers/store-play.ts';
import { NO_LIMITS, SMALL_SIZES, StoreSite } from '../helpers/store-site.ts';

const ending: fc.Arbitrary<Ending> = fc.record({
  how: fc.constantFrom('close', 'kill', 'none', 'all', 'seeded', 'seeded'),
  afterMs: fc.constantFrom(0, 0.05, 0.3, 1, 3, 20),
  again: fc.option(fc.nat(6), { freq: 3 }),
});

const newMessage: fc.Arbitrary<NewMessage> = fc.record({
  subject: fc.nat(SUBJECTS - 1),
  bytes: fc.oneof(
    { weight: 20, arbitrary: fc.nat(300) },
    { weight: 4, arbitrary: fc.nat(3000) },
    { weight: 1, arbitrary: fc.integer({ min: 32_000, max: 40_000 }) },
  ),
  id: fc.option(fc.nat(1000)),
});

const limit = (...values: number[]): fc.Arbitrary<number> => fc.constantFrom(0, 0, ...values);

const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constantFrom('append', 'append', 'append and end' as const),
      messages: fc.array(newMessage, { minLength: 1, maxLength: 40 }),
      end: ending,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom('remove', 'remove and end' as const),
      shares: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 12 }),
      end: ending,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('purge' as const),
      share: fc.double({ min: 0, max: 1.2, noNaN: true }),
      end: ending,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('limits' as const),
      limits: fc.record({
        maxMessages: limit(10, 60),
        maxBytes: limit(2000, 20_000),
        maxMessagesPerSubject: limit(1, 6),
      }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('checkpoint' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('end' as const), end: ending }) },
);

describe('a stream that is opened again', () => {
  it('agrees with an array of messages', () => {
    fc.assert(
      fc.property(fc.nat(2 ** 31), fc.array(command, { minLength: 1, maxLength: 14 }), (seed, commands) => {
        const play = new StorePlay(seed);
        for (const step of commands) play.play(step);
        expect(play.watch.mistakes).toEqual([]);
      }),
      { numRuns: Number(process.env['PETIOLE_STORE_RUNS'] ?? 150) },
    );
  });

  it('is there when only its making was durable', () => {
    const site = new StoreSite(1, { sizes: SMALL_SIZES });
    site.open();
    site.putStream('S', { ...NO_LIMITS, maxMessages: 3 });
    site.cut('none');
    site.open();
    expect(site.stream('S').fileStore.messages).toBe(0);
    expect(site.stream('S').fileStore.limits.maxMessages).toBe(3);
  });
});
