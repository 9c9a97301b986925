/**
 * The subscriptions of one account, and who of them receives a subject.
 *
 *     subject's bytes ─► match cache ─hit─► Receivers
 *                             └─miss─► literal table (one hash) + wildcard trie (token by token) ─► Receivers
 *
 * Literal and wildcard subscriptions are kept apart: most subscriptions are literal (inboxes, device commands), and one
 * hash finds them without a node per token.
 *
 * Replies to one requestor differ in their last token and never repeat. So what the trie says of a subject is also
 * remembered by the subject without its last token, where no pattern asks for that token.
 */

import { KeyTable } from './key-table.ts';
import { bytesEqual, MatchCache } from './match-cache.ts';
import { Receivers } from './receivers.ts';
import { hashBytes, hashText } from './subject-hash.ts';
import type { Subscription } from './subscription.ts';
import { pushFront, unlink, WildcardTrie } from './wildcard-trie.ts';

const DOT = 0x2e;
const NO_SUBJECT = new Uint8Array(0);
const NOBODY = new Receivers();

export interface SublistStatistics {
  readonly subscriptions: number;
  readonly cacheEntries: number;
  readonly inserts: number;
  readonly removes: number;
  readonly matches: number;
  readonly cacheHits: number;
  readonly fanoutMax: number;
  readonly fanoutTotal: number;
  readonly fanoutEntries: number;
}

export class Sublist {
  private readonly seed: number;
  /** The first subscription of each literal subject; the others hang on it. */
  private readonly literals = new KeyTable<Subscription>();
  private readonly patterns: WildcardTrie;
  private readonly cache: MatchCache | null;
  /** What the trie says of subjects that begin so, whatever their one remaining token is. */
  private readonly prefixes: MatchCache;
  /** The last answer from the cache, until any subscription comes or goes: publishers repeat themselves. */
  private lastSubject: Uint8Array = NO_SUBJECT;
  private lastReceivers: Receivers = NOBODY;
  private literalCount = 0;
  private inserts = 0;
  private removes = 0;
  private matches = 0;
  private cacheHits = 0;

  constructor(seed: number, options: { cached: boolean } = { cached: true }) {
    this.seed = seed;
    this.patterns = new WildcardTrie(seed);
    this.cache = options.cached ? new MatchCache(seed) : null;
    this.prefixes = new MatchCache(seed);
  }

  get size(): number {
    return this.literalCount + this.patterns.size;
  }

  /** Adds a subscription whose subject is valid. */
  insert(subscription: Subscription): void {
    const subject = subscription.key;
    subscription.hash = hashText(subject, this.seed);
    this.inserts++;
    this.forgetLast();
    if (hasWildcard(subject)) {
      this.patterns.insert(subscription);
      this.dropPattern(subject);
      return;
    }
    const first = this.literals.find(subject, subscription.hash);
    pushFront(first, subscription);
    if (first === null) this.literals.add(subscription);
    else this.literals.replace(subscription);
    this.literalCount++;
    this.cache?.dropLiteral(subscription.hash);
  }

  /** Removes a subscription that was inserted and not yet removed. */
  remove(subscription: Subscription): void {
    const subject = subscription.key;
    this.removes++;
    this.forgetLast();
    if (hasWildcard(subject)) {
      this.patterns.remove(subscription);
      this.dropPattern(subject);
      return;
    }
    const first = this.literals.find(subject, subscription.hash);
    const rest = unlink(first, subscription);
    if (rest === null) this.literals.remove(subject, subscription.hash);
    else if (rest !== first) this.literals.replace(rest);
    this.literalCount--;
    this.cache?.dropLiteral(subscription.hash);
  }

  /**
   * The receivers of the literal subject `buffer[start, end)`. Uses `scratch` when the answer is not cached: it stands
   * until the next match with the same scratch.
   */
  match(buffer: Uint8Array, start: number, end: number, scratch: Receivers): Receivers {
    this.matches++;
    if (bytesEqual(this.lastSubject, buffer, start, end)) {
      this.cacheHits++;
      return this.lastReceivers;
    }
    const lastToken = lastTokenStart(buffer, start, end);
    const prefixHash = hashBytes(buffer, start, lastToken, this.seed);
    const hash = hashBytes(buffer, lastToken, end, prefixHash);
    const cached = this.cache === null ? null : this.cache.find(buffer, start, end, hash);
    if (cached !== null) {
      this.cacheHits++;
      this.lastSubject = cached.bytes;
      this.lastReceivers = cached.receivers;
      return cached.receivers;
    }
    const literal = this.literalCount > 0 ? this.literals.findBytes(buffer, start, end, hash) : null;
    if (literal === null && lastToken < end) {
      const known = this.prefixes.find(buffer, start, lastToken, prefixHash);
      if (known !== null) {
        this.cacheHits++;
        return known.receivers;
      }
    }
    return this.search(buffer, start, end, lastToken, prefixHash, hash, literal, scratch);
  }

  private search(
    buffer: Uint8Array,
    start: number,
    end: number,
    lastToken: number,
    prefixHash: number,
    hash: number,
    literal: Subscription | null,
    scratch: Receivers,
  ): Receivers {
    scratch.clear();
    if (hasEmptyToken(buffer, start, end)) return scratch;
    scratch.addChain(literal);
    const anyLastToken = this.patterns.match(buffer, start, end, scratch);
    if (literal === null && anyLastToken) this.prefixes.missed(buffer, start, lastToken, prefixHash, scratch);
    this.cache?.missed(buffer, start, end, hash, scratch);
    return scratch;
  }

  /** Whether anybody would receive the subject. */
  hasInterest(subject: string): boolean {
    const bytes = Buffer.from(subject, 'latin1');
    return this.match(bytes, 0, bytes.length, new Receivers()).count > 0;
  }

  /** Every subscription, in no order; what changes meanwhile may be seen or not. */
  *subscriptions(): Generator<Subscription> {
    for (const first of this.literals.entries()) {
      for (let each: Subscription | null = first; each !== null; each = each.next) yield each;
    }
    yield* this.patterns.subscriptions();
  }

  statistics(): SublistStatistics {
    const fanout = this.cache?.fanout() ?? { max: 0, total: 0, entries: 0 };
    return {
      subscriptions: this.size,
      cacheEntries: this.cache?.size ?? 0,
      inserts: this.inserts,
      removes: this.removes,
      matches: this.matches,
      cacheHits: this.cacheHits,
      fanoutMax: fanout.max,
      fanoutTotal: fanout.total,
      fanoutEntries: fanout.entries,
    };
  }

  private forgetLast(): void {
    this.lastSubject = NO_SUBJECT;
    this.lastReceivers = NOBODY;
  }

  private dropPattern(pattern: string): void {
    const dot = pattern.indexOf('.');
    const token = dot < 0 ? pattern : pattern.slice(0, dot);
    const tokenHash = token === '*' || token === '>' ? null : hashText(token, this.seed);
    this.cache?.dropPattern(tokenHash);
    this.prefixes.dropPattern(tokenHash);
  }
}

/** Where the last token of the subject begins. */
function lastTokenStart(buffer: Uint8Array, start: number, end: number): number {
  let i = end;
  while (i > start && buffer[i - 1] !== DOT) i--;
  return i;
}

/** A subject with an empty token reaches nobody, not even `>`. */
function hasEmptyToken(buffer: Uint8Array, start: number, end: number): boolean {
  let previous = DOT;
  for (let i = start; i < end; i++) {
    const c = buffer[i] as number;
    if (c === DOT && previous === DOT) return true;
    previous = c;
  }
  return previous === DOT;
}

/** Whether a token of the subject is `*` or `>`; `a*` and `>b` are ordinary tokens. */
function hasWildcard(subject: string): boolean {
  for (let i = 0; i < subject.length; i++) {
    const c = subject.charCodeAt(i);
    if (c !== 0x2a && c !== 0x3e) continue;
    const startsToken = i === 0 || subject.charCodeAt(i - 1) === 0x2e;
    const endsToken = i + 1 === subject.length || subject.charCodeAt(i + 1) === 0x2e;
    if (startsToken && endsToken) return true;
  }
  return false;
}
