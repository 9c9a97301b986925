/**
 * Whatever comes to the leaf port of a real process, before a login and behind one: it goes on, and takes a leaf that
 * behaves in at once. FUZZ_RUNS says how many peers come, FUZZ_SEED replays them.
 */
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { serve } from '../helpers/describe-targets.ts';
import { isAbsent, petiole } from '../helpers/targets.ts';
import { until } from '../helpers/until.ts';
import { dial, type ServerAddress } from '../helpers/wire-client.ts';
import { cut } from './hostile-bytes.ts';

const RUNS = Number(process.env['FUZZ_RUNS'] ?? 300);
const TOGETHER = 8;
const STAY_MS = 20;

const CONNECT = 'CONNECT {"user":"u","pass":"p","name":"x","cluster":"x","headers":true,"protocol":2}\r\n';

const CONVERSATIONS: readonly string[] = [
  `${CONNECT}LS+ a.>\r\nLS+ a.b q 5\r\nLMSG a.b 2\r\nhi\r\nHMSG a.b + r q 12 14\r\nNATS/1.0\r\n\r\nhi\r\nLS- a.>\r\nPING\r\n`,
  `${CONNECT}LS+ $LDS.1234567890123456789012\r\nLS+ _GR_.x\r\nLMSG $JS.API.INFO | q 0\r\n\r\nPONG\r\nINFO {}\r\n+OK\r\n`,
  'INFO {"client_id":1,"compression":"s2_fast"}\r\nCONNECT {"user":"u","pass":"p"}\r\nLS+ a\r\n',
  'CONNECT {"user":"u","pass":"p","is_hub":true,"deny_pub":["a.>","..",">"],"isolate":true}\r\nLS+ a\r\nLMSG a 0\r\n\r\n',
  'CONNECT {"user":"u","pass":"wrong"}\r\nCONNECT {"lang":"go","user":"u","pass":"p"}\r\nSUB a 1\r\n',
];

const FRAGMENTS: readonly string[] = [
  [
    'CONNECT ',
    'LS+ ',
    'LS- ',
    'LMSG ',
    'HMSG ',
    'INFO ',
    'PING\r\n',
    '-ERR ',
    '\r\n',
    '\r',
    '\n',
    ' ',
    '\t',
    '+ ',
    '| ',
  ],
  ['{}', '{', '{"user":"u","pass":"p"}', '{"cluster":"a b"}', '{"gateway":"g"}', '{"deny_pub":5}', '{"name":null}'],
  ['a', 'a..b', '>', '*', '\0', '\xff', '0', '12', '-1', '999999999', '9999999999', 'x'.repeat(3000), ' '.repeat(9000)],
  ['\xff\x06\x00\x00S2sTwO', '\x01\x04\x00\x00abcd', '\x16\x03\x01\x02\x00', 'GET / HTTP/1.1\r\n\r\n'],
].flat();

const edit = fc.record({ at: fc.nat(300), removed: fc.nat(4), inserted: fc.constantFrom('', ...FRAGMENTS) });
const hostile = fc.oneof(
  fc.uint8Array({ maxLength: 300 }).map((each) => Buffer.from(each)),
  fc.array(fc.constantFrom(...FRAGMENTS), { maxLength: 20 }).map((each) => Buffer.from(each.join(''), 'latin1')),
  fc
    .record({ text: fc.constantFrom(...CONVERSATIONS), edits: fc.array(edit, { maxLength: 5 }) })
    .map(({ text, edits }) => {
      let changed = text;
      for (const { at, removed, inserted } of edits) {
        const from = at % (changed.length + 1);
        changed = changed.slice(0, from) + inserted + changed.slice(from + removed);
      }
      return Buffer.from(changed, 'latin1');
    }),
);
const script = fc.record({ bytes: hostile, cuts: fc.array(fc.nat(10_000), { maxLength: 4 }), resets: fc.boolean() });
type Script = typeof script extends fc.Arbitrary<infer T> ? T : never;

async function attack({ host, port }: ServerAddress, { bytes, cuts, resets }: Script): Promise<void> {
  const socket = connect({ host, port, noDelay: true });
  // The server closes as it likes.
  socket.on('error', () => undefined);
  socket.resume();
  const happens = async (event: string): Promise<void> => new Promise((resolve) => void socket.once(event, resolve));
  const closed = happens('close');
  await Promise.race([happens('connect'), closed]);
  for (const piece of cut(bytes, cuts)) {
    if (!socket.destroyed && socket.writable) socket.write(piece);
    await delay(1);
  }
  await Promise.race([closed, delay(STAY_MS)]);
  if (resets) socket.resetAndDestroy();
  else socket.destroy();
  await closed;
}

test('nothing that comes to the leaf port ends the process, or keeps a leaf out', async () => {
  const target = petiole();
  if (isAbsent(target)) throw new Error(target.absent);
  const config = `http: "127.0.0.1:-1"\nleafnodes { listen: "127.0.0.1:-1" }\nauthorization { user: u, password: p }`;
  const server = await serve(target, config);
  const address = await server.listening('leafnode');
  await fc.assert(
    fc.asyncProperty(fc.array(script, { minLength: TOGETHER, maxLength: TOGETHER }), async (scripts) => {
      await Promise.all(scripts.map(async (each) => attack(address, each)));
      expect(server.exited ? server.log.slice(-2000) : '').toBe('');
    }),
    { numRuns: Math.ceil(RUNS / TOGETHER), endOnFailure: true },
  );
  const leaf = await dial(address);
  expect(await leaf.line()).toMatch(/^INFO .*"nonce"/);
  leaf.send(CONNECT);
  expect(await leaf.line()).toMatch(/^INFO .*"connect_info":true/);
  await leaf.close();
  const monitor = await server.listening('monitor');
  const leaves = async (): Promise<unknown> => {
    const answer = await fetch(`http://${monitor.host}:${monitor.port}/varz`);
    return ((await answer.json()) as { leafnodes?: number }).leafnodes;
  };
  await until(async () => (await leaves()) === 0, 'all links to be gone');
});
