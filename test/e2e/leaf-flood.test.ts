/** Whoever comes to the leaf port and does not log in costs next to nothing, is bounded in number, and disturbs no link. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { serve } from '../helpers/describe-targets.ts';
import { isAbsent, petiole } from '../helpers/targets.ts';
import { until } from '../helpers/until.ts';
import { dial } from '../helpers/wire-client.ts';
import { Flood } from './flood.ts';

const CONFIG = `leafnodes { listen: "127.0.0.1:-1", authorization { user: u, password: p, timeout: 20 } }`;
const WAITING_MAX = 4096;
const SILENT = 3000;
const HALF = 2000;
const WARM_UP = 500;
const COST_BYTES_MAX = 20e6;
const HALF_LINE = `CONNECT {"user":"u","name":"${'n'.repeat(700)}`;
const TIMEOUT = "-ERR 'Authentication Timeout'";

function anonymousBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/RssAnon:\s+(\d+)/.exec(status)?.[1]) * 1024;
}

test('five thousand that do not log in are bounded, cheap and told why they go, while a link goes on', async () => {
  const target = petiole();
  if (isAbsent(target)) throw new Error(target.absent);
  const server = await serve(target, CONFIG);
  const address = await server.listening('leafnode');
  const leaf = await dial(address);
  const flood = new Flood(address);
  const warmUp = new Flood(address);
  try {
    await leaf.line();
    leaf.send('CONNECT {"user":"u","pass":"p","name":"x","headers":true,"protocol":2}\r\n');
    expect(await leaf.line()).toMatch(/"connect_info":true/);
    expect(await leaf.line()).toMatch(/^LS\+ \$/);
    await warmUp.open(WARM_UP, HALF_LINE);
    warmUp.close();
    await until(() => warmUp.counts.open === 0, 'the first ones to be gone');
    const before = anonymousBytes(server.pid);
    await flood.open(HALF, HALF_LINE);
    await flood.open(SILENT, '');
    await until(() => flood.counts.open <= WAITING_MAX, 'those who wait longest to be sent away');
    const costBytes = anonymousBytes(server.pid) - before;
    leaf.send('PING\r\n');
    await leaf.take((received) => (received.includes('PONG\r\n') ? received.length : 'more'), 'PONG');
    await until(() => flood.counts.open === 0, 'all to be sent away', 60_000);
    expect([...flood.errors.keys()]).toEqual([TIMEOUT]);
    console.log(`${SILENT + HALF} cost ${(costBytes / 1e6).toFixed(1)} MB`);
    expect(costBytes).toBeLessThan(COST_BYTES_MAX);
    leaf.send('LS+ still.here\r\nPING\r\n');
    await leaf.take((received) => (received.includes('PONG\r\n') ? received.length : 'more'), 'PONG');
  } finally {
    flood.close();
    warmUp.close();
    await leaf.close();
  }
});
