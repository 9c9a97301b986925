/**
 * A gateway on a small machine with a slow disk: 128 MB of memory, one CPU, and 20 ms for each synced write. It is
 * killed five times under load as on any other, loses nothing, and never runs out of memory. Its disk slows down what
 * waits for the disk and nothing else: beside it runs a second one without the delay, under the same tracer, on the same
 * CPU, with the same load; requests that need no disk go to both in turn and must take about as long on either.
 */
import { execFile, spawnSync } from 'node:child_process';
import { createReadStream, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { describeUnless } from '../helpers/describe-unless.ts';
import { temporaryDirectory } from '../helpers/temporary-directory.ts';
import { builtPetiole } from './built-binary.ts';
import { startGateway } from './gateway.ts';
import type { Gateway } from './gateway.ts';
import { MemoryGroup, memoryGroupAbsence } from './memory-group.ts';
import { ReadingSite } from './reading-site.ts';
import { straceAbsence, underStrace } from './strace.ts';

const MEMORY_BYTES = 128 * 1024 * 1024;
const DELAY_MICROSECONDS = 20_000;
const KILLS = 5;
/** Long enough for the slow disk to keep up with it, so that both have the same load. */
const INTERVAL_MS = 250;
const ROUND_READINGS = 128;
const ROUND_REQUESTS = 500;
/** A line of the trace; calls during which others began have two, and are not counted. */
const DELAYED = /\/log\/\d+\.seg>.*\(DELAYED\)$/;
/** How much longer requests may take beside a slow disk. */
const P99_RATIO_MAX = 1.5;

const root = join(import.meta.dirname, '../..');

const absence = straceAbsence() ?? (await memoryGroupAbsence()) ?? oneCpuAbsence();

describeUnless(absence, 'a gateway in 128 MB, on one CPU', () => {
  it('loses nothing to a slow disk, and answers requests as if it were fast', async () => {
    const slow = await startSmallSite(DELAY_MICROSECONDS);
    const fast = await startSmallSite(0);
    const sites = [slow, fast];
    const milliseconds: number[][] = [[], []];
    for (let kill = 0; kill < KILLS; kill++) {
      await Promise.all(sites.map(async ({ site }) => site.progress(ROUND_READINGS)));
      const round = await requestLatencies(sites.map(({ gateway }) => gateway));
      for (const [index, latencies] of milliseconds.entries()) latencies.push(...(round[index] ?? []));
      await Promise.all(sites.map(async ({ site }) => site.kill()));
    }
    for (const { site } of sites) await site.expectNothingLost();
    for (const { gateway } of sites) await gateway.stop();

    const [slowP99 = Infinity, fastP99 = 0] = milliseconds.map(p99);
    for (const { site } of sites) console.info(site.summary);
    console.info(`request p99: ${slowP99.toFixed(2)} ms with the slow disk, ${fastP99.toFixed(2)} ms without`);
    expect(sites.map(({ group }) => group.outOfMemory)).toEqual([0, 0]);
    expect(slowP99).toBeLessThanOrEqual(fastP99 * P99_RATIO_MAX);
    // Each run of the server has a trace of its own.
    const delayed = await Promise.all(slow.traces.map(countDelayed));
    expect(delayed).toHaveLength(KILLS + 1);
    expect(Math.min(...delayed)).toBeGreaterThan(0);
    const undelayed = await Promise.all(fast.traces.map(countDelayed));
    expect(Math.max(...undelayed)).toBe(0);
  });
});

interface SmallSite {
  readonly site: ReadingSite;
  readonly gateway: Gateway;
  readonly group: MemoryGroup;
  readonly traces: readonly string[];
}

/** A site on a small gateway each of whose positional writes takes so much longer. */
async function startSmallSite(microseconds: number): Promise<SmallSite> {
  const group = new MemoryGroup(MEMORY_BYTES);
  onTestFinished(() => group.remove());
  const directory = temporaryDirectory();
  const traces: string[] = [];
  const gateway = await startGateway({
    target: builtPetiole(),
    around: (command) => {
      const output = join(directory, `calls-${traces.length}`);
      traces.push(output);
      const options = { calls: ['pwrite64'], output, bufferBytes: 0 };
      const delay = microseconds === 0 ? {} : { delay: { call: 'pwrite64', microseconds } };
      return underStrace(group.around(onOneCpu(command)), { ...options, ...delay });
    },
  });
  const site = new ReadingSite(gateway, INTERVAL_MS);
  await site.start();
  return { site, gateway, group, traces };
}

/** The command that runs `command` on the first of the CPUs that this process may use. */
function onOneCpu(command: readonly string[]): readonly string[] {
  const [, cpu = '0'] = /^Cpus_allowed_list:\s*(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return ['taskset', '-c', cpu, ...command];
}

/** Why a process can't be kept to one CPU here; `null` when it can. */
function oneCpuAbsence(): string | null {
  const [program = '', ...args] = onOneCpu(['true']);
  return spawnSync(program, args).status === 0 ? null : 'no taskset';
}

/** Milliseconds of requests to these gateways, to each in turn. */
async function requestLatencies(gateways: readonly Gateway[]): Promise<readonly number[][]> {
  const addresses = await Promise.all(gateways.map(async (gateway) => gateway.address()));
  const program = join(root, 'test/e2e/request-latency-entry.ts');
  const args = [program, String(ROUND_REQUESTS), ...addresses];
  const { stdout } = await promisify(execFile)(join(root, 'node_modules/.bin/node'), args, { timeout: 30_000 });
  return JSON.parse(stdout) as number[][];
}

function p99(milliseconds: readonly number[]): number {
  return milliseconds.toSorted((a, b) => a - b)[Math.floor(milliseconds.length * 0.99)] ?? Infinity;
}

/** How many writes to the commit log strace says that it delayed. */
async function countDelayed(trace: string): Promise<number> {
  let count = 0;
  for await (const line of createInterface(createReadStream(trace))) if (DELAYED.test(line)) count++;
  return count;
}
