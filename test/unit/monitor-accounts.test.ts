/** What accounts have moved, by those who are connected and those who are gone. */
import { describe, expect, it } from 'vitest';
import { emptyAccount } from '../../server/config/account-options.ts';
import type { HttpResponse } from '../../server/io/io.ts';
import { accountStatistics, accstatz } from '../../server/monitor/accstatz.ts';
import { type AnswerWork, runAnswer } from '../../server/monitor/answer-work.ts';
import { CpuUsage } from '../../server/monitor/cpu-usage.ts';
import type { MonitorContext } from '../../server/monitor/endpoint.ts';
import { MetricsRoom } from '../../server/monitor/metrics-room.ts';
import { Query } from '../../server/monitor/query.ts';
import { RequestCounts } from '../../server/monitor/request-counts.ts';
import { bodyOf, Crowd, type Json } from './monitor-crowd.ts';

function statisticsOf(crowd: Crowd, accounts: readonly string[], withUnused = false): Json[] {
  return accountStatistics(crowd.server, { accounts, withUnused }) as unknown as Json[];
}

function contextOf({ server }: Crowd): MonitorContext {
  const cpu = new CpuUsage(server.io);
  return { source: server, requests: new RequestCounts(), cpu, metrics: new MetricsRoom(), listBytesMax: 1_000_000 };
}

describe('the statistics of accounts', () => {
  it('add up those who are connected and those who are gone', () => {
    const crowd = new Crowd().start();
    const reader = crowd.client('SUB a 1\r\n');
    const writer = crowd.client('PUB a 3\r\nabc\r\nPUB a 5\r\nhello\r\n');
    const moved = { sent: { msgs: 2, bytes: 8 }, received: { msgs: 2, bytes: 8 }, slow_consumers: 0 };
    expect(statisticsOf(crowd, [])).toMatchObject([{ acc: '$G', name: '$G', conns: 2, total_conns: 2, ...moved }]);
    writer.hangUp();
    expect(statisticsOf(crowd, [])).toMatchObject([{ conns: 1, ...moved }]);
    reader.hangUp();
    expect(statisticsOf(crowd, [])).toEqual([]);
    expect(statisticsOf(crowd, ['$G', 'none'], true)).toMatchObject([{ conns: 0, leafnodes: 0, ...moved }]);
    expect(statisticsOf(crowd, [], true).map(({ acc }) => acc)).toEqual(['$G', '$SYS']);
  });

  it('let everything else run while they are made, and count once who goes meanwhile', () => {
    const crowd = new Crowd({ tickMs: 0.2 }).start();
    const clients = Array.from({ length: 20_000 }, () => crowd.client('PUB nobody 2\r\nhi\r\n'));
    const before = crowd.turns;
    const work = accstatz(new Query(''), contextOf(crowd)) as AnswerWork<HttpResponse>;
    const pages: HttpResponse[] = [];
    runAnswer(crowd.server.io, work, (page) => pages.push(page));
    for (let i = 0; pages.length === 0; i++) {
      crowd.endTurn();
      clients[i * 7]?.hangUp();
      clients[19_999 - i]?.hangUp();
    }
    expect(crowd.turns - before).toBeGreaterThan(2);
    const { account_statz: rows } = JSON.parse(bodyOf(pages[0] as HttpResponse)) as Json;
    expect(rows).toMatchObject([{ acc: '$G', received: { msgs: 20_000, bytes: 40_000 } }]);
  });

  it('tell how many were closed because they were slow', () => {
    const crowd = new Crowd({ options: { maxPendingBytes: 50_000 } }).start();
    const slow = crowd.client('SUB a 1\r\n');
    slow.isStuck = true;
    const writer = crowd.client();
    for (let i = 0; i < 10 && crowd.server.slowConsumersPending === 0; i++) {
      writer.say(`PUB a 20000\r\n${'x'.repeat(20_000)}\r\n`);
    }
    expect(statisticsOf(crowd, [])).toMatchObject([{ conns: 1, slow_consumers: 1 }]);
  });

  it('forget accounts that there are no more', () => {
    const crowd = new Crowd({ options: { accounts: [emptyAccount('A')] } }).start();
    const { traffic } = crowd.server.closedConnections;
    traffic.of('A').clients.inMessages = 3;
    expect(statisticsOf(crowd, ['A'], true)).toMatchObject([{ received: { msgs: 3 } }]);
    crowd.server.reload({ ...crowd.server.options, accounts: [] });
    expect(statisticsOf(crowd, ['A'], true)).toEqual([]);
    crowd.server.reload({ ...crowd.server.options, accounts: [emptyAccount('A')] });
    expect(statisticsOf(crowd, ['A'], true)).toMatchObject([{ received: { msgs: 0 } }]);
  });
});
