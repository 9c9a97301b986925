/**
 * What works for a stream while the server does: direct gets under its own name and, of a mirror that has nearly all, under
 * its origin's; and what feeds it from other streams.
 */

import { StreamFeeds } from '../mirror/stream-feeds.ts';
import type { Stream } from '../stream/stream.ts';
import { DirectGets } from './direct-get.ts';

export class StreamServices {
  readonly feeds: StreamFeeds;
  private readonly stream: Stream;
  private directGets: readonly DirectGets[] = [];

  constructor(stream: Stream) {
    this.stream = stream;
    this.feeds = new StreamFeeds(stream, () => this.updateDirectGets());
  }

  /** The stream takes messages now. */
  start(): void {
    const { stream, feeds } = this;
    const own = new DirectGets(stream, stream.name, () => stream.config.allowDirect);
    const { mirror } = stream.config;
    const isForOrigin = (): boolean => stream.config.mirrorDirect && feeds.wasMirrorCurrent;
    this.directGets = mirror === null ? [own] : [own, new DirectGets(stream, mirror.name, isForOrigin)];
    this.updateDirectGets();
    feeds.start();
  }

  /** The stream's configuration may have changed. */
  update(): void {
    this.feeds.update();
    this.updateDirectGets();
  }

  /** The server stops. */
  stop(): void {
    this.feeds.stop();
    this.stopDirectGets();
  }

  /** The stream is gone. */
  end(): void {
    this.feeds.end();
    this.stopDirectGets();
  }

  private updateDirectGets(): void {
    for (const each of this.directGets) each.update();
  }

  private stopDirectGets(): void {
    for (const each of this.directGets) each.stop();
    this.directGets = [];
  }
}
