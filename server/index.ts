/**
 * petiole inside another program, which is usually a test:
 *
 *     const server = await startServer({ jetstream: true });
 *     const connection = await connect({ servers: server.url });
 *     …
 *     await server.close();
 *
 * Any number of servers live in one process. None touches the process: no signals, no exit, no output unless asked for.
 */

import { interpretCommandLine } from './config/load.ts';
import type { ServerOptions } from './config/options.ts';
import type { ConfigSources } from './config/sources.ts';
import { diskSources } from './config/sources.ts';
import { hostPort } from './connection/listen-failure.ts';
import type { RunningServer, StartServerOptions } from './embedding.ts';
import type { Io } from './io/io.ts';
import { Log } from './io/log.ts';
import { realIo } from './io/real-io.ts';
import { logOptionsOf } from './reload.ts';
import { loadRooms } from './rooms.ts';
import { Server } from './server.ts';

export type { RunningServer, StartServerOptions };

const CONFIG_NAME = 'startServer.conf';

/** What each option takes, in words and as a test of it: programs in JavaScript have nothing else that tells them. */
const TAKES: Readonly<Record<keyof StartServerOptions, readonly [string, (value: unknown) => boolean]>> = {
  host: ['a string', (value) => typeof value === 'string'],
  port: ['an integer', Number.isInteger],
  monitorPort: ['an integer', Number.isInteger],
  jetstream: ['true, false or the path of a folder', (value) => typeof value === 'boolean' || isFilledString(value)],
  config: ['a string', (value) => typeof value === 'string'],
  log: ['a function', (value) => typeof value === 'function'],
};

/**
 * Starts a server; the promise is kept when clients can connect. Fails with an `Error` that says what is wrong with the
 * configuration (with line and column), the port or the store, and with a `TypeError` for an option that is none; then
 * nothing stays open.
 */
export async function startServer(given: StartServerOptions = {}): Promise<RunningServer> {
  check(given);
  const io = realIo();
  const temporary =
    given.jetstream === true ? `${io.host.temporaryDirectory}/petiole-${io.random.bytes(8).toString('hex')}` : null;
  const options = optionsOf(given, io, temporary);
  const { log = () => undefined } = given;
  const server = new Server(
    io,
    new Log(log, io.clock, io.host.processId, logOptionsOf(options)),
    options,
    await loadRooms(options),
  );
  const failure = await new Promise<Error | null>((resolve) => server.start(resolve));
  if (failure !== null) {
    // Ports and the store that it had already go back to whoever wants them.
    await close(server, io, temporary);
    throw failure;
  }
  const { clientAddress } = server;
  if (clientAddress === null) throw new Error('the server started without a port');
  const monitor = server.monitor?.address ?? null;
  const { webSocketDoor } = server;
  const webSocket = webSocketDoor?.address ?? null;
  let closing: Promise<void> | null = null;
  return {
    ...clientAddress,
    url: `nats://${hostPort(clientAddress)}`,
    monitorUrl: monitor === null ? null : `http://${hostPort(monitor)}`,
    webSocketUrl:
      webSocketDoor === null || webSocket === null ? null : `${webSocketDoor.scheme}://${hostPort(webSocket)}`,
    close: () => (closing ??= close(server, io, temporary)),
  };
}

/** Throws a TypeError for the first option that there is not, or whose value is not what it takes. */
function check(given: unknown): void {
  if (typeof given !== 'object' || given === null) {
    throw new TypeError(`startServer takes an object with options, and got ${shown(given)}`);
  }
  for (const [name, value] of Object.entries(given)) {
    if (!isOption(name)) {
      const names = Object.keys(TAKES).join(', ');
      throw new TypeError(`startServer has no option ${JSON.stringify(name)}; its options are ${names}`);
    }
    const [takes, isTaken] = TAKES[name];
    if (value !== undefined && !isTaken(value)) {
      throw new TypeError(`the option ${name} of startServer takes ${takes}, and got ${shown(value)}`);
    }
  }
}

function isOption(name: string): name is keyof StartServerOptions {
  return Object.hasOwn(TAKES, name);
}

function isFilledString(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

/** A value as a program's author knows it again. */
function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  return typeof value === 'number' || typeof value === 'boolean' || value === null
    ? String(value)
    : `a value of type ${typeof value}`;
}

function optionsOf(given: StartServerOptions, io: Io, temporary: string | null): ServerOptions {
  const { host = '127.0.0.1', port = 0, monitorPort, jetstream = false, config } = given;
  const flags = ['-a', host, '-p', flagPort(port)];
  if (monitorPort !== undefined) flags.push('-m', flagPort(monitorPort));
  if (jetstream !== false) flags.push('-js', '-sd', temporary ?? String(jetstream));
  if (config !== undefined) flags.push('-c', CONFIG_NAME);
  const outcome = interpretCommandLine(flags, sourcesOf(io, config));
  if (outcome.kind === 'exit') throw new Error(outcome.stderr.trim());
  if (outcome.kind === 'signal') throw new Error('a server that is embedded sends no signals');
  return outcome.options;
}

/** Flags and config files say -1 for any free port. */
function flagPort(port: number): string {
  return String(port === 0 ? -1 : port);
}

function sourcesOf(io: Io, config: string | undefined): ConfigSources {
  const sources = diskSources(io.disk, io.host.environment);
  const bytes = new TextEncoder().encode(config);
  return { ...sources, readFile: (path) => (path === CONFIG_NAME ? bytes : sources.readFile(path)) };
}

async function close(server: Server, io: Io, temporary: string | null): Promise<void> {
  await new Promise<void>((resolve) => {
    server.close(resolve);
  });
  if (temporary === null) return;
  await new Promise<void>((resolve, reject) => {
    io.disk.removeDirectory(temporary, (error) => {
      if (error === null) resolve();
      else reject(error);
    });
  });
}
