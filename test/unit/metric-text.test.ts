/** The text format of /metrics, as a parser of it reads it, and the work that makes a page. */
import { describe, expect, it } from 'vitest';
import { LatencyCounts } from '../../server/io/latency-counts.ts';
import { CpuUsage } from '../../server/monitor/cpu-usage.ts';
import { Metrics } from '../../server/monitor/metrics/metrics.ts';
import { joined, labels, MetricText } from '../../server/monitor/metrics/metric-text.ts';
import { runAnswer, type AnswerWork } from '../../server/monitor/answer-work.ts';
import { MetricsRoom } from '../../server/monitor/metrics-room.ts';
import { RequestCounts } from '../../server/monitor/request-counts.ts';
import { SimulatedWorld } from '../../server/io/simulated/simulated-world.ts';
import type { HttpResponse } from '../../server/io/io.ts';
import { PrometheusPage } from '../helpers/prometheus-page.ts';
import { bodyOf, Crowd } from './monitor-crowd.ts';

describe('the text of metrics', () => {
  it.each(['plain', 'a"b', String.raw`a\b`, 'a\nb', String.raw`\n`, String.raw`\"`, 'é→"', '{a="b"} 1', '#', ' '])(
    'carries the label %j',
    (value) => {
      const text = new MetricText();
      text.gauge('one', 'a \\ and\na line', labels({ value, other: 'x' }), 1);
      expect(read(text).labels('one')).toEqual([{ value, other: 'x' }]);
    },
  );

  it('leaves out labels without a value', () => {
    expect(labels({ a: '', b: 'x', c: '' })).toBe('b="x"');
    expect(joined('', '')).toBe('');
    expect(joined('a="1"', '')).toBe('a="1"');
  });

  it.each([0, -1, 0.1, 1e21, 1e-7, 2 ** 53, Infinity, -Infinity])('carries the number %d', (value) => {
    const text = new MetricText();
    text.gauge('one', 'number', '', value);
    const [, shown = ''] = /^one (.*)$/m.exec(wholeText(text)) ?? [];
    expect(Number(shown.replace('Inf', 'Infinity'))).toBe(value);
  });

  it('keeps the samples of a family together, in whatever order they come', () => {
    const text = new MetricText();
    for (const at of ['1', '2', '3']) {
      text.gauge('first', 'one', labels({ at }), 1);
      text.counter('second_total', 'two', labels({ at }), 2);
    }
    const page = read(text);
    expect(page.names).toEqual(['first', 'second_total']);
    expect(page.labels('first')).toHaveLength(3);
    expect([page.type('first'), page.type('second_total')]).toEqual(['gauge', 'counter']);
  });

  it('adds up the counts of a histogram, and is in seconds', () => {
    const latency = new LatencyCounts([1, 10, 100]);
    for (const ms of [0.5, 1, 2, 99, 5000]) latency.add(ms);
    const text = new MetricText();
    text.histogram('took_seconds', 'how long', 'a="b"', latency);
    expect(read(text).buckets('took_seconds')).toEqual({ '0.001': '2', '0.01': '3', '0.1': '4', '+Inf': '5' });
    expect(wholeText(text)).toContain('took_seconds_sum{a="b"} 5.1025\ntook_seconds_count{a="b"} 5\n');
  });
});

describe('the work of a scrape', () => {
  it('lets others have a turn, and waits no longer than it may', () => {
    const world = new SimulatedWorld(1);
    const { io } = world.machine('site').start();
    const { clock } = io;
    const heard: string[] = [];
    const work = function* (): AnswerWork<string> {
      heard.push('begins');
      yield (resume) => io.timers.after(20, resume);
      heard.push('has waited');
      for (let i = 0; i < 10; i++) yield () => undefined;
      return 'done';
    };
    const startedMs = clock.monotonicMs();
    runAnswer(io, work(), (result) => heard.push(`${result} ${clock.monotonicMs() - startedMs < 1100}`));
    expect(heard).toEqual(['begins']);
    world.scheduler.runFor(100);
    expect(heard).toEqual(['begins', 'has waited']);
    world.scheduler.runFor(2000);
    expect(heard).toEqual(['begins', 'has waited', 'done true']);
  });
});

describe('the page of a server with many clients', () => {
  it('is made in slices, once for all who ask meanwhile', () => {
    const crowd = new Crowd({ tickMs: 1 }).start();
    for (let i = 0; i < 3000; i++) crowd.client(`SUB a.${i} 1\r\nPUB b 3\r\nabc\r\n`);
    const metrics = metricsOf(crowd);
    const before = crowd.turns;
    const answers: HttpResponse[] = [];
    for (let i = 0; i < 65; i++) metrics.answer((response) => answers.push(response));
    expect(answers.map(({ status }) => status)).toEqual([503]);
    while (answers.length < 65) if (!crowd.endTurn()) throw new Error('no answer');
    expect(crowd.turns - before).toBeGreaterThan(2);
    expect(new Set(answers.slice(1).map(bodyOf)).size).toBe(1);
    const page = new PrometheusPage(bodyOf(answers[1] as HttpResponse));
    expect(page.value('gnatsd_connz_num_connections')).toBe(3000);
    expect(page.value('gnatsd_connz_in_bytes')).toBe(9000);
    expect(page.value('gnatsd_accstatz_current_connections', { account: '$G' })).toBe(3000);
    expect(page.value('gnatsd_accstatz_received_bytes', { account: '$G' })).toBe(9000);
    expect(page.value('gnatsd_accstatz_sent_messages', { account: '$G' })).toBe(0);
    expect(page.value('gnatsd_accstatz_received_bytes', { account: '$SYS' })).toBe(0);
    expect(page.value('gnatsd_varz_in_bytes')).toBe(9000);
    expect(page.value('jetstream_server_jetstream_disabled')).toBe(1);
    metrics.answer((response) => answers.push(response));
    while (answers.length < 66) if (!crowd.endTurn()) throw new Error('no second answer');
    expect(answers[65]?.status).toBe(200);
  });

  it('is refused when it is too long', () => {
    const crowd = new Crowd().start();
    const answers: HttpResponse[] = [];
    metricsOf(crowd, 1000).answer((response) => answers.push(response));
    while (answers.length === 0) if (!crowd.endTurn()) throw new Error('no answer');
    expect(answers[0]?.status).toBe(503);
  });

  it('counts slow consumers by reason', () => {
    const crowd = new Crowd({ options: { maxPendingBytes: 10_000 } }).start();
    const slow = crowd.client('SUB a 1\r\n');
    slow.isStuck = true;
    const sender = crowd.client();
    for (let i = 0; i < 30; i++) sender.say(`PUB a 1000\r\n${'x'.repeat(1000)}\r\n`);
    const answers: HttpResponse[] = [];
    metricsOf(crowd).answer((response) => answers.push(response));
    while (answers.length === 0) if (!crowd.endTurn()) throw new Error('no answer');
    const page = new PrometheusPage(bodyOf(answers[0] as HttpResponse));
    expect(page.value('petiole_slow_consumers_total', { reason: 'max_pending' })).toBe(1);
    expect(page.value('petiole_slow_consumers_total', { reason: 'write_deadline' })).toBe(0);
  });
});

function metricsOf({ server }: Crowd, listBytesMax = 1e9): Metrics {
  const requests = new RequestCounts();
  const cpu = new CpuUsage(server.io);
  return new Metrics({ source: server, requests, cpu, metrics: new MetricsRoom(), listBytesMax });
}

function wholeText(text: MetricText): string {
  const work = text.encode();
  for (;;) {
    const step = work.next();
    if (step.done === true) return Buffer.from(step.value).toString();
  }
}

function read(text: MetricText): PrometheusPage {
  return new PrometheusPage(wholeText(text));
}
