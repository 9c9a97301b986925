/**
 * One open file of one simulated process. Reads and writes happen when they are done: the memory given is read or filled
 * then, and what was written is seen from then on. A sync covers what had been written when it was asked for.
 */

import type { Done, FileHandle, IoError, OpenMode } from '../io.ts';
import type { EventOwner } from './event-queue.ts';
import type { FileNode } from './folder-tree.ts';
import type { OperationKind, SimulatedDisk } from './simulated-disk.ts';
import { SystemError } from './system-error.ts';

export class SimulatedFile implements FileHandle {
  private readonly disk: SimulatedDisk;
  private readonly owner: EventOwner;
  private readonly node: FileNode;
  private readonly path: string;
  private readonly mode: OpenMode;
  private isClosed = false;

  constructor(disk: SimulatedDisk, owner: EventOwner, node: FileNode, path: string, mode: OpenMode) {
    this.disk = disk;
    this.owner = owner;
    this.node = node;
    this.path = path;
    this.mode = mode;
    disk.opened(node, owner);
  }

  write(
    buffer: Uint8Array,
    offset: number,
    length: number,
    position: number,
    done: (error: IoError | null, written: number) => void,
  ): void {
    const bytes = buffer.subarray(offset, offset + length);
    const isRefused = this.isClosed || this.mode === 'read';
    this.disk.submit(
      this.owner,
      this.mode === 'write-synced' ? 'synced write' : 'write',
      () => this.performWrite(bytes, position, isRefused),
      () => {
        if (!isRefused) this.disk.write(this.node, this.path, bytes, position);
      },
      (error, written) => done(error, written ?? 0),
    );
  }

  writeNow(buffer: Uint8Array, offset: number, length: number, position: number): number {
    const bytes = buffer.subarray(offset, offset + length);
    return this.performWrite(bytes, position, this.isClosed || this.mode === 'read');
  }

  read(
    buffer: Uint8Array,
    offset: number,
    length: number,
    position: number,
    done: (error: IoError | null, read: number) => void,
  ): void {
    const { isClosed } = this;
    this.submit(
      'read',
      () => this.performRead(buffer, offset, length, position, isClosed),
      (error, read) => done(error, read ?? 0),
    );
  }

  readNow(buffer: Uint8Array, offset: number, length: number, position: number): number {
    return this.performRead(buffer, offset, length, position, this.isClosed);
  }

  size(done: (error: IoError | null, bytes: number) => void): void {
    const { isClosed } = this;
    const perform = (): number => {
      if (isClosed) throw new SystemError('EBADF', 'fstat');
      return this.node.content.bytes;
    };
    this.submit('names', perform, (error, bytes) => done(error, bytes ?? 0));
  }

  sync(done: Done): void {
    const { isClosed, node } = this;
    const { content, contentBefore } = node;
    if (!isClosed) content.beginSync();
    const perform = (): void => {
      if (isClosed) throw new SystemError('EBADF', 'fdatasync');
      const code = this.disk.faults.codeFor('sync', this.path);
      if (code !== null) {
        content.failSync();
        throw new SystemError(code, `fdatasync '${this.path}'`);
      }
      content.endSync();
      if (node.contentBefore === contentBefore) node.contentBefore = null;
    };
    this.submit('sync', perform, (error) => done(error));
  }

  close(done: Done): void {
    const wasClosed = this.isClosed;
    if (!wasClosed) this.closeNow();
    const perform = (): void => {
      if (wasClosed) throw new SystemError('EBADF', 'close');
    };
    this.submit('names', perform, (error) => done(error));
  }

  closeNow(): void {
    if (this.isClosed) throw new SystemError('EBADF', 'close');
    this.isClosed = true;
    this.disk.closed(this.node, this.owner);
  }

  private performWrite(bytes: Uint8Array, position: number, isRefused: boolean): number {
    const { disk, node, path } = this;
    if (isRefused) throw new SystemError('EBADF', 'write');
    const code = disk.faults.codeFor('write', path);
    if (code !== null) {
      // Of a write that fails any part may have happened.
      disk.write(node, path, bytes.subarray(0, disk.random.below(bytes.length + 1)), position);
      throw new SystemError(code, `write '${path}'`);
    }
    const written = disk.write(node, path, bytes.subarray(0, disk.faults.written(bytes.length)), position);
    if (this.mode !== 'write-synced') return written;
    const syncCode = disk.faults.codeFor('sync', path);
    if (syncCode !== null) throw new SystemError(syncCode, `write '${path}'`);
    node.content.syncRange(position, written);
    node.contentBefore = null;
    return written;
  }

  private performRead(
    buffer: Uint8Array,
    offset: number,
    length: number,
    position: number,
    isRefused: boolean,
  ): number {
    const { disk, path } = this;
    if (isRefused) throw new SystemError('EBADF', 'read');
    const code = disk.faults.codeFor('read', path);
    if (code !== null) throw new SystemError(code, `read '${path}'`);
    const read = this.node.content.read(buffer, offset, length, position);
    disk.counters.bytesRead += read;
    return read;
  }

  /** An operation that leaves nothing behind when it is interrupted. */
  private submit<T>(
    kind: OperationKind,
    perform: () => T,
    done: (error: IoError | null, result: T | null) => void,
  ): void {
    this.disk.submit(this.owner, kind, perform, () => undefined, done);
  }
}
