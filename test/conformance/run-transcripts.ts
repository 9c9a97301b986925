/**
 * Registers every transcript below a folder as a vitest test, once for each target. Transcripts with the same config
 * and flags share a server; they are sorted so that only one server of a target lives at a time.
 */
/* oxlint-disable vitest/expect-expect, vitest/valid-title, vitest/no-conditional-tests, vitest/no-disabled-tests --
   the tests are made from data here: the assertions are the player's, and a missing target must show as skipped */
import { readFileSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { absenceIsFailure, isAbsent, natsServer, petiole, startRefused, startServer } from '../helpers/targets.ts';
import type { AbsentTarget, RunningServer, Target } from '../helpers/targets.ts';
import { play } from './player.ts';
import { parseTranscript } from './transcript.ts';
import type { Transcript } from './transcript.ts';

interface Entry {
  /** From the folder, without the extension: `queue/echo-off`. */
  readonly path: string;
  readonly transcript: Transcript;
}

/** Sizes of the pieces in which `split` transcripts are sent again. */
const SPLIT_CHUNK_BYTES: readonly number[] = [1, 7];

/** Registers the tests. `folder` is absolute; its name begins each test's name. */
export function runTranscripts(folder: string): void {
  const entries = sortByServer(readTranscripts(folder));
  for (const target of [natsServer(), petiole()]) {
    if (isAbsent(target)) registerAbsent(target);
    else registerTarget(target, entries);
  }
}

function registerAbsent({ name, absent }: AbsentTarget): void {
  if (absenceIsFailure()) {
    test(`${name} is there`, () => expect.fail(`skipped: ${absent}; with CI=true this is a failure`));
    return;
  }
  console.warn(`skipped: ${absent}`);
  test.skip(`skipped: ${absent}`, () => {});
}

function registerTarget(target: Target, entries: readonly Entry[]): void {
  console.info(`transcripts run against ${target.name} ${target.version} (${target.command.at(-1)})`);
  describe(`${target.name} ${target.version}`, () => {
    const servers = new OneServer(target);
    afterAll(() => servers.stop());
    for (const { path, transcript } of entries) {
      if (transcript.only !== undefined && transcript.only !== target.name) continue;
      const title = `${path}: ${transcript.title}`;
      if (transcript.refused === undefined) registerPlays(title, path, transcript, servers);
      else test(title, () => assertRefused(target, transcript));
    }
  });
}

function registerPlays(title: string, path: string, transcript: Transcript, servers: OneServer): void {
  test(title, async () => play(path, transcript, await servers.serverFor(transcript)));
  if (!transcript.split) return;
  for (const bytes of SPLIT_CHUNK_BYTES) {
    const cut = bytes === 1 ? 'byte by byte' : `${bytes} bytes at a time`;
    test(`${title} [${cut}]`, async () =>
      play(path, transcript, await servers.serverFor(transcript), { chunkBytes: bytes }));
  }
}

async function assertRefused(target: Target, { config, flags, refused }: Transcript): Promise<void> {
  const { code, log } = await startRefused(target, { config, flags });
  expect(log).toContain(refused);
  expect(code).toBe(1);
}

/** The server in use: it is replaced when a transcript wants another config. */
class OneServer {
  readonly #target: Target;
  #key = '';
  #server: RunningServer | null = null;

  constructor(target: Target) {
    this.#target = target;
  }

  async serverFor(transcript: Transcript): Promise<RunningServer> {
    const key = serverKey(transcript);
    if (this.#server !== null && !this.#server.exited && this.#key === key && !transcript.ownServer) {
      return this.#server;
    }
    await this.stop();
    this.#server = await startServer(this.#target, transcript);
    this.#key = transcript.ownServer ? '' : key;
    return this.#server;
  }

  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    await server?.stop();
  }
}

function readTranscripts(folder: string): Entry[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.txt'));
  return files.sort().map((file) => {
    const path = join(folder, file);
    const shownPath = relative(join(folder, '..'), path);
    return { path: shownPath.replace(/\.txt$/, ''), transcript: parseTranscript(path, readFileSync(path, 'latin1')) };
  });
}

/** Equal servers next to each other, those needed first in front. */
function sortByServer(entries: readonly Entry[]): Entry[] {
  const groups = new Map<string, Entry[]>();
  for (const entry of entries) {
    const key = serverKey(entry.transcript);
    groups.set(key, [...(groups.get(key) ?? []), entry]);
  }
  return [...groups.values()].flat();
}

function serverKey({ config, flags }: Transcript): string {
  return JSON.stringify([config ?? '', flags]);
}
