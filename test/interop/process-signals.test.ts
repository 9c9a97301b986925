/** Signals sent with `--signal`, on nats-server and petiole alike. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeTargets, serve } from '../helpers/describe-targets.ts';
import { type Target } from '../helpers/targets.ts';
import { until } from '../helpers/until.ts';

function signal(target: Target, what: string): { status: number | null; stderr: string } {
  const [program = '', ...first] = target.command;
  const { status, stderr } = spawnSync(program, [...first, '--signal', what], { encoding: 'utf8' });
  return { status, stderr };
}

describeTargets('--signal', (target) => {
  test('reaches a process by its id or by its pid file', async () => {
    const server = await serve(target, 'max_payload: 1MB');
    expect(signal(target, `reload=${server.pid}`)).toEqual({ status: 0, stderr: '' });
    await until(() => server.log.includes('Reloaded server configuration'), 'the reload');
    const pidFile = join(server.directory, 'server.pid');
    writeFileSync(pidFile, String(server.pid));
    expect(signal(target, `reopen=${pidFile}`)).toEqual({ status: 0, stderr: '' });
    await until(() => server.log.includes('File log re-open ignored, not a file logger'), 'the answer');
    expect(signal(target, `ldm=${pidFile}`)).toEqual({ status: 0, stderr: '' });
    await until(() => server.exited, 'the end');
    expect(server.exitCode).toBe(0);
    expect(server.log).toContain('Entering lame duck mode, stop accepting new clients');
  });

  test.each(['quit', 'term'])('%s ends it in good order', async (command) => {
    const server = await serve(target);
    expect(signal(target, `${command}=${server.pid}`)).toEqual({ status: 0, stderr: '' });
    await until(() => server.exited, 'the end');
    expect(server.exitCode).toBe(0);
    expect(server.log).toContain('Server Exiting..');
  });

  test('stop ends it at once', async () => {
    const server = await serve(target);
    expect(signal(target, `stop=${server.pid}`)).toEqual({ status: 0, stderr: '' });
    await until(() => server.exited, 'the end');
    expect(server.log).not.toContain('Server Exiting..');
  });

  test.each([
    ['jump=1', 'nats-server: unknown signal "jump"\n'],
    ['reload=abc', 'nats-server: invalid pid: abc\n'],
    ['reload=1=2=3', 'nats-server: invalid signal parameters: [2 3]\n'],
    ['reload=4194304', 'nats-server: \nsignal "reload" 4194304: no such process\n'],
  ])('%s is refused', (what, stderr) => {
    expect(signal(target, what)).toEqual({ status: 1, stderr });
  });
});
