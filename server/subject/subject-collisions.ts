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
    return collidesBelow(this.root, subject.split('.'), 0);
  }
}

function newNode(): Node {
  return { children: new Map(), isEnd: false };
}

function collidesBelow({ children, isEnd }: Node, tokens: readonly string[], at: number): boolean {
  const token = tokens[at];
  if (token === undefined) return isEnd;
  if (children.has('>') || (token === '>' && children.size > 0)) return true;
  if (token === '*') return [...children.values()].some((child) => collidesBelow(child, tokens, at + 1));
  return [token, '*'].some((each) => {
    const child = children.get(each);
    return child !== undefined && collidesBelow(child, tokens, at + 1);
  });
}
