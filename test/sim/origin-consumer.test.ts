/**
 * What feeds a mirror, on an origin that is lost and found: everything comes once and in order, soon after the origin can
 * be reached, and it is not asked more often than is good for it.
 */
import { describe, expect, it } from 'vitest';
import { type ApiError, ApiErrors } from '../../jetstream/errors.ts';
import { OriginConsumer } from '../../jetstream/mirror/origin-consumer.ts';
import type { OriginPlace } from '../../jetstream/mirror/origin-place.ts';
import type { OriginReader } from '../../jetstream/mirror/origin-reader.ts';
import type { OriginConsumerInfo, OriginStart } from '../../jetstream/mirror/origin-request.ts';
import type { StreamSource } from '../../jetstream/stream/stream-config-parts.ts';
import { Account } from '../../server/account/account.ts';
import { SimulatedWorld } from '../../server/io/simulated/simulated-world.ts';
import type { Message } from '../../server/protocol/message.ts';
import { Sublist } from '../../server/subject/sublist.ts';
import { ScriptedOrigin } from '../helpers/scripted-origin.ts';
import { replayable, seedsFor } from './seeds.ts';

const CAUGHT_UP_MS = 3000;
const STEPS = 60;
const NO_ANSWER = ApiErrors.mirrorConsumerSetupFailed('no answer from $JS.hub.API');
const STEP_MS_MAX = 3000;

const SOURCE: StreamSource = {
  name: 'O',
  optStartSeq: 0,
  optStartTime: null,
  filterSubject: '',
  subjectTransforms: null,
  external: { apiPrefix: '$JS.hub.API', deliverPrefix: '' },
  consumer: null,
};

/** A reader that keeps what it takes, durable a moment later. */
class Reader implements OriginReader {
  readonly source = SOURCE;
  readonly consumerName = 'JS_MIRROR_x';
  readonly deliverToken = 'M';
  readonly metadata = {};
  readonly identity = '';
  readonly taken: number[] = [];
  position = 0;
  refusal: ApiError | null = null;
  amiss: (error: ApiError) => void = () => undefined;
  private readonly later: (run: () => void) => void;

  constructor(later: (run: () => void) => void) {
    this.later = later;
  }

  start(): OriginStart {
    return { kind: 'sequence', sequence: this.position + 1 };
  }

  recreated(): void {}

  opened({ deliveredSequence }: OriginConsumerInfo): ApiError | null {
    this.position = Math.max(this.position, deliveredSequence);
    return null;
  }

  verify(amiss: (error: ApiError) => void): void {
    this.amiss = amiss;
  }

  take(message: Message, { sequence, time }: OriginPlace): ApiError | null {
    if (this.refusal !== null) return this.refusal;
    const payload = message.body.toString('latin1', message.payloadStart, message.bodyEnd);
    if (payload !== String(sequence) || time.seconds !== 1_700_000_000 || time.nanoseconds !== 0) {
      throw new Error(`${sequence} came as ${payload} of ${time.seconds}`);
    }
    this.taken.push(sequence);
    this.position = sequence;
    return null;
  }

  whenDurable(done: () => void): void {
    this.later(done);
  }
}

class Site {
  readonly world: SimulatedWorld;
  readonly account: Account;
  readonly origin: ScriptedOrigin;
  readonly reader: Reader;
  readonly consumer: OriginConsumer;
  private last = 0;

  constructor(seed: number) {
    this.world = new SimulatedWorld(seed);
    const { io } = this.world.machine('site').start();
    this.account = new Account('A', new Sublist(0), () => 0);
    this.origin = new ScriptedOrigin(this.account, io);
    this.reader = new Reader((run) => io.timers.after(2, run));
    this.consumer = new OriginConsumer({ account: this.account, io }, this.reader);
  }

  /** Stores a few messages in the origin; what has gone before them leaves a gap now and then. */
  store(count: number): void {
    for (let left = count; left > 0; left--) {
      this.last += this.world.random.chance(0.1) ? this.world.random.between(2, 5) : 1;
      this.origin.store(this.last);
    }
  }

  runFor(ms: number): void {
    this.world.scheduler.runFor(ms);
  }

  /** Waits until the reader is where the origin is; what it has taken then. */
  caughtUp(): readonly number[] {
    const { reader, world } = this;
    world.scheduler.runUntil(() => reader.position === this.last, `everything up to ${this.last}`, CAUGHT_UP_MS);
    return reader.taken;
  }
}

describe('an origin', () => {
  it.each(seedsFor('origin-consumer'))('that is lost and found is read once and in order (seed %i)', (seed) => {
    replayable(seed, () => {
      const site = new Site(seed);
      const { origin, world, consumer } = site;
      const { random } = world;
      consumer.start();
      for (let step = 0; step < STEPS; step++) {
        origin.listen(random.chance(0.8));
        origin.isHeard = random.chance(0.7);
        origin.hears = random.chance(0.8);
        if (random.chance(0.1)) origin.forget();
        for (let burst = random.between(1, 4); burst > 0; burst--) {
          site.store(random.between(0, 60));
          site.runFor(random.fraction() * STEP_MS_MAX);
        }
        if (!random.chance(0.2)) continue;
        // The link is back: as after a dial, its interest is announced anew.
        origin.isHeard = true;
        origin.hears = true;
        origin.listen(false);
        origin.listen(true);
        site.store(1);
        // What is under way may still be lost: an answer is waited for so long, or silence noticed.
        site.runFor(9000);
        expect(site.caughtUp()).toEqual(origin.sequences);
      }
      consumer.stop();
    });
  });

  it('that nobody can reach is asked as soon as somebody can, however long that was', () => {
    const site = new Site(1);
    site.consumer.start();
    site.runFor(600_000);
    expect(site.origin.requests).toBe(0);
    expect(site.consumer.error).toEqual(NO_ANSWER);
    site.store(10);
    site.origin.listen(true);
    site.world.scheduler.runUntil(() => site.reader.taken.length === 10, 'all of it', 200);
    expect(site.origin.requests).toBe(1);
    expect(site.consumer.error).toBeNull();
  });

  it('that does not answer is shown as that, until it does', () => {
    const site = new Site(9);
    site.origin.hears = false;
    site.origin.listen(true);
    site.consumer.start();
    site.runFor(4000);
    expect(site.origin.requests).toBe(1);
    expect(site.consumer.error).toBeNull();
    site.runFor(2000);
    expect(site.consumer.error).toEqual(NO_ANSWER);
    site.origin.hears = true;
    site.store(3);
    site.runFor(9000);
    expect(site.caughtUp()).toEqual(site.origin.sequences);
    expect(site.consumer.error).toBeNull();
  });

  it('that was away for longer than it keeps a consumer is read on at once', () => {
    const site = new Site(2);
    site.origin.listen(true);
    site.consumer.start();
    site.store(5);
    site.runFor(500);
    expect(site.reader.taken).toHaveLength(5);
    site.origin.listen(false);
    site.origin.isHeard = false;
    site.runFor(20_000);
    site.origin.forget();
    site.store(100);
    site.origin.isHeard = true;
    site.origin.listen(true);
    site.world.scheduler.runUntil(() => site.reader.taken.length === 105, 'all of it', 200);
    expect(site.consumer.error).toBeNull();
  });

  it('of a server before 2.14 is asked as it knows to be asked, by a new name each time', () => {
    const site = new Site(8);
    site.origin.isOld = true;
    site.origin.listen(true);
    site.consumer.start();
    site.store(3);
    site.runFor(1000);
    expect(site.caughtUp()).toEqual(site.origin.sequences);
    site.origin.forget();
    site.store(2);
    site.runFor(5000);
    expect(site.caughtUp()).toEqual(site.origin.sequences);
    const [first, ...others] = site.origin.names;
    expect(first).toBe('JS_MIRROR_x');
    expect(new Set(others).size).toBe(2);
    expect(others.every((name) => /^JS_MIRROR_x_\w{8}$/.test(name))).toBe(true);
  });

  it('that refuses is asked less and less often, and its error is shown', () => {
    const site = new Site(3);
    site.origin.error = { code: 404, err_code: 10059, description: 'stream not found' };
    site.origin.listen(true);
    site.consumer.start();
    site.runFor(60_000);
    expect(site.consumer.error).toEqual(ApiErrors.streamNotFound);
    expect(site.origin.requests).toBeLessThan(15);
    site.origin.error = null;
    site.store(3);
    site.runFor(11_000);
    expect(site.reader.taken).toHaveLength(3);
    expect(site.consumer.error).toBeNull();
  });

  it('that does not hear the answers to flow control is said to be stalled, until it does', () => {
    const site = new Site(4);
    site.origin.listen(true);
    site.consumer.start();
    site.runFor(500);
    site.origin.hears = false;
    site.store(200);
    site.runFor(5000);
    expect(site.consumer.error).toBe(ApiErrors.sourceConsumerFlowControlStalled);
    site.origin.hears = true;
    site.runFor(1500);
    expect(site.caughtUp()).toEqual(site.origin.sequences);
    expect(site.consumer.error).toBeNull();
  });

  it('is asked for a message again that could not be stored', () => {
    const site = new Site(5);
    site.origin.listen(true);
    site.consumer.start();
    site.reader.refusal = ApiErrors.insufficientResources;
    site.store(20);
    site.runFor(5000);
    expect(site.reader.taken).toEqual([]);
    expect(site.consumer.error).toBe(ApiErrors.insufficientResources);
    expect(site.origin.requests).toBeLessThan(10);
    site.reader.refusal = null;
    site.runFor(8000);
    expect(site.caughtUp()).toEqual(site.origin.sequences);
    expect(site.consumer.error).toBeNull();
  });

  it('that is found not to be the right one is asked again later, and shown as that', () => {
    const site = new Site(6);
    site.origin.listen(true);
    site.consumer.start();
    site.runFor(500);
    const error = ApiErrors.mirrorConsumerSetupFailed('it ends too early');
    site.reader.amiss(error);
    expect(site.consumer.error).toBe(error);
    const { requests } = site.origin;
    site.runFor(500);
    expect(site.origin.requests).toBeGreaterThan(requests);
  });

  it('is left alone when the server stops', () => {
    const site = new Site(7);
    site.origin.listen(true);
    site.consumer.start();
    site.runFor(500);
    site.consumer.stop();
    const { requests } = site.origin;
    site.store(5);
    site.runFor(20_000);
    expect(site.reader.taken).toEqual([]);
    expect(site.origin.requests).toBe(requests);
    expect([...site.account.sublist.subscriptions()]).toHaveLength(2);
  });
});
