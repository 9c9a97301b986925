/** Messages that wait to be synced are bounded, in number and in bytes: those beyond are refused, and then it goes on. */
import { expect, it } from 'vitest';
import { BatchWorld } from './batch-world.ts';

const SENT = 50;
const BYTES = 1000;
const TOO_MANY = '{"error":{"code":429,"err_code":10167,"description":"too many requests"},"stream":"S","seq":0}';

it.each([
  ['number', { maxBufferedMessages: 10 }, 10],
  ['bytes', { maxBufferedBytes: 10 * BYTES }, 10],
])('more than may wait are refused: %s', (_what, bounds, taken) => {
  const world = new BatchWorld(1, bounds);
  const client = world.client('publisher');
  const answers: string[] = [];
  client.onMessage = ({ payload }) => answers.push(payload.toString());
  client.subscribe('1', 'A');
  client.send(`PUB s.a A ${BYTES}\r\n${'x'.repeat(BYTES)}\r\n`.repeat(SENT));
  world.until(() => answers.length === SENT, 'all answers');
  const refused = answers.filter((answer) => answer === TOO_MANY).length;
  const stored = answers.filter((answer) => answer.startsWith('{"stream":"S","seq":')).length;
  expect(refused + stored).toBe(SENT);
  // Syncs end while the rest arrives, and a frame is longer than its message.
  expect(stored).toBeGreaterThanOrEqual(taken - 2);
  expect(refused).toBeGreaterThan(0);
  expect(world.stream.store.messages).toBe(stored);

  client.send('PUB s.a A 0\r\n\r\n');
  world.until(() => answers.length === SENT + 1, 'one more answer');
  expect(answers.at(-1)).toBe(`{"stream":"S","seq":${stored + 1}}`);
});
