/**
 * Whether a secret is the one that is configured, as it is or as a bcrypt hash.
 *
 *     plain      compared in constant time, at once
 *     hash       remembered ─► at once        else ─► compared in another thread, later
 *
 * Those who come with the same secret at a time share one comparison, and who logged in lately is remembered for
 * `REMEMBERED_MS`, so that a fleet that reconnects does not wait for one hash after the other. What is remembered is a
 * digest of hash and password, made with a key of this process: neither can be got back from it. Wrong passwords are
 * compared anew. What the log has to hear about a login that succeeds is said here, too.
 *
 * Bounds: `REMEMBERED_MAX` logins; comparisons that wait are bounded by `Io`.
 */

import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { Buffer } from 'node:buffer';
import { isPasswordHash } from '../config/password.ts';
import type { Decided, Identity } from '../connection/connection-host.ts';
import type { Io } from '../io/io.ts';
import type { Log } from '../io/log.ts';
import { goQuote } from '../protocol/go-quote.ts';

const REMEMBERED_MS = 60_000;
const REMEMBERED_MAX = 1_024;
const KEY_BYTES = 32;

export class Logins {
  private readonly io: Pick<Io, 'clock' | 'passwords'>;
  private readonly log: Pick<Log, 'warn'>;
  private readonly key: Buffer;
  /** Until when, by digest; in the order in which they end. */
  private readonly remembered = new Map<string, number>();
  /** Who waits for a comparison, by digest. */
  private readonly waiting = new Map<string, ((matches: boolean) => void)[]>();

  constructor(io: Pick<Io, 'clock' | 'passwords' | 'random'>, log: Pick<Log, 'warn'>) {
    this.io = io;
    this.log = log;
    this.key = io.random.bytes(KEY_BYTES);
  }

  /** `identity` if the secret is right, `null` if not or if too many wait; `later` if `decided` is to hear of it. */
  check(expected: string, given: string, identity: Identity, decided: Decided): Identity | null | 'later' {
    if (!isPasswordHash(expected)) return sameSecret(expected, given) ? identity : null;
    const digest = createHmac('sha256', this.key).update(expected).update(given).digest('base64');
    if ((this.remembered.get(digest) ?? 0) > this.io.clock.monotonicMs()) return identity;
    const settle = (matches: boolean): void => decided(matches ? identity : null);
    const others = this.waiting.get(digest);
    if (others !== undefined) others.push(settle);
    else if (!this.io.passwords.compare(expected, given, (matches) => this.compared(digest, matches))) return null;
    else this.waiting.set(digest, [settle]);
    return 'later';
  }

  /** Says that the name in CONNECT does not count, since a certificate tells who it is; '' is no name. */
  passOver(name: string): void {
    if (name !== '') this.log.warn(`User ${goQuote(name)} found in connect proto, but user required from cert`);
  }

  private compared(digest: string, matches: boolean): void {
    const settles = this.waiting.get(digest) ?? [];
    this.waiting.delete(digest);
    if (matches) this.remember(digest);
    for (const settle of settles) settle(matches);
  }

  private remember(digest: string): void {
    this.remembered.delete(digest);
    this.remembered.set(digest, this.io.clock.monotonicMs() + REMEMBERED_MS);
    if (this.remembered.size > REMEMBERED_MAX) this.remembered.delete(this.remembered.keys().next().value as string);
  }
}

/** Whether the texts are equal, in a time that tells nothing about either. */
export function sameSecret(expected: string, given: string): boolean {
  return timingSafeEqual(digestOf(expected), digestOf(given));
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
