/**
 * Names on a simulated disk: which file or folder each leads to, now and after a power cut.
 *
 *     now      folder.entries      what every look-up sees
 *     durable  folder.durable      what a power cut leaves of it, plus any of the changes not yet synced
 *
 * Each change (a name made, removed, moved) is whole or not there after a power cut, independently of the others, until
 * its folder is synced; a move belongs to the folder it leads to. Syncing a file does not make its name durable.
 */

import { posix } from 'node:path';
import type { FileContent } from './file-content.ts';
import { SystemError } from './system-error.ts';

/** A file, whatever its names. */
export class FileNode {
  readonly isFolder = false;
  content: FileContent;
  /** What the file was before it was emptied, until that is durable. */
  contentBefore: FileContent | null = null;
  names = 0;
  handles = 0;

  constructor(content: FileContent) {
    this.content = content;
  }

  /** Nothing leads to it any more. */
  get isGone(): boolean {
    return this.names === 0 && this.handles === 0;
  }
}

export class FolderNode {
  readonly isFolder = true;
  entries: Map<string, FileNode | FolderNode> = new Map<string, FileNode | FolderNode>();
  readonly durable: Map<string, FileNode | FolderNode> = new Map<string, FileNode | FolderNode>();
}

export type DiskNode = FileNode | FolderNode;

/** A name, and what it leads to from now on. */
interface Edit {
  readonly folder: FolderNode;
  readonly name: string;
  readonly node: DiskNode | null;
}

/** Edits that become durable together. */
export interface NameChange {
  readonly home: FolderNode;
  edits: readonly Edit[];
}

interface Place {
  readonly folder: FolderNode;
  readonly name: string;
}

export class FolderTree {
  private readonly root = new FolderNode();
  private unsynced: NameChange[] = [];
  /** Told of a file that nothing leads to any more. */
  private readonly onGone: (file: FileNode) => void;

  constructor(onGone: (file: FileNode) => void) {
    this.onGone = onGone;
  }

  /** What the path leads to; `null` if nothing. Throws ENOTDIR where the path leads through a file. */
  find(path: string): DiskNode | null {
    let node: DiskNode = this.root;
    for (const name of namesOf(path)) {
      if (!node.isFolder) throw new SystemError('ENOTDIR', `'${path}'`);
      const next = node.entries.get(name);
      if (next === undefined) return null;
      node = next;
    }
    return node;
  }

  file(path: string): FileNode {
    const node = this.find(path);
    if (node === null) throw new SystemError('ENOENT', `'${path}'`);
    if (node.isFolder) throw new SystemError('EISDIR', `'${path}'`);
    return node;
  }

  folder(path: string): FolderNode {
    const node = this.find(path);
    if (node === null) throw new SystemError('ENOENT', `'${path}'`);
    if (!node.isFolder) throw new SystemError('ENOTDIR', `'${path}'`);
    return node;
  }

  /** Gives a new file its name; a file that has it loses it. */
  addFile(path: string, file: FileNode): void {
    const { folder, name } = this.place(path);
    this.change(folder, [{ folder, name, node: file }]);
  }

  /** Makes the folder and those above it. */
  addFolders(path: string): void {
    let folder = this.root;
    for (const name of namesOf(path)) {
      const next = folder.entries.get(name);
      if (next?.isFolder === false) throw new SystemError('EEXIST', `mkdir '${path}'`);
      const made = next ?? new FolderNode();
      if (next === undefined) this.change(folder, [{ folder, name, node: made }]);
      folder = made;
    }
  }

  removeFile(path: string): void {
    this.file(path);
    const { folder, name } = this.place(path);
    this.change(folder, [{ folder, name, node: null }]);
  }

  /** Removes what the path leads to, with everything in it. */
  removeAll(path: string): void {
    const node = this.find(path);
    if (node === null) throw new SystemError('ENOENT', `rm '${path}'`);
    if (node.isFolder) for (const name of node.entries.keys()) this.removeAll(posix.join(path, name));
    const { folder, name } = this.place(path);
    this.change(folder, [{ folder, name, node: null }]);
  }

  rename(from: string, to: string): void {
    const node = this.find(from);
    if (node === null) throw new SystemError('ENOENT', `rename '${from}'`);
    const source = this.place(from);
    const target = this.place(to);
    const replaced = target.folder.entries.get(target.name);
    if (replaced === node) return;
    if (replaced !== undefined) checkReplacing(node, replaced, to);
    this.change(target.folder, [
      { ...source, node: null },
      { ...target, node },
    ]);
  }

  // ── durability ───────────────────────────────────────────────────────────────────────────────────────────────────

  /** The changes that a sync of the folder covers when it begins now. */
  unsyncedIn(folder: FolderNode): readonly NameChange[] {
    return this.unsynced.filter((each) => each.home === folder);
  }

  /** These changes are durable. */
  makeDurable(changes: readonly NameChange[]): void {
    for (const change of changes) {
      const at = this.unsynced.indexOf(change);
      if (at < 0) continue;
      for (const { folder, name, node } of change.edits) {
        setEntry(folder.durable, name, node);
        // What this replaced never comes back.
        for (const older of this.unsynced.slice(0, at)) {
          older.edits = older.edits.filter((edit) => edit.folder !== folder || edit.name !== name);
        }
      }
      this.unsynced.splice(at, 1);
    }
  }

  /** The power goes: of the unsynced changes only those remain for which `isKept` says so. */
  cut(isKept: () => boolean): void {
    for (const { edits } of this.unsynced) {
      if (isKept()) for (const { folder, name, node } of edits) setEntry(folder.durable, name, node);
    }
    this.unsynced = [];
    for (const file of this.files()) file.names = 0;
    restore(this.root);
  }

  /** All files that have a name. */
  files(): Set<FileNode> {
    const found = new Set<FileNode>();
    const visit = (folder: FolderNode): void => {
      for (const node of [...folder.entries.values(), ...folder.durable.values()]) {
        if (node.isFolder) visit(node);
        else found.add(node);
      }
    };
    visit(this.root);
    return found;
  }

  private place(path: string): Place {
    const names = namesOf(path);
    const name = names.pop();
    if (name === undefined) throw new SystemError('EBUSY', `'${path}'`);
    return { folder: this.folder(`/${names.join('/')}`), name };
  }

  private change(home: FolderNode, edits: readonly Edit[]): void {
    for (const { folder, name, node } of edits) {
      const before = folder.entries.get(name);
      setEntry(folder.entries, name, node);
      if (node?.isFolder === false) node.names++;
      if (before?.isFolder === false) before.names--;
      if (before?.isFolder === false && before.isGone) this.onGone(before);
    }
    this.unsynced.push({ home, edits });
  }
}

function namesOf(path: string): string[] {
  return posix
    .resolve('/', path)
    .split('/')
    .filter((name) => name !== '');
}

function setEntry(entries: Map<string, DiskNode>, name: string, node: DiskNode | null): void {
  if (node === null) entries.delete(name);
  else entries.set(name, node);
}

/** What may not be put in another's place. */
function checkReplacing(node: DiskNode, replaced: DiskNode, path: string): void {
  if (replaced.isFolder && !node.isFolder) throw new SystemError('EISDIR', `rename to '${path}'`);
  if (!replaced.isFolder && node.isFolder) throw new SystemError('ENOTDIR', `rename to '${path}'`);
  if (replaced.isFolder && replaced.entries.size > 0) throw new SystemError('ENOTEMPTY', `rename to '${path}'`);
}

/** Lookups see what is durable, from here downward. */
function restore(folder: FolderNode): void {
  folder.entries = new Map(folder.durable);
  for (const node of folder.entries.values()) {
    if (node.isFolder) restore(node);
    else node.names++;
  }
}
