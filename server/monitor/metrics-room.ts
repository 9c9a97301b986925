/**
 * The way to /metrics, whose code is loaded when somebody asks for it first: most servers are never asked, and a start
 * should not wait for it.
 */

import type { HttpResponse } from '../io/io.ts';
import { type Later, type MonitorContext, textResponse } from './endpoint.ts';
import type { Metrics } from './metrics/metrics.ts';
import type { Query } from './query.ts';

export class MetricsRoom {
  private loading: Promise<Metrics> | null = null;
  private isClosed = false;

  answer(context: MonitorContext, respond: (response: HttpResponse) => void): void {
    this.loading ??= import('./metrics/metrics.ts').then(({ Metrics: Room }) => new Room(context));
    this.loading.then(
      (metrics) => {
        if (this.isClosed) respond(textResponse(503, 'the server is closing'));
        else metrics.answer(respond);
      },
      (error: unknown) => {
        context.source.log.error(`monitoring: /metrics can't be loaded: ${String(error)}`);
        respond(textResponse(500, 'metrics are not available'));
      },
    );
  }

  close(): void {
    this.isClosed = true;
    this.loading?.then(
      (metrics) => metrics.stop(),
      () => undefined,
    );
  }
}

export function metrics(_query: Query, context: MonitorContext): Later {
  context.requests.count('/metrics');
  return (respond) => context.metrics.answer(context, respond);
}
