/** The lists of /connz and /subsz: their content, and that making a long one stops nobody. */
import { describe, expect, it } from 'vitest';
import { bodyOf, Crowd, type Json } from './monitor-crowd.ts';

const PING = 'PING\r\n';

describe('the list of connections', () => {
  it('shows a client as nats-server shows one', () => {
    const crowd = new Crowd().start();
    crowd.pass(1000);
    const client = crowd.client('SUB a.> 1\r\nSUB b q 2\r\nUNSUB 2 9\r\n', { name: '<é>', lang: 'x', version: '1' });
    crowd.pass(5000);
    client.say('PUB a.b 3\r\nabc\r\n');
    crowd.pass(61_250);
    client.say(PING);
    const detail = { subject: 'a.>', sid: '1', msgs: 1, cid: 1 };
    expect(crowd.json('/connz?auth=1&subs=detail')).toEqual({
      server_id: crowd.server.id,
      now: '2026-01-01T00:01:07.25Z',
      num_connections: 1,
      total: 1,
      offset: 0,
      limit: 1024,
      connections: [
        {
          cid: 1,
          kind: 'Client',
          type: 'nats',
          ip: '10.0.0.1',
          port: 1,
          start: '2026-01-01T00:00:01Z',
          last_activity: '2026-01-01T00:00:06Z',
          rtt: '0s',
          uptime: '1m6s',
          idle: '1m1s',
          pending_bytes: 0,
          in_msgs: 1,
          out_msgs: 1,
          in_bytes: 3,
          out_bytes: 3,
          subscriptions: 2,
          name: '<é>',
          lang: 'x',
          version: '1',
          subscriptions_list_detail: [detail, { subject: 'b', qgroup: 'q', sid: '2', msgs: 0, max: 9, cid: 1 }],
          name_tag: '$G',
        },
      ],
    });
    client.hangUp();
    expect(crowd.json('/connz?state=closed&subs=1')).toMatchObject({
      total: 1,
      connections: [
        {
          cid: 1,
          stop: '2026-01-01T00:01:07.25Z',
          reason: 'Client Closed',
          uptime: '1m6s',
          subscriptions: 2,
          subscriptions_list: ['a.>', 'b'],
        },
      ],
    });
    expect(crowd.json('/connz')).toMatchObject({ total: 0, connections: [] });
  });

  it('keeps ages right when the clock is set', () => {
    const crowd = new Crowd().start();
    crowd.client();
    crowd.pass(2000);
    crowd.setClockForward(86_400_000);
    expect(crowd.rows('/connz')[0]).toMatchObject({ uptime: '2s', idle: '2s', last_activity: '2026-01-02T00:00:00Z' });
  });

  it('counts writing messages as activity, and answers to pings not', () => {
    const crowd = new Crowd().start();
    const receiver = crowd.client('SUB x 1\r\n');
    const sender = crowd.client();
    const idle = (): unknown[] => crowd.rows('/connz').map((row) => row['idle']);
    crowd.pass(3000);
    sender.say('PUB x 0\r\n\r\n');
    crowd.pass(2000);
    expect(idle()).toEqual(['2s', '2s']);
    receiver.say(PING);
    expect(idle()).toEqual(['2s', '2s']);
    receiver.say('UNSUB 99\r\n');
    expect(idle()).toEqual(['0s', '2s']);
  });

  it('is filtered, sorted and paged', () => {
    const crowd = new Crowd().start();
    for (let i = 1; i <= 9; i++) {
      const subs = Array.from({ length: (i * 4) % 9 }, (_, sid) => `SUB s ${sid}\r\n`).join('');
      crowd.client(subs, { user: i % 2 === 0 ? 'even' : 'odd' });
    }
    const cids = (query: string): unknown[] => crowd.rows(`/connz?${query}`).map((row) => row['cid']);
    expect(cids('sort=subs')).toEqual([2, 4, 6, 8, 1, 3, 5, 7, 9]);
    expect(cids('sort=subs&offset=2&limit=3')).toEqual([6, 8, 1]);
    expect(cids('sort=subs&user=odd&limit=2')).toEqual([1, 3]);
    expect(cids('offset=8')).toEqual([9]);
    expect(cids('offset=9')).toEqual([]);
    expect(crowd.json('/connz?user=odd&limit=2')).toMatchObject({ num_connections: 2, total: 9 });
    expect(cids('cid=4&user=odd')).toEqual([]);
    expect(cids('cid=4&user=even')).toEqual([4]);
  });

  it('lets everything else run while it is made, whoever comes and goes meanwhile', () => {
    const crowd = new Crowd({ tickMs: 0.05 }).start();
    const clients = Array.from({ length: 9000 }, (_, i) => crowd.client(`SUB a.${i} 1\r\n`, { name: `n${i}` }));
    for (const path of ['/connz?limit=9000&subs=1', '/connz?limit=9000&sort=rtt', '/connz?limit=9000&sort=subs']) {
      const before = crowd.turns;
      const page = crowd.json(path);
      expect(page['connections']).toHaveLength(9000);
      // 4 ms of 0.05 ms a look, and a look after each row.
      expect(crowd.turns - before).toBeGreaterThan(9000 / 81);
    }
    const answer = crowd.ask('/connz?limit=9000&subs=detail');
    for (let i = 0; answer.response === null; i++) {
      crowd.endTurn();
      clients[8999 - i * 5]?.hangUp();
      if (i < 20) crowd.client('SUB late 1\r\n');
    }
    const page = JSON.parse(bodyOf(answer.response)) as Json;
    const rows = page['connections'] as Json[];
    expect(page).toMatchObject({ num_connections: 9000, total: 9000 });
    expect(rows.map((row) => row['cid'])).toEqual(Array.from({ length: 9000 }, (_, i) => i + 1));
    expect(rows.some((row) => 'stop' in row)).toBe(false);
  });

  it('lets everything else run within the subscriptions of one connection', () => {
    const crowd = new Crowd({ tickMs: 0.05 }).start();
    crowd.client(Array.from({ length: 20_000 }, (_, sid) => `SUB s.${sid} ${sid}\r\n`).join(''));
    const before = crowd.turns;
    expect(crowd.rows('/connz?subs=1')[0]?.['subscriptions_list']).toHaveLength(20_000);
    // The first piece of the list is written in the turn that asks for it.
    expect(crowd.turns - before).toBeGreaterThan(20_000 / 64 / 81 - 1);
  });

  it('is refused when it is too long', () => {
    const crowd = new Crowd({ listBytesMax: 200_000 }).start();
    crowd.client(Array.from({ length: 10_000 }, (_, sid) => `SUB subject.${sid} ${sid}\r\n`).join(''));
    for (let i = 0; i < 1000; i++) crowd.client();
    for (const path of ['/connz?subs=1&limit=1', '/connz?limit=5000', '/subsz?subs=1&limit=10000']) {
      expect(crowd.get(path)).toMatchObject({ status: 503, headers: { 'Content-Type': 'text/plain; charset=utf-8' } });
    }
    expect(crowd.get('/connz?limit=100').status).toBe(200);
  });

  it('is made one at a time, and only so many wait', () => {
    const crowd = new Crowd({ tickMs: 0.05 }).start();
    for (let i = 0; i < 500; i++) crowd.client();
    const answers = Array.from({ length: 66 }, () => crowd.ask('/connz'));
    const statuses = (): (number | undefined)[] => answers.map(({ response }) => response?.status);
    expect(statuses()).toEqual([...Array.from({ length: 65 }, () => undefined), 503]);
    while (crowd.endTurn()) {
      const open = statuses().indexOf(undefined);
      expect(statuses().slice(open, 65)).toEqual(open < 0 ? [] : Array.from({ length: 65 - open }, () => undefined));
    }
    expect(statuses()).toEqual([...Array.from({ length: 65 }, () => 200), 503]);
    expect(crowd.get('/connz').status).toBe(200);
  });
});

describe('the list of subscriptions', () => {
  it('counts and lists those of every connection, a page at a time', () => {
    const crowd = new Crowd().start();
    // The server has its own.
    const own = crowd.json('/subsz')['num_subscriptions'] as number;
    const ofSystem = crowd.server.systemAccount.sublist.size;
    for (let i = 0; i < 10; i++) crowd.client(`SUB same 1\r\nSUB other.${i} q 2\r\nSUB other.* 3\r\n`);
    const listed = (query: string): Json[] =>
      (crowd.json(`/subsz?subs=1&${query}`)['subscriptions_list'] ?? []) as Json[];
    const total = own + 30;
    expect(crowd.json('/subsz')).toMatchObject({ num_subscriptions: total, num_inserts: total, total: 0 });
    const all = listed('');
    expect(all).toHaveLength(total);
    const offsets = Array.from({ length: Math.ceil(total / 7) }, (_, i) => i * 7);
    const pages = offsets.flatMap((offset) => listed(`offset=${offset}&limit=7`));
    expect(pages).toEqual(all);
    expect(listed('test=other.3').map((row) => [row['cid'], row['qgroup']])).toEqual(
      expect.arrayContaining([[4, 'q'], ...Array.from({ length: 10 }, (_, i) => [i + 1, undefined])]),
    );
    expect(crowd.json('/subsz?subs=1&test=same&limit=2')).toMatchObject({ total: 10, limit: 2 });
    expect(listed('acc=$SYS')).toHaveLength(ofSystem);
    expect(all.find((row) => row['subject'] === 'other.4')).toEqual({
      account: '$G',
      account_tag: '$G',
      subject: 'other.4',
      qgroup: 'q',
      sid: '2',
      msgs: 0,
      cid: 5,
    });
  });

  it('lets everything else run while it is made, and hides nothing because something goes', () => {
    const crowd = new Crowd({ tickMs: 0.05 }).start();
    const clients = Array.from({ length: 300 }, (_, i) => {
      const own = Array.from({ length: 50 }, (_, sid) => `SUB own.${i}.${sid} ${sid}\r\n`).join('');
      return crowd.client(`${own}SUB shared.${i % 3} 100\r\nSUB shared.* 101\r\n`);
    });
    const leaving = clients.filter((_, i) => i % 10 === 9);
    const staying = new Set(clients.flatMap((_, i) => (i % 10 === 9 ? [] : [i + 1])));
    const before = crowd.turns;
    const answer = crowd.ask('/subsz?subs=1&limit=100000&test=shared.1');
    for (let i = 0; answer.response === null; i++) {
      crowd.endTurn();
      leaving[i]?.hangUp();
    }
    expect(crowd.turns - before).toBeGreaterThan(2);
    const rows = (JSON.parse(bodyOf(answer.response)) as Json)['subscriptions_list'] as Json[];
    const found = rows.filter((row) => staying.has(row['cid'] as number));
    expect(found).toHaveLength(staying.size + [...staying].filter((cid) => (cid - 1) % 3 === 1).length);
  });
});
