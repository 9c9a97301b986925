/** How clients of a server in lame duck mode go: told first, then closed in steps over a configured while. */

import type { ServerOptions } from './config/options.ts';
import type { ClientConnection } from './connection/client-connection.ts';
import type { Io } from './io/io.ts';
import type { Log } from './io/log.ts';
import type { ServerInfo } from './protocol/server-info.ts';

/** Clients are closed in so many steps. */
const STEPS = 20;
/** However long it may take all in all, a few clients need not wait for one another longer. */
const INTERVAL_OF_CLIENT_MS_MAX = 1_000;

interface LameDuck {
  readonly io: Io;
  readonly log: Log;
  readonly options: ServerOptions;
  readonly info: ServerInfo;
  readonly clients: ReadonlyMap<number, ClientConnection>;
  /** Set when the server is closed in the meantime, which ends all clients at once. */
  readonly isClosing: boolean;
}

/** Tells clients that the server goes, and closes them bit by bit; `done` when there is none left. */
export function drainClients(server: LameDuck, done: () => void): void {
  const { io, log, clients, options } = server;
  const info = { ...server.info, ldm: true };
  for (const client of clients.values()) client.sendAsyncInfo(info);
  const { lameDuckDurationMs, lameDuckGraceMs } = options;
  io.timers.after(clients.size === 0 ? 0 : lameDuckGraceMs, () => {
    log.notice('Closing existing clients');
    const count = Math.ceil(clients.size / STEPS);
    const shareMs = (lameDuckDurationMs - lameDuckGraceMs) / STEPS;
    const intervalMs = Math.max(1, Math.min(shareMs, count * INTERVAL_OF_CLIENT_MS_MAX));
    closeSome(server, count, intervalMs, done);
  });
}

function closeSome(server: LameDuck, count: number, intervalMs: number, done: () => void): void {
  let left = count;
  for (const client of server.clients.values()) {
    if (left-- <= 0) break;
    client.close('Server Shutdown');
  }
  if (server.clients.size === 0 || server.isClosing) done();
  else server.io.timers.after(intervalMs, () => closeSome(server, count, intervalMs, done));
}
