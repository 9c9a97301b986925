/** What bounds batches across streams and in memory, and that everything taken is given back. */
import { beforeEach, describe, expect, it } from 'vitest';
import { BatchWorld } from './batch-world.ts';
import type { SimulatedClient } from './simulated-client.ts';

const SEED = 1;
const INCOMPLETE =
  '{"error":{"code":400,"err_code":10176,"description":"atomic publish batch is incomplete"},"stream":"S","seq":0}';

class Talk {
  readonly client: SimulatedClient;
  readonly heard: string[] = [];
  private readonly world: BatchWorld;

  constructor(world: BatchWorld) {
    this.world = world;
    this.client = world.client('talker');
    this.client.subscribe('1', 'R.>');
    this.client.onMessage = ({ subject, headers, payload }) => {
      this.heard.push(`${subject.slice(2)} ${headers.split('\r\n')[0]}|${payload.toString('latin1')}`);
    };
  }

  atomic(subject: string, id: string, sequence: number, commit = '', bytes = 3, reply = `R.${id}.${sequence}`): void {
    const last = commit === '' ? '' : `Nats-Batch-Commit: ${commit}\r\n`;
    const headers = `NATS/1.0\r\nNats-Batch-Id: ${id}\r\nNats-Batch-Sequence: ${sequence}\r\n${last}\r\n`;
    const payload = 'x'.repeat(bytes);
    this.client.send(
      `HPUB ${subject} ${reply} ${headers.length} ${headers.length + bytes}\r\n${headers}${payload}\r\n`,
    );
  }

  fast(reply: string, headers = ''): void {
    const block = headers === '' ? '' : `NATS/1.0\r\n${headers}\r\n\r\n`;
    const line =
      block === '' ? `PUB s.a R.${reply}.$FI 1` : `HPUB s.a R.${reply}.$FI ${block.length} ${block.length + 1}`;
    this.client.send(`${line}\r\n${block}x\r\n`);
  }

  hears(count: number): string[] {
    this.world.until(() => this.heard.length >= count, `${count} answers`);
    this.world.world.scheduler.runFor(20);
    return this.heard.splice(0);
  }
}

describe('atomic batches', () => {
  let world: BatchWorld;
  let talk: Talk;

  beforeEach(() => {
    world = new BatchWorld(SEED, { maxBufferedBytes: 200_000 });
    talk = new Talk(world);
  });

  it('that keep too much aside are refused as nats-server refuses too many requests', () => {
    talk.atomic('s.a', 'A', 1, '', 120_000);
    talk.atomic('s.a', 'B', 1, '', 60_000);
    talk.atomic('s.a', 'B', 2, '', 60_000);
    talk.atomic('s.a', 'B', 3, '1');
    const tooMany = '{"error":{"code":429,"err_code":10167,"description":"too many requests"},"stream":"S","seq":0}';
    expect(talk.hears(4)).toEqual([
      'A.1 |',
      'B.1 |',
      `B.2 NATS/1.0 429 Too Many Requests|${tooMany}`,
      `B.3 |${INCOMPLETE}`,
    ]);
    talk.atomic('s.a', 'A', 2, '1', 60_000);
    expect(talk.hears(1)).toEqual(['A.2 |{"stream":"S","seq":2,"batch":"A","count":2}']);
    expect(world.stream.host.batchUse).toEqual({ atomicBatches: 0, fastBatches: 0, stagedBytes: 0 });
  });

  it('give back what they took when they fail, are abandoned, switched off, or their stream goes', () => {
    const use = world.stream.host.batchUse;
    talk.atomic('s.a', 'A', 1);
    talk.atomic('s.a', 'A', 3);
    talk.hears(2);
    expect(use).toEqual({ atomicBatches: 0, fastBatches: 0, stagedBytes: 0 });
    talk.atomic('s.a', 'A', 1);
    talk.fast('F.10.ok.1.0');
    talk.hears(2);
    expect(use).toMatchObject({ atomicBatches: 1, fastBatches: 1 });
    expect(use.stagedBytes).toBeGreaterThan(0);
    world.world.scheduler.runFor(10_100);
    expect(use).toEqual({ atomicBatches: 0, fastBatches: 0, stagedBytes: 0 });
    talk.atomic('s.a', 'A', 1);
    talk.fast('F.10.ok.1.0');
    talk.hears(2);
    world.request('STREAM.UPDATE.S', '{"name":"S","subjects":["s.>"]}');
    expect(use).toEqual({ atomicBatches: 0, fastBatches: 0, stagedBytes: 0 });
    world.request('STREAM.UPDATE.S', '{"name":"S","subjects":["s.>"],"allow_atomic":true,"allow_batched":true}');
    talk.atomic('s.a', 'A', 1);
    talk.fast('F.10.ok.1.0');
    talk.hears(2);
    world.request('STREAM.DELETE.S', '');
    expect(use).toEqual({ atomicBatches: 0, fastBatches: 0, stagedBytes: 0 });
  });

  it('are limited on a server as on a stream', () => {
    const names = Array.from({ length: 20 }, (_, i) => `T${i}`);
    for (const name of names) {
      world.createStream(name);
      for (let i = 0; i < 50; i++) talk.atomic(`${name.toLowerCase()}.a`, `A${i}`, 1, '', 0, '');
    }
    talk.atomic('s.a', 'A', 1);
    const inFlight =
      '{"error":{"code":429,"err_code":10210,"description":"atomic publish too many inflight"},"stream":"S","seq":0}';
    expect(talk.hears(1)).toEqual([`A.1 |${inFlight}`]);
    expect(world.stream.host.batchUse.atomicBatches).toBe(1000);
    talk.atomic('t7.a', 'A0', 2, '1');
    talk.atomic('s.a', 'A', 1);
    expect(talk.hears(2).sort()).toEqual(['A.1 |', 'A0.2 |{"stream":"T7","seq":2,"batch":"A0","count":2}']);
  });
});

describe('a fast batch', () => {
  it('that nothing could end on nats-server ends with what it has', () => {
    const talk = new Talk(new BatchWorld(SEED));
    // An error that does not end the batch, since this message allows gaps, then a gap that ends it.
    talk.fast('A.9.fail.1.0');
    talk.fast('A.9.ok.2.1', 'Nats-TTL: 1');
    talk.fast('A.9.fail.4.1');
    // A message that is refused late, then the end.
    talk.fast('B.9.ok.1.0');
    talk.fast('B.9.ok.2.1', 'Nats-Expected-Last-Msg-Id: M');
    talk.fast('B.9.ok.3.3');
    const ttl = '{"code":400,"err_code":10166,"description":"per-message TTL is disabled"}';
    const id = '{"code":400,"err_code":10070,"description":"wrong last msg ID: "}';
    expect(talk.hears(7)).toEqual([
      'A.9.fail.1.0.$FI |{"type":"ack","seq":0,"msgs":9}',
      `A.9.ok.2.1.$FI |{"type":"err","seq":2,"error":${ttl}}`,
      'A.9.fail.4.1.$FI |{"type":"gap","last_seq":3,"seq":4}',
      'A.9.fail.4.1.$FI |{"stream":"S","seq":1,"batch":"A","count":2}',
      'B.9.ok.1.0.$FI |{"type":"ack","seq":0,"msgs":9}',
      `B.9.ok.2.1.$FI |{"error":${id},"stream":"S","seq":0}`,
      'B.9.ok.3.3.$FI |{"stream":"S","seq":2,"batch":"B","count":2}',
    ]);
  });
});
