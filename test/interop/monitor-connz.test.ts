/** /connz and /subsz say of petiole what they say of nats-server that led the same life, to the letter. */
import { expect, it } from 'vitest';
import { describeBoth, type Json, live, type Observed, settled } from './monitor-scenario.ts';

describeBoth(
  'the lists of connections and subscriptions',
  ({ natsServer, petiole }) => {
    it.each([
      '/connz',
      '/connz?auth=1',
      '/connz?subs=1',
      '/connz?subs=detail&auth=1',
      '/connz?state=open&limit=2&offset=1&subs=TRUE',
      '/connz?limit=-1&offset=-1',
      '/connz?limit=9223372036854775807&offset=9223372036854775807',
      '/connz?state=closed',
      '/connz?state=closed&subs=t&auth=true',
      '/connz?state=CLOSED&subs=Detail&auth=T',
      '/connz?state=any&sort=start',
      '/connz?state=all&sort=cid&auth=1&subs=detail',
      '/connz?state=closed&sort=stop&limit=2',
      '/connz?state=closed&sort=reason',
      '/connz?user=%3Cc%26d%3E',
      '/connz?user=a&auth=1&limit=1',
      '/connz?user=nobody',
      '/connz?user=nobody&state=any',
      '/connz?user=a&state=closed&auth=1',
      '/connz?acc=$G&auth=1',
      '/connz?acc=%24G&state=closed',
      '/connz?acc=$G&state=any',
      '/connz?acc=$SYS',
      '/connz?acc=NONE',
      '/connz?acc=NONE&state=closed&limit=3&offset=4',
      '/connz?mqtt_client=m',
      '/connz?cid=18446744073709551615',
      '/connz?cid=18446744073709551615&state=all',
      '/connz?limit=2;offset=3&offset=%zz&auth=0&sort=cid&sort=x',
    ])('are alike for %s', async (path) => {
      const [theirs, ours] = await Promise.all([natsServer().page(path), petiole().page(path)]);
      expect({ ...ours, text: settled(ours.text) }).toEqual({ ...theirs, text: settled(theirs.text) });
    });

    it.each(['subs', 'pending', 'msgs_to', 'msgs_from', 'bytes_to', 'bytes_from', 'last', 'idle', 'uptime', 'rtt'])(
      'come in the order of %s',
      async (order) => {
        const key = KEYS[order] as (row: Json) => unknown;
        const path = `/connz?sort=${order}&state=any`;
        const [theirs, ours] = await Promise.all([rows(natsServer(), path), rows(petiole(), path)]);
        expect(ours.length).toBe(theirs.length);
        for (const each of [theirs, ours]) expect(isDescending(each.map(key))).toBe(true);
      },
    );

    it('find one connection by its cid, open or closed (nats-server#6839)', async () => {
      for (const observed of [natsServer(), petiole()]) {
        const all = await rows(observed, '/connz?state=any');
        const states = ['open', 'closed', 'any'];
        for (const { cid, stop, name = '' } of all) {
          const isIn = stop === undefined ? [true, false, true] : [false, true, true];
          for (const [i, state] of states.entries()) {
            const page = await observed.json(`/connz?cid=${String(cid)}&state=${state}&limit=9`);
            const expected = isIn[i] === true ? [{ cid, name }] : [];
            const found = (page['connections'] as Json[]).map((row) => ({ cid: row['cid'], name: row['name'] ?? '' }));
            expect({ ...page, connections: found }).toMatchObject({ limit: 1, connections: expected });
          }
          const other = await observed.json(`/connz?cid=${String(cid)}&state=any&user=nobody`);
          expect(other['connections']).toEqual([]);
        }
      }
    });

    it.each([
      '/subsz?subs=1&acc=$G&test=foo.bar',
      '/subsz?subs=1&acc=$G&test=work',
      '/subsz?subs=1&test=%C3%BC.x',
      '/subsz?subs=1&acc=$G&test=work&limit=1&offset=5',
      '/subscriptionsz?subs=1&test=none',
      '/subsz?subs=1&acc=NONE',
      '/subsz?acc=NONE&limit=-3&offset=-3',
    ])('are alike for %s', async (path) => {
      const [theirs, ours] = await Promise.all([natsServer().page(path), petiole().page(path)]);
      const [their, our] = [theirs, ours].map((page) => ({ ...page, text: settled(page.text, OWN_STATISTICS) }));
      expect(our).toEqual(their);
    });

    it('count every subscription, also of accounts (nats-server#1357)', async () => {
      const theirs = await natsServer().json('/subsz');
      const ours = await petiole().json('/subsz');
      expect(Object.entries(ours).map(([key, value]) => [key, typeof value])).toEqual(
        Object.entries(theirs).map(([key, value]) => [key, typeof value]),
      );
      const listed = await petiole().json('/subsz?subs=1');
      expect(listed['total']).toBe(ours['num_subscriptions']);
      expect(listed['subscriptions_list']).toHaveLength(ours['num_subscriptions'] as number);
    });
  },
  { life: live },
);

async function rows(observed: Observed, path: string): Promise<Json[]> {
  return (await observed.json(path))['connections'] as Json[];
}

/** By what a row is sorted, the largest first. */
const KEYS: Readonly<Record<string, (row: Json) => unknown>> = {
  subs: (row) => row['subscriptions'],
  pending: (row) => row['pending_bytes'],
  msgs_to: (row) => row['out_msgs'],
  msgs_from: (row) => row['in_msgs'],
  bytes_to: (row) => row['out_bytes'],
  bytes_from: (row) => row['in_bytes'],
  last: (row) => moment(row['last_activity']),
  idle: (row) => -moment(row['last_activity']),
  uptime: ({ start, stop }) => moment(start) - moment(stop),
  rtt: ({ rtt }) => milliseconds(String(rtt)),
};

function isDescending(values: readonly unknown[]): boolean {
  // Moments are compared to the millisecond.
  return values.every((value, i) => i === 0 || Number(value) <= Number(values[i - 1]) + 1);
}

/** What is absent is now. */
function moment(text: unknown): number {
  return typeof text === 'string' ? Date.parse(text) : Date.now();
}

function milliseconds(duration: string): number {
  const [, value = '', unit = ''] = /^([\d.]+)(µs|ms|s)$/.exec(duration) ?? [];
  return Number(value) * ({ µs: 0.001, ms: 1, s: 1000 }[unit] ?? NaN);
}

/** How the matching of subjects is done is each server's own, and nats-server has system services in every account. */
const OWN_STATISTICS: Readonly<Record<string, RegExp>> = {
  server_id: /^"N/,
  now: /^"20/,
  num_subscriptions: /^\d+$/,
  num_cache: /^\d+$/,
  num_inserts: /^\d+$/,
  num_removes: /^\d+$/,
  num_matches: /^\d+$/,
  cache_hit_rate: /^(0|1|0\.\d+)$/,
  max_fanout: /^\d+$/,
  avg_fanout: /^\d+(\.\d+)?$/,
};
