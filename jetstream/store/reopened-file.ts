/**
 * A file that is opened when it is needed and may be closed whenever nothing is in flight on it, so that any number of
 * blocks shares a few open files.
 */

import type { IoError, OpenMode } from '../../server/io/io.ts';
import { CountedFile } from './counted-file.ts';
import type { OpenFile, StoreFiles } from './store-files.ts';

export type Opened = (error: IoError | null, file: CountedFile | null) => void;

export class ReopenedFile implements OpenFile {
  private readonly files: StoreFiles;
  private readonly path: string;
  private file: CountedFile | null = null;
  private opening: Opened[] = [];
  private isDropped = false;

  constructor(files: StoreFiles, path: string) {
    this.files = files;
    this.path = path;
  }

  get isBusy(): boolean {
    return this.opening.length > 0 || this.file?.isBusy === true;
  }

  /** Opens the file if need be, in this mode; what is to happen with it has to begin in the callback. */
  use(mode: OpenMode, then: Opened): void {
    if (this.file !== null) {
      then(null, this.file);
      return;
    }
    this.opening.push(then);
    if (this.opening.length > 1) return;
    this.files.began();
    this.files.open(this.path, mode, (error, handle) => {
      const file = handle === null ? null : new CountedFile(handle);
      this.file = file;
      if (file !== null) this.files.noteOpened(this);
      const { opening } = this;
      this.opening = [];
      for (const each of opening) each(error, file);
      if (this.isDropped || this.files.isClosed) this.closeFile();
      this.files.ended();
    });
  }

  /** The blocking form of `use`, for writing at start. Throws an `IoError`. */
  openNow(): CountedFile {
    if (this.file === null) {
      this.file = new CountedFile(this.files.openNow(this.path));
      this.files.noteOpened(this);
    }
    return this.file;
  }

  /** Nobody needs the file any more. */
  drop(): void {
    this.isDropped = true;
    this.closeFile();
  }

  /** Closes the file as soon as nothing is in flight on it; from now on it is opened anew. */
  closeFile(): void {
    const { file } = this;
    if (file === null) return;
    this.file = null;
    this.files.noteClosed(this);
    this.files.began();
    file.close((error) => {
      this.files.noteError(error);
      this.files.ended();
    });
  }
}
