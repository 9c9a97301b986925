/**
 * Values by pattern, and for a published subject the value of the most specific pattern that matches it.
 *
 *     orders.*.eu    orders.new.*    orders.>      root ─ "orders" ─┬─ "new" ── star
 *                                                                   ├─ star ─── "eu"
 *                                                                   └─ rest
 *
 * Most specific: token by token from the left, a literal token goes before `*`, and `*` before `>`. Of two patterns
 * that match one subject exactly one comes first by this rule, so the order in which they were added never matters:
 * `orders.new.eu` finds `orders.new.*`.
 *
 * A subject matches as in nats-server's subset test: a `>` in it is taken only by a pattern's `>`, an empty token only
 * under a pattern's `>`.
 *
 * A find compares byte ranges, makes no string and allocates nothing; it visits at most every node whose path matches,
 * and for a subject whose first token no pattern has, only the root. Patterns come from the configuration, never from
 * a peer, so a fixed seed for the hash is enough.
 */

import { KeyTable } from './key-table.ts';
import { hashBytes, hashText } from './subject-hash.ts';

const DOT = 0x2e;
const GREATER = 0x3e;
const SEED = 0x811c9dc5;

class Node<T> {
  readonly key: string;
  readonly hash: number;
  literals: KeyTable<Node<T>> | null = null;
  star: Node<T> | null = null;
  /** The value of the pattern that ends here. */
  here: T | null = null;
  /** The value of the pattern that ends in `>` here. */
  rest: T | null = null;

  constructor(key: string, hash: number) {
    this.key = key;
    this.hash = hash;
  }

  get isEmpty(): boolean {
    return this.here === null && this.rest === null && this.star === null && this.literals === null;
  }
}

export class PatternTrie<T extends object> {
  private readonly root = new Node<T>('', 0);

  /** Puts the value under a valid pattern, in the place of the one that was there. */
  set(pattern: string, value: T): void {
    let node = this.root;
    for (const token of pattern.split('.')) {
      if (token === '>') {
        node.rest = value;
        return;
      }
      node = token === '*' ? (node.star ??= new Node<T>('*', 0)) : literalOf(node, token);
    }
    node.here = value;
  }

  /** Removes the value of the pattern, if there is one, and the nodes that led to nothing else. */
  delete(pattern: string): void {
    const path = [this.root];
    let node = this.root;
    for (const token of pattern.split('.')) {
      if (token === '>') break;
      const next = token === '*' ? node.star : (node.literals?.find(token, hashText(token, SEED)) ?? null);
      if (next === null) return;
      node = next;
      path.push(node);
    }
    if (pattern === '>' || pattern.endsWith('.>')) node.rest = null;
    else node.here = null;
    prune(path);
  }

  /** The value of the most specific pattern that matches the subject `buffer[start, end)`, or `null`. */
  find(buffer: Uint8Array, start: number, end: number): T | null {
    return findUnder(this.root, buffer, start, end);
  }
}

function findUnder<T>(node: Node<T>, buffer: Uint8Array, start: number, end: number): T | null {
  let tokenEnd = start;
  while (tokenEnd < end && buffer[tokenEnd] !== DOT) tokenEnd++;
  const literal = node.literals?.findBytes(buffer, start, tokenEnd, hashBytes(buffer, start, tokenEnd, SEED)) ?? null;
  const byLiteral = literal === null ? null : findBehind(literal, buffer, tokenEnd, end);
  if (byLiteral !== null) return byLiteral;
  if (node.star !== null && tokenEnd > start && !(tokenEnd - start === 1 && buffer[start] === GREATER)) {
    const byStar = findBehind(node.star, buffer, tokenEnd, end);
    if (byStar !== null) return byStar;
  }
  return node.rest;
}

function findBehind<T>(node: Node<T>, buffer: Uint8Array, tokenEnd: number, end: number): T | null {
  return tokenEnd === end ? node.here : findUnder(node, buffer, tokenEnd + 1, end);
}

function literalOf<T>(node: Node<T>, token: string): Node<T> {
  const hash = hashText(token, SEED);
  const literals = (node.literals ??= new KeyTable<Node<T>>());
  const found = literals.find(token, hash);
  if (found !== null) return found;
  const created = new Node<T>(token, hash);
  literals.add(created);
  return created;
}

function prune<T>(path: readonly Node<T>[]): void {
  for (let i = path.length - 1; i > 0; i--) {
    const node = path[i] as Node<T>;
    const parent = path[i - 1] as Node<T>;
    if (!node.isEmpty) return;
    if (parent.star === node) parent.star = null;
    else parent.literals?.remove(node.key, node.hash);
    if (parent.literals?.size === 0) parent.literals = null;
  }
}
