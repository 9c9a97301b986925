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

async function started(): Promise<{ server: Server; log: string[]; closed: () => Promise<void> }> {
  const io = realIo();
  const log: string[] = [];
  const settings = { debug: false, trace: false, time: false, utc: false };
  const server = new Server(io, new Log((line) => log.push(line.trimEnd()), io.clock, 1, settings), options(null));
  await new Promise<void>((resolve, reject) => {
    server.start((error) => (error === null ? resolve() : reject(error)));
  });
  let closing: Promise<void> | null = null;
  const closed = (): Promise<void> => (closing ??= new Promise((resolve) => server.close(resolve)));
  onTestFinished(closed);
  return { server, log, closed };
}

it('refuses a reload that turns JetStream off while it is being turned on, and takes others', async () => {
  const { server, log } = await started();
  const directory = temporaryDirectory();
  expect(server.reload(options(directory))).toBeNull();
  expect(server.reload(options(null))).toBe('JetStream is being turned on or off by the reload before');
  await until(() => log.some((line) => line.includes('Reloaded server configuration')), 'JetStream to be on');
  expect(server.jetstream?.isServing).toBe(true);
  expect(server.reload(options(null))).toBeNull();
  expect(server.jetstream).toBeNull();
  expect(server.reload({ ...options(null), maxPayloadBytes: 1000 })).toBeNull();
  await until(() => log.some((line) => line.endsWith('JetStream Shutdown')), 'JetStream to be off');
  expect(server.reload(options(directory))).toBeNull();
  await until(() => server.jetstream?.isServing === true, 'JetStream to be on again');
});

it('closes behind JetStream that is being turned on', async () => {
  const { server, log, closed } = await started();
  expect(server.reload(options(temporaryDirectory()))).toBeNull();
  await closed();
  expect(log.at(-1)).toMatch(/Server Exiting\.\.$/);
  expect(server.jetStreamSlot.isChanging).toBe(false);
});
