/**
 * Says in the log that the disk takes nothing, when that begins and when it is over, and why, as `/healthz` does.
 * Meanwhile publishers are refused and everything else goes on.
 */

import type { IoError, Timer } from '../../server/io/io.ts';
import type { JetStream } from './jetstream.ts';

const LOOK_MS = 500;

export class DiskWatch {
  private readonly jetstream: JetStream;
  private timer: Timer | null = null;

  constructor(jetstream: JetStream) {
    this.jetstream = jetstream;
  }

  start(): void {
    this.jetstream.storage.onTrouble = () => {
      if (this.timer === null) this.begin();
    };
  }

  stop(): void {
    this.timer?.cancel();
    this.timer = null;
  }

  /** Why nothing can be stored at present; none: it can. */
  problems(): string[] {
    const { log, files } = this.jetstream.storage;
    const logError = log.error ?? (log.acceptsMessages ? null : log.segments.error);
    const errors = [logError, files.writeError].filter((error): error is IoError => error !== null);
    if (errors.length === 0) return [];
    const room = this.room();
    return errors.map(({ message }) => `${message} (${room})`);
  }

  private begin(): void {
    const [problem] = this.problems();
    if (problem === undefined) return;
    this.jetstream.log.error(`JetStream write error: ${problem}; messages are refused until it is over`);
    this.lookAgain();
  }

  private lookAgain(): void {
    this.timer = this.jetstream.io.timers.after(LOOK_MS, () => {
      this.timer = null;
      if (this.problems().length > 0) this.lookAgain();
      else this.jetstream.log.notice('JetStream can write again');
    });
  }

  /** A disk that is full may show as a write that took less than it was given. */
  private room(): string {
    const { io, storeDirectory } = this.jetstream;
    try {
      return `${io.disk.freeBytesNow(storeDirectory)} bytes are free there`;
    } catch (error) {
      // The device may be gone.
      return String(error);
    }
  }
}
