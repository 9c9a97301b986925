/** What programs do with nats.py every day, without JetStream: the same on petiole as on nats-server. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { connect } from '@nats-io/transport-node';
import { expect, onTestFinished, test } from 'vitest';
import { describeTargets, serve } from '../helpers/describe-targets.ts';
import { describeUnless } from '../helpers/describe-unless.ts';
import { FaultProxy } from '../helpers/fault-proxy.ts';
import { absenceIsFailure } from '../helpers/targets.ts';

const NATS_PY = 'nats-py-2.16.0';
const PROGRAM = join(import.meta.dirname, 'nats-py-core.py');
const python = findPython();

/** The Python that has nats.py: CI puts its folder into PATH. */
function findPython(): string | null {
  const cache = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), join(cache, 'petiole', NATS_PY, 'bin')];
  const found = folders.find((folder) => folder.includes(NATS_PY) && existsSync(join(folder, 'python3')));
  return found === undefined ? null : join(found, 'python3');
}

describeUnless(python === null && !absenceIsFailure() ? `no ${NATS_PY}` : null, NATS_PY, () => {
  describeTargets('its core', (target) => {
    test('does what it does every day', async () => {
      const server = await serve(target);
      const { host, port } = server.address();
      const proxy = new FaultProxy(server.address());
      await proxy.listen();
      onTestFinished(() => proxy.close());
      const connection = await connect({ servers: `${host}:${port}` });
      onTestFinished(() => connection.close());
      connection.subscribe('proxy.reset', { callback: () => proxy.reset() });
      await connection.flush();
      const through = proxy.address;
      const servers = [`nats://${host}:${port}`, `nats://${through.host}:${through.port}`];
      const { stdout } = await promisify(execFile)(python ?? NATS_PY, [PROGRAM, ...servers], { timeout: 40_000 });
      expect(JSON.parse(stdout)).toEqual({
        first: ['plant.1.temperature', '21', 'answers', { Unit: 'C', Site: 'north' }],
        second: ['plant.2.temperature', 1_024_000, true, null],
        answers: ['0', '1', '4', '9', '16'],
        'old style': '81',
        nobody: 'nats: no responders available for request',
        jobs: [200, true, [true, true]],
        limited: ['0', '1'],
        after: 'after',
      });
    });
  });
});
