/** A direct get of a large stream by somebody who reads slowly: the server keeps the rest where it is. */
import { readFileSync } from 'node:fs';
import { connect } from '@nats-io/transport-node';
import { expect, it, onTestFinished } from 'vitest';
import { isAbsent, petiole, startServer } from '../helpers/targets.ts';
import { dial } from '../helpers/wire-client.ts';

const MESSAGES = 1536;
const PAYLOAD = Buffer.alloc(128 * 1024, 'x');
const GROWTH_MB_MAX = 48;
const TIMEOUT_MS = 120_000;

it(
  'an answer of 192 MB does not grow the memory while nobody reads it, and comes whole',
  async () => {
    const target = petiole();
    if (isAbsent(target)) throw new Error(target.absent);
    const server = await startServer(target, { config: 'jetstream { store_dir: "store" }' });
    onTestFinished(() => server.stop());
    const { host, port } = server.address();
    const publisher = await connect({ servers: `${host}:${port}` });
    onTestFinished(() => publisher.close());
    const config = { name: 'S', subjects: ['s'], allow_direct: true };
    await publisher.request('$JS.API.STREAM.CREATE.S', JSON.stringify(config));
    const publish = (): Promise<unknown> => publisher.request('s', PAYLOAD, { timeout: TIMEOUT_MS });
    for (let sent = 0; sent < MESSAGES; sent += 16) await Promise.all(Array.from({ length: 16 }, publish));
    const reader = await dial(server.address());
    onTestFinished(() => reader.close());
    await reader.line();
    const body = JSON.stringify({ seq: 1, batch: MESSAGES, max_bytes: 2 ** 40 });
    reader.send(`CONNECT {"verbose":false,"headers":true}\r\nSUB A 1\r\n`);
    await reader.quiet();
    const before = residentMb(server.pid);
    reader.stopReading();
    reader.send(`PUB $JS.API.DIRECT.GET.S A ${body.length}\r\n${body}\r\n`);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect(residentMb(server.pid) - before).toBeLessThan(GROWTH_MB_MAX);
    reader.resumeReading();
    for (let sequence = 1; sequence <= MESSAGES; sequence++) {
      const { headers, payload } = await messageOf(reader);
      expect(headers).toContain(`Nats-Sequence: ${sequence}\r\n`);
      expect(payload).toBe(PAYLOAD.length);
    }
    expect((await messageOf(reader)).headers).toContain('204 EOB\r\nNats-Num-Pending: 0\r\n');
    expect(residentMb(server.pid) - before).toBeLessThan(GROWTH_MB_MAX * 2);
  },
  TIMEOUT_MS,
);

async function messageOf(reader: Awaited<ReturnType<typeof dial>>): Promise<{ headers: string; payload: number }> {
  let words: string[] = [];
  while (words[0] !== 'HMSG') words = (await reader.line()).split(' ');
  const [headerBytes = 0, totalBytes = 0] = words.slice(-2).map(Number);
  const wanted = totalBytes + 2;
  const bytes = await reader.take((received) => (received.length < wanted ? 'more' : wanted), 'a message');
  return { headers: bytes.toString('latin1', 0, headerBytes), payload: totalBytes - headerBytes };
}

function residentMb(pid: number): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}
