/** What no client should send: noise, fragments of the protocol in any order, and valid conversations with mistakes. */
import * as fc from 'fast-check';

const CONVERSATIONS: readonly string[] = [
  'CONNECT {"verbose":false,"pedantic":false,"headers":true}\r\nPING\r\nSUB a.> 1\r\nPUB a.b 2\r\nhi\r\nUNSUB 1 5\r\n',
  'SUB > 1\r\nSUB a q 2\r\nHPUB a r 12 14\r\nNATS/1.0\r\n\r\nhi\r\nPUB a.b.c r 3\r\nabc\r\nPONG\r\nUNSUB 1\r\n',
  'CONNECT {}\r\nCONNECT {"verbose":true,"echo":false,"no_responders":true,"headers":true}\r\nSUB r 1\r\nPUB x r 0\r\n\r\n',
  'INFO {"server_id":"x"}\r\n+OK\r\nSUB *.*.* 1\r\nSUB *.> 2\r\nPUB a.*.c 1\r\nx\r\nPUB > 1\r\ny\r\nPUB .. 0\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n',
  'CONNECT {"user":"u","pass":"secret","verbose":false}\r\nSUB a.* 1\r\nPUB a.b 3\r\nabc\r\nPING\r\n',
  "-ERR 'Stale Connection'\r\n",
];

const FRAGMENTS: readonly string[] = [
  ['PUB ', 'HPUB ', 'SUB ', 'UNSUB ', 'CONNECT ', 'INFO ', 'PING\r\n', 'PONG\r\n', '+OK\r\n', '-ERR ', 'pUb ', 'RMSG '],
  ['LS+ ', 'A+ ', '\r\n', '\r', '\n', ' ', '\t', '0', '1', '2', '12', '-1', '007', '999999', '999999999', '9999999999'],
  ['{}', '{', '{"verbose":true}', '{"headers":true,"no_responders":true}', '{"protocol":7}', '{"user":"u","pass":"p"}'],
  ['a', 'a.b', 'a..b', '.', '>', '*', 'a.>', '_INBOX.x', '$SYS.x', '$JS.ACK.x', '_sys_', '\0', '\xff', '\x7f'],
  ['*.'.repeat(300), 'x'.repeat(200), 'x'.repeat(3000), ' '.repeat(5000), 'NATS/1.0\r\n\r\n', '\x16\x03\x01\x02\x00'],
].flat();

const edit = fc.record({ at: fc.nat(300), removed: fc.nat(4), inserted: fc.constantFrom('', ...FRAGMENTS) });

const mistaken = fc
  .record({
    conversation: fc.array(fc.constantFrom(...CONVERSATIONS), { minLength: 1, maxLength: 3 }),
    edits: fc.array(edit, { maxLength: 6 }),
  })
  .map(({ conversation, edits }) => {
    let text = conversation.join('');
    for (const { at, removed, inserted } of edits) {
      const from = at % (text.length + 1);
      text = text.slice(0, from) + inserted + text.slice(from + removed);
    }
    return Buffer.from(text, 'latin1');
  });

export const hostileBytes: fc.Arbitrary<Buffer> = fc.oneof(
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 300 }).map((each) => Buffer.from(each)) },
  {
    weight: 2,
    arbitrary: fc
      .array(fc.constantFrom(...FRAGMENTS), { maxLength: 40 })
      .map((each) => Buffer.from(each.join(''), 'latin1')),
  },
  { weight: 3, arbitrary: mistaken },
);

/** The bytes in pieces that end at these places. */
export function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const inside = places.map((at) => at % (bytes.length + 1)).filter((at) => at > 0 && at < bytes.length);
  const ends = [...new Set([...inside, bytes.length])].toSorted((a, b) => a - b);
  return ends.map((end, i) => bytes.subarray(ends[i - 1] ?? 0, end));
}
