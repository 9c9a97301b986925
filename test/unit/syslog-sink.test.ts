/** Where syslog servers are, and what becomes of lines while one can't be reached. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { syslogAddress } from '../../server/config/syslog-address.ts';
import { SyslogSink } from '../../server/io/syslog-sink.ts';
import { temporaryDirectory } from '../helpers/temporary-directory.ts';
import { until } from '../helpers/until.ts';

it.each([
  ['udp://logs.example:514', { network: 'udp', host: 'logs.example', port: 514 }],
  ['tcp://[::1]:601', { network: 'tcp', host: '::1', port: 601 }],
  ['unix:///dev/log', { network: 'unix', host: '/dev/log', port: 0 }],
  ['http://localhost:514', 'error invalid network type: "http"'],
  ['localhost:514', 'error invalid network type: ""'],
  ['udp://localhost', 'error connecting to syslog: "dial udp: address localhost: missing port in address"'],
])('takes %s for what it is', (url, address) => {
  expect(syslogAddress(url)).toEqual(address);
});

async function listen(at: { port: number } | { path: string }): Promise<{ server: Server; received: () => string }> {
  let received = '';
  const server = createServer((socket) => {
    socket.on('data', (bytes) => (received += bytes.toString()));
    socket.on('error', () => socket.destroy());
  });
  server.listen('path' in at ? at : { ...at, host: '127.0.0.1' });
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { server, received: () => received };
}

it('says what a line says, with its severity, whatever the log looks like', async () => {
  const path = join(temporaryDirectory(), 'log');
  const { received } = await listen({ path });
  const sink = new SyslogSink({ network: 'unix', host: path, port: 0 }, 'petiole');
  onTestFinished(() => sink.close());
  sink.write('[1] 2026/11/30 09:10:21.000001 [WRN] with the time\n');
  sink.write('[1] [FTL] without\n');
  sink.write('{"level":"DBG","pid":1,"msg":"as an object"}\n');
  sink.write('no line of a log\n');
  await until(() => received().includes('no line'), 'all of them');
  const lines = received()
    .replaceAll(/ \S+ \S+ petiole\[\d+\]: /g, ' ')
    .replaceAll(/>\S+ /g, '> ')
    .split('\n');
  expect(lines).toEqual([
    expect.stringContaining('<4>'),
    expect.stringContaining('<2>'),
    expect.stringContaining('<7>'),
    expect.stringContaining('<5>'),
    '',
  ]);
  expect(received()).toContain(']: with the time\n');
  expect(received()).toContain(']: {"level":"DBG","pid":1,"msg":"as an object"}\n');
});

it('goes on without a server, says so once, and finds it again', async () => {
  const first = await listen({ port: 0 });
  const { port } = first.server.address() as AddressInfo;
  first.server.close();
  await once(first.server, 'close');
  const told: string[] = [];
  const stderr = vi.spyOn(process.stderr, 'write').mockImplementation((text) => told.push(String(text)) > 0);
  onTestFinished(() => stderr.mockRestore());
  const sink = new SyslogSink({ network: 'tcp', host: '127.0.0.1', port }, 'petiole');
  onTestFinished(() => sink.close());
  sink.write('[1] [INF] lost\n');
  await until(() => told.length > 0, 'the fault');
  for (let lines = 0; lines < 100; lines++) sink.write('[1] [INF] lost\n');
  expect(told).toEqual([expect.stringMatching(/^error connecting to syslog: .*ECONNREFUSED/)]);
  const { received } = await listen({ port });
  await until(() => {
    sink.write('[1] [INF] found\n');
    return received().includes('found');
  }, 'a line to arrive');
  expect(received()).not.toContain('lost');
  expect(told).toHaveLength(1);
});
