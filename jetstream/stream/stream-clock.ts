/**
 * The times of one stream's messages: never the same twice and never backwards, whatever the host's clock does. A clock
 * that is behind leaves the times advancing by a nanosecond a message until it has caught up. The host's clock is read
 * once a turn: messages that came together have the same time, and a nanosecond each between them.
 */

import type { Clock, Timers } from '../../server/io/io.ts';
import type { Time } from '../store/store.ts';

/** Whole milliseconds since 1970. */
export function timeMs(time: Time): number {
  return time.seconds * 1000 + Math.floor(time.nanoseconds / 1e6);
}

export class StreamClock {
  private readonly clock: Clock;
  private readonly timers: Timers;
  private seconds = 0;
  private nanoseconds = 0;
  private isRead = false;
  private readonly endTurn = (): void => {
    this.isRead = false;
  };

  constructor(clock: Clock, timers: Timers) {
    this.clock = clock;
    this.timers = timers;
  }

  /** Times will be later than this one. */
  notBefore(time: Time): void {
    this.seconds = time.seconds;
    this.nanoseconds = time.nanoseconds;
  }

  /** Milliseconds of the time that a message would get now. */
  get nowMs(): number {
    return Math.max(this.clock.wallMs(), timeMs({ seconds: this.seconds, nanoseconds: this.nanoseconds }));
  }

  next(): Time {
    if (++this.nanoseconds === 1e9) {
      this.seconds++;
      this.nanoseconds = 0;
    }
    if (!this.isRead) this.read();
    return { seconds: this.seconds, nanoseconds: this.nanoseconds };
  }

  private read(): void {
    this.isRead = true;
    this.timers.afterTurn(this.endTurn);
    const wallMs = this.clock.wallMs();
    const seconds = Math.floor(wallMs / 1000);
    const nanoseconds = Math.floor((wallMs - seconds * 1000) * 1e6);
    if (seconds < this.seconds || (seconds === this.seconds && nanoseconds < this.nanoseconds)) return;
    this.seconds = seconds;
    this.nanoseconds = nanoseconds;
  }
}
