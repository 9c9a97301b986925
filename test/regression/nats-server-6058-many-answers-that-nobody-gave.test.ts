/**
 * nats-server#6058: requests to somebody who may only answer (`allow_responses`) became ever slower, the more of them had
 * not been answered.
 */
import { expect, test } from 'vitest';
import { clientOf, describeTargets, serve } from '../helpers/describe-targets.ts';

const CONFIG = `authorization { users: [
  { user: asker, password: secret }
  { user: answerer, password: secret, permissions: { subscribe: "service", allow_responses: { max: 1, expires: "1m" } } }
] }`;

const ROUNDS = 6;
const REQUESTS = 5_000;
/** On a machine that does other things meanwhile. */
const TIMES_SLOWER_MAX = 8;
const WITHIN_MS = 30_000;

describeTargets('requests that are not answered', (target) => {
  test('do not make later ones slower, and the last one can be answered', async () => {
    const server = await serve(target, CONFIG);
    const asker = await clientOf(server, { user: 'asker', pass: 'secret' });
    const answerer = await clientOf(server, { user: 'answerer', pass: 'secret' });
    answerer.send('SUB service 1\r\nPING\r\n');
    await answerer.expect('PONG\r\n');
    asker.send('SUB answer.> 1\r\n');
    const tookMs: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const before = performance.now();
      const requests = Array.from({ length: REQUESTS }, (_, at) => `PUB service answer.${round}.${at} 2\r\nhi\r\n`);
      asker.send(requests.join(''));
      const last = `MSG service 1 answer.${round}.${REQUESTS - 1} 2\r\nhi\r\n`;
      await answerer.take(
        (received) => {
          const at = received.lastIndexOf(last);
          return at < 0 ? 'more' : at + last.length;
        },
        'the last request',
        WITHIN_MS,
      );
      tookMs.push(performance.now() - before);
    }
    const reply = `answer.${ROUNDS - 1}.${REQUESTS - 1}`;
    answerer.send(`PUB ${reply} 3\r\nyes\r\nPUB ${reply} 5\r\ntwice\r\n`);
    await asker.expect(`MSG ${reply} 1 3\r\nyes\r\n`);
    await answerer.expect(`-ERR 'Permissions Violation for Publish to "${reply}"'\r\n`);
    const [first = 0, ...others] = tookMs;
    expect(Math.min(...others.slice(-2))).toBeLessThan(first * TIMES_SLOWER_MAX);
  });
});
