/** The disk of a machine as one of its processes uses it: what it opens and locks goes with it. */

import { posix } from 'node:path';
import type { Disk, Done, FileHandle, FileLock, FileStatus, IoError, OpenMode } from '../io.ts';
import type { EventOwner } from './event-queue.ts';
import type { FileNode } from './folder-tree.ts';
import type { OperationKind, SimulatedDisk } from './simulated-disk.ts';
import { SimulatedFile } from './simulated-file.ts';
import { SystemError } from './system-error.ts';

export class DiskSession implements Disk {
  private readonly disk: SimulatedDisk;
  private readonly owner: EventOwner;

  constructor(disk: SimulatedDisk, owner: EventOwner) {
    this.disk = disk;
    this.owner = owner;
  }

  readFileNow(path: string): Buffer {
    const file = this.openNow(path, 'read');
    try {
      const bytes = Buffer.alloc(this.disk.tree.file(path).content.bytes);
      file.readNow(bytes, 0, bytes.length, 0);
      return bytes;
    } finally {
      file.closeNow();
    }
  }

  readDirectoryNow(path: string): string[] {
    return [...this.disk.tree.folder(path).entries.keys()].sort();
  }

  makeDirectoryNow(path: string): void {
    const { tree } = this.disk;
    tree.addFolders(path);
    let parent = posix.resolve('/', path);
    while (parent !== '/') {
      parent = posix.dirname(parent);
      tree.makeDurable(tree.unsyncedIn(tree.folder(parent)));
    }
  }

  writeFileNow(path: string, bytes: Uint8Array): void {
    const { disk } = this;
    const code = disk.faults.codeFor('write', path) ?? disk.faults.codeFor('sync', path);
    if (code !== null) throw new SystemError(code, `write '${path}'`);
    const folder = disk.tree.folder(posix.dirname(posix.resolve('/', path)));
    const file = disk.newFile();
    if (disk.write(file, path, bytes, 0) < bytes.length) throw new SystemError('ENOSPC', `write '${path}'`);
    file.content.syncRange(0, bytes.length);
    disk.tree.addFile(path, file);
    disk.tree.makeDurable(disk.tree.unsyncedIn(folder));
  }

  statusNow(path: string): FileStatus | null {
    const node = this.disk.tree.find(path);
    if (node === null) return null;
    return { bytes: node.isFolder ? 0 : node.content.bytes, isDirectory: node.isFolder };
  }

  openNow(path: string, mode: OpenMode): FileHandle {
    const { disk } = this;
    const node = mode === 'read' ? disk.tree.file(path) : this.openForWriting(path, mode);
    if (mode === 'replace') disk.empty(node);
    return new SimulatedFile(disk, this.owner, node, path, mode);
  }

  lockNow(path: string): FileLock | null {
    const { locks } = this.disk;
    const key = posix.resolve('/', path);
    if (locks.has(key)) return null;
    this.openForWriting(path, 'write');
    const lock = { owner: this.owner };
    locks.set(key, lock);
    return {
      release: () => {
        if (locks.get(key) === lock) locks.delete(key);
      },
    };
  }

  freeBytesNow(path: string): number {
    if (this.disk.tree.find(path) === null) throw new SystemError('ENOENT', `statfs '${path}'`);
    return this.disk.freeBytes;
  }

  open(path: string, mode: OpenMode, done: (error: IoError | null, file: FileHandle | null) => void): void {
    this.submit('names', () => this.openNow(path, mode), done);
  }

  rename(from: string, to: string, done: Done): void {
    this.submit('names', () => this.disk.tree.rename(from, to), done);
  }

  remove(path: string, done: Done): void {
    this.submit('names', () => this.disk.tree.removeFile(path), done);
  }

  removeDirectory(path: string, done: Done): void {
    this.submit('names', () => this.disk.tree.removeAll(path), done);
  }

  makeDirectory(path: string, done: Done): void {
    this.submit('names', () => this.disk.tree.addFolders(path), done);
  }

  syncDirectory(path: string, done: Done): void {
    const { tree, faults } = this.disk;
    const node = tree.find(path);
    const changes = node?.isFolder === true ? tree.unsyncedIn(node) : [];
    const perform = (): void => {
      tree.folder(path);
      const code = faults.codeFor('sync', path);
      if (code !== null) throw new SystemError(code, `fsync '${path}'`);
      tree.makeDurable(changes);
    };
    this.submit('sync names', perform, done);
  }

  private openForWriting(path: string, mode: OpenMode): FileNode {
    const { tree } = this.disk;
    const node = tree.find(path);
    if (node === null) {
      const file = this.disk.newFile();
      tree.addFile(path, file);
      return file;
    }
    if (mode === 'create') throw new SystemError('EEXIST', `open '${path}'`);
    return tree.file(path);
  }

  /** An operation that may also have happened when the process is gone before it hears of it. */
  private submit<T>(
    kind: OperationKind,
    perform: () => T,
    done: (error: IoError | null, result: T | null) => void,
  ): void {
    this.disk.submit(this.owner, kind, perform, perform, done);
  }
}
