/** Requests to services of other accounts: for how long answers are awaited, and for how many requests. */
import { beforeEach, describe, expect, it } from 'vitest';
import { Account } from '../../server/account/account.ts';
import { ResponsePermits } from '../../server/account/response-permits.ts';
import { ServiceExport } from '../../server/account/service-export.ts';
import { ServiceImport } from '../../server/account/service-import.ts';
import type { ResponseType } from '../../server/config/account-options.ts';
import type { Sink } from '../../server/ports.ts';
import { Message } from '../../server/protocol/message.ts';
import { Sublist } from '../../server/subject/sublist.ts';
import { Subscription } from '../../server/subject/subscription.ts';

const THRESHOLD_MS = 1_000;

interface Due {
  readonly atMs: number;
  readonly callback: () => void;
}

let nowMs = 0;
let due: Due[] = [];
let drawn = 0;

const io = {
  clock: { wallMs: () => nowMs, monotonicMs: () => nowMs },
  timers: {
    after(delayMs: number, callback: () => void) {
      due.push({ atMs: nowMs + delayMs, callback });
      return { cancel: () => undefined };
    },
    afterTurn: (callback: () => void) => callback(),
  },
  random: {
    bytes(count: number): Buffer {
      drawn++;
      return Buffer.from(Array.from({ length: count }, (_, at) => Math.floor(drawn / 62 ** at) % 62));
    },
    fraction: () => 0,
  },
};

function pass(ms: number): void {
  nowMs += ms;
  const ready = due.filter(({ atMs }) => atMs <= nowMs);
  due = due.filter(({ atMs }) => atMs > nowMs);
  for (const { callback } of ready) callback();
}

function account(name: string): Account {
  return new Account(name, new Sublist(1), () => 0);
}

/** Notes what it gets. */
function ear(notes: string[]): Sink {
  return {
    sinkKind: 'client',
    deliver(_subscription, message) {
      notes.push(`${message.subjectText()} ${message.replyText()}`.trim());
      return true;
    },
  };
}

function publish(to: Account, subject: string, reply = '', body = 'x'): boolean {
  const message = new Message();
  message.setSubject(Buffer.from(subject), 0, subject.length);
  message.setReply(Buffer.from(reply), 0, reply.length);
  message.setBody(Buffer.from(`${body}\r\n`), 0, 0, body.length);
  return to.route(message);
}

class Pair {
  readonly exporter = account('A');
  readonly importer = account('B');
  readonly asked: string[] = [];
  readonly answered: string[] = [];
  readonly service: ServiceExport;

  constructor(responseType: ResponseType, isServed = true) {
    this.service = new ServiceExport(this.exporter, { responseType, responseThresholdMs: THRESHOLD_MS }, io);
    const options = {
      importer: this.importer,
      service: this.service,
      from: 'ask',
      to: 'svc',
      outward: null,
      isShared: false,
    };
    this.importer.subscribe(new ServiceImport(options, io.random).subscription);
    if (isServed) this.exporter.subscribe(new Subscription(ear(this.asked), 'svc', '', '1'));
    this.importer.subscribe(new Subscription(ear(this.answered), 'back.>', '', '1'));
  }

  /** Asks, and gives the subject to answer to. */
  ask(reply: string): string {
    publish(this.importer, 'ask', reply);
    return this.asked.at(-1)?.split(' ')[1] ?? '';
  }
}

beforeEach(() => {
  nowMs = 0;
  due = [];
});

describe('a service', () => {
  it('answers once, and no second time', () => {
    const pair = new Pair('singleton');
    const reply = pair.ask('back.1');
    expect(reply).toMatch(/^_R_\.\w{6}\.\w{8}$/);
    expect(publish(pair.exporter, reply)).toBe(true);
    expect(publish(pair.exporter, reply)).toBe(false);
    expect([pair.answered, pair.service.awaitedCount]).toEqual([['back.1'], 0]);
  });

  it.each<ResponseType>(['stream', 'chunked'])('answers as a %s until it says nothing', (type) => {
    const pair = new Pair(type);
    const reply = pair.ask('back.1');
    for (let i = 0; i < 3; i++) expect(publish(pair.exporter, reply)).toBe(true);
    expect(pair.service.awaitedCount).toBe(1);
    expect(publish(pair.exporter, reply, '', '')).toBe(true);
    expect(publish(pair.exporter, reply)).toBe(false);
    expect([pair.answered.length, pair.service.awaitedCount]).toEqual([4, 0]);
  });

  it('is awaited as long as its threshold says, from the last answer on', () => {
    const pair = new Pair('stream');
    const [early, late] = [pair.ask('back.1'), pair.ask('back.2')];
    pass(THRESHOLD_MS - 1);
    expect(publish(pair.exporter, late)).toBe(true);
    pass(1);
    expect(publish(pair.exporter, early)).toBe(false);
    expect(pair.service.awaitedCount).toBe(1);
    pass(THRESHOLD_MS);
    expect(publish(pair.exporter, late)).toBe(false);
    expect([pair.answered, pair.service.awaitedCount]).toEqual([['back.2'], 0]);
  });

  it('that nobody gives is not awaited', () => {
    const pair = new Pair('singleton', false);
    expect(publish(pair.importer, 'ask', 'back.1')).toBe(false);
    expect(pair.service.awaitedCount).toBe(0);
  });

  it('that nobody waits for any more is forgotten with its answer', () => {
    const pair = new Pair('stream');
    const reply = pair.ask('gone.1');
    expect(publish(pair.exporter, reply)).toBe(false);
    expect(pair.service.awaitedCount).toBe(0);
  });

  it('may ask back in its answer', () => {
    const pair = new Pair('stream');
    const reply = pair.ask('back.1');
    const more: string[] = [];
    pair.exporter.subscribe(new Subscription(ear(more), 'more', '', '1'));
    publish(pair.exporter, reply, 'more');
    const [, back = ''] = pair.answered[0]?.split(' ') ?? [];
    expect(back).toMatch(/^_R_\./);
    expect(publish(pair.importer, back)).toBe(true);
    expect(more).toEqual(['more']);
  });

  it('keeps acknowledgement subjects, which find their stream from anywhere', () => {
    const pair = new Pair('singleton');
    expect(pair.ask('$JS.ACK.S.C.1.1.1.1.0')).toBe('$JS.ACK.S.C.1.1.1.1.0');
    expect(pair.service.awaitedCount).toBe(0);
  });

  it('is awaited for a bounded number of requests, the latest', () => {
    const pair = new Pair('singleton');
    const first = pair.ask('back.0');
    for (let i = 1; i <= 65_536; i++) publish(pair.importer, 'ask', `back.${i}`);
    expect(pair.service.awaitedCount).toBe(65_536);
    expect(publish(pair.exporter, first)).toBe(false);
    expect(publish(pair.exporter, pair.asked.at(-1)?.split(' ')[1] ?? '')).toBe(true);
  });
});

describe('the right to answer', () => {
  it('is for so many answers, and for some time', () => {
    const permits = new ResponsePermits({ max: 2, expiresMs: 100 }, () => nowMs);
    permits.permit('a');
    expect([permits.use('b'), permits.use('a'), permits.use('a'), permits.use('a')]).toEqual([
      false,
      true,
      true,
      false,
    ]);
    permits.permit('a');
    nowMs += 101;
    expect(permits.use('a')).toBe(false);
  });

  it('is without end where the numbers are negative', () => {
    const permits = new ResponsePermits({ max: -1, expiresMs: -1 }, () => nowMs);
    permits.permit('a');
    nowMs += 1e12;
    for (let i = 0; i < 100; i++) expect(permits.use('a')).toBe(true);
  });

  it('is kept for a bounded number of subjects, the latest', () => {
    const permits = new ResponsePermits({ max: 1, expiresMs: -1 }, () => nowMs);
    for (let i = 0; i <= 16_384; i++) permits.permit(String(i));
    expect([permits.use('0'), permits.use('1'), permits.use('16384')]).toEqual([false, true, true]);
  });
});
