/** Signals sent with `--signal`, on nats-server and petiole alike. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { clientOf, describeTargets, serve } from '../helpers/describe-targets.ts';
import { type Target } from '../helpers/targets.ts';
import { until } from '../helpers/until.ts';
import { dial } from '../helpers/wire-client.ts';

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

  test('ldm tells clients, gives them a while, closes them and ends', async () => {
    const server = await serve(target, 'lame_duck_duration: "30s", lame_duck_grace_period: "400ms"');
    const client = await clientOf(server, { protocol: 1 });
    await client.line();
    expect(signal(target, `ldm=${server.pid}`)).toEqual({ status: 0, stderr: '' });
    expect(await client.line()).toMatch(/^INFO .*"ldm":true/);
    // A second signal ends nothing that is going on.
    server.signal('SIGTERM');
    client.send('SUB a 1\r\nPUB a 0\r\n\r\n');
    await client.expect('MSG a 1 0\r\n\r\n');
    await expect(dial(server.address())).rejects.toThrow('ECONNREFUSED');
    await client.closed();
    await until(() => server.exited, 'the end', 10_000);
    expect(server.exitCode).toBe(0);
    expect(server.log).toMatch(/Entering lame duck mode.*Trapped "terminated" signal.*Closing existing clients/s);
  });

  test('a few clients do not keep a lame duck for as long as many may', async () => {
    const server = await serve(target, 'lame_duck_duration: "5m", lame_duck_grace_period: "100ms"');
    for (const protocol of [0, 1, 1]) await clientOf(server, { protocol });
    expect(signal(target, `ldm=${server.pid}`).status).toBe(0);
    await until(() => server.exited, 'the end', 20_000);
    expect(server.exitCode).toBe(0);
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
