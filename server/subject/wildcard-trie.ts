/**
 * The patterns with wildcards, as a trie of tokens. Literal subscriptions are not in it (they are found by one hash in
 * `Sublist`), so it stays as small as the set of patterns.
 *
 *     sensors.*.temp    sensors.>         root ─ "sensors" ─┬─ star ─ "temp" → chain of subscriptions
 *                                                           └─ rest → chain of subscriptions
 *
 * A walk compares byte ranges: it makes no string and allocates nothing. Cost: the number of nodes that the subject can
 * reach, at most 2^wildcards in depth; a token costs one hash and one comparison. Nothing here recurses: a subject may
 * have as many tokens as a control line has room for, and a stack may not.
 */

import { KeyTable } from './key-table.ts';
import type { Receivers } from './receivers.ts';
import { hashBytes, hashText } from './subject-hash.ts';
import type { Subscription } from './subscription.ts';

const DOT = 0x2e;

class TrieNode {
  readonly key: string;
  readonly hash: number;
  children: KeyTable<TrieNode> | null = null;
  star: TrieNode | null = null;
  /** Patterns that end here. */
  here: Subscription | null = null;
  /** Patterns that end in `>` here. */
  rest: Subscription | null = null;

  constructor(key: string, hash: number) {
    this.key = key;
    this.hash = hash;
  }

  get isEmpty(): boolean {
    return this.here === null && this.rest === null && this.star === null && this.children === null;
  }
}

export class WildcardTrie {
  private readonly seed: number;
  private readonly root: TrieNode;
  /** Where the walk under way has still to go: nodes, and where their tokens begin. */
  private readonly branches: TrieNode[] = [];
  private readonly branchStarts: number[] = [];
  /** The walk under way met no pattern that asks for the subject's last token. */
  private anyLastToken = true;
  size = 0;

  constructor(seed: number) {
    this.seed = seed;
    this.root = new TrieNode('', 0);
  }

  insert(subscription: Subscription): void {
    let node = this.root;
    for (const token of subscription.key.split('.')) {
      if (token === '>') {
        node.rest = pushFront(node.rest, subscription);
        this.size++;
        return;
      }
      node = token === '*' ? (node.star ??= new TrieNode('*', 0)) : this.childOf(node, token);
    }
    node.here = pushFront(node.here, subscription);
    this.size++;
  }

  /** Removes a subscription that was inserted, and the nodes that held nothing else. */
  remove(subscription: Subscription): void {
    const path: TrieNode[] = [this.root];
    let node = this.root;
    let endsInRest = false;
    for (const token of subscription.key.split('.')) {
      if (token === '>') {
        endsInRest = true;
        break;
      }
      const next = token === '*' ? node.star : (node.children?.find(token, hashText(token, this.seed)) ?? null);
      if (next === null) return;
      node = next;
      path.push(node);
    }
    if (endsInRest) node.rest = unlink(node.rest, subscription);
    else node.here = unlink(node.here, subscription);
    this.size--;
    prune(path);
  }

  /**
   * Adds every subscription whose pattern matches the literal subject `buffer[start, end)`. True: they would be the same
   * with any other last token.
   */
  match(buffer: Uint8Array, start: number, end: number, into: Receivers): boolean {
    const { branches, branchStarts } = this;
    this.anyLastToken = true;
    if (this.size > 0) this.follow(this.root, buffer, start, end, into);
    while (branches.length > 0) {
      this.follow(branches.pop() as TrieNode, buffer, branchStarts.pop() as number, end, into);
    }
    return this.anyLastToken;
  }

  /** Every subscription, in no order. */
  *subscriptions(): Generator<Subscription> {
    yield* subscriptionsAt(this.root);
    // One step costs the same at any depth.
    const path = [childrenOf(this.root)];
    for (let children = path.at(-1); children !== undefined; children = path.at(-1)) {
      const { done, value } = children.next();
      if (done === true) path.pop();
      else {
        yield* subscriptionsAt(value);
        path.push(childrenOf(value));
      }
    }
  }

  /** Walks one way to its end; where it could go on in two, the other is left in `branches`. */
  private follow(from: TrieNode, buffer: Uint8Array, start: number, end: number, into: Receivers): void {
    let at = start;
    for (let node: TrieNode | null = from; node !== null;) {
      const { rest, children, star }: TrieNode = node;
      if (rest !== null) into.addChain(rest);
      let tokenEnd = at;
      while (tokenEnd < end && buffer[tokenEnd] !== DOT) tokenEnd++;
      const child: TrieNode | null = children === null ? null : this.findChild(children, buffer, at, tokenEnd);
      if (tokenEnd === end) {
        if (children !== null) this.anyLastToken = false;
        if (child !== null) into.addChain(child.here);
        if (star !== null) into.addChain(star.here);
        return;
      }
      at = tokenEnd + 1;
      if (child !== null && star !== null) {
        this.branches.push(star);
        this.branchStarts.push(at);
      }
      node = child ?? star;
    }
  }

  private findChild(children: KeyTable<TrieNode>, buffer: Uint8Array, start: number, end: number): TrieNode | null {
    return children.findBytes(buffer, start, end, hashBytes(buffer, start, end, this.seed));
  }

  private childOf(node: TrieNode, token: string): TrieNode {
    const hash = hashText(token, this.seed);
    const children = (node.children ??= new KeyTable<TrieNode>());
    const found = children.find(token, hash);
    if (found !== null) return found;
    const child = new TrieNode(token, hash);
    children.add(child);
    return child;
  }
}

/** Links a subscription in front of a chain; the new first one is the answer. */
export function pushFront(first: Subscription | null, subscription: Subscription): Subscription {
  subscription.previous = null;
  subscription.next = first;
  if (first !== null) first.previous = subscription;
  return subscription;
}

/** Takes a subscription out of its chain; the chain's first one afterwards is the answer. */
export function unlink(first: Subscription | null, subscription: Subscription): Subscription | null {
  const { next, previous } = subscription;
  if (next !== null) next.previous = previous;
  if (previous !== null) previous.next = next;
  subscription.next = null;
  subscription.previous = null;
  return previous === null ? next : first;
}

function prune(path: readonly TrieNode[]): void {
  for (let i = path.length - 1; i > 0; i--) {
    const node = path[i] as TrieNode;
    const parent = path[i - 1] as TrieNode;
    if (!node.isEmpty) return;
    if (parent.star === node) parent.star = null;
    else parent.children?.remove(node.key, node.hash);
    if (parent.children?.size === 0) parent.children = null;
  }
}

function* subscriptionsAt(node: TrieNode): Generator<Subscription> {
  for (let each = node.here; each !== null; each = each.next) yield each;
  for (let each = node.rest; each !== null; each = each.next) yield each;
}

function* childrenOf(node: TrieNode): Generator<TrieNode, void> {
  if (node.star !== null) yield node.star;
  if (node.children !== null) yield* node.children.entries();
}
