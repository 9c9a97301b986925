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
 * failed sync, and when writing fails again and again, the file is not trusted with what was not synced before: the block
 * is copied to a new file that takes its name, and what is damaged in the copy comes from the log.
 */

import { Buffer } from 'node:buffer';
import type { Done, IoError } from '../../server/io/io.ts';
import type { BlockBytes, Located } from './block-bytes.ts';
import { encodeBlockHeader, type BlockHeader, BLOCK_HEADER_BYTES } from './block-header.ts';
import type { BlockEraser } from './block-eraser.ts';
import { BlockMove, type Mend, type MovedBlock } from './block-move.ts';
import { BlockReads } from './block-reads.ts';
import { enlarged } from './buffers.ts';
import type { CountedFile } from './counted-file.ts';
import { type Opened, ReopenedFile } from './reopened-file.ts';
import { KeptPieces, type Piece } from './kept-pieces.ts';
import { shortWrite } from './segment.ts';
import { directoryOf, type StoreFiles } from './store-files.ts';

const NOTHING = Buffer.alloc(0);
/** Smaller tails stay in memory, however many there are. */
const TAIL_BYTES_MIN = 16 * 1024;
const RETRY_MS_MIN = 250;
const RETRY_MS_MAX = 2000;
/** After so many failed writes in a row another file is tried. */
const FAILURES_MAX = 3;

export class FileBlockBytes implements BlockBytes, MovedBlock {
  readonly path: string;
  buffer: Buffer = NOTHING;
  private readonly files: StoreFiles;
  private readonly eraser: BlockEraser;
  private readonly header: BlockHeader;
  private readonly move: BlockMove;
  private readonly reads: BlockReads;
  private tailStart: number;
  private tailEnd: number;
  private readonly pieces: Piece[] = [];
  private readonly kept: KeptPieces;
  isWriting = false;
  private failures = 0;
  /** The file holds everything below this offset. */
  writtenEnd: number;
  syncedEnd: number;
  /** The file's name is on the device too. */
  private isNamed: boolean;
  /** No more records come. */
  private isClosed = false;
  isDropped = false;
  /** A sync failed: another one that succeeds says nothing about what that one covered. */
  private isDistrusted = false;
  private readonly file: ReopenedFile;
  private readonly whenWritten: { readonly offset: number; readonly done: Done }[] = [];

  /** A block whose file already holds everything below `end`, durably; a new one when that is 0. */
  constructor(files: StoreFiles, eraser: BlockEraser, path: string, header: BlockHeader, end: number, mend: Mend) {
    this.files = files;
    this.eraser = eraser;
    this.path = path;
    this.header = header;
    this.kept = new KeptPieces(files);
    this.move = new BlockMove(files, this, header, this.kept, mend);
    this.file = new ReopenedFile(files, path);
    this.reads = new BlockReads(files, (then) => this.withFile(then));
    this.tailStart = end;
    this.tailEnd = end;
    this.writtenEnd = end;
    this.syncedEnd = end;
    this.isNamed = end > 0;
    if (end === 0) this.beginWithHeader();
  }

  get end(): number {
    return this.tailEnd;
  }

  get memoryBytes(): number {
    return this.buffer.length + this.pieces.reduce((sum, piece) => sum + (piece.buffer?.length ?? 0), 0);
  }

  // ── appending and reading ────────────────────────────────────────────────────────────────────────────────────────

  reserve(bytes: number): number {
    let used = this.tailEnd - this.tailStart;
    if (used > 0 && this.isTailFull(used, bytes)) {
      this.rotate();
      used = 0;
    }
    if (used + bytes > this.buffer.length) this.buffer = this.files.tails.grow(this.buffer, used, used + bytes);
    return used;
  }

  commit(bytes: number): void {
    this.tailEnd += bytes;
    this.files.tailBytes += bytes;
  }

  /** What was committed so far is not in the log: it stays in memory until it is on the device. */
  keepUntilSynced(): void {
    this.kept.keepBelow(this.tailEnd);
  }

  /** The next `bytes` of the block stand in the file already, durably. */
  skip(bytes: number): void {
    if (this.tailEnd > this.tailStart) this.rotate();
    this.pieces.push({ buffer: null, start: this.tailEnd, end: this.tailEnd + bytes });
    this.tailEnd += bytes;
    this.tailStart = this.tailEnd;
    this.write();
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
      if (piece.buffer === null || offset < piece.start || end > piece.end) continue;
      found.buffer = piece.buffer;
      found.at = offset - piece.start;
      return true;
    }
    return this.reads.locate(offset, end, found);
  }

  load(offset: number, bytes: number, done: Done): void {
    this.reads.load(offset, offset + bytes, this.writtenEnd, done);
  }

  /** A record that is damaged in the file is as it ought to be in `record`: reads find it there from now on. */
  heal(offset: number, record: Buffer): void {
    this.reads.forget(offset, offset + record.length);
    this.reads.keep(offset, offset + record.length, record);
    this.files.patchFile(this.path, offset, record);
  }

  erase(offset: number, bytes: number): void {
    const end = offset + bytes;
    this.reads.erase(offset, end);
    this.kept.erase(offset, end);
    for (const piece of this.pieces) {
      if (piece.start <= offset && piece.end >= end) piece.buffer?.fill(0, offset - piece.start, end - piece.start);
    }
    if (offset >= this.tailStart) this.buffer.fill(0, offset - this.tailStart, end - this.tailStart);
    else this.whenInFile(end, () => this.eraser.add(this.path, offset, bytes));
  }

  /** Calls back when the file holds everything below `end`, and no other takes its place. */
  private whenInFile(end: number, then: () => void): void {
    if (this.isDropped) return;
    if (this.move.isUnderway) this.move.start(() => this.whenInFile(end, then));
    else if (this.writtenEnd >= end) then();
    else this.whenWritten.push({ offset: end, done: () => this.whenInFile(end, then) });
  }

  private isTailFull(used: number, bytes: number): boolean {
    const { sizes, tailBytes } = this.files;
    return used + bytes > sizes.tailBytesMax || (tailBytes > sizes.tailsBytesMax && used >= TAIL_BYTES_MIN);
  }

  private beginWithHeader(): void {
    const bytes = encodeBlockHeader(this.header);
    this.buffer = enlarged(bytes, bytes.length, bytes.length);
    this.commit(BLOCK_HEADER_BYTES);
  }

  // ── writing ──────────────────────────────────────────────────────────────────────────────────────────────────────

  /** `done` runs when everything committed so far is in the file, or can't get there while the store is closing. */
  private flush(done: Done): void {
    if (this.tailEnd > this.tailStart) this.rotate();
    if (this.writtenEnd === this.tailEnd || this.isDropped) done(null);
    else if (this.files.isClosing && this.failures > 0) done(this.files.writeError);
    else this.whenWritten.push({ offset: this.tailEnd, done });
  }

  /** The tail becomes a piece to write, and a new one begins. */
  private rotate(): void {
    const bytes = this.tailEnd - this.tailStart;
    this.pieces.push({ buffer: this.buffer, start: this.tailStart, end: this.tailEnd });
    this.tailStart = this.tailEnd;
    this.buffer = NOTHING;
    this.files.tailBytes -= bytes;
    this.files.queuedBytes += bytes;
    this.write();
  }

  private write(): void {
    const piece = this.pieces[0];
    if (piece === undefined || this.isWriting || this.move.isUnderway || this.isDropped) return;
    const { buffer } = piece;
    if (buffer === null) this.wrote(piece);
    else if (this.files.isRecovering) this.writeNow(piece, buffer);
    else {
      this.isWriting = true;
      this.withFile((openError, file) => {
        if (file === null) this.writeFailed(openError as IoError);
        else if (!this.isDropped) this.writePiece(piece, buffer, file);
      });
    }
  }

  private writePiece(piece: Piece, buffer: Buffer, file: CountedFile): void {
    const length = piece.end - piece.start;
    file.write(buffer, 0, length, piece.start, (error, written) => {
      const problem = error ?? shortWrite(written, length);
      if (problem !== null) {
        this.writeFailed(problem);
        return;
      }
      this.isWriting = false;
      this.wrote(piece);
    });
  }

  /** At start, where everything may block. What can't be written now is written later. */
  private writeNow(piece: Piece, buffer: Buffer): void {
    let problem: IoError | null = null;
    try {
      const length = piece.end - piece.start;
      problem = shortWrite(this.file.openNow().writeNow(buffer, 0, length, piece.start), length);
    } catch (error) {
      problem = error as IoError;
    }
    if (problem === null) this.wrote(piece);
    else {
      this.isWriting = true;
      this.writeFailed(problem);
    }
  }

  private wrote(piece: Piece): void {
    this.failures = 0;
    if (this.isDropped) return;
    this.pieces.shift();
    this.writtenEnd = piece.end;
    if (piece.buffer !== null) {
      this.files.wrote(this, piece.end - piece.start);
      this.reads.keep(piece.start, piece.end, piece.buffer);
      this.kept.wrote(piece);
    }
    while (this.whenWritten.length > 0 && (this.whenWritten[0] as { offset: number }).offset <= this.writtenEnd) {
      (this.whenWritten.shift() as { done: Done }).done(null);
    }
    if (this.move.isUnderway) this.move.goOn();
    this.write();
  }

  private writeFailed(error: IoError): void {
    if (this.isDropped) return;
    this.files.writeFailed(this, error);
    this.failures++;
    if (this.move.isUnderway || this.files.isClosing) {
      this.isWriting = false;
      if (this.move.isUnderway) this.move.goOn();
      else this.answerWritten(error);
      return;
    }
    if (this.failures % FAILURES_MAX === 0 && error.code !== 'ENOSPC') {
      this.isWriting = false;
      this.moveFrom(error, (moveError) => this.files.noteError(moveError));
      return;
    }
    const delay = Math.min(RETRY_MS_MAX, RETRY_MS_MIN * 2 ** (this.failures - 1));
    this.files.timers.after(delay, () => {
      this.isWriting = false;
      if (this.files.isClosing) this.answerWritten(error);
      else this.write();
    });
  }

  private answerWritten(error: IoError | null): void {
    for (const { done } of this.whenWritten.splice(0)) done(error);
  }

  // ── durability ───────────────────────────────────────────────────────────────────────────────────────────────────

  sync(done: Done): void {
    this.flush((writeError) => {
      if (writeError !== null || this.isDropped) done(writeError);
      else if (this.isDistrusted) this.moveFrom(null, done);
      else if (this.syncedEnd >= this.writtenEnd) this.syncName(done);
      else this.syncWritten(done);
    });
  }

  private syncWritten(done: Done): void {
    const end = this.writtenEnd;
    this.withFile((openError, file) => {
      if (file === null) {
        done(openError);
        return;
      }
      file.sync((error) => {
        if (this.isDropped) done(null);
        else if (error !== null || this.isDistrusted) this.moveFrom(error, done);
        else {
          this.synced(end);
          this.syncName(done);
        }
      });
    });
  }

  /** Everything below `end` is on the device. */
  private synced(end: number): void {
    this.syncedEnd = Math.max(this.syncedEnd, end);
    this.kept.synced(end);
  }

  private syncName(done: Done): void {
    if (this.isNamed) {
      done(null);
      return;
    }
    this.files.syncNames(directoryOf(this.path), (error) => {
      if (error === null) this.isNamed = true;
      done(error);
    });
  }

  /** What the file holds is copied to a new one, which takes its name. */
  private moveFrom(cause: IoError | null, done: Done): void {
    this.files.noteError(cause);
    this.isDistrusted = true;
    this.move.start(done);
  }

  moved(end: number, error: IoError | null): void {
    if (error === null) {
      // Its name leads to the new file.
      this.file.closeFile();
      this.isDistrusted = false;
      this.isNamed = true;
      this.synced(end);
    }
    this.write();
  }

  // ── life cycle ───────────────────────────────────────────────────────────────────────────────────────────────────

  closeTail(): void {
    if (this.tailEnd > this.tailStart) this.rotate();
    this.buffer = NOTHING;
    this.isClosed = true;
  }

  drop(): void {
    this.isDropped = true;
    this.reads.drop();
    this.files.forgetFailure(this);
    this.files.tailBytes -= this.tailEnd - this.tailStart;
    this.tailStart = this.tailEnd;
    for (const piece of this.pieces) if (piece.buffer !== null) this.files.queuedBytes -= piece.end - piece.start;
    this.pieces.length = 0;
    this.kept.synced(this.tailEnd);
    this.buffer = NOTHING;
    this.answerWritten(null);
    this.file.drop();
  }

  /** Gives the file handle back when nothing is in flight on it; the file is opened again when needed. */
  closeFile(): void {
    this.file.closeFile();
  }

  withFile(then: Opened): void {
    const isWhole = this.isClosed && this.isNamed && this.syncedEnd === this.tailEnd;
    this.file.use(isWhole ? 'read' : 'write', then);
  }
}
