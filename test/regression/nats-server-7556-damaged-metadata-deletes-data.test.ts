/**
 * nats-server#7556, #4410, #5382: a stream whose description was damaged was taken for an orphan, and its messages were
 * deleted. Here they are all there: either although the file is damaged, or as soon as it is put back.
 */
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from '@nats-io/transport-node';
import { expect, test } from 'vitest';
import { describeTargets } from '../helpers/describe-targets.ts';
import { inLife, JetStreamClient } from '../helpers/jetstream-client.ts';
import { RunningServer, type Target } from '../helpers/targets.ts';
import { temporaryDirectory } from '../helpers/temporary-directory.ts';
import { until } from '../helpers/until.ts';

const MESSAGES = 30;
const HEAD_BYTES = 64;

const damages: readonly (readonly [string, (bytes: Buffer) => Buffer])[] = [
  ['empty', () => Buffer.alloc(0)],
  ['zeros', (bytes) => Buffer.alloc(bytes.length)],
  ['another head', (bytes) => Buffer.concat([Buffer.alloc(HEAD_BYTES, 0xff), bytes.subarray(HEAD_BYTES)])],
];

describeTargets('a store with a damaged description', (target) => {
  test.each(damages)(
    'loses no message: %s',
    async (_what, damage) => {
      const folder = temporaryDirectory();
      await inLife(target, folder, fill);
      for (const path of descriptionsBelow(folder)) {
        const before = readFileSync(path);
        if (before.length === 0) continue;
        writeFileSync(path, damage(before));
        if (await isAllThere(target, folder)) continue;
        writeFileSync(path, before);
        expect([path, await isAllThere(target, folder)]).toEqual([path, true]);
      }
    },
    120_000,
  );
});

async function fill(client: JetStreamClient): Promise<void> {
  await client.ask('STREAM.CREATE.S', { name: 'S', subjects: ['s'] });
  for (let each = 1; each <= MESSAGES; each++) await client.publish('s', `${each}`);
}

/** All that is neither messages nor the log of them. */
function descriptionsBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((path) => join(folder, path))
    .filter((path) => statSync(path).isFile() && !/\.(?:blk|seg)$/.test(path));
}

/** Starts a server, which may refuse to. */
async function isAllThere(target: Target, folder: string): Promise<boolean> {
  const server = new RunningServer(target, { config: `jetstream { store_dir: "${folder}" }` });
  try {
    await until(() => server.ready || server.exited, 'the start to succeed or fail', 20_000);
    if (server.exited) return false;
    const { host, port } = server.address();
    const client = new JetStreamClient(await connect({ servers: `${host}:${port}` }));
    let found = 0;
    for (let seq = 1; seq <= MESSAGES; seq++) {
      if ((await client.message('S', { seq }))?.payload === `${seq}`) found++;
    }
    await client.connection.close();
    return found === MESSAGES;
  } finally {
    await server.stop();
  }
}
