/** /varz says of petiole what it says of nats-server that led the same life; where it does not, it is listed here. */
import { expect, it } from 'vitest';
import { isAbsent, petiole } from '../helpers/targets.ts';
import { describeBoth, type Json, live, observe, settled, VOLATILE } from './monitor-scenario.ts';

/** nats-server has one only if it was built from a repository; petiole always says what it is. */
const GIT_COMMIT = /^ *"git_commit": "petiole-\d+\.\d+\.\d+",\n/m;
/**
 * How much the slow client and its flooder moved, and how often they were stalled, depends on buffers. nats-server counts
 * a slow consumer again for each message that comes before it is gone, and has system services that subscribe.
 */
const OF_EACH_ALONE: Readonly<Record<string, RegExp>> = {
  ...VOLATILE,
  stalled_clients: /^\d+$/,
  slow_consumers: /^\d+$/,
  clients: /^\d+$/,
  subscriptions: /^\d+$/,
  in_msgs: /^\d+$/,
  in_bytes: /^\d+$/,
  out_msgs: /^\d+$/,
  out_bytes: /^\d+$/,
  in_client_msgs: /^\d+$/,
  in_client_bytes: /^\d+$/,
  out_client_msgs: /^\d+$/,
  out_client_bytes: /^\d+$/,
};

describeBoth(
  'the server itself',
  ({ natsServer, petiole }) => {
    it('is told alike', async () => {
      const path = '/varz';
      // How often the scenario had to look is not the same.
      const withoutCounts = (text: string): string => text.replace(/("http_req_stats": \{).*?(\n {2}\})/s, '$1$2');
      const [theirs, ours] = await Promise.all([natsServer().page(path), petiole().page(path)]);
      const [their, our] = [theirs, ours].map((page) => ({ ...page, text: settled(page.text, OF_EACH_ALONE) }));
      expect(our?.text).toMatch(GIT_COMMIT);
      expect(withoutCounts(our?.text.replace(GIT_COMMIT, '') ?? '')).toEqual(withoutCounts(their?.text ?? ''));
      expect({ ...our, text: '' }).toEqual({ ...their, text: '' });
    });

    it('counts the requests of each endpoint alike', async () => {
      const paths = ['/', '/varz', '/connz', '/connz?limit=x', '/connz?sort=x', '/subsz?subs=x', '/subscriptionsz'];
      const others = ['accountz', 'accstatz', 'jsz', 'leafz', 'routez', 'gatewayz', 'raftz', 'ipqueuesz', 'stacksz'];
      for (const path of others) paths.push(`/${path}`, `/${path}?acc=none&all=x&subs=x&limit=x&unused=x`);
      paths.push('/debug/vars');
      for (const path of [...paths, '/healthz?details=x', '/healthz?stream=s', '/nothing', '/varz/']) {
        await Promise.all([natsServer().page(path), petiole().page(path)]);
      }
      const counted = async (servers: typeof petiole): Promise<[string, number][]> =>
        Object.entries((await servers().json('/varz'))['http_req_stats'] as Record<string, number>);
      const [theirs, ours] = [await counted(natsServer), await counted(petiole)];
      const names = (counts: [string, number][]): string[] => counts.map(([path]) => path);
      expect(names(ours)).toEqual(names(theirs));
      const exact = (counts: [string, number][]): [string, number][] =>
        counts.filter(([path]) => path !== '/varz' && path !== '/connz');
      expect(exact(ours)).toEqual(exact(theirs));
    });

    it('adds up what connections did, those that are gone included', async () => {
      const varz = await petiole().json('/varz');
      const rows = (await petiole().json('/connz?state=any'))['connections'] as Json[];
      const sum = (key: string): number => rows.reduce((total, row) => total + Number(row[key] ?? 0), 0);
      for (const key of ['in_msgs', 'in_bytes', 'out_msgs', 'out_bytes']) {
        expect(varz[key]).toBe(sum(key));
        expect(varz[key.replace('_', '_client_')]).toBe(sum(key));
      }
      expect(varz).toMatchObject({ total_connections: rows.length, slow_consumers: 1, stale_connections: 0 });
      expect(varz['slow_consumer_stats']).toEqual({ clients: 1, routes: 0, gateways: 0, leafs: 0 });
      expect(varz['stalled_clients']).toBe(sum('stalls'));
    });
  },
  { life: live },
);

const target = petiole();

it.skipIf(isAbsent(target))('shows what is configured otherwise', async () => {
  if (isAbsent(target)) throw new Error(target.absent);
  const config = 'http: "127.0.0.1:-1", no_sys_acc: true, client_advertise: "example.org:4333", http_base_path: nats';
  const observed = await observe(target, { config });
  try {
    const varz = await observed.json('/nats/varz');
    expect(varz).toMatchObject({ host: 'example.org', port: 4333, http_base_path: '/nats', leaf: {}, jetstream: {} });
    for (const absent of [
      'system_account',
      'auth_required',
      'tags',
      'metadata',
      'write_timeout',
      'max_subscriptions',
    ]) {
      expect(varz).not.toHaveProperty(absent);
    }
    expect(varz).toMatchObject({ config_digest: expect.stringMatching(/^sha256:/), max_connections: 65_536 });
  } finally {
    await observed.stop();
  }
});
