/**
 * All that feeds one stream: the origin of a mirror, or its sources. Follows the stream's configuration: what stays in it
 * goes on undisturbed, what leaves it is ended, and a mirror without its origin is a stream as any other.
 */

import { errorJson } from '../errors.ts';
import { runPaced } from '../store/paced-work.ts';
import { sourceIndexName, sourceIndexNames } from '../stream/source-name.ts';
import type { StreamSource } from '../stream/stream-config-parts.ts';
import type { Stream } from '../stream/stream.ts';
import { MirrorFeed } from './mirror-feed.ts';
import { OriginConsumer } from './origin-consumer.ts';
import { SourceFeed } from './source-feed.ts';
import { lastOfSource } from './source-search.ts';

const NS_PER_MS = 1e6;
/** A mirror with fewer messages to come may answer in the place of its origin. */
const NEARLY_ALL = 10;

interface Feed {
  readonly source: StreamSource;
  readonly consumer: OriginConsumer;
}

export class StreamFeeds {
  private readonly stream: Stream;
  private mirror: Feed | null = null;
  private sources = new Map<string, Feed>();
  private isStopped = false;
  /** It is a mirror that has had nearly all of what its origin had. */
  wasMirrorCurrent = false;
  private readonly onMirrorCurrent: () => void;

  /** `onMirrorCurrent`: `wasMirrorCurrent` has changed. */
  constructor(stream: Stream, onMirrorCurrent: () => void) {
    this.stream = stream;
    this.onMirrorCurrent = onMirrorCurrent;
  }

  /** The stream was brought back, or made: it knows where it stands. */
  start(): void {
    const { mirror, sources } = this.stream.config;
    if (mirror !== null) this.startMirror(mirror);
    for (const source of sources ?? []) if (source !== null) this.startSource(source);
  }

  /** The stream's configuration has changed. */
  update(): void {
    const { mirror, sources } = this.stream.config;
    if (mirror === null) {
      this.mirror?.consumer.end();
      this.mirror = null;
      this.wasMirrorCurrent = false;
    }
    const wanted = new Map((sources ?? []).flatMap((each) => (each === null ? [] : [[sourceIndexName(each), each]])));
    for (const [indexName, { consumer }] of this.sources) {
      if (wanted.has(indexName)) continue;
      consumer.end();
      this.sources.delete(indexName);
    }
    for (const [indexName, source] of wanted) if (!this.sources.has(indexName)) this.addSource(indexName, source);
  }

  /** The server stops: what is read goes on after the next start. */
  stop(): void {
    this.isStopped = true;
    for (const { consumer } of this.all()) consumer.stop();
  }

  /** The stream is gone. */
  end(): void {
    this.isStopped = true;
    for (const { consumer } of this.all()) consumer.end();
  }

  /** What the stream's info says of its origins; `undefined` where there are none. */
  infoJson(): { mirror: object | undefined; sources: object[] | undefined } {
    const { positions, config } = this.stream;
    const sources = sourceIndexNames(config).flatMap((indexName) => {
      const feed = this.sources.get(indexName);
      return feed === undefined ? [] : [this.feedJson(feed, positions.durableOf(indexName)?.sequence ?? 0)];
    });
    return {
      mirror: this.mirror === null ? undefined : this.feedJson(this.mirror, 0),
      sources: sources.length === 0 ? undefined : sources,
    };
  }

  private all(): Feed[] {
    return this.mirror === null ? [...this.sources.values()] : [this.mirror];
  }

  private startMirror(source: StreamSource): void {
    const reader = new MirrorFeed(this.stream, source, (pending) => this.mirrorLags(pending));
    this.mirror = { source, consumer: this.newConsumer(reader) };
    this.mirror.consumer.start();
  }

  private startSource(source: StreamSource): void {
    const feed = { source, consumer: this.newConsumer(new SourceFeed(this.stream, source)) };
    this.sources.set(sourceIndexName(source), feed);
    feed.consumer.start();
  }

  private mirrorLags(pending: number): void {
    if (this.wasMirrorCurrent || pending >= NEARLY_ALL) return;
    this.wasMirrorCurrent = true;
    this.onMirrorCurrent();
  }

  private newConsumer(reader: MirrorFeed | SourceFeed): OriginConsumer {
    const { account, host } = this.stream;
    return new OriginConsumer({ account, io: host.io }, reader);
  }

  /** The stream may have had the source before: then it is read on from there. */
  private addSource(indexName: string, source: StreamSource): void {
    const { stream } = this;
    const isOver = (): boolean => {
      const isWanted = (stream.config.sources ?? []).some(
        (each) => each !== null && sourceIndexName(each) === indexName,
      );
      return this.isStopped || !isWanted || this.sources.has(indexName);
    };
    runPaced(stream.host.io, stream.store, lastOfSource(stream.store, indexName), isOver, (last) => {
      if (last !== null) stream.positions.restore(indexName, last.sequence, last.identity);
      this.startSource(source);
    });
  }

  private feedJson({ source, consumer }: Feed, sequence: number): object {
    const { name, external, filterSubject, subjectTransforms } = source;
    const { error, lag, lastHeardMs } = consumer;
    const now = this.stream.host.io.clock.monotonicMs();
    const transforms = (subjectTransforms ?? []).map((each) => ({ src: each.source, dest: each.destination }));
    return {
      name,
      external: external === null ? undefined : { api: external.apiPrefix, deliver: external.deliverPrefix },
      lag,
      seq: sequence === 0 ? undefined : sequence,
      active: lastHeardMs < 0 ? -1 : Math.round((now - lastHeardMs) * NS_PER_MS),
      error: error === null ? undefined : errorJson(error),
      filter_subject: filterSubject === '' ? undefined : filterSubject,
      subject_transforms: transforms.length === 0 ? undefined : transforms,
    };
  }
}
