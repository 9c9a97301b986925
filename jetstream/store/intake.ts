/**
 * Producers that are not read while too much of what they sent is not on the device yet. Only client connections are
 * producers; what comes otherwise is refused by its stream when far too much waits.
 *
 * Bound: HOLD_BYTES, above which whoever sends is held until less than RELEASE_BYTES wait.
 */

import type { Producer } from '../../server/ports.ts';

const HOLD_BYTES = 8 * 1024 * 1024;
const RELEASE_BYTES = 4 * 1024 * 1024;

export class Intake {
  private held: Producer[] = [];

  /** `waitingBytes` wait; the producer sent some of them. */
  press(producer: Producer | null, waitingBytes: number): void {
    if (producer === null || waitingBytes <= HOLD_BYTES || this.held.includes(producer)) return;
    this.held.push(producer);
    producer.holdCount++;
  }

  /** `waitingBytes` are left: lets everybody go on when they are few. */
  review(waitingBytes: number): void {
    if (this.held.length === 0 || waitingBytes >= RELEASE_BYTES) return;
    this.releaseAll();
  }

  releaseAll(): void {
    const { held } = this;
    this.held = [];
    for (const producer of held) {
      producer.holdCount--;
      if (producer.holdCount === 0) producer.resumeReading();
    }
  }
}
