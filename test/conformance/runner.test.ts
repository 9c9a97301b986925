/**
 * The runner itself: a transcript must fail when the server says something else, something more or nothing, and a file
 * that does not follow FORMAT.txt must be refused. The server here is a parrot: it greets with INFO, says what follows
 * `SAY` (a `/` ends a line), answers PING, and hangs up at `BYE`.
 */
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { play } from './player.ts';
import type { PlayedServer } from './player.ts';
import { parseTranscript } from './transcript.ts';

const STEP_TIMEOUT_MS = 150;

const HELD: readonly [what: string, steps: string][] = [
  ['a text', 'C > SAY hello\nC < hello'],
  ['a text in bars', 'C > SAY \\s\nC < | |'],
  ['escapes and repetitions', 'C > SAY \\(\\(ab*2)\\x2d*3)\nC < abab-abab-abab-'],
  ['several lines in one text', 'C > SAY a/b\nC < a\\r\\nb'],
  ['a PING that nobody expects', 'C > SAY PING/hello\nC < hello'],
  ['a PING that somebody expects', 'C > SAY PING\nC < PING'],
  ['quiet', 'C > SAY hello\nC < hello\nC quiet'],
  ['closed', 'C > BYE\nC closed'],
  ['cut', 'C > SAY hello\nC > BYE\nC cut'],
  ['connects', 'C connects {"verbose":true}'],
  ['a greeting that is expected', 'C < INFO {"server_id":"parrot","port":"<number>","auth_required":"<absent>"}'],
  ['a regular expression in INFO', 'C < INFO {"server_id":"/^par/"}'],
  ['a capture used again', 'C > SAY a17 a17\nC < ${x} ${y}\nC > SAY ${x}\nC < ${y}'],
  ['a capture by a regular expression', 'C > SAY a17\nC < a${n:[0-9]{2}}'],
  ['a capture over several lines', 'C > SAY a/b\nC < ${all:a\\r\\nb}'],
  ['any order', 'C > SAY 1/2/3\nC <? 3\nC <? 1\nC <? 2'],
  ['one of two', 'C connects\nD connects\nD > SAY x\nC|D < x\nC quiet\nD quiet'],
  ['pieces', 'C >> SA\nC >> Y hel\nC >> lo\\r\\n\nC < hello'],
];

const BROKEN: readonly [what: string, steps: string, message: RegExp][] = [
  ['another text', 'C > SAY hello\nC < hallo', /t\.txt:3: C < hallo\nexpected[^]*came "hello\\r\\n"/],
  ['a text that only begins alike', 'C > SAY hell\nC < hello', /came "hell\\r\\n"/],
  ['a text that never comes', 'C connects\nC < hello', /within 150 ms came only \(nothing\)/],
  ['a longer text', 'C > SAY hello\nC < hell', /came "hello/],
  ['text that nobody expected', 'C > SAY a/b\nC < a', /at its end C still has "b\\r\\n"/],
  ['text where quiet is expected', 'C > SAY hello\nC quiet', /nothing but the answer to PING\ncame "hello/],
  ['text behind the fence', 'C > SAY PONG/more\nC quiet', /nothing after the answer to PING\ncame "more/],
  ['text that comes after the last step', 'C connects\nC > SAY late', /at its end C.*\nexpected nothing but[^]*"late/],
  ['a connection that stays open', 'C connects\nC closed', /it stayed open; \(nothing\)/],
  ['text before the end', 'C > SAY hello\nC > BYE\nC closed', /expected the server to close\ncame "hello/],
  ['an end before the text', 'C > BYE\nC < hello', /the server closed after \(nothing\)/],
  ['cut that does not come', 'C connects\nC cut', /it stayed open/],
  ['another value in INFO', 'C < INFO {"server_id":"other"}', /server_id is "parrot"/],
  ['a field in INFO that should be absent', 'C < INFO {"port":"<absent>"}', /port is 1/],
  ['a field that INFO does not have', 'C < INFO {"nonce":"/./"}', /nonce is absent/],
  ['no INFO at all', 'C > SAY INFX {"a":1}\nC < INFO {"a":1}', /came "INFX/],
  ['a capture that differs the second time', 'C > SAY a b\nC < ${x} ${y}\nC > SAY ${x}\nC < ${y}', /came "a/],
  ['a regular expression that does not match', 'C > SAY abc\nC < ${n:[0-9]+}', /came "abc/],
  ['a member of a group that is missing', 'C > SAY 1\nC <? 1\nC <? 2', /1 open texts/],
  ['the same member of a group twice', 'C > SAY 1/1\nC <? 1\nC <? 2', /came "1/],
  ['both of two', 'C connects\nD connects\nC > SAY x\nC|D < x\nD > SAY x\nC quiet\nD quiet', /D quiet/],
  ['neither of two', 'C connects\nD connects\nC|D < x', /came only \(nothing\) and \(nothing\)/],
  ['a server that still listens', 'C refused', /expected the connection to be refused/],
  ['a capture that is sent too early', 'C > SAY ${x}', /sent before it was captured/],
];

const MALFORMED: readonly [what: string, file: string, message: RegExp][] = [
  ['a file without a title', 'C connects', /first line is not a title/],
  ['a file without steps', '# t\n\n', /needs either steps or/],
  ['steps beside refused', '# t\nrefused: x\nC connects', /needs either steps or/],
  ['an unknown step', '# t\nC dances', /t\.txt:2:.*unknown step: dances/],
  ['words behind a plain step', '# t\nC closed please', /unknown step: closed please/],
  ['a line that is no step', '# t\nhello', /not a step/],
  ['an unknown escape', '# t\nC > \\q', /unknown escape \\q/],
  ['half a byte', '# t\nC > \\x1', /two hex digits/],
  ['a repetition without a number', '# t\nC > \\(a)', /not a repetition/],
  ['a repetition without an end', '# t\nC > \\(a*2', /without \)/],
  ['a capture without an end', '# t\nC > ${a', /without }/],
  ['an exception without a reason', '# t\nonly: petiole\nC connects', /only: TARGET, REASON/],
  ['several connections that send', '# t\nA|B > x', /only `<` takes several/],
  ['malformed JSON', '# t\nC connects {', /t\.txt:2/],
];

let parrot: Server;
let played: PlayedServer;

beforeAll(async () => {
  parrot = startParrot();
  await once(parrot, 'listening');
  const { port } = parrot.address() as AddressInfo;
  const target = { name: 'petiole', version: '0', command: [] } as const;
  const address = { host: '127.0.0.1', port };
  played = { address: () => address, listening: () => Promise.resolve(address), signal: () => {}, log: '', target };
});

afterAll(() => parrot.close());

describe('a transcript holds', () => {
  test.each(HELD)('with %s', async (_what, steps) => {
    await expect(playSteps(steps)).resolves.toBeUndefined();
  });

  test.each(HELD)('byte by byte with %s', async (_what, steps) => {
    await expect(playSteps(steps, 1)).resolves.toBeUndefined();
  });
});

describe('a transcript fails', () => {
  test.each(BROKEN)('at %s', async (_what, steps, message) => {
    await expect(playSteps(steps)).rejects.toThrow(message);
  });
});

describe('a file is refused', () => {
  test.each(MALFORMED)('that is %s', (_what, file, message) => {
    expect(() => parseTranscript('t.txt', file)).toThrow(message);
  });
});

test('the head is read', () => {
  const head =
    '# Größe\n# a comment\nconfig:\n  a: 1\n  b {\n    c: 2\n  }\nflags: -x y\nown server\nsplit\nonly: petiole, why\n';
  const transcript = parseTranscript('t.txt', Buffer.from(`${head}\nC connects\n`).toString('latin1'));
  expect(transcript).toMatchObject({
    title: 'Größe',
    config: 'a: 1\nb {\n  c: 2\n}',
    flags: ['-x', 'y'],
    ownServer: true,
    split: true,
    only: 'petiole',
    refused: undefined,
  });
  expect(transcript.steps).toHaveLength(1);
});

async function playSteps(steps: string, chunkBytes?: number): Promise<void> {
  const transcript = parseTranscript('t.txt', `# t\n${steps}`);
  await play('t.txt', transcript, played, { chunkBytes, timeoutMs: STEP_TIMEOUT_MS });
}

function startParrot(): Server {
  const server = createServer((socket) => {
    let text = '';
    socket.write('INFO {"server_id":"parrot","port":1} \r\n');
    socket.on('error', () => socket.destroy());
    socket.on('data', (bytes) => {
      const lines = `${text}${bytes.toString('latin1')}`.split('\r\n');
      text = lines.pop() ?? '';
      socket.write(lines.map(answer).join(''), 'latin1');
      if (lines.includes('BYE')) socket.end();
    });
  });
  return server.listen(0, '127.0.0.1');
}

function answer(line: string): string {
  if (line === 'PING') return 'PONG\r\n';
  return line.startsWith('SAY ') ? `${line.slice(4).replaceAll('/', '\r\n')}\r\n` : '';
}
