/**
 * The subject mappings of one account: what a message published by a client, arriving over a leaf link or addressed to
 * a service import is published as instead.
 *
 * It is applied once, before interest is looked up: a mapped subject is not mapped again. If several sources match, the
 * most specific one decides (`PatternTrie`); nats-server takes the first in an order that its configuration leaves to
 * chance, so no configuration can rely on another choice.
 *
 * An account without mappings costs one comparison. A subject that no source matches allocates nothing. A mapped one
 * costs the result's string and, if the destination refers to the source's wildcards, the subject's tokens.
 *
 * Bounds: as many mappings as are configured.
 */

import { PatternTrie } from '../subject/pattern-trie.ts';
import type { FractionSource } from '../subject/transform-token.ts';
import type { Mapping } from './mapping.ts';

/** The answer of `select` for a message that is to be dropped: no subscription can match it. */
export const DROPPED = '';

export class Mappings {
  private readonly bySource = new Map<string, Mapping>();
  private readonly trie = new PatternTrie<Mapping>();
  private readonly random: FractionSource;
  private readonly clusterName: () => string;

  /** `clusterName` answers with the name of this server's cluster, empty outside of one. */
  constructor(random: FractionSource, clusterName: () => string) {
    this.random = random;
    this.clusterName = clusterName;
  }

  get size(): number {
    return this.bySource.size;
  }

  /** Adds the mapping, in the place of one with the same source. */
  set(mapping: Mapping): void {
    this.bySource.set(mapping.source, mapping);
    this.trie.set(mapping.source, mapping);
  }

  /** Removes the mapping of this source; whether there was one. */
  delete(source: string): boolean {
    if (!this.bySource.delete(source)) return false;
    this.trie.delete(source);
    return true;
  }

  /** Every mapping, in the order in which their sources were first added. */
  values(): IterableIterator<Mapping> {
    return this.bySource.values();
  }

  /** What `buffer[start, end)` is published as: `null` when no mapping applies, `DROPPED` when it is not published. */
  select(buffer: Buffer, start: number, end: number): string | null {
    if (this.bySource.size === 0) return null;
    const mapping = this.trie.find(buffer, start, end);
    if (mapping === null) return null;
    const transform = mapping.choose(this.clusterName, this.random);
    if (transform === null) return DROPPED;
    return transform.constant ?? transform.applyTokens(buffer.toString('latin1', start, end).split('.'), this.random);
  }

  /** `select` for a subject at rest. */
  selectText(subject: string): string | null {
    if (this.bySource.size === 0) return null;
    const bytes = Buffer.from(subject, 'latin1');
    return this.select(bytes, 0, bytes.length);
  }
}
