/** How a server starts its JetStream: where it stores, how much it may hold, and what the log says about it. */

import { JetStream } from '../jetstream/api/jetstream.ts';
import type { StorageLimits } from '../jetstream/api/jetstream.ts';
import { coverMissingEnd } from '../jetstream/store/log-end.ts';
import { STORE_DIRECTORY, StoreError } from '../jetstream/store/store-directory.ts';
import type { StoreSizes } from '../jetstream/store/store-sizes.ts';
import { spoolAccount, Spools } from '../jetstream/spool/spools.ts';
import type { LeafNodes } from '../leafnode/leaf-nodes.ts';
import type { Account } from './account/account.ts';
import { friendlyBytes } from './config/friendly-bytes.ts';
import type { ServerOptions } from './config/options.ts';
import type { Disk, Io } from './io/io.ts';
import type { Log } from './io/log.ts';
import { JetStreamMonitor } from './monitor/jetstream-monitor.ts';
import type { JetStreamView } from './monitor/monitor-source.ts';
import { API_LEVEL } from './protocol/version.ts';
import { StartError } from './start-error.ts';

/** Part of the memory and of the free disk that streams may take unless the configuration says otherwise. */
const SHARE = 0.75;
const DISK_BYTES_FALLBACK = 1e12;

interface Site {
  readonly io: Io;
  readonly log: Log;
  readonly name: string;
  readonly options: ServerOptions;
  readonly accounts: ReadonlyMap<string, Account>;
  readonly systemAccount: Account;
  readonly leafNodes: LeafNodes;
}

/** Claims the store. Throws a `StartError` when that is not possible; nothing was touched then. Tests choose the sizes. */
export function makeJetStream(site: Site, sizes?: StoreSizes): JetStream {
  const { io, log, options } = site;
  const { storeDirectory } = options.jetstream;
  const directory = storeDirectory ?? `${io.host.temporaryDirectory}/nats/jetstream`;
  try {
    const all = [...site.accounts.values()];
    return new JetStream(
      {
        io,
        log,
        serverName: site.name,
        maxPendingBytes: options.maxPendingBytes,
        accounts: all.filter(({ jetstream }) => jetstream !== null),
        otherAccounts: all.filter(({ jetstream }) => jetstream === null),
        internalAccounts: [spoolAccount(io)],
        systemAccount: site.systemAccount,
      },
      options.jetstream,
      directory,
      limitsOf(site, directory),
      sizes,
    );
  } catch (error) {
    if (error instanceof StoreError) throw new StartError(`Can't start JetStream: ${error.message}`, error);
    throw error;
  }
}

/** Brings everything stored back, with the lines about it that tools look for. */
export function startJetStream(site: Site, jetstream: JetStream, done: () => void): void {
  const { io, log, options } = site;
  const startedMs = io.clock.monotonicMs();
  log.notice('Starting JetStream');
  log.notice('---------------- JETSTREAM ----------------');
  log.notice(`  Strict:          ${options.jetstream.isStrict}`);
  log.notice(`  Max Memory:      ${friendlyBytes(jetstream.memoryUse.bytesMax)}`);
  log.notice(`  Max Storage:     ${friendlyBytes(jetstream.fileUse.bytesMax)}`);
  log.notice(`  Store Directory: "${jetstream.storage.directory}"`);
  log.notice(`  API Level:       ${API_LEVEL}`);
  if (jetstream.domain !== '') log.notice(`  Domain:          ${jetstream.domain}`);
  log.notice('-------------------------------------------');
  jetstream.start(() => {
    const { damagedBytes, movedAside } = jetstream.storage.report;
    if (damagedBytes > 0) log.error(`${damagedBytes} bytes of the commit log are damaged; what they held is lost`);
    coverMissingEnd(jetstream.storage);
    for (const path of movedAside) log.error(`${path} can't be explained and was moved aside`);
    jetstream.switch.follow(site.accounts.values());
    log.notice(`Took ${(io.clock.monotonicMs() - startedMs).toFixed(3)}ms to start JetStream`);
    startSpools(site, jetstream, done);
  });
}

/** Links begin only when their spools are there. */
function startSpools(site: Site, jetstream: JetStream, done: () => void): void {
  const remotes = site.options.leafnodes.remotes.filter(({ spool, isDisabled }) => spool !== null && !isDisabled);
  const spools = new Spools(jetstream, (name) => site.accounts.get(name) ?? null);
  spools.start(remotes, () => {
    site.leafNodes.useSpools(spools);
    done();
  });
}

/** What monitoring shows of it. */
export function viewOf(jetstream: JetStream): JetStreamView {
  return new JetStreamMonitor(jetstream);
}

function limitsOf({ io, options }: Site, directory: string): StorageLimits {
  const { maxMemoryBytes, maxFileBytes } = options.jetstream;
  return {
    memoryBytes: isGiven(maxMemoryBytes) ? maxMemoryBytes : Math.floor(io.host.memoryLimitBytes() * SHARE),
    fileBytes: isGiven(maxFileBytes) ? maxFileBytes : roomBytes(io, directory),
  };
}

/** A limit below zero is none, as one left out is. */
function isGiven(limit: number | null): limit is number {
  return limit !== null && limit >= 0;
}

/**
 * Bytes that the store may take. What it holds already counts whole: or else a server that starts on a disk that its
 * streams have filled could never store anything, whatever is removed or pushed out (nats-server#3641).
 */
function roomBytes(io: Io, directory: string): number {
  return Math.floor(freeBytes(io, directory) * SHARE) + bytesBelow(io.disk, `${directory}/${STORE_DIRECTORY}`);
}

/** Bytes of the files in the directory and below. */
function bytesBelow(disk: Disk, directory: string): number {
  if (disk.statusNow(directory)?.isDirectory !== true) return 0;
  let bytes = 0;
  for (const name of disk.readDirectoryNow(directory)) {
    const path = `${directory}/${name}`;
    const status = disk.statusNow(path);
    bytes += status?.isDirectory === true ? bytesBelow(disk, path) : (status?.bytes ?? 0);
  }
  return bytes;
}

/** Free bytes where the store is, or will be. */
function freeBytes(io: Io, directory: string): number {
  let path = directory;
  while (io.disk.statusNow(path) === null) {
    const parent = path.slice(0, Math.max(1, path.lastIndexOf('/')));
    if (parent === path) return DISK_BYTES_FALLBACK;
    path = parent;
  }
  return io.disk.freeBytesNow(path);
}
