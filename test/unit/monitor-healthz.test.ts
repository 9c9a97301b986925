/** Health with and without JetStream: status, words and log, as nats-server gives them. */
import { describe, expect, it } from 'vitest';
import type { AssetHealth, HealthProblem, JetStreamView } from '../../server/monitor/monitor-source.ts';
import { defaultOptions } from '../../server/config/draft.ts';
import { bodyOf, Crowd } from './monitor-crowd.ts';

const problem: HealthProblem = { type: 'STREAM', account: '$G', stream: 'S', error: `stream '<S>' is "lost"` };

function view(health: AssetHealth, progress = ''): JetStreamView {
  return {
    varz: () => ({ config: { max_memory: 2n ** 60n }, stats: {}, limits: {} }),
    startProgress: () => progress,
    health: ({ account, stream, consumer, isMetaOnly }) =>
      stream === 'asked'
        ? { status: 404, problems: [{ type: 'STREAM', error: `${account}/${stream}/${consumer}/${isMetaOnly}` }] }
        : health,
  };
}

const HEALTHY: AssetHealth = { status: 200, problems: [] };

/** A server that is configured with JetStream and has this one. JetStream itself is not started. */
function crowdWith(jetStreamView: JetStreamView | null): Crowd {
  const crowd = new Crowd(jetStreamView === null ? {} : { jetStreamView });
  const { jetstream } = defaultOptions();
  Object.assign(crowd.server, { options: { ...crowd.server.options, jetstream: { ...jetstream, isEnabled: true } } });
  return crowd;
}

function answerOf(crowd: Crowd, query = ''): [number, unknown] {
  const response = crowd.get(`/healthz${query}`);
  return [response.status, JSON.parse(bodyOf(response))];
}

describe('health', () => {
  it('is bad until clients can connect, and good then', () => {
    const crowd = new Crowd();
    const error = 'failed to be ready for connections after 1ms: server';
    expect(answerOf(crowd)).toEqual([500, { status: 'error', error }]);
    expect(answerOf(crowd, '?details=1')).toEqual([500, { status: 'error', errors: [{ type: 'CONNECTION', error }] }]);
    crowd.start();
    expect(answerOf(crowd)).toEqual([200, { status: 'ok' }]);
    expect(crowd.log.filter((line) => line.includes('WRN'))).toEqual([
      `[1] [WRN] Healthcheck failed: "${error}"`,
      '[1] [WRN] Healthcheck failed: 1 errors',
    ]);
  });

  it('tells how far a start is', () => {
    const crowd = crowdWith(view(HEALTHY, 'recovering streams: 3 of 10'));
    expect(answerOf(crowd)).toEqual([503, { status: 'unavailable', error: 'recovering streams: 3 of 10' }]);
  });

  it('is bad where JetStream is wanted and not there', () => {
    const crowd = crowdWith(null).start();
    const error = 'JetStream not enabled (10076)';
    expect(answerOf(crowd)).toEqual([503, { status: 'unavailable', error }]);
    expect(answerOf(crowd, '?js-enabled-only=1&details=1')).toEqual([
      503,
      { status: 'error', errors: [{ type: 'JETSTREAM', error }] },
    ]);
    expect(answerOf(crowd, '?js-server-only=1')).toEqual([200, { status: 'ok' }]);
  });

  it('is that of the assets', () => {
    const sick = crowdWith(view({ status: 503, problems: [problem, { ...problem, stream: 'T' }] })).start();
    expect(answerOf(sick)).toEqual([503, { status: 'unavailable', error: problem.error }]);
    expect(answerOf(sick, '?details=1')).toEqual([
      503,
      { status: 'error', errors: [problem, { ...problem, stream: 'T' }] },
    ]);
    expect(sick.log.slice(-2)).toEqual([
      String.raw`[1] [WRN] Healthcheck failed: "stream '<S>' is \"lost\""`,
      '[1] [WRN] Healthcheck failed: 2 errors',
    ]);
    expect(bodyOf(sick.get('/healthz'))).toContain(String.raw`'\u003cS\u003e'`);
    expect(answerOf(sick, '?js-enabled=1')).toEqual([200, { status: 'ok' }]);
    expect(sick.log.at(-1)).toContain('[WRN] Healthcheck: js-enabled deprecated, use js-enabled-only instead');
    const well = crowdWith(view(HEALTHY)).start();
    expect(answerOf(well, '?details=1')).toEqual([200, { status: 'ok' }]);
  });

  it('is that of the asset that was asked for', () => {
    const crowd = crowdWith(view(HEALTHY)).start();
    const query = '?account=A&stream=asked&consumer=C&js-meta-only=1';
    expect(answerOf(crowd, query)).toEqual([404, { status: 'unavailable', error: 'A/asked/C/true' }]);
  });

  it('does not hide that the question makes no sense', () => {
    const crowd = crowdWith(null);
    const error = '"account" must not be empty when checking stream health';
    expect(answerOf(crowd, '?stream=S')).toEqual([400, { status: 'error', error }]);
  });
});

describe('/varz', () => {
  it('has what JetStream tells of itself, integers whole', () => {
    const text = bodyOf(crowdWith(view(HEALTHY)).get('/varz'));
    expect(text).toContain('"jetstream": {\n    "config": {\n      "max_memory": 1152921504606846976\n    },');
  });

  it('measures how busy the process is over at least a second', () => {
    const crowd = new Crowd();
    const { host } = crowd.server.io;
    let seconds = 10;
    Object.assign(host, { cpuSeconds: () => seconds });
    const cpu = (): unknown => crowd.json('/varz')['cpu'];
    crowd.pass(2000);
    const first = cpu();
    seconds += 0.5;
    crowd.pass(500);
    expect(cpu()).toBe(first);
    crowd.pass(500);
    expect(cpu()).toBe(50);
    seconds += 3;
    crowd.pass(2000);
    expect(cpu()).toBe(150);
    crowd.pass(3000);
    expect(cpu()).toBe(0);
  });
});
