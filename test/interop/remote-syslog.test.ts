/** The log on its way to a syslog server, from nats-server and petiole alike. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { reload } from '../helpers/config-reload.ts';
import { describeTargets, serve } from '../helpers/describe-targets.ts';
import type { RunningServer } from '../helpers/targets.ts';
import { until } from '../helpers/until.ts';

const LINE = /^<(\d)>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ \S+ \S+\[\d+\]: (.*)\n$/;

interface SyslogServer {
  readonly url: string;
  readonly received: () => string;
}

async function overUdp(): Promise<SyslogServer> {
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  let received = '';
  socket.on('message', (bytes) => (received += bytes.toString()));
  await once(socket, 'listening');
  onTestFinished(() => void socket.close());
  return { url: `udp://127.0.0.1:${socket.address().port}`, received: () => received };
}

async function overTcp(): Promise<SyslogServer> {
  let received = '';
  const server = createServer((socket) => {
    socket.on('data', (bytes) => (received += bytes.toString()));
    socket.on('error', () => socket.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { url: `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`, received: () => received };
}

/** Severities of the lines that say this. */
function severities(received: string, what: RegExp): string[] {
  const lines = received.split(/(?<=\n)/).map((line) => LINE.exec(line));
  return lines.filter((line) => what.test(line?.[2] ?? '')).map((line) => line?.[1] ?? '');
}

/** Without waiting for a line of the log, which goes elsewhere. */
function writeAndReload(server: RunningServer, config: string): void {
  writeFileSync(join(server.directory, 'server.conf'), config);
  server.signal('SIGHUP');
}

describeTargets('remote_syslog', (target) => {
  test.each([
    ['UDP', overUdp],
    ['TCP', overTcp],
  ])('takes the log over %s from a reload on, and standard error after the next', async (_, open) => {
    const syslog = await open();
    const server = await serve(target, 'debug: false');
    server.signal('SIGHUP');
    await until(() => server.log.includes('Reloaded server configuration'), 'the first reload');
    const { length } = server.log;
    writeAndReload(server, `debug: true, remote_syslog: "${syslog.url}"`);
    await until(() => severities(syslog.received(), /^Reloaded server configuration/).length > 0, 'the line');
    expect(severities(syslog.received(), /^Reloaded server configuration/)).toEqual(['5']);
    expect(severities(syslog.received(), /^Trapped/)).toEqual([]);
    server.signal('SIGUSR1');
    await until(() => severities(syslog.received(), /^File log re-open ignored/).length > 0, 'another line');
    writeAndReload(server, `wrong: 1, remote_syslog: "${syslog.url}"`);
    await until(() => severities(syslog.received(), /^Failed to reload/).length > 0, 'an error');
    expect(severities(syslog.received(), /^Failed to reload/)).toEqual(['3']);
    expect(server.log.slice(length)).not.toContain('File log re-open');
    expect(await reload(server, 'debug: false')).toMatch(/^Reloaded server configuration/);
  });
});
