/**
 * /metrics: everything for Prometheus, in one page.
 *
 *     varz, connections, accounts ─► leaf links ─► event loop ─► JetStream, stream by stream ─► text
 *
 * Names are those of prometheus-nats-exporter where it has one (`gnatsd_…`, `jetstream_…`), so that dashboards go on
 * working; what it doesn't have begins with `petiole_`.
 *
 * Why no client library: those keep a value for each set of labels, and print all of them in one turn; here nothing is
 * kept, and a page with thousands of consumers is made in slices.
 *
 * Bounds: one page is made at a time, and whoever asks meanwhile gets the same; WAITING_MAX wait for it, further ones get
 * a 503; a page that would be too long is a 503 too.
 */

import type { HttpResponse } from '../../io/io.ts';
import { type MonitorContext, overfullResponse, textResponse, typedResponse } from '../endpoint.ts';
import { ConsumerLags } from './consumer-lag.ts';
import { EventLoopDelay } from './event-loop-delay.ts';
import { describeJetStream } from './jetstream-metrics.ts';
import { describeLeafLinks } from './leaf-metrics.ts';
import { labels, MetricText } from './metric-text.ts';
import { runAnswer, type AnswerWork } from '../answer-work.ts';
import { describeServer } from './server-metrics.ts';

const WAITING_MAX = 64;
const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

type Respond = (response: HttpResponse) => void;

export class Metrics {
  private readonly context: MonitorContext;
  private readonly delay: EventLoopDelay;
  private readonly lags = new ConsumerLags();
  private waiting: Respond[] = [];

  constructor(context: MonitorContext) {
    this.context = context;
    this.delay = new EventLoopDelay(context.source.io);
  }

  answer(respond: Respond): void {
    if (this.waiting.length >= WAITING_MAX) {
      respond(textResponse(503, 'too many asked for metrics at the same time'));
      return;
    }
    this.waiting.push(respond);
    if (this.waiting.length > 1) return;
    runAnswer(this.context.source.io, this.page(), (response) => {
      const { waiting } = this;
      this.waiting = [];
      for (const each of waiting) each(response);
    });
  }

  /** Measures nothing any more. */
  stop(): void {
    this.delay.stop();
  }

  private *page(): AnswerWork<HttpResponse> {
    const text = new MetricText();
    const work = this.describe(text);
    for (;;) {
      const step = work.next();
      if (text.length > this.context.listBytesMax) return overfullResponse();
      if (step.done === true) break;
      yield step.value;
    }
    return typedResponse(CONTENT_TYPE, yield* text.encode());
  }

  private *describe(text: MetricText): AnswerWork {
    const { source } = this.context;
    yield* describeServer(text, this.context);
    describeLeafLinks(text, source);
    const late = 'How much later than it was to a timer ran; measured from the first time somebody asked';
    text.histogram('petiole_event_loop_delay_seconds', late, labels({ server_id: source.id }), this.delay.look());
    yield;
    yield* describeJetStream(text, source, this.lags);
  }
}
