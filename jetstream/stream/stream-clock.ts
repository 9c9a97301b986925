/**
 * The times of one stream's messages: never the same twice and never backwards, whatever the host's clock does. A clock
 * that is behind leaves the times advancing by a nanosecond a message until it has caught up.
 */

import type { Clock } from '../../server/io/io.ts';
import type { Time } from '../store/store.ts';

export class StreamClock {
  private readonly clock: Clock;
  private seconds = 0;
  private nanoseconds = 0;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** Times will be later than this one. */
  notBefore(time: Time): void {
    this.seconds = time.seconds;
    this.nanoseconds = time.nanoseconds;
  }

  next(): Time {
    const wallMs = this.clock.wallMs();
    const seconds = Math.floor(wallMs / 1000);
    const nanoseconds = Math.floor((wallMs - seconds * 1000) * 1e6);
    if (seconds > this.seconds || (seconds === this.seconds && nanoseconds > this.nanoseconds)) {
      this.seconds = seconds;
      this.nanoseconds = nanoseconds;
    } else if (++this.nanoseconds === 1e9) {
      this.seconds++;
      this.nanoseconds = 0;
    }
    return { seconds: this.seconds, nanoseconds: this.nanoseconds };
  }
}
