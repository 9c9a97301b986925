/**
 * Subjects and patterns of which one asks whether another shares any subject with them: a tree by tokens, so that a
 * thousand patterns are compared with a thousand others in a moment.
 */

interface Node {
  readonly children: Map<string, Node>;
  isEnd: boolean;
}

export class SubjectCollisions {
  private readonly root: Node = newNode();

  add(subject: string): void {
    let node = this.root;
    for (const token of subject.split('.')) {
      let child = node.children.get(token);
      if (child === undefined) node.children.set(token, (child = newNode()));
      node = child;
    }
    node.isEnd = true;
  }

  /** Whether some subject matches this one and one of those that were added; as `subjectsCollide` of each. */
  collides(subject: string): boolean {
    return this.reaches(subject, ({ children, isEnd }, token, paths) => {
      if (token === undefined) return isEnd;
      if (children.has('>') || (token === '>' && children.size > 0)) return true;
      if (token === '*') for (const child of children.values()) paths.push(child);
      else pushChildren(children, token, paths);
      return false;
    });
  }

  /** Whether one of those that were added matches every subject that this one matches; as `isSubsetMatch` of each. */
  covers(subject: string): boolean {
    return this.reaches(subject, ({ children, isEnd }, token, paths) => {
      if (token === undefined) return isEnd;
      if (children.has('>')) return true;
      if (token !== '>') pushChildren(children, token, paths);
      return false;
    });
  }

  /** Follows all paths that `step` adds, token by token, until it says yes. Subjects may be long: nothing recurses here. */
  private reaches(subject: string, step: Step): boolean {
    let nodes = [this.root];
    for (const token of [...subject.split('.'), undefined]) {
      const next: Node[] = [];
      for (const node of nodes) if (step(node, token, next)) return true;
      nodes = next;
      if (nodes.length === 0) return false;
    }
    return false;
  }
}

/** Looks at a node where this token follows, `undefined` at the end; adds to `paths` where to go on. */
type Step = (node: Node, token: string | undefined, paths: Node[]) => boolean;

function newNode(): Node {
  return { children: new Map(), isEnd: false };
}

function pushChildren(children: Node['children'], token: string, paths: Node[]): void {
  for (const each of token === '*' ? ['*'] : [token, '*']) {
    const child = children.get(each);
    if (child !== undefined) paths.push(child);
  }
}
