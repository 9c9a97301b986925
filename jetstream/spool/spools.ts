/**
 * The spools of all remotes that have one. Each is a stream of an account that nobody can log in to: its limits, its age
 * and its place on the disk are those of any stream. Its name is made of its remote's, and its metadata holds what the hub
 * wants to hear.
 *
 * A spool whose remote is no longer configured stays as it is: what it holds was never delivered, and comes back with
 * the remote.
 */

import type { LeafRemoteOptions } from '../../server/config/options.ts';
import { remoteName } from '../../server/config/schema-leaf-remotes.ts';
import type { SpoolOptions } from '../../server/config/spool-options.ts';
import { Account } from '../../server/account/account.ts';
import type { Io } from '../../server/io/io.ts';
import type { LinkSpool } from '../../server/ports.ts';
import { encode } from '../../server/protocol/go-json.ts';
import { hashText } from '../../server/subject/subject-hash.ts';
import { Sublist } from '../../server/subject/sublist.ts';
import { isApiError } from '../errors.ts';
import { nowText } from '../api/api-time.ts';
import type { JetStream } from '../api/jetstream.ts';
import type { StreamEntry } from '../api/stream-entry.ts';
import { createStreamConfig, NO_STREAM_LIMITS } from '../stream/stream-config-rules.ts';
import { decodeStreamRequest, type StreamConfig } from '../stream/stream-config.ts';
import { readWanted } from './hub-interest.ts';
import { Spool } from './spool.ts';

const ACCOUNT = '$SPOOL';
const INTEREST = 'petiole.interest';
const NS_PER_MS = 1_000_000;
/** Two hashes of 32 bits make a name. */
const SEEDS: readonly number[] = [1, 2];

/** The account that the streams of spools are in. */
export function spoolAccount(io: Io): Account {
  return new Account(ACCOUNT, new Sublist(io.random.bytes(4).readInt32LE(0)), io.random.fraction);
}

/** Opens the spools of these remotes, which have one; `done` gets them in the same order when all are on disk. */
export function openSpools(
  jetstream: JetStream,
  accountNamed: (name: string) => Account | null,
  remotes: readonly LeafRemoteOptions[],
  done: (spools: ReadonlyMap<LeafRemoteOptions, LinkSpool>) => void,
): void {
  const { streams } = jetstream.accountOf(ACCOUNT);
  const spools = new Map<LeafRemoteOptions, LinkSpool>();
  const named = new Map(remotes.map((remote) => [nameOf(remote), remote]));
  for (const [name, { stream }] of streams) {
    if (named.has(name) || stream.store.messages === 0) continue;
    jetstream.log.warn(`Spool ${name} holds ${stream.store.messages} messages for a remote that is not configured`);
  }
  let missing = named.size;
  if (missing === 0) done(spools);
  for (const [name, remote] of named) {
    const { spool } = remote;
    const account = accountNamed(remote.account);
    if (spool === null || account === null) throw new Error(`the remote of spool ${name} has no account`);
    put(jetstream, streams.get(name) ?? null, name, spool, () => {
      const entry = streams.get(name) as StreamEntry;
      spools.set(remote, make(jetstream, entry, account, remote, spool));
      if (--missing === 0) done(spools);
    });
  }
}

function make(
  jetstream: JetStream,
  { stream }: StreamEntry,
  account: Account,
  remote: LeafRemoteOptions,
  options: SpoolOptions,
): Spool {
  const { io, log } = jetstream;
  const keepInterest = (text: string): void => {
    const config = { ...stream.config, metadata: new Map([...(stream.config.metadata ?? []), [INTEREST, text]]) };
    jetstream.putStream(ACCOUNT, config, stream, stream.created, () => undefined);
  };
  const wanted = readWanted(stream.config.metadata?.get(INTEREST) ?? '');
  return new Spool({ io, log, account, stream, remote: remoteName(remote), keepInterest }, options, wanted);
}

/** Makes the stream, or gives it the limits that are configured now. */
function put(
  jetstream: JetStream,
  existing: StreamEntry | null,
  name: string,
  options: SpoolOptions,
  done: () => void,
): void {
  const config = streamConfig(name, options, existing?.stream.config.metadata?.get(INTEREST) ?? '');
  const stream = existing?.stream ?? null;
  const created = stream?.created ?? nowText(jetstream.io.clock);
  jetstream.putStream(ACCOUNT, config, stream, created, done);
}

function streamConfig(name: string, { maxBytes, maxAgeMs, whenFull }: SpoolOptions, interest: string): StreamConfig {
  const asked = encode({
    name,
    storage: 'file',
    max_bytes: maxBytes,
    max_age: maxAgeMs * NS_PER_MS,
    discard: whenFull === 'refuse' ? 'new' : 'old',
    metadata: { [INTEREST]: interest },
  });
  const decoded = decodeStreamRequest(asked, true);
  if (isApiError(decoded)) throw new Error(`the configuration of spool ${name} can't be read: ${decoded.description}`);
  const config = createStreamConfig(decoded.config, NO_STREAM_LIMITS, false);
  if (isApiError(config)) throw new Error(`spool ${name} can't be made: ${config.description}`);
  return config;
}

function nameOf(remote: LeafRemoteOptions): string {
  const text = remoteName(remote);
  return SEEDS.map((seed) => (hashText(text, seed) >>> 0).toString(16).padStart(8, '0')).join('');
}
