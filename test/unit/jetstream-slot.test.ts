/** JetStream that is turned on or off while something else is asked of the server. */
import { expect, it, onTestFinished } from 'vitest';
import { defaultOptions } from '../../server/config/draft.ts';
import type { ServerOptions } from '../../server/config/options.ts';
import { Log } from '../../server/io/log.ts';
import { realIo } from '../../server/io/real-io.ts';
import { Server } from '../../server/server.ts';
import { temporaryDirectory } from '../helpers/temporary-directory.ts';
import { until } from '../helpers/until.ts';

function options(storeDirectory: string | null): ServerOptions {
  const base = defaultOptions();
  const jetstream = { ...base.jetstream, isEnabled: storeDirectory !== null, storeDirectory };
  return { ...base, host: '127.0.0.1', port: 0, serverName: 's', jetstream };
}

/** `heard` is called with each line of the log. */
async function started(
  heard: (line: string) => void = () => undefined,
): Promise<{ server: Server; log: string[]; closed: () => Promise<void> }> {
  const io = realIo();
  const log: string[] = [];
  const settings = { debug: false, trace: false, time: false, utc: false };
  const write = (line: string): void => {
    log.push(line.trimEnd());
    heard(line);
  };
  const server = new Server(io, new Log(write, io.clock, 1, settings), options(null));
  await new Promise<void>((resolve, reject) => {
    server.start((error) => (error === null ? resolve() : reject(error)));
  });
  let closing: Promise<void> | null = null;
  const closed = (): Promise<void> => (closing ??= new Promise((resolve) => server.close(resolve)));
  onTestFinished(closed);
  return { server, log, closed };
}

/** What the log says of JetStream that comes and goes, and of reloads that are through. */
function told(log: readonly string[]): string[] {
  const [comes, goes] = ['Took .* to start JetStream', 'JetStream Shutdown$'];
  const line = new RegExp(`${comes}|${goes}|Reloaded server|Failed|Can't`);
  return log.filter((each) => line.test(each)).map((each) => each.replace(/^.*\] |\(.*\)|[\d.]+ms/g, '').trim());
}

const ON = 'Took  to start JetStream';
const OFF = 'JetStream Shutdown';
const DONE = 'Reloaded server configuration';

it('turns JetStream off again when it is on, and tells of each reload when it is through', async () => {
  const { server, log } = await started((line) => {
    if (!line.includes('] Starting JetStream')) return;
    expect(server.reload(options(null))).toBeNull();
    expect(server.reload({ ...options(null), maxPayloadBytes: 1000 })).toBeNull();
  });
  expect(server.reload(options(temporaryDirectory()))).toBeNull();
  await until(() => told(log).length >= 5, 'all of it');
  expect(told(log)).toEqual([ON, DONE, OFF, DONE, DONE]);
  expect(server.jetstream).toBeNull();
  expect(server.limits.maxPayloadBytes).toBe(1000);
});

it('turns JetStream on again when it is off', async () => {
  const { server, log } = await started();
  const directory = temporaryDirectory();
  expect(server.reload(options(directory))).toBeNull();
  await until(() => told(log).length === 2, 'JetStream to be on');
  expect(server.reload(options(null))).toBeNull();
  expect(server.jetstream).toBeNull();
  expect(server.reload(options(directory))).toBeNull();
  await until(() => told(log).length === 6, 'JetStream to be on again');
  expect(told(log)).toEqual([ON, DONE, OFF, DONE, ON, DONE]);
  expect(server.jetstream?.isServing).toBe(true);
  expect(server.info.jetstream).toBe(true);
});

it('begins nothing for what was given up before it had begun, and ends with the last that was asked', async () => {
  const { server, log } = await started();
  const directory = temporaryDirectory();
  for (const where of [directory, null, directory, null]) expect(server.reload(options(where))).toBeNull();
  await until(() => told(log).length === 4, 'all reloads');
  expect(told(log)).toEqual([DONE, DONE, DONE, DONE]);
  expect(server.jetstream).toBeNull();
  for (const where of [directory, null, directory]) expect(server.reload(options(where))).toBeNull();
  await until(() => told(log).length === 10, 'JetStream to be on');
  expect(told(log).slice(4)).toEqual([ON, DONE, OFF, DONE, ON, DONE]);
  expect(server.jetstream?.isServing).toBe(true);
});

it('tries as often as it is asked where it can not start', async () => {
  const { server, log } = await started();
  for (const where of ['/proc/none', '/proc/none']) expect(server.reload(options(where))).toBeNull();
  await until(() => told(log).length === 4, 'both reloads');
  expect(told(log)).toEqual([expect.stringMatching(/^Can't/), DONE, expect.stringMatching(/^Can't/), DONE]);
  expect(server.jetstream).toBeNull();
});

it('begins nothing that waited when the server closes', async () => {
  const { server, log, closed } = await started((line) => {
    if (!line.includes('] Starting JetStream')) return;
    expect(server.reload(options(null))).toBeNull();
    void closed();
  });
  expect(server.reload(options(temporaryDirectory()))).toBeNull();
  await until(() => log.some((line) => line.endsWith('Server Exiting..')), 'the end');
  expect(told(log)).toEqual([ON, DONE, DONE]);
});

it('closes behind JetStream that is being turned on', async () => {
  const { server, log, closed } = await started();
  expect(server.reload(options(temporaryDirectory()))).toBeNull();
  await closed();
  expect(log.at(-1)).toMatch(/Server Exiting\.\.$/);
  expect(server.jetStreamSlot.isChanging).toBe(false);
});
