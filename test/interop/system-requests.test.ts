/** Those who operate servers hear of petiole in `$SYS` what they hear of nats-server. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { headers } from '@nats-io/transport-node';
import { expect, it } from 'vitest';
import { dial } from '../helpers/wire-client.ts';
import { describeAsked, type Json, settled } from './system-scenario.ts';

describeAsked('requests in the system account', (both) => {
  it.each([
    ['$SYS.REQ.SERVER.PING.IDZ', ''],
    ['$SYS.REQ.SERVER.ID.IDZ', '{"server_name":"other"}'],
    ['$SYS.REQ.SERVER.PING', ''],
    ['$SYS.REQ.SERVER.PING.STATSZ', ''],
    ['$SYS.REQ.SERVER.ID.STATSZ', '{}'],
    ['$SYS.REQ.SERVER.ID.STATSZ', 'x'],
    ['$SYS.REQ.SERVER.PING', '{"tags":"edge"}'],
    ['$SYS.REQ.SERVER.PING.VARZ', ''],
    ['$SYS.REQ.SERVER.PING.VARZ', ' {} '],
    ['$SYS.REQ.SERVER.ID.VARZ', '[1]'],
    ['$SYS.REQ.SERVER.NONE.VARZ', ''],
    ['$SYS.REQ.SERVER.PING.CONNZ', ''],
    ['$SYS.REQ.SERVER.ID.CONNZ', '{"auth":true,"subscriptions":true,"state":2,"sort":"cid"}'],
    ['$SYS.REQ.SERVER.PING.CONNZ', '{"auth":true,"acc":"A"}'],
    ['$SYS.REQ.SERVER.PING.CONNZ', '{"acc":"NONE","offset":-1,"limit":-1}'],
    ['$SYS.REQ.SERVER.PING.CONNZ', '{"state":1}'],
    ['$SYS.REQ.SERVER.PING.CONNZ', '{"cid":18446744073709551615,"user":"\\u00fc;%zz&x=1"}'],
    ['$SYS.REQ.SERVER.PING.CONNZ', '{"mqtt_client":"m","limit":9223372036854775807}'],
    ['$SYS.REQ.SERVER.PING.CONNZ', '{"sort":"bogus"}'],
    ['$SYS.REQ.SERVER.PING.CONNZ', '{"sort":"reason"}'],
    ['$SYS.REQ.SERVER.PING.CONNZ', '{"limit":"many"}'],
    ['$SYS.REQ.SERVER.PING.CONNZ', '{"server_name":3}'],
    ['$SYS.REQ.SERVER.PING.CONNZ', '{"cid":-1}'],
    ['$SYS.REQ.SERVER.PING.CONNZ', 'null'],
    ['$SYS.REQ.SERVER.PING.CONNZ', '{"unknown":1} x'],
    ['$SYS.REQ.SERVER.PING.SUBSZ', ''],
    ['$SYS.REQ.SERVER.PING.SUBSZ', '{"subscriptions":true,"account":"SYS","test":"_INBOX.x"}'],
    ['$SYS.REQ.SERVER.PING.SUBSZ', '{"subscriptions":true,"account":"NONE"}'],
    ['$SYS.REQ.SERVER.PING.SUBSZ', '{"test":"a..b"}'],
    ['$SYS.REQ.SERVER.PING.HEALTHZ', ''],
    ['$SYS.REQ.SERVER.ID.HEALTHZ', '{"details":true}'],
    ['$SYS.REQ.SERVER.PING.HEALTHZ', '{"account":"A","stream":"<S>"}'],
    ['$SYS.REQ.SERVER.PING.HEALTHZ', '{"account":"A","stream":"S","details":true}'],
    ['$SYS.REQ.SERVER.PING.HEALTHZ', '{"stream":"S"}'],
    ['$SYS.REQ.SERVER.PING.HEALTHZ', '{"stream":"S","details":true}'],
    ['$SYS.REQ.SERVER.PING.HEALTHZ', '{"js-enabled-only":true}'],
    ['$SYS.REQ.SERVER.PING.ROUTEZ', ''],
    ['$SYS.REQ.SERVER.PING.GATEWAYZ', '{"name":"g","accounts":true,"subscriptions":true}'],
    ['$SYS.REQ.SERVER.PING.LEAFZ', '{"subscriptions":true,"account":"A"}'],
    ['$SYS.REQ.SERVER.PING.ACCOUNTZ', ''],
    ['$SYS.REQ.SERVER.PING.ACCOUNTZ', '{"account":"NONE"}'],
    ['$SYS.REQ.SERVER.PING.JSZ', ''],
    ['$SYS.REQ.SERVER.PING.JSZ', '{"account":"A","streams":true,"consumer":true,"config":true,"leader_only":true}'],
    ['$SYS.REQ.SERVER.PING.JSZ', '{"accounts":true,"offset":-1,"limit":-1}'],
    ['$SYS.REQ.SERVER.PING.JSZ', '{"account":1}'],
    ['$SYS.REQ.SERVER.PING.RAFTZ', ''],
    ['$SYS.REQ.SERVER.PING.PROFILEZ', ''],
    ['$SYS.REQ.SERVER.PING.PROFILEZ', '{"name":"no<ne"}'],
    ['$SYS.REQ.SERVER.ID.KICK', '{"cid":999}'],
    ['$SYS.REQ.SERVER.ID.KICK', 'x'],
    ['$SYS.REQ.SERVER.ID.KICK', ''],
    ['$SYS.REQ.SERVER.ID.KICK', '{"cid":999,"server_name":"other"}'],
    ['$SYS.REQ.SERVER.ID.KICK', '{"cid":999,"tags":1}'],
    ['$SYS.REQ.SERVER.ID.LDM', '{"cid":999}'],
    ['$SYS.REQ.SERVER.ID.RELOAD', ''],
    ['$SYS.REQ.SERVER.ID.RELOAD', '{"server_name":"other"}'],
    ['$SYS.REQ.SERVER.PING.RELOAD', ''],
    ['$SYS.REQ.ACCOUNT.B.SUBSZ', ''],
    ['$SYS.REQ.ACCOUNT.NONE.SUBSZ', '{"limit":3}'],
    ['$SYS.REQ.ACCOUNT.SYS.CONNZ', '{"auth":true}'],
    ['$SYS.REQ.ACCOUNT.NONE.CONNZ', ''],
    ['$SYS.REQ.ACCOUNT.PING.CONNZ', ''],
    ['$SYS.REQ.ACCOUNT.A.LEAFZ', ''],
    ['$SYS.REQ.ACCOUNT.A.JSZ', ''],
    ['$SYS.REQ.ACCOUNT.A.JSZ', '{"streams":true}'],
    ['$SYS.REQ.ACCOUNT.B.JSZ', ''],
    ['$SYS.REQ.ACCOUNT.NONE.JSZ', ''],
    ['$SYS.REQ.ACCOUNT.NONE.INFO', ''],
    ['$SYS.REQ.ACCOUNT.SYS.STATZ', ''],
    ['$SYS.REQ.ACCOUNT.A.STATZ', ''],
    ['$SYS.REQ.ACCOUNT.A.STATZ', '{"include_unused":true}'],
    ['$SYS.REQ.ACCOUNT.NONE.STATZ', '{"include_unused":true}'],
    ['$SYS.REQ.ACCOUNT.PING.STATZ', ''],
    ['$SYS.REQ.ACCOUNT.PING.STATZ', '{"accounts":["SYS","NONE"]}'],
    ['$SYS.REQ.ACCOUNT.PING.STATZ', '{"accounts":["A"]}'],
    ['$SYS.REQ.ACCOUNT.PING.STATZ', '{"accounts":"A"}'],
    ['$SYS.REQ.ACCOUNT.SYS.CONNS', ''],
    ['$SYS.REQ.ACCOUNT.SYS.CONNS', '{"acc":"A"}'],
    ['$SYS.REQ.ACCOUNT.A.CONNS', ''],
    ['$SYS.REQ.ACCOUNT.NSUBS', '{"acc":"SYS","subject":"$SYS.REQ.ACCOUNT.NSUBS"}'],
    ['$SYS.REQ.ACCOUNT.NSUBS', '{"acc":"SYS","subject":"_INBOX.>"}'],
    ['$SYS.REQ.ACCOUNT.NSUBS', '{"acc":"B","subject":">"}'],
    ['$SYS.REQ.ACCOUNT.NSUBS', ''],
    ['$SYS.REQ.SERVER.PING.KICK', '{"cid":1}'],
    ['$SYS.REQ.SERVER.PING.NONE', ''],
  ])('are answered alike: %s %s', async (subject, body) => {
    const [theirs, ours] = await Promise.all(both().map((asked) => asked.ask(subject, body)));
    expect(settled(ours)).toEqual(settled(theirs));
    expect(keys(ours)).toEqual(keys(theirs));
  });

  it.each([
    ['{"server_name":"sk"}', true],
    ['{"server_name":"sk","exact_match":true}', false],
    ['{"server_name":"asked","exact_match":true}', true],
    ['{"server_name":"Asked"}', false],
    ['{"host":"127"}', true],
    ['{"host":"127.0.0.1","exact_match":true}', true],
    ['{"host":"10."}', false],
    ['{"cluster":"c"}', false],
    ['{"cluster":"c","exact_match":true}', false],
    ['{"tags":["edge"]}', true],
    ['{"tags":[" NORTH ","edge"]}', true],
    ['{"tags":["edge","south"]}', false],
    ['{"domain":"hill"}', true],
    ['{"domain":"hil"}', false],
    ['{"SERVER_NAME":"asked"}', true],
  ])('are for those alone whom the filter fits: %s', async (filter, isForUs) => {
    const kinds = ['STATSZ', 'VARZ', 'HEALTHZ'];
    const answers = await Promise.all(
      both().flatMap((asked) => kinds.map((kind) => asked.ask(`$SYS.REQ.SERVER.PING.${kind}`, filter))),
    );
    expect(answers.map((answer) => answer !== 'silence')).toEqual(answers.map(() => isForUs));
  });

  it('are nobody’s outside the system account', async () => {
    for (const asked of both()) {
      const client = await asked.client('a');
      for (const kind of ['', '.VARZ', '.IDZ']) {
        expect(await asked.request(client, `$SYS.REQ.SERVER.PING${kind}`, '', '')).toBe('nobody');
      }
      await client.close();
    }
  });

  it('about an account are answered in it', async () => {
    const requests = ['ACCOUNT.PING.CONNZ', 'SERVER.PING.CONNZ', 'ACCOUNT.PING.STATZ', 'ACCOUNT.A.CONNZ'];
    const [theirs, ours] = await Promise.all(
      both().map(async (asked) => {
        const client = await asked.client('a', 'in A');
        const other = await asked.client('b');
        const answers: unknown[] = [];
        for (const each of requests) {
          const answer = await asked.request(client, `$SYS.REQ.${each}`, '{"auth":true}', '');
          answers.push(typeof answer === 'string' ? answer : JSON.parse(Buffer.from(answer).toString()));
        }
        await Promise.all([client.close(), other.close()]);
        return answers;
      }),
    );
    expect(settled(ours)).toEqual(settled(theirs));
    expect(ours).toHaveLength(requests.length);
  });

  it('end a connection, and tell one that the server goes', async () => {
    for (const asked of both()) {
      const client = await dial(asked.server.address());
      const { client_id: cid } = JSON.parse((await client.line()).slice('INFO '.length)) as { client_id: number };
      const body = JSON.stringify({ cid });
      client.send('CONNECT {"verbose":false,"user":"a","pass":"p","protocol":1}\r\n');
      const early = (await asked.ask('$SYS.REQ.SERVER.ID.LDM', body)) as { error: Json };
      expect(early.error).toEqual({
        code: 500,
        description: 'client does not support Lame Duck Mode or is not ready to receive the notification',
      });
      client.send('PING\r\n');
      await client.expect('PONG\r\n');
      expect(await client.line()).toMatch(/^INFO .*"connect_info":true/);
      expect(Object.keys((await asked.ask('$SYS.REQ.SERVER.ID.LDM', body)) as object)).toEqual(['server']);
      const { ldm, client_id } = JSON.parse((await client.line()).slice('INFO '.length)) as Json;
      expect({ ldm, client_id }).toEqual({ ldm: true, client_id: cid });
      expect(Object.keys((await asked.ask('$SYS.REQ.SERVER.ID.KICK', body)) as object)).toEqual(['server']);
      await client.closed();
      const closed = (await asked.ask('$SYS.REQ.SERVER.ID.CONNZ', `{"state":1,"cid":${cid}}`)) as {
        data: { connections: readonly Json[] };
      };
      expect(closed.data.connections.map(({ reason }) => reason)).toEqual(['Kicked']);
    }
  });

  it('load the configuration again', async () => {
    for (const asked of both()) {
      const path = join(asked.server.directory, 'server.conf');
      const before = readFileSync(path, 'utf8');
      writeFileSync(path, `${before}\nmax_payload: 4096\n`);
      expect(Object.keys((await asked.ask('$SYS.REQ.SERVER.ID.RELOAD')) as object)).toEqual(['server']);
      expect(await asked.ask('$SYS.REQ.SERVER.PING.VARZ')).toMatchObject({ data: { max_payload: 4096 } });
      writeFileSync(path, `${before}\nmax_payload: nonsense\n`);
      expect(await asked.ask('$SYS.REQ.SERVER.ID.RELOAD')).toMatchObject({ error: { code: 500 } });
      writeFileSync(path, before);
      expect(Object.keys((await asked.ask('$SYS.REQ.SERVER.ID.RELOAD')) as object)).toEqual(['server']);
    }
  });

  it('are compressed as whoever asks can take it', async () => {
    const [theirs, ours] = await Promise.all(
      both().map(async ({ system }) => {
        const found: unknown[] = [];
        for (const accepted of ['gzip', 'x, GZIP', 'br']) {
          const options = { timeout: 2000, headers: headers() };
          options.headers.set('Accept-Encoding', accepted);
          const answer = await system.request('$SYS.REQ.SERVER.PING.HEALTHZ', '', options);
          const encoding = answer.headers?.get('Content-Encoding');
          const text = encoding === 'gzip' ? gunzipSync(answer.data) : Buffer.from(answer.data);
          found.push({ encoding, answer: settled(JSON.parse(text.toString())) });
        }
        return found;
      }),
    );
    expect(ours).toEqual(theirs);
  });

  it('with more options than anybody has are refused', async () => {
    const [, ours] = both();
    const answer = await ours.ask('$SYS.REQ.SERVER.PING.CONNZ', `{"user":"${'u'.repeat(70_000)}"}`);
    expect(answer).toMatchObject({ error: { code: 400, description: 'unexpected end of JSON input' } });
  });

  it('number what is said of the server', async () => {
    const numbers: number[] = [];
    for (const asked of both().slice(1)) {
      for (let i = 0; i < 3; i++) {
        const answer = (await asked.ask('$SYS.REQ.SERVER.PING.VARZ')) as { server: { seq: number } };
        numbers.push(answer.server.seq);
      }
    }
    const [first = 0] = numbers;
    expect(numbers).toEqual([first, first + 1, first + 2]);
  });

  it('without a reply have the summary published for everybody', async () => {
    for (const { system, id } of both()) {
      const subscription = system.subscribe(`$SYS.SERVER.${id}.STATSZ`, { max: 1 });
      await system.flush();
      system.publish('$SYS.REQ.SERVER.PING');
      for await (const message of subscription) expect(message.json()).toHaveProperty('statsz.active_servers', 1);
    }
  });
});

/** The members of objects, in their order. */
function keys(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return null;
  const own = new Set(['git_commit', 'sync_always']);
  return Object.entries(value)
    .filter(([key]) => !own.has(key))
    .map(([key, each]) => [key, keys(each)]);
}
