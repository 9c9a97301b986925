/** nats-server#3641: on a disk that was nearly full a restart refused the streams that had filled it. */
import { expect, test } from 'vitest';
import { BatchWorld } from '../sim/batch-world.ts';

const LARGE = 32 * 1024;
const MESSAGES = 300;
const ATTEMPTS_MAX = 20;

test.each([
  ['without a free byte', 0],
  ['with a few free pages', 5 * 4096],
])('streams are there after a restart on a disk %s', (_what, freeBytes) => {
  const world = new BatchWorld(1);
  const client = world.client('publisher');
  let stored = 0;
  client.onMessage = ({ payload }) => (stored += payload.includes('"error"') ? 0 : 1);
  client.subscribe('1', 'A');
  for (let each = 0; each < MESSAGES; each++) client.send(`PUB s.a A ${LARGE}\r\n${'x'.repeat(LARGE)}\r\n`);
  world.until(() => stored === MESSAGES, 'all messages');

  const { disk } = world.machine;
  const capacityBytes = disk.capacityBytes;
  disk.capacityBytes = capacityBytes - disk.freeBytes + freeBytes;
  for (let restart = 0; restart < 2; restart++) {
    world.restart();
    expect(world.stream.store.messages).toBe(MESSAGES);
    expect(world.stream.store.lastSequence).toBe(MESSAGES);
  }
  expect(world.log.filter((line) => /\[FTL\]/.test(line))).toEqual([]);

  disk.capacityBytes = capacityBytes;
  const later = world.client('later');
  const answers: string[] = [];
  later.onMessage = ({ payload }) => answers.push(payload.toString());
  later.subscribe('1', 'A');
  for (let attempt = 0; attempt < ATTEMPTS_MAX && answers.at(-1)?.includes('"error"') !== false; attempt++) {
    later.send('PUB s.a A 4\r\nmore\r\n');
    world.world.scheduler.runFor(1000);
  }
  expect(answers.at(-1)).toContain(`"seq":${MESSAGES + 1}`);
});
