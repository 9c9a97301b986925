/** Latencies of exported services, as nats-server and petiole publish them. */
import { expect, test } from 'vitest';
import { clientOf, describeTargets, serve } from '../helpers/describe-targets.ts';
import { type RunningServer, startServer } from '../helpers/targets.ts';
import type { WireClient } from '../helpers/wire-client.ts';

const NANOSECONDS_MAX = 5e9;

function config(latency: string, more = '', importing = ''): string {
  return `accounts {
    A { users: [ { user: a, password: a } ], exports: [ { service: "svc", latency: ${latency} ${more} } ] }
    B { users: [ { user: b, password: b } ]
        imports: [ { service: { account: A, subject: "svc" }, to: "ask" ${importing} } ] }
  }`;
}

interface Talk {
  readonly responder: WireClient;
  readonly requestor: WireClient;
  readonly listener: WireClient;
}

async function talk(server: RunningServer): Promise<Talk> {
  const responder = await clientOf(server, { user: 'a', pass: 'a', name: 'RESPONDER' });
  const requestor = await clientOf(server, { user: 'b', pass: 'b', name: 'REQUESTOR', headers: true });
  const listener = await clientOf(server, { user: 'a', pass: 'a' });
  listener.send('SUB lat 1\r\nPING\r\n');
  await listener.expect('PONG\r\n');
  requestor.send('SUB _I 1\r\nPING\r\n');
  await requestor.expect('PONG\r\n');
  return { responder, requestor, listener };
}

/** Asks once, and has it answered. */
async function ask({ responder, requestor }: Talk, request: string): Promise<void> {
  responder.send('SUB svc 1\r\nPING\r\n');
  await responder.expect('PONG\r\n');
  requestor.send(request);
  const first = await responder.line();
  const reply = /_R_\S+/.exec(first)?.[0];
  await responder.expect('\r\n');
  responder.send(`UNSUB 1\r\nPUB ${reply} 2\r\nok\r\n`);
  await requestor.expect('MSG _I 1 2\r\nok\r\n');
}

async function metric({ listener }: Talk): Promise<Record<string, unknown>> {
  expect(await listener.line()).toMatch(/^MSG lat 1 /);
  return JSON.parse(await listener.line()) as Record<string, unknown>;
}

describeTargets('the latency of a service', (target) => {
  test('is published field by field', async () => {
    const pair = await talk(await serve(target, config('lat')));
    await ask(pair, 'PUB ask _I 0\r\n\r\n');
    const told = await metric(pair);
    expect(Object.keys(told)).toEqual([
      'type',
      'id',
      'timestamp',
      'status',
      'requestor',
      'responder',
      'start',
      'service',
      'system',
      'total',
    ]);
    expect(told).toMatchObject({
      type: 'io.nats.server.metric.v1.service_latency',
      id: expect.stringMatching(/^\w{22}$/) as string,
      status: 200,
      requestor: { acc: 'B' },
      responder: { acc: 'A', user: 'a', name: 'RESPONDER', host: '127.0.0.1', kind: 'Client', client_type: 'nats' },
    });
    expect(told['requestor']).not.toHaveProperty('name');
    // The responder's round trip is an estimate here, and may be longer than all of it.
    expect(told['service']).toBeGreaterThanOrEqual(0);
    expect(told['total']).toBeGreaterThan(0);
    expect(told['total']).toBeLessThan(NANOSECONDS_MAX);
    const [start, end] = [told['start'], told['timestamp']].map((each) => Date.parse(each as string));
    expect(end).toBeGreaterThanOrEqual(start ?? Infinity);
    await pair.listener.quiet();
  });

  test('says who asked where that is shared', async () => {
    const pair = await talk(await serve(target, config('{ subject: lat, sampling: "100%" }', '', ', share: true')));
    await ask(pair, 'PUB ask _I 0\r\n\r\n');
    expect(await metric(pair)).toMatchObject({ requestor: { acc: 'B', name: 'REQUESTOR', user: 'b' } });
  });

  test('is measured where headers ask for it', async () => {
    const pair = await talk(await serve(target, config('{ subject: lat, sampling: headers }')));
    const request = (header: string): string => {
      const block = `NATS/1.0\r\n${header}\r\n\r\n`;
      return `HPUB ask _I ${block.length} ${block.length}\r\n${block}\r\n`;
    };
    const [measured, expected]: [unknown[], unknown[]] = [[], []];
    const trace = '4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7';
    for (const [header, told] of [
      ['X-Other: 1', null],
      [`traceparent: 00-${trace}-00`, null],
      [`traceparent: 00-${trace}-01`, { Traceparent: [`00-${trace}-01`] }],
      ['X-B3-Sampled: 0', null],
      ['X-B3-Sampled: 1', { 'X-B3-Sampled': ['1'] }],
      ['B3: 0', null],
      ['B3: a-b-1-c', { B3: ['a-b-1-c'] }],
      ['Uber-Trace-Id: a:b:c:0', null],
      ['Uber-Trace-Id: a:b:c:1\r\nUberctx-X: y', { 'Uber-Trace-Id': ['a:b:c:1'], 'Uberctx-X': ['y'] }],
    ] as const) {
      await ask(pair, request(header));
      if (told !== null) measured.push((await metric(pair))['header']);
      await pair.listener.quiet();
      expected.push(...(told === null ? [] : [told]));
    }
    expect(measured).toEqual(expected);
  });

  test('of requests that fail is an error', async () => {
    const pair = await talk(await serve(target, config('lat', ', threshold: "100ms"')));
    pair.requestor.send('PUB ask 0\r\n\r\n');
    const bad = await metric(pair);
    expect(Object.keys(bad)).toEqual([
      'type',
      'id',
      'timestamp',
      'status',
      'description',
      'requestor',
      'start',
      'service',
      'system',
      'total',
    ]);
    expect(bad).toMatchObject({ status: 400, description: 'Bad Request', service: 0, system: 0, total: 0 });
    pair.requestor.send('PUB ask _I 0\r\n\r\n');
    expect(await metric(pair)).toMatchObject({ status: 503, description: 'Service Unavailable' });
    pair.responder.send('SUB svc 1\r\nPING\r\n');
    await pair.responder.expect('PONG\r\n');
    pair.requestor.send('PUB ask _I 0\r\n\r\n');
    expect(await metric(pair)).toMatchObject({ status: 504, description: 'Service Timeout', requestor: { acc: 'B' } });
  });

  test('is told as an error when nobody waits for the answer any more', async () => {
    const pair = await talk(await serve(target, config('lat', ', threshold: "300ms"')));
    const { requestor, responder } = pair;
    responder.send('SUB svc 1\r\nPING\r\n');
    await responder.expect('PONG\r\n');
    const status = async (steps: string): Promise<unknown> => {
      requestor.send(`${steps}PING\r\n`);
      await requestor.expect('PONG\r\n');
      return (await metric(pair))['status'];
    };
    const seen = [
      await status('PUB ask _I 0\r\n\r\nUNSUB 1\r\n'),
      await status('SUB _J.* 2\r\nPUB ask _J.a 0\r\n\r\nUNSUB 2\r\n'),
      // Another one waits for it, or nobody ever did.
      await status('SUB _K 3\r\nSUB _K 4\r\nPUB ask _K 0\r\n\r\nUNSUB 3\r\n'),
      await status('UNSUB 4\r\nPUB ask _L 0\r\n\r\n'),
    ];
    expect(seen).toEqual([408, 408, 504, 504]);
    requestor.send('SUB _M 5\r\nPUB ask _M 0\r\n\r\nPING\r\n');
    await requestor.expect('PONG\r\n');
    await requestor.close();
    const told = await metric(pair);
    expect(told).toMatchObject({ status: 408, description: 'Request Timeout', requestor: { acc: 'B' }, total: 0 });
    expect(told).not.toHaveProperty('responder');
  });

  test.each([
    ['{ sampling: 50 }', '', /Latency subject required, but missing/],
    ['{ sampling: 0, subject: lat }', '', /bad sampling percentage, should be 1-100/],
    ['{ sampling: "101%", subject: lat }', '', /bad sampling percentage, should be 1-100/],
    ['{ sampling: x, subject: lat }', '', /Failed to parse latency sample: strconv.Atoi: parsing "x": invalid syntax/],
    ['{ sampling: true, subject: lat }', '', /Expected latency sample to be a string or map\/struct, got bool/],
    ['5', '', /Expected latency entry to be a map\/struct or string, got int64/],
    ['"lat.*"', '', /sampling for "svc" on subject "lat.\*": invalid publish subject/],
    ['svc', '', /sampling for "svc" on subject "svc": invalid publish subject/],
    ['lat', ', response: stream', /sampling for "svc" on subject "lat": bad service response type/],
  ])('can not be %s %s', async (latency, more, reason) => {
    await expect(startServer(target, { config: config(latency, more) })).rejects.toThrow(reason);
  });
});
