/**
 * Subjects and patterns of which one asks whether another shares any subject with them: a tree by tokens, so that a
 * thousand patterns are compared with a thousand others in a moment.
 *
 * Made for tens of thousands at once: subjects without wildcards are kept as they are, and only become part of the tree
 * when a pattern is compared with them; and a node with a single child has no map of its own.
 */

import { isValidLiteralSubject } from './subject.ts';

class Node {
  isEnd = false;
  /** The only child, or the first one. */
  private token = '';
  private child: Node | null = null;
  private children: Map<string, Node> | null = null;

  get hasChildren(): boolean {
    return this.child !== null;
  }

  get(token: string): Node | undefined {
    if (this.children !== null) return this.children.get(token);
    return this.child !== null && this.token === token ? this.child : undefined;
  }

  /** The child with this token, a new one if there is none. */
  make(token: string): Node {
    const found = this.get(token);
    if (found !== undefined) return found;
    const made = new Node();
    if (this.child === null) {
      this.token = token;
      this.child = made;
    } else {
      this.children ??= new Map([[this.token, this.child]]);
      this.children.set(token, made);
    }
    return made;
  }

  pushAll(onto: Node[]): void {
    if (this.children !== null) for (const child of this.children.values()) onto.push(child);
    else if (this.child !== null) onto.push(this.child);
  }

  /** Pushes what follows by this token or by `*`. */
  pushMatching(token: string, onto: Node[]): void {
    const star = this.get('*');
    if (star !== undefined) onto.push(star);
    const child = token === '*' ? undefined : this.get(token);
    if (child !== undefined) onto.push(child);
  }
}

export class SubjectCollisions {
  private readonly root = new Node();
  private readonly literals = new Set<string>();
  /** Those of the literals that are not in the tree. */
  private pending: string[] = [];

  add(subject: string): void {
    if (!isValidLiteralSubject(subject)) this.grow(subject);
    else if (!this.literals.has(subject)) {
      this.literals.add(subject);
      this.pending.push(subject);
    }
  }

  /** Whether some subject matches this one and one of those that were added; as `subjectsCollide` of each. */
  collides(subject: string): boolean {
    if (this.literals.has(subject)) return true;
    if (!isValidLiteralSubject(subject)) this.growByPending();
    return this.reaches(subject, (node, token, paths) => {
      if (token === undefined) return node.isEnd;
      if (node.get('>') !== undefined || (token === '>' && node.hasChildren)) return true;
      if (token === '*') node.pushAll(paths);
      else node.pushMatching(token, paths);
      return false;
    });
  }

  /** Whether one of those that were added matches every subject that this one matches; as `isSubsetMatch` of each. */
  covers(subject: string): boolean {
    if (this.literals.has(subject)) return true;
    return this.reaches(subject, (node, token, paths) => {
      if (token === undefined) return node.isEnd;
      if (node.get('>') !== undefined) return true;
      if (token !== '>') node.pushMatching(token, paths);
      return false;
    });
  }

  private growByPending(): void {
    for (const subject of this.pending) this.grow(subject);
    this.pending = [];
  }

  private grow(subject: string): void {
    let node = this.root;
    for (const token of subject.split('.')) node = node.make(token);
    node.isEnd = true;
  }

  /** Follows all paths that `step` adds, token by token, until it says yes. Subjects may be long: nothing recurses here. */
  private reaches(subject: string, step: Step): boolean {
    if (!this.root.hasChildren) return false;
    const tokens = subject.split('.');
    let nodes = [this.root];
    for (let at = 0; at <= tokens.length; at++) {
      const next: Node[] = [];
      for (const node of nodes) if (step(node, tokens[at], next)) return true;
      nodes = next;
      if (nodes.length === 0) return false;
    }
    return false;
  }
}

/** Looks at a node where this token follows, `undefined` at the end; adds to `paths` where to go on. */
type Step = (node: Node, token: string | undefined, paths: Node[]) => boolean;
