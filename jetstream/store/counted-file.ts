/**
 * An open file that counts what is in flight on it, and is closed only when that is done: the system may give the number
 * of a closed file to the next one that is opened, and what was still in flight would go there.
 */

import type { Done, FileHandle, IoError } from '../../server/io/io.ts';

type Transferred = (error: IoError | null, bytes: number) => void;

export class CountedFile {
  private readonly handle: FileHandle;
  private operations = 0;
  private closing: Done | null = null;

  constructor(handle: FileHandle) {
    this.handle = handle;
  }

  get isBusy(): boolean {
    return this.operations > 0;
  }

  write(buffer: Uint8Array, offset: number, length: number, position: number, done: Transferred): void {
    this.operations++;
    this.handle.write(buffer, offset, length, position, (error, written) => {
      this.finished();
      done(error, written);
    });
  }

  /** The blocking form of `write`; the bytes written. Throws an `IoError`. */
  writeNow(buffer: Uint8Array, offset: number, length: number, position: number): number {
    return this.handle.writeNow(buffer, offset, length, position);
  }

  read(buffer: Uint8Array, offset: number, length: number, position: number, done: Transferred): void {
    this.operations++;
    this.handle.read(buffer, offset, length, position, (error, read) => {
      this.finished();
      done(error, read);
    });
  }

  /** The blocking form of `read`; the bytes read. Throws an `IoError`. */
  readNow(buffer: Uint8Array, offset: number, length: number, position: number): number {
    return this.handle.readNow(buffer, offset, length, position);
  }

  sync(done: Done): void {
    this.operations++;
    this.handle.sync((error) => {
      this.finished();
      done(error);
    });
  }

  /** Closes the file as soon as nothing is in flight on it. */
  close(done: Done): void {
    this.closing = done;
    this.finish();
  }

  private finished(): void {
    this.operations--;
    this.finish();
  }

  private finish(): void {
    const { closing } = this;
    if (this.operations > 0 || closing === null) return;
    this.closing = null;
    this.handle.close(closing);
  }
}
