/** What /healthz says of a disk that fails: why nothing can be stored, until that is over. */
import { describe, expect, it, vi } from 'vitest';
import { JetStreamMonitor } from '../../server/monitor/jetstream-monitor.ts';
import type { AssetHealth } from '../../server/monitor/monitor-source.ts';
import { BatchWorld } from './batch-world.ts';

const EVERYTHING = { account: '', stream: '', consumer: '', isMetaOnly: false };
const HEALTHY: AssetHealth = { status: 200, problems: [] };
const LARGE = 32 * 1024;
/** Room for a segment of the log, and not for what is stored. */
const LITTLE = 1.5 * 1024 * 1024;
const ATTEMPTS_MAX = 200;
const ATTEMPT_MS = 100;
const CONSUMER = '{"stream_name":"S","config":{"name":"c","durable_name":"c","ack_policy":"explicit"}}';

it('counts what is stored as room when it starts on a disk that is almost full', () => {
  const world = new BatchWorld(2);
  const { disk } = world.machine;
  const client = world.client('publisher');
  let answer = '';
  client.subscribe('1', 'A');
  client.onMessage = ({ payload }) => (answer = payload.toString());
  const publish = (to: typeof client): string => {
    answer = '';
    to.send(`PUB s.a A ${LARGE}\r\n${'x'.repeat(LARGE)}\r\n`);
    world.until(() => answer !== '', 'an answer');
    return answer;
  };
  for (let count = 0; count < 100; count++) expect(publish(client)).toContain('"seq":');
  const capacity = disk.capacityBytes;
  disk.capacityBytes = capacity - disk.freeBytes + LITTLE;
  world.restart();
  const { jetstream } = world.server;
  // Three quarters of what is free and of what is taken already.
  expect(jetstream?.fileUse.bytesMax).toBeGreaterThan(0.75 * world.stream.store.bytes);
  expect(world.stream.store.messages).toBe(100);
});

describe('health while the disk fails', () => {
  it.each([
    ['fails every write', /EIO/],
    ['is full', /0 bytes are free/],
  ])('is bad when it %s, and good again afterwards', (what, reason) => {
    const world = new BatchWorld(1);
    const { jetstream } = world.server;
    if (jetstream === null) throw new Error('JetStream is on');
    const monitor = new JetStreamMonitor(jetstream);
    const errors = vi.spyOn(jetstream.log, 'error');
    const notices = vi.spyOn(jetstream.log, 'notice');
    const client = world.client('publisher');
    const answers: string[] = [];
    client.subscribe('1', 'A');
    client.onMessage = ({ payload }) => answers.push(payload.toString());
    const publish = (): string => {
      const before = answers.length;
      client.publish('s.a', '', Buffer.alloc(LARGE));
      client.send(`PUB s.a A 0\r\n\r\n`);
      world.until(() => answers.length > before, 'an answer');
      return answers.at(-1) ?? '';
    };

    expect(publish()).toContain('"seq":');
    expect(monitor.health(EVERYTHING)).toEqual(HEALTHY);

    const { disk } = world.machine;
    const capacity = disk.capacityBytes;
    if (what !== 'is full') disk.faults.rates.writeError = 1;
    else disk.capacityBytes = capacity - disk.freeBytes;
    const isNoticed = (): boolean => monitor.health(EVERYTHING).problems.some(({ error }) => reason.test(error));
    for (let attempt = 0; attempt < ATTEMPTS_MAX && !isNoticed(); attempt++) {
      client.publish('s.a', '', Buffer.alloc(LARGE));
      world.world.scheduler.runFor(ATTEMPT_MS);
    }
    const sick = monitor.health({ ...EVERYTHING, account: '$G', stream: 'S' });
    expect(sick.status).toBe(503);
    expect(sick.problems).toContainEqual({ type: 'JETSTREAM', error: expect.stringMatching(reason) });
    expect(monitor.health({ ...EVERYTHING, account: '$G', stream: 'none' }).status).toBe(404);
    expect(publish()).toContain('"error":');
    expect(errors.mock.lastCall?.[0]).toMatch(/^JetStream write error: .*messages are refused until it is over$/);
    expect(ask(world, 'STREAM.CREATE.F', '{"name":"F"}')).toContain('"err_code":10047');
    expect(ask(world, 'STREAM.CREATE.M', '{"name":"M","storage":"memory"}')).toContain('"did_create":true');
    expect(ask(world, 'CONSUMER.CREATE.S.c', CONSUMER)).toContain('"err_code":10047');
    expect(ask(world, 'STREAM.INFO.S', '')).not.toContain('"error":');

    disk.faults.rates.writeError = 0;
    disk.capacityBytes = capacity;
    world.until(() => monitor.health(EVERYTHING).problems.length === 0, 'the disk to be well');
    world.until(() => notices.mock.lastCall?.[0] === 'JetStream can write again', 'the log to say so');
    expect(errors).toHaveBeenCalledOnce();
    expect(publish()).toContain('"seq":');
    expect(ask(world, 'CONSUMER.CREATE.S.c', CONSUMER)).not.toContain('"error":');
  });
});

/** The answer of the API. */
function ask(world: BatchWorld, request: string, body: string): string {
  const client = world.client('asker');
  let answer = '';
  client.onMessage = ({ payload }) => (answer = payload.toString());
  client.subscribe('1', 'A');
  client.send(`PUB $JS.API.${request} A ${body.length}\r\n${body}\r\n`);
  world.until(() => answer !== '', `an answer to ${request}`);
  client.end();
  return answer;
}
