/** A server that has no file descriptors left goes on with those it serves, and takes new clients when it can again. */
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { startServer, type Target } from '../helpers/targets.ts';
import { until } from '../helpers/until.ts';
import { dial } from '../helpers/wire-client.ts';
import { builtPetiole } from './built-binary.ts';
import { Flood } from './flood.ts';

const DESCRIPTORS = 100;
const CLIENTS = 400;
const LOG_LINES_MAX = 40;

it('out of file descriptors it refuses new clients, serves the others, and recovers', async () => {
  const server = await startServer(limited(builtPetiole()), { config: 'http: "127.0.0.1:-1"' });
  const address = server.address();
  const flood = new Flood(address);
  const early = await dial(address);
  try {
    await early.line();
    early.send('CONNECT {"verbose":false}\r\nSUB here 1\r\n');
    flood.dial(CLIENTS, '');
    await until(() => flood.counts.greeted + flood.counts.closed === CLIENTS, 'each to be served or refused');
    expect(flood.counts.greeted).toBeGreaterThan(DESCRIPTORS / 4);
    expect(flood.counts.greeted).toBeLessThan(DESCRIPTORS);
    for (let i = 0; i < 20; i++) {
      early.send('PUB here 2\r\nhi\r\n');
      await early.expect('MSG here 1 2\r\nhi\r\n');
      await delay(10);
    }
    expect(server.exited).toBe(false);
    flood.close();
    await until(() => flood.counts.open === 0, 'the clients to be gone');
    const late = await until(async () => {
      const client = await dial(address);
      const greeting = await client.line().catch(() => null);
      return greeting === null ? null : client;
    }, 'a new client to be served');
    late.send('CONNECT {"verbose":false}\r\n');
    await late.quiet();
    await late.close();
    const monitor = await server.listening('monitor');
    expect((await fetch(`http://${monitor.host}:${monitor.port}/healthz`)).status).toBe(200);
    expect(server.log.split('\n').length).toBeLessThan(LOG_LINES_MAX);
  } finally {
    flood.close();
    await early.close();
    await server.stop();
  }
});

/** The same program with few file descriptors. */
function limited(target: Target): Target {
  const command = ['/bin/sh', '-c', `ulimit -n ${DESCRIPTORS}; exec "$@"`, 'sh', ...target.command];
  return { ...target, command };
}
