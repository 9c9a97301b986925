/**
 * Which accounts JetStream serves, and how a reload changes that.
 *
 *     resting ◄──start, with what is stored──┐
 *        │                                   ├──► served ──turned off──► stopped
 *        └──────────turned on────────────────┘                             └─ without streams: as new
 *
 * Of an account that is turned off the files stay, and what was kept in memory is gone. Its streams and consumers have come
 * to their end as objects: those in files come back with the next start, and until then the account is not turned on
 * again. An account that has never been served since the start can be turned on at any time, with what is stored for it.
 *
 * Accounts of this server itself sleep until they are needed: their streams come back with all others, and are served, and
 * seen in monitoring, when somebody wakes the account.
 */

import type { Account } from '../../server/account/account.ts';
import { JetStreamAccount } from './jetstream-account.ts';
import type { JetStream } from './jetstream.ts';
import type { StreamEntry } from './stream-entry.ts';

export class AccountSwitch {
  readonly served: Map<string, JetStreamAccount> = new Map();
  private readonly jetstream: JetStream;
  /** Without JetStream since the start, or until it is turned on. */
  private readonly resting = new Map<string, JetStreamAccount>();
  /** Those served that are accounts of the server: JetStream may have others of its own. */
  private readonly followed = new Set<JetStreamAccount>();
  private readonly stopped = new Set<JetStreamAccount>();
  /** Of this server itself, and not needed yet. */
  private readonly asleep = new Map<string, JetStreamAccount>();

  /** `internal`: accounts of this server itself. */
  constructor(
    jetstream: JetStream,
    served: readonly Account[],
    resting: readonly Account[],
    internal: readonly Account[],
  ) {
    this.jetstream = jetstream;
    for (const account of internal) this.asleep.set(account.name, new JetStreamAccount(account));
    for (const account of served) this.served.set(account.name, new JetStreamAccount(account));
    for (const account of resting) this.resting.set(account.name, new JetStreamAccount(account));
  }

  /** Whose assets are brought back when they are found. */
  found(name: string): JetStreamAccount | null {
    return this.served.get(name) ?? this.resting.get(name) ?? this.asleep.get(name) ?? null;
  }

  /** All that still hold something. */
  all(): JetStreamAccount[] {
    return [...this.served.values(), ...this.resting.values(), ...this.asleep.values(), ...this.stopped];
  }

  /** Serves an account of this server itself from now on, if that is needed or something is stored in it; whether it is. */
  wake(name: string, isNeeded: boolean): boolean {
    const owner = this.asleep.get(name);
    if (owner === undefined) return true;
    if (!isNeeded && owner.streams.size === 0) return false;
    this.asleep.delete(name);
    this.served.set(name, owner);
    this.jetstream.serveAccount(owner);
    return true;
  }

  /** Whether the account can be turned on, though it may not be there yet. */
  canTurnOn(name: string): boolean {
    if (this.resting.has(name)) return true;
    return this.jetstream.storage.catalog.entries().every(({ account }) => account !== name);
  }

  /**
   * Serves those of the server's accounts, all of which these are, that have JetStream, and no others of them. Nothing is
   * served before all is brought back.
   */
  follow(accounts: Iterable<Account>): void {
    if (!this.jetstream.isServing) return;
    const gone = new Set(this.followed);
    const absent = new Map(this.resting);
    for (const account of accounts) {
      absent.delete(account.name);
      const owner = this.served.get(account.name);
      if (account.jetstream === null) this.jetstream.doors.refuse(account);
      else if (owner === undefined) this.turnOn(account);
      else {
        this.followed.add(owner);
        gone.delete(owner);
      }
    }
    for (const owner of gone) this.turnOff(owner);
    for (const [name, owner] of absent) {
      this.resting.delete(name);
      this.stopped.add(owner);
    }
  }

  private turnOn(account: Account): void {
    const { name } = account;
    const owner = this.resting.get(name) ?? new JetStreamAccount(account);
    this.resting.delete(name);
    this.served.set(name, owner);
    this.followed.add(owner);
    this.jetstream.serveAccount(owner);
  }

  private turnOff(owner: JetStreamAccount): void {
    const { name, jetstream } = owner.account;
    // A door that refuses is there already, unless the account itself is gone.
    if (jetstream !== null) this.jetstream.doors.close(owner.account);
    this.served.delete(name);
    this.followed.delete(owner);
    this.stopped.add(owner);
    for (const [stream, entry] of owner.streams) {
      stopEntry(entry, null);
      if (entry.stream.config.storage !== 'memory') continue;
      owner.streams.delete(stream);
      entry.stream.destroy(() => undefined);
    }
  }
}

/** Ends a stream with all that belongs to it; those who wait for messages hear of it if there is a `status`. */
export function stopEntry({ stream, consumers, services }: StreamEntry, status: string | null): void {
  for (const consumer of consumers.values()) consumer.stop(status);
  services.stop();
  stream.stop();
}
