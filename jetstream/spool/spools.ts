/**
 * The spools of all remotes that have one. Each is a stream of an account that nobody can log in to: its limits, its age
 * and its place on the disk are those of any stream. Its name is made of its remote's, and its metadata holds what the hub
 * wants to hear.
 *
 *     open ─► stream on disk ─► spooling ──retire──► what is in flight arrives, or goes to the stream ─► empty: deleted
 *       ▲                                                                                               └ else it stays
 *       └── again, with other settings
 *
 * A spool whose remote is no longer configured, or spools no more, stays as it is unless it is empty: what it holds was
 * never delivered, and is when the remote has a spool again.
 *
 * Bounds: one for each configured remote, and those that were left behind.
 */

import { strict as assert } from 'node:assert';
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

/** One remote's, from when it was first asked for. */
interface Place {
  /** What it should be; `null`: the remote spools no more. */
  options: SpoolOptions | null;
  spool: Spool | null;
  /** It takes nothing any more, and what it sent last may not have arrived. */
  retiring: Spool | null;
  /** Who waits for its stream to be gone. */
  deleted: (() => void)[] | null;
}

export class Spools {
  private readonly jetstream: JetStream;
  private readonly accountNamed: (name: string) => Account | null;
  private readonly places = new Map<string, Place>();

  constructor(jetstream: JetStream, accountNamed: (name: string) => Account | null) {
    this.jetstream = jetstream;
    this.accountNamed = accountNamed;
  }

  private get streams(): Map<string, StreamEntry> {
    return this.jetstream.accountOf(ACCOUNT).streams;
  }

  /** Opens the spools of these remotes, which have one; `done` hears when all are on disk. After the start of JetStream. */
  start(remotes: readonly LeafRemoteOptions[], done: () => void): void {
    if (!this.jetstream.switch.wake(ACCOUNT, remotes.length > 0)) {
      done();
      return;
    }
    this.lookAtOthers(new Set(remotes.map(nameOf)));
    let missing = remotes.length;
    if (missing === 0) done();
    for (const remote of remotes) {
      this.open(remote, () => {
        if (--missing === 0) done();
      });
    }
  }

  private lookAtOthers(configured: ReadonlySet<string>): void {
    for (const [name, entry] of this.streams) {
      if (!configured.has(name)) this.leave(name, entry, 'a remote that is not configured');
    }
  }

  /** The spool of a remote; `null`: it is not open. */
  spoolOf(remote: LeafRemoteOptions): LinkSpool | null {
    return this.places.get(nameOf(remote))?.spool ?? null;
  }

  /**
   * Opens the spool of a remote, which has one, or gives it other settings. `opened` gets it when that is on the disk, or
   * never if something else is asked for meanwhile.
   */
  open(remote: LeafRemoteOptions, opened: (spool: LinkSpool) => void): void {
    const name = nameOf(remote);
    const { spool: options } = remote;
    const account = this.accountNamed(remote.account);
    assert(options !== null && account !== null, `the remote of spool ${name} has a spool and an account`);
    this.jetstream.switch.wake(ACCOUNT, true);
    const place = this.placeOf(name);
    place.options = options;
    place.retiring?.stop();
    place.retiring = null;
    if (place.deleted !== null) {
      place.deleted.push(() => {
        if (place.options === options) this.open(remote, opened);
      });
      return;
    }
    this.put(name, options, this.interestOf(name), () => {
      if (place.options !== options) return;
      place.spool ??= this.make(name, remote, account, options);
      place.spool.reconfigure(options);
      opened(place.spool);
    });
  }

  /** The remote spools no more: what is in the spool stays there, unless it is empty. */
  retire(remote: LeafRemoteOptions): void {
    const name = nameOf(remote);
    const place = this.placeOf(name);
    place.options = null;
    const { spool } = place;
    if (spool === null) return;
    place.spool = null;
    place.retiring = spool;
    spool.retire(() => {
      place.retiring = null;
      const entry = this.streams.get(name);
      if (entry !== undefined) this.leave(name, entry, remoteName(remote));
    });
  }

  /** Ends all of them: what is in flight goes to their streams. */
  close(): void {
    for (const place of this.places.values()) {
      place.options = null;
      place.spool?.retire(() => undefined);
      place.spool?.stop();
      place.retiring?.stop();
    }
  }

  private placeOf(name: string): Place {
    const known = this.places.get(name);
    if (known !== undefined) return known;
    const place: Place = { options: null, spool: null, retiring: null, deleted: null };
    this.places.set(name, place);
    return place;
  }

  private make(name: string, remote: LeafRemoteOptions, account: Account, options: SpoolOptions): Spool {
    const { io, log } = this.jetstream;
    const { stream } = this.entryOf(name);
    const place = this.placeOf(name);
    const keepInterest = (text: string): void => {
      if (place.options !== null) this.put(name, place.options, text, () => undefined);
    };
    const site = { io, log, account, stream, remote: remoteName(remote), keepInterest };
    return new Spool(site, options, readWanted(this.interestOf(name)));
  }

  private entryOf(name: string): StreamEntry {
    const entry = this.streams.get(name);
    assert(entry !== undefined, `spool ${name} has a stream`);
    return entry;
  }

  /** What the hub wanted to hear, as it is on disk. */
  private interestOf(name: string): string {
    return this.streams.get(name)?.stream.config.metadata?.get(INTEREST) ?? '';
  }

  /** Makes the stream, or changes it. */
  private put(name: string, options: SpoolOptions, interest: string, done: () => void): void {
    const { jetstream } = this;
    const stream = this.streams.get(name)?.stream ?? null;
    const created = stream?.created ?? nowText(jetstream.io.clock);
    jetstream.putStream(ACCOUNT, streamConfig(name, options, interest), stream, created, done);
  }

  /** Nobody spools to it: it goes if it is empty, and else stays as it is. */
  private leave(name: string, { stream }: StreamEntry, owner: string): void {
    const { log } = this.jetstream;
    const { messages, appendedMessages } = stream.store;
    const held = Math.max(messages, appendedMessages);
    if (held > 0) {
      log.warn(`Spool ${name} holds ${held} messages for ${owner}; they stay, and are sent when it has a spool again`);
      return;
    }
    const place = this.placeOf(name);
    const waiting: (() => void)[] = [];
    place.deleted = waiting;
    this.jetstream.deleteStream(stream, () => {
      place.deleted = null;
      log.notice(`Spool ${name} of ${owner} was empty and is gone`);
      for (const each of waiting) each();
    });
  }
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
