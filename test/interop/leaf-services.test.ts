/**
 * Services that an account imports and whose responders are behind a link, whichever of the two servers is at which end:
 * who is answered, what is told of the requester, when it is said that nobody listens, and which latency is told.
 */
import { expect, it } from 'vitest';
import { clientOf, describePairs, serve } from '../helpers/describe-targets.ts';
import type { RunningServer, Target } from '../helpers/targets.ts';
import { until } from '../helpers/until.ts';
import type { WireClient } from '../helpers/wire-client.ts';

const ACCOUNTS = `accounts {
  S {
    users: [ { user: s, password: s } ]
    exports: [ { service: "svc.>", latency: { sampling: 100, subject: "latency" } }, { service: "none" } ]
  }
  C {
    users: [ { user: c, password: c } ]
    imports: [ { service: { account: S, subject: "svc.>" } }, { service: { account: S, subject: "none" } } ]
  }
}`;
const PLAIN = 'accounts { T { users: [ { user: s, password: s } ] } }';

interface Site {
  /** Where the service is exported and asked for. */
  readonly asking: RunningServer;
  /** Hears of latencies there. */
  readonly ear: WireClient;
  readonly requester: WireClient;
  /** At the other end of the link. */
  readonly responder: WireClient;
}

async function start(leaf: Target, hub: Target, place: 'hub' | 'leaf'): Promise<Site> {
  const [above, below] = place === 'hub' ? [ACCOUNTS, PLAIN] : [PLAIN, ACCOUNTS];
  const up = await serve(hub, `server_name: hub\nleafnodes { listen: "127.0.0.1:-1" }\n${above}`);
  const { port } = await up.listening('leafnode');
  const remote = `{ url: "nats://s:s@127.0.0.1:${port}", account: ${place === 'hub' ? 'T' : 'S'} }`;
  const down = await serve(leaf, `server_name: edge\nleafnodes { remotes: [ ${remote} ] }\n${below}`);
  const [asking, answering] = place === 'hub' ? [up, down] : [down, up];
  const ear = await clientOf(asking, { user: 's', pass: 's' });
  ear.send('SUB latency 1\r\nPING\r\n');
  await ear.expect('PONG\r\n');
  const requester = await clientOf(asking, { user: 'c', pass: 'c', headers: true, no_responders: true });
  requester.send('SUB _INBOX.> 1\r\nPING\r\n');
  await requester.expect('PONG\r\n');
  const responder = await clientOf(answering, { user: 's', pass: 's', headers: true });
  return { asking, ear, requester, responder };
}

/** All that has come, when it has this in it. */
async function hearing(client: WireClient, part: RegExp): Promise<string> {
  const bytes = await client.take((view) => (part.test(view.toString('latin1')) ? view.length : 'more'), `${part}`);
  return bytes.toString('latin1');
}

/** Asks until somebody is there to ask, and answers that request; what the responder was told of the requester. */
async function answerOne({ requester, responder }: Site): Promise<string> {
  responder.send('SUB svc.x 1\r\nPING\r\n');
  await responder.expect('PONG\r\n');
  await until(() => {
    requester.send('PUB svc.x _INBOX.x 2\r\nhi\r\n');
    return responder.unread.includes('svc.x 1 _R_.');
  }, 'the interest to cross');
  const request = await hearing(responder, /\r\nhi\r\n/);
  const [, reply = '', info = ''] = /HMSG svc\.x 1 (\S+) [^]*?Nats-Request-Info: (.*)\r\n/.exec(request) ?? [];
  responder.send(`PUB ${reply} 2\r\nok\r\n`);
  await hearing(requester, /MSG _INBOX\.x 1 2\r\nok\r\n/);
  return info;
}

describePairs('a service behind a link', (leaf, hub) => {
  it.each(['hub', 'leaf'] as const)('is answered, and asked for by an account of the %s', async (place) => {
    const site = await start(leaf, hub, place);
    const info = JSON.parse(await answerOne(site)) as object;
    expect(info).toEqual({ acc: 'C', rtt: expect.any(Number) as number });
  });

  it.each(['hub', 'leaf'] as const)('has no responders where none are behind it, asked at the %s', async (place) => {
    const site = await start(leaf, hub, place);
    const { requester, responder } = site;
    requester.send('PUB none _INBOX.n 2\r\nhi\r\n');
    expect(await hearing(requester, /_INBOX\.n/)).toMatch(
      /^HMSG _INBOX\.n 1 36 36\r\nNATS\/1\.0 503\r\nNats-Subject: none/m,
    );
    await answerOne(site);
    responder.send('UNSUB 1\r\nPING\r\n');
    await hearing(responder, /PONG\r\n/);
    await until(() => {
      requester.send('PUB svc.x _INBOX.g 2\r\nhi\r\n');
      return requester.unread.includes('Nats-Subject: svc.x');
    }, 'the responder to be gone');
    expect(await hearing(requester, /Nats-Subject: svc\.x/)).toContain('NATS/1.0 503\r\nNats-Subject: svc.x\r\n');
  });

  it.each(['hub', 'leaf'] as const)('has a latency that is told where it is asked for, at the %s', async (place) => {
    const site = await start(leaf, hub, place);
    const { asking, ear, requester, responder } = site;
    await answerOne(site);
    responder.send('UNSUB 1\r\nPING\r\n');
    await hearing(responder, /PONG\r\n/);
    await until(() => {
      requester.send('PUB svc.x _INBOX.g 2\r\nhi\r\n');
      return ear.unread.includes('"status":503');
    }, 'an unanswered request to be told of');
    const told = await hearing(ear, /"status":503/);
    const events = [...told.matchAll(/^\{.*\}/gm)].map(([json]) => JSON.parse(json) as Record<string, unknown>);
    const type = 'io.nats.server.metric.v1.service_latency';
    const common = { type, requestor: { acc: 'C', rtt: expect.any(Number) as number } };
    expect(events.filter(({ status }) => status !== 200)).toContainEqual(
      expect.objectContaining({ ...common, status: 503, service: 0, system: 0, total: 0 }),
    );
    // nats-server is silent about answers that come over a link.
    const answered = events.filter(({ status }) => status === 200);
    const isTold = asking.target.name === 'petiole';
    expect(answered).toMatchObject(isTold ? [{ ...common, system: 0 }] : []);
    expect(answered).toHaveLength(isTold ? 1 : 0);
  });
});
