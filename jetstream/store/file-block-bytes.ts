/**
 * A block's bytes in a file:
 *
 *      0   header, BLOCK_HEADER_BYTES: magic, stream, block, first sequence, key (0: not encrypted), CRC
 *     64   records
 *
 *     tail ──full or asked to──► being written ──► in the file, still cached as a window
 *     (records are appended here)
 *
 * Records are written behind, in large plain writes; they are durable through the commit log until the block is synced.
 * One write is in flight. A failed write is tried again, later and later: its bytes stay in memory meanwhile. After a
 * failed sync the file is not trusted with what was not synced before: the block is written anew to another file.
 */

import { Buffer } from 'node:buffer';
import type { Done, FileHandle, IoError } from '../../server/io/io.ts';
import type { BlockBytes, Located } from './block-bytes.ts';
import { Window } from './block-cache.ts';
import { encodeBlockHeader, type BlockHeader, BLOCK_HEADER_BYTES } from './block-header.ts';
import { enlarged } from './buffers.ts';
import { shortWrite } from './segment.ts';
import { directoryOf, type OpenFile, type StoreFiles } from './store-files.ts';

const NOTHING = Buffer.alloc(0);
const TAIL_BYTES_MAX = 256 * 1024;
const READ_BYTES = 256 * 1024;
const RETRY_MS = 250;

interface Piece {
  readonly buffer: Buffer;
  readonly start: number;
  readonly end: number;
}

interface Load {
  readonly start: number;
  readonly end: number;
  readonly done: Done[];
}

export class FileBlockBytes implements BlockBytes, OpenFile {
  readonly path: string;
  buffer: Buffer = NOTHING;
  private readonly files: StoreFiles;
  private readonly header: BlockHeader;
  private tailStart: number;
  private tailEnd: number;
  private readonly pieces: Piece[] = [];
  private writing = false;
  /** The file holds everything below this offset. */
  private writtenEnd: number;
  private syncedEnd: number;
  private readonly windows: Window[] = [];
  private readonly loads: Load[] = [];
  private file: FileHandle | null = null;
  private opening: Done[] | null = null;
  private readonly whenWritten: { offset: number; done: Done }[] = [];
  private syncs = 0;
  /** The file's name is on the device too. */
  private named: boolean;
  private dropped = false;

  /** A block whose file already holds everything below `end`, durably; a new one when that is 0. */
  constructor(files: StoreFiles, path: string, header: BlockHeader, end: number) {
    this.files = files;
    this.path = path;
    this.header = header;
    this.tailStart = end;
    this.tailEnd = end;
    this.writtenEnd = end;
    this.syncedEnd = end;
    this.named = end > 0;
    if (end === 0) this.beginWithHeader();
  }

  get end(): number {
    return this.tailEnd;
  }

  get memoryBytes(): number {
    return this.buffer.length + this.pieces.reduce((sum, piece) => sum + piece.buffer.length, 0);
  }

  reserve(bytes: number): number {
    let used = this.tailEnd - this.tailStart;
    if (used > 0 && used + bytes > TAIL_BYTES_MAX) {
      this.rotate();
      used = 0;
    }
    if (used + bytes > this.buffer.length) this.buffer = enlarged(this.buffer, used, used + bytes);
    return used;
  }

  commit(bytes: number): void {
    this.tailEnd += bytes;
  }

  locate(offset: number, bytes: number, found: Located): boolean {
    const end = offset + bytes;
    if (end > this.tailEnd) return false;
    found.fromDisk = false;
    if (offset >= this.tailStart) {
      found.buffer = this.buffer;
      found.at = offset - this.tailStart;
      return true;
    }
    for (const piece of this.pieces) {
      if (offset < piece.start || end > piece.end) continue;
      found.buffer = piece.buffer;
      found.at = offset - piece.start;
      return true;
    }
    for (const window of this.windows) {
      if (offset < window.start || end > window.end) continue;
      this.files.cache.touch(window);
      found.buffer = window.buffer;
      found.at = offset - window.start;
      found.fromDisk = true;
      return true;
    }
    return false;
  }

  load(offset: number, bytes: number, done: Done): void {
    const end = offset + bytes;
    for (const load of this.loads) {
      if (offset < load.start || end > load.end) continue;
      load.done.push(done);
      return;
    }
    const load: Load = {
      start: offset,
      end: Math.max(end, Math.min(offset + READ_BYTES, this.writtenEnd)),
      done: [done],
    };
    this.loads.push(load);
    this.withFile((error) => {
      if (error === null && this.file !== null) this.read(load, this.file);
      else this.loaded(load, error);
    });
  }

  sync(done: Done): void {
    this.flush((writeError) => {
      const { file } = this;
      if (writeError !== null || file === null || this.syncedEnd >= this.writtenEnd) {
        done(writeError);
        return;
      }
      const end = this.writtenEnd;
      this.syncs++;
      file.sync((error) => {
        this.syncs--;
        if (error !== null) {
          this.rewrite(file, error, done);
          return;
        }
        this.syncedEnd = Math.max(this.syncedEnd, end);
        this.syncName(done);
      });
    });
  }

  private syncName(done: Done): void {
    if (this.named) {
      done(null);
      return;
    }
    this.files.disk.syncDirectory(directoryOf(this.path), (error) => {
      if (error === null) this.named = true;
      done(error);
    });
  }

  get isBusy(): boolean {
    return this.writing || this.syncs > 0 || this.loads.length > 0 || this.opening !== null;
  }

  closeTail(): void {
    if (this.tailEnd > this.tailStart) this.rotate();
    this.buffer = NOTHING;
  }

  drop(): void {
    this.dropped = true;
    for (const window of this.windows.slice()) this.files.cache.drop(window);
    for (const piece of this.pieces) this.files.queuedBytes -= piece.end - piece.start;
    this.pieces.length = 0;
    this.buffer = NOTHING;
    for (const { done } of this.whenWritten.splice(0)) done(null);
    this.closeFile();
  }

  /** Gives the file handle back; it is opened again when needed. */
  closeFile(): void {
    const { file } = this;
    this.file = null;
    if (file === null) return;
    this.files.noteClosed(this);
    file.close((error) => this.files.noteError(error));
  }

  /** `done` runs when everything committed so far is in the file. */
  private flush(done: Done): void {
    if (this.tailEnd > this.tailStart) this.rotate();
    if (this.writtenEnd === this.tailEnd) this.withFile(done);
    else this.whenWritten.push({ offset: this.tailEnd, done });
  }

  private beginWithHeader(): void {
    const bytes = encodeBlockHeader(this.header);
    bytes.copy((this.buffer = Buffer.allocUnsafeSlow(1024)));
    this.tailEnd = BLOCK_HEADER_BYTES;
  }

  /** The tail becomes a piece to write, and a new one begins. */
  private rotate(): void {
    this.pieces.push({ buffer: this.buffer, start: this.tailStart, end: this.tailEnd });
    this.tailStart = this.tailEnd;
    this.buffer = NOTHING;
    this.files.queuedBytes += this.tailEnd - (this.pieces.at(-1) as Piece).start;
    this.write();
  }

  private write(): void {
    const piece = this.pieces[0];
    if (piece === undefined || this.writing || this.dropped) return;
    this.writing = true;
    this.withFile((openError) => {
      if (openError !== null) {
        this.writeFailed(openError);
        return;
      }
      if (this.file === null) return;
      const length = piece.end - piece.start;
      this.file.write(piece.buffer, 0, length, piece.start, (error, written) => {
        const problem = error ?? shortWrite(written, length);
        if (problem === null) this.wrote(piece);
        else this.writeFailed(problem);
      });
    });
  }

  private wrote(piece: Piece): void {
    this.writing = false;
    if (this.dropped) return;
    this.files.wrote(piece.end - piece.start);
    this.pieces.shift();
    this.writtenEnd = piece.end;
    this.files.cache.add(new Window(this.windows, piece.start, piece.end, piece.buffer));
    while (this.whenWritten.length > 0 && (this.whenWritten[0] as { offset: number }).offset <= this.writtenEnd) {
      (this.whenWritten.shift() as { done: Done }).done(null);
    }
    this.write();
  }

  private writeFailed(error: IoError): void {
    this.files.writeError = error;
    this.files.timers.after(RETRY_MS, () => {
      this.writing = false;
      this.write();
    });
  }

  private read(load: Load, file: FileHandle): void {
    const length = load.end - load.start;
    const buffer = Buffer.allocUnsafeSlow(length);
    file.read(buffer, 0, length, load.start, (error, bytes) => {
      if (error === null && !this.dropped) {
        this.files.cache.add(new Window(this.windows, load.start, load.start + bytes, buffer));
      }
      this.loaded(load, error);
    });
  }

  private loaded(load: Load, error: IoError | null): void {
    this.loads.splice(this.loads.indexOf(load), 1);
    for (const done of load.done) done(error);
  }

  private withFile(done: Done): void {
    if (this.file !== null) {
      done(null);
      return;
    }
    if (this.opening !== null) {
      this.opening.push(done);
      return;
    }
    this.opening = [done];
    this.files.open(this.path, 'write', (error, file) => {
      const waiting = this.opening as Done[];
      this.opening = null;
      this.file = file;
      if (this.dropped) this.closeFile();
      else if (file !== null) this.files.noteOpened(this);
      for (const each of waiting) each(error);
    });
  }

  /** A sync failed: what it covered is copied to a new file, which takes the old one's name. */
  private rewrite(file: FileHandle, cause: IoError, done: Done): void {
    this.files.noteError(cause);
    const length = this.writtenEnd;
    const copy = Buffer.allocUnsafeSlow(length);
    file.read(copy, 0, length, 0, (readError, bytes) => {
      if (readError !== null || bytes !== length) {
        done(readError ?? cause);
        return;
      }
      this.files.replaceFile(this.path, copy, (error) => {
        this.closeFile();
        if (error === null) this.syncedEnd = Math.max(this.syncedEnd, length);
        done(error);
      });
    });
  }
}
