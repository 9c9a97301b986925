/**
 * How long messages stay, against a model that looks at every message every second. Messages come at whole seconds and
 * bear times half a second earlier, so what expires does so between two looks.
 */
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { MemoryStore } from '../../jetstream/store/memory-store.ts';
import { REPLACES_SUBJECT } from '../../jetstream/store/record.ts';
import { MessageLifetimes } from '../../jetstream/stream/message-lifetimes.ts';
import { PublishHeaders } from '../../jetstream/stream/publish-headers.ts';
import { decodeStreamRequest, type StreamConfig, type StreamRequest } from '../../jetstream/stream/stream-config.ts';
import { SimulatedWorld } from '../../server/io/simulated/simulated-world.ts';
import { messageOf, readAll } from '../helpers/store-messages.ts';

interface Publish {
  readonly kind: 'publish';
  readonly subject: string;
  /** Seconds, -1: never. */
  readonly ttl: number;
  readonly rollsUp: boolean;
}

type Command = Publish | { readonly kind: 'remove'; readonly which: number } | { readonly kind: 'wait' };

interface Live {
  readonly sequence: number;
  readonly subject: string;
  readonly dueSecond: number;
  readonly isMarker: boolean;
}

const COMMANDS: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('publish' as const),
      subject: fc.constantFrom('a', 'b', 'c'),
      ttl: fc.constantFrom(-1, 0, 0, 1, 1, 2, 3, 7),
      rollsUp: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove' as const), which: fc.nat(20) }) },
  { weight: 3, arbitrary: fc.constant<Command>({ kind: 'wait' }) },
);

const CONFIGS = fc.record({
  maxAge: fc.constantFrom(0, 4),
  markerTtl: fc.constantFrom(0, 0, 2),
  maxPerSubject: fc.constantFrom(-1, 1),
});

it('is what every message asks for', () => {
  fc.assert(
    fc.property(CONFIGS, fc.array(COMMANDS, { maxLength: 60 }), ({ maxAge, markerTtl, maxPerSubject }, commands) => {
      const site = new Site(maxAge, markerTtl, maxPerSubject);
      const model = new Model(maxAge, markerTtl, maxPerSubject === 1);
      for (const command of commands) {
        if (command.kind === 'publish') model.publish(site.publish(command), site.second, command);
        else if (command.kind === 'remove') model.remove(site.remove(command.which));
        else look(site, model);
        site.settle();
      }
      expect(site.content()).toEqual(model.content());
    }),
  );
});

/** A second later. */
function look(site: Site, model: Model): void {
  site.waitSecond();
  model.look(site.second);
  expect(site.content()).toEqual(model.content());
}

class Site {
  second = 0;
  private readonly world = new SimulatedWorld(1);
  private readonly io = this.world.machine('site').start().io;
  private readonly startMs = Math.ceil(this.io.clock.wallMs() / 1000) * 1000;
  private readonly store: MemoryStore;
  private readonly lifetimes: MessageLifetimes;
  private readonly headers = new PublishHeaders();

  constructor(maxAge: number, markerTtl: number, maxMsgsPerSubject: number) {
    this.store = new MemoryStore(
      this.io.timers,
      {
        stored: () => this.lifetimes.messagesChanged(),
        removed: (sequence) => this.lifetimes.removed(sequence),
        purged: (below) => this.lifetimes.purged(below),
      },
      1,
    );
    const storeMarker = (marker: ReturnType<typeof messageOf>): boolean => {
      this.append(marker, this.io.clock.wallMs(), REPLACES_SUBJECT);
      return true;
    };
    this.lifetimes = new MessageLifetimes(this.io, this.store, storeMarker);
    const config: StreamConfig = {
      ...(decodeStreamRequest('{"name":"S"}', true) as StreamRequest).config,
      allowMsgTtl: true,
      maxAgeNs: maxAge * 1e9,
      subjectDeleteMarkerTtlNs: markerTtl * 1e9,
      maxMsgsPerSubject,
    };
    this.store.setLimits({ maxMessages: 0, maxBytes: 0, maxMessagesPerSubject: Math.max(0, maxMsgsPerSubject) });
    this.lifetimes.configure(config);
    this.lifetimes.start();
    this.runTo(this.startMs);
  }

  publish({ subject, ttl, rollsUp }: Publish): number {
    const value = ttl < 0 ? 'never' : `${ttl}s`;
    const message = messageOf(subject, 'x', ttl === 0 ? '' : `NATS/1.0\r\nNats-TTL: ${value}\r\n\r\n`);
    return this.append(message, this.startMs + this.second * 1000 - 500, rollsUp ? REPLACES_SUBJECT : 0);
  }

  remove(which: number): number {
    const messages = readAll(this.store, () => undefined).filter(({ payload }) => payload !== '');
    const sequence = messages[which % Math.max(1, messages.length)]?.sequence ?? 0;
    return this.store.remove(sequence) ? sequence : 0;
  }

  /** What was appended becomes visible. */
  settle(): void {
    this.world.scheduler.runFor(1);
  }

  waitSecond(): void {
    this.second++;
    this.runTo(this.startMs + this.second * 1000 - 5);
  }

  /** Sequences of messages, and subjects of markers, which have no payload. */
  content(): readonly string[] {
    return readAll(this.store, () => undefined)
      .map(({ sequence, subject, payload }) => (payload === '' ? `marker ${subject}` : `message ${sequence}`))
      .sort();
  }

  private append(message: ReturnType<typeof messageOf>, timeMs: number, replaces: number): number {
    this.headers.read(message.body, message.bodyStart, message.payloadStart);
    const stored = this.lifetimes.adjusted(message, this.headers);
    const time = { seconds: Math.floor(timeMs / 1000), nanoseconds: Math.floor((timeMs % 1000) * 1e6) };
    const sequence = this.store.append(stored, time, replaces);
    this.lifetimes.stored(sequence, time, this.headers);
    return sequence;
  }

  private runTo(wallMs: number): void {
    this.world.scheduler.runFor(wallMs - this.io.clock.wallMs());
  }
}

/** Looks at every message. A message with time `second` - 0.5 and a TTL of 2 is gone when `second` + 2 is looked at. */
class Model {
  private live: Live[] = [];
  private readonly maxAge: number;
  private readonly markerTtl: number;
  private readonly isSingle: boolean;
  private markers = 0;

  /** `isSingle`: a subject has one message. */
  constructor(maxAge: number, markerTtl: number, isSingle: boolean) {
    this.maxAge = maxAge;
    this.markerTtl = markerTtl;
    this.isSingle = isSingle;
  }

  publish(sequence: number, second: number, { subject, ttl, rollsUp }: Publish): void {
    const own = ttl > 0 ? Math.max(ttl, this.isSingle ? 0 : this.markerTtl) : Infinity;
    const age = this.maxAge > 0 && ttl >= 0 ? this.maxAge : Infinity;
    if (rollsUp || this.isSingle) this.live = this.live.filter((each) => each.subject !== subject);
    this.live.push({ sequence, subject, dueSecond: second + Math.min(own, age), isMarker: false });
  }

  remove(sequence: number): void {
    this.live = this.live.filter((each) => each.sequence !== sequence || each.isMarker);
  }

  look(second: number): void {
    for (const message of this.live.slice()) {
      if (message.dueSecond > second || !this.live.includes(message)) continue;
      const isLast = this.live.filter(({ subject }) => subject === message.subject).length === 1;
      this.live = this.live.filter((each) => each !== message);
      if (!isLast || message.isMarker || this.markerTtl === 0) continue;
      const dueSecond = second + Math.min(this.markerTtl, this.maxAge > 0 ? this.maxAge : Infinity);
      this.live.push({ sequence: --this.markers, subject: message.subject, dueSecond, isMarker: true });
    }
  }

  content(): readonly string[] {
    return this.live
      .map(({ sequence, subject, isMarker }) => (isMarker ? `marker ${subject}` : `message ${sequence}`))
      .sort();
  }
}
