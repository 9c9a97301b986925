/**
 * What the log says while stored streams are brought back: each stream when it begins and when it is there, and while
 * that takes long, once in PROGRESS_MS, how far everything is. `/healthz` says the same.
 */

import type { Timer } from '../../server/io/io.ts';
import { formatDuration } from '../../server/config/duration.ts';
import type { JetStream } from './jetstream.ts';

const PROGRESS_MS = 1000;

export class RecoveryLog {
  private readonly jetstream: JetStream;
  /** Monotonic milliseconds at which each stream began. */
  private readonly begunMs = new Map<string, number>();
  private assets = 0;
  private timer: Timer | null = null;

  constructor(jetstream: JetStream) {
    this.jetstream = jetstream;
  }

  begin(): void {
    this.assets = this.jetstream.storage.catalog.entries().length;
    this.watch();
  }

  streamBegins(account: string, stream: string): void {
    const name = `${account} > ${stream}`;
    this.begunMs.set(name, this.jetstream.io.clock.monotonicMs());
    this.jetstream.log.notice(`  Starting restore for stream '${name}'`);
  }

  /** Everything is there. */
  end(): void {
    const { accounts, log, io } = this.jetstream;
    this.stop();
    const now = io.clock.monotonicMs();
    for (const { account, streams } of accounts.values()) {
      for (const { stream, consumers } of streams.values()) {
        const name = `${account.name} > ${stream.name}`;
        const count = String(stream.store.messages).replaceAll(/\B(?=(\d{3})+$)/g, ',');
        const tookMs = Math.round(now - (this.begunMs.get(name) ?? now));
        log.notice(`  Restored ${count} messages for stream '${name}' in ${formatDuration(tookMs)}`);
        if (consumers.size > 0) log.notice(`  Recovering ${consumers.size} consumers for stream - '${name}'`);
      }
    }
    this.begunMs.clear();
  }

  stop(): void {
    this.timer?.cancel();
    this.timer = null;
  }

  /** How far it is, for people. */
  progress(): string {
    const { assets, frames } = this.jetstream.storage.report;
    // The log brings back what was made since the last checkpoint.
    const total = Math.max(assets, this.assets);
    return `${assets} of ${total} streams and consumers, ${frames} entries of the log so far`;
  }

  private watch(): void {
    this.timer = this.jetstream.io.timers.after(PROGRESS_MS, () => {
      this.jetstream.log.notice(`  Restored ${this.progress()}`);
      this.watch();
    });
  }
}
