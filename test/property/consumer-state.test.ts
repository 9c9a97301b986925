/**
 * A consumer's state and its log against a naive model, under random commands among which the store is closed, killed or
 * loses power, and is opened again: what was durable is there, and nothing is there that never was.
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Keep } from '../../server/io/simulated/file-content.ts';
import { ConsumerModel, textOf } from '../helpers/consumer-model.ts';
import { SMALL_SIZES, StoreSite, type TestConsumer } from '../helpers/store-site.ts';

type Step =
  | { readonly kind: 'new'; readonly gap: number }
  | { readonly kind: 'again' | 'settle' | 'exhaust' | 'up to'; readonly which: number }
  | { readonly kind: 'purge' | 'reset'; readonly share: number };

type Command =
  | { readonly kind: 'turn'; readonly steps: readonly Step[] }
  | { readonly kind: 'end'; readonly how: 'close' | 'kill' | Keep; readonly afterMs: number }
  | { readonly kind: 'checkpoint' | 'wait' };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('new' as const), gap: fc.constantFrom(0, 0, 0, 1, 7) }) },
  {
    weight: 9,
    arbitrary: fc.record({
      kind: fc.constantFrom('again', 'settle', 'settle', 'exhaust', 'up to' as const),
      which: fc.nat(1000),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constantFrom('purge', 'purge', 'reset' as const),
      share: fc.double({ min: 0, max: 1.2, noNaN: true }),
    }),
  },
);

const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('turn' as const),
      steps: fc.array(step, { minLength: 1, maxLength: 30 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('end' as const),
      how: fc.constantFrom('close', 'kill', 'none', 'all', 'seeded' as const),
      afterMs: fc.constantFrom(0, 0.05, 0.2, 1, 20),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('checkpoint', 'wait' as const) }) },
);

describe('a consumer that is opened again', () => {
  it('agrees with a list of messages', () => {
    fc.assert(
      fc.property(fc.nat(2 ** 31), fc.array(command, { minLength: 1, maxLength: 16 }), (seed, commands) => {
        const play = new Play(seed);
        for (const each of commands) play.take(each);
        play.take({ kind: 'end', how: 'close', afterMs: 0 });
        expect(play.mistakes).toEqual([]);
      }),
      { numRuns: Number(process.env['PETIOLE_CONSUMER_RUNS'] ?? 200) },
    );
  });
});

class Play {
  readonly mistakes: string[] = [];
  private readonly site: StoreSite;
  private model = new ConsumerModel();
  /** What the state was at the end of each turn that may not be durable yet, the last durable one first. */
  private since: ConsumerModel[] = [new ConsumerModel()];

  constructor(seed: number) {
    this.site = new StoreSite(seed, { sizes: SMALL_SIZES });
    this.site.open();
    this.site.putStream('S');
    this.site.putConsumer('S', 'C');
    this.site.settle();
  }

  take(each: Command): void {
    switch (each.kind) {
      case 'turn':
        this.turn(each.steps);
        break;
      case 'wait':
        this.becomeDurable();
        break;
      case 'checkpoint':
        this.checkpoint();
        break;
      case 'end':
        this.end(each.how, each.afterMs);
        break;
    }
  }

  private get consumer(): TestConsumer {
    return this.site.consumer('C');
  }

  private turn(steps: readonly Step[]): void {
    for (const each of steps) this.step(each);
    const { state } = this.consumer;
    if (textOf(state) !== this.model.text) this.mistakes.push(`${textOf(state)} is not ${this.model.text}`);
    for (let sequence = 1; sequence <= this.model.nextStream; sequence++) {
      if (state.needs(sequence) !== this.model.needs(sequence)) this.mistakes.push(`needs ${sequence}?`);
    }
    this.since.push(Object.assign(new ConsumerModel(), this.model));
  }

  private step(each: Step): void {
    const { model } = this;
    const { state, log } = this.consumer;
    if (each.kind === 'new') {
      const sequence = model.nextStream + each.gap;
      model.deliver(sequence);
      state.delivered(sequence, 1, sequence);
      log.delivered(sequence, 1, sequence);
    } else if ('share' in each) this.cutOff(each.kind, each.share);
    else {
      const known = [...model.pending.map(({ stream }) => stream), ...model.exhausted];
      const sequence = known[each.which % known.length];
      if (sequence !== undefined) this.about(each.kind, sequence);
    }
  }

  private cutOff(kind: 'purge' | 'reset', share: number): void {
    const { model } = this;
    const { state, log } = this.consumer;
    const sequence = Math.max(1, Math.ceil(share * model.nextStream));
    if (kind === 'reset') {
      model.reset(sequence);
      state.reset(sequence);
      log.reset(sequence);
    } else if (sequence > state.ackFloor.stream + 1) {
      model.purge(sequence);
      state.purgedBelow(sequence);
      log.purgedBelow(sequence);
    }
  }

  private about(kind: 'again' | 'settle' | 'exhaust' | 'up to', sequence: number): void {
    const { model } = this;
    const { state, log } = this.consumer;
    const before = model.pending.find(({ stream }) => stream === sequence);
    if (kind === 'settle') {
      model.settle(sequence);
      state.settled(sequence);
      log.settled(sequence);
    } else if (before === undefined) return;
    else if (kind === 'again') {
      model.deliver(sequence);
      state.delivered(sequence, before.deliveries + 1, sequence);
      log.delivered(sequence, before.deliveries + 1, sequence);
    } else if (kind === 'exhaust') {
      model.exhaust(sequence);
      state.exhaust(sequence);
      log.exhausted(sequence);
    } else {
      model.settleUpTo(before.consumer, sequence);
      state.settledUpTo(before.consumer, sequence);
      log.settledUpTo(before.consumer, sequence);
    }
  }

  private checkpoint(): void {
    let isWritten = false;
    this.consumer.log.checkpoint((error) => {
      if (error !== null) this.mistakes.push(String(error));
      isWritten = true;
    });
    this.site.until(() => isWritten, 'the checkpoint to be written');
    this.becomeDurable();
  }

  private becomeDurable(): void {
    let isDurable = false;
    this.consumer.log.whenDurable(() => (isDurable = true));
    this.site.until(() => isDurable, 'what was noted to be durable');
    this.since = [Object.assign(new ConsumerModel(), this.model)];
  }

  private end(how: 'close' | 'kill' | Keep, afterMs: number): void {
    if (how === 'close') {
      this.site.close();
      this.since = [this.model];
    } else {
      this.site.world.scheduler.runFor(afterMs);
      if (how === 'kill') this.site.kill();
      else this.site.cut(how);
    }
    this.site.open();
    const found = textOf(this.consumer.state);
    const model = this.since.find(({ text }) => text === found);
    if (model === undefined) this.mistakes.push(`${found} is none of ${this.since.map(({ text }) => text).join('\n')}`);
    else this.model = model;
    this.since = [Object.assign(new ConsumerModel(), this.model)];
  }
}
