/**
 * Conversations with a stream, as text: what a publisher says, what it must hear, and what is stored afterwards. The same
 * text is played to petiole and to nats-server.
 *
 *     == a batch of two                                a conversation; its stream is S with the subjects s.>
 *     stream {"allow_atomic":true}                     fields of its configuration besides
 *     > s.a id=A seq=1 | one                           publishes, with reply subject R.1; `>>` has none
 *     > s.b id=A seq=2 commit=1 x=1 | {3}              headers by short name or in full, here with a payload `xxx`
 *     > s.c fi=F.10.ok.1.0 | one                       reply subject R.F.10.ok.1.0.$FI
 *     >> s.{1..3} id=A seq={1..3}                      three lines
 *     wait 100                                         milliseconds
 *     api STREAM.UPDATE.S {"allow_atomic":false}       changes the configuration and waits for that
 *     < 1 |                                            hears, in this order: reply subject without R. and .$FI, body
 *     < 2 | {"stream":"S","seq":2,"batch":"A","count":2}
 *     = 1 s.a Nats-Batch-Id: A; Nats-Batch-Sequence: 1 | one     stored
 *     = 2 messages, 111 bytes, last 2                  the stream's state
 *
 * What stands before a `<` leaves in one write. With UPDATE=1 in the environment, what nats-server says is written into
 * the file, in place of `< ?` as well, and the difference is to be reviewed.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { until } from '../helpers/until.ts';
import type { WireClient } from '../helpers/wire-client.ts';

const QUIET_MS = 700;
const WITHIN_MS = 8_000;
const SHOWN_MAX = 16;
const PAYLOAD_SHOWN_MAX = 100;

const HEADERS: Readonly<Record<string, string>> = {
  id: 'Nats-Batch-Id',
  seq: 'Nats-Batch-Sequence',
  commit: 'Nats-Batch-Commit',
  msg: 'Nats-Msg-Id',
  level: 'Nats-Required-Api-Level',
  last: 'Nats-Expected-Last-Sequence',
  lastSubject: 'Nats-Expected-Last-Subject-Sequence',
  subject: 'Nats-Expected-Last-Subject-Sequence-Subject',
  lastMsg: 'Nats-Expected-Last-Msg-Id',
  stream: 'Nats-Expected-Stream',
};

export interface Conversation {
  readonly title: string;
  /** All lines behind the title. */
  readonly lines: readonly string[];
}

/** The conversations of a text. */
export function conversationsIn(text: string): Conversation[] {
  const found: { title: string; lines: string[] }[] = [];
  for (const line of text.split('\n')) {
    if (line.startsWith('== ')) found.push({ title: line.slice(3), lines: [] });
    else if (line !== '' && !line.startsWith('#')) found.at(-1)?.lines.push(line);
  }
  return found;
}

/** The text with these lines in place of those of each conversation. */
export function withLines(text: string, played: ReadonlyMap<string, readonly string[]>): string {
  return text
    .split(/^(?=== )/m)
    .map((part) => {
      const title = /^== (.*)/.exec(part)?.[1];
      const lines = title === undefined ? undefined : played.get(title);
      return lines === undefined ? part : `== ${title}\n${lines.join('\n')}\n\n`;
    })
    .join('')
    .replace(/\n+$/, '\n');
}

/**
 * Plays a conversation to a server whose client is connected and subscribed to nothing; the lines as they really went.
 * `isUpdate`: waits for silence and not for what is expected.
 */
export async function play(client: WireClient, { lines }: Conversation, isUpdate: boolean): Promise<string[]> {
  const player = new Player(client, isUpdate);
  await player.begin(lines.find((line) => line.startsWith('stream '))?.slice(7) ?? '{}');
  const groups = groupsOf(lines);
  for (const group of groups) await player.playGroup(group);
  const stored = await player.stored();
  player.collectRest();
  const out: string[] = [];
  for (const [i, { said }] of groups.entries()) out.push(...said, ...(player.heard[i] as string[]));
  await player.end();
  return [...lines.filter((line) => line.startsWith('stream ')), ...out, ...stored];
}

interface Group {
  readonly said: string[];
  expected: number;
}

function groupsOf(lines: readonly string[]): Group[] {
  const groups: Group[] = [];
  for (const line of lines) {
    if (line.startsWith('<')) (groups.at(-1) as Group).expected++;
    else if (/^(>|wait|api)/.test(line)) {
      const last = groups.at(-1);
      if (last === undefined || last.expected > 0) groups.push({ said: [line], expected: 0 });
      else last.said.push(line);
    }
  }
  return groups;
}

interface Heard {
  readonly subject: string;
  readonly headers: string;
  readonly payload: string;
}

class Player {
  readonly heard: string[][] = [];
  private readonly client: WireClient;
  private readonly isUpdate: boolean;
  private readonly waiting: Heard[] = [];
  private readonly answers: Heard[] = [];
  private published = 0;
  private requests = 0;

  constructor(client: WireClient, isUpdate: boolean) {
    this.client = client;
    this.isUpdate = isUpdate;
  }

  async begin(fields: string): Promise<void> {
    this.client.send('SUB R.> 1\r\nSUB A.> 2\r\n');
    const config = { name: 'S', subjects: ['s.>'], storage: 'file', ...(JSON.parse(fields) as object) };
    const answer = await this.request('STREAM.CREATE.S', JSON.stringify(config));
    if (answer.includes('"error"')) throw new Error(answer);
  }

  async end(): Promise<void> {
    await this.request('STREAM.DELETE.S', '');
    this.client.send('UNSUB 1\r\nUNSUB 2\r\n');
    await this.client.quiet();
  }

  async playGroup({ said, expected }: Group): Promise<void> {
    let bytes = '';
    for (const line of said.flatMap((each) => expanded(each))) {
      if (line.startsWith('>')) {
        bytes += this.publication(line);
        continue;
      }
      this.client.send(Buffer.from(bytes, 'latin1'));
      bytes = '';
      const [verb = '', what = '', ...rest] = line.split(' ');
      if (verb === 'wait') await delay(Number(what));
      else {
        const answer = await this.request(what, rest.join(' '));
        if (answer.includes('"error"')) throw new Error(answer);
      }
    }
    this.client.send(Buffer.from(bytes, 'latin1'));
    if (this.isUpdate) await this.silence();
    else await this.hears(expected);
    this.heard.push(this.waiting.splice(0).map(lineOf));
  }

  /** What came although nobody waited for it is part of the last group. */
  collectRest(): void {
    this.read();
    this.heard.at(-1)?.push(...this.waiting.splice(0).map(lineOf));
  }

  async stored(): Promise<string[]> {
    const { state } = JSON.parse(await this.request('STREAM.INFO.S', '')) as { state: Record<string, number> };
    const { messages = 0, bytes = 0, first_seq: first = 1, last_seq: last = 0 } = state;
    const summary = `= ${messages} messages, ${bytes} bytes, last ${last}`;
    const lines: string[] = [];
    for (let sequence = first; sequence <= last && sequence < first + SHOWN_MAX; sequence++) {
      const answer = await this.request('STREAM.MSG.GET.S', `{"seq":${sequence}}`);
      const { message } = JSON.parse(answer) as { message?: Record<string, string> };
      if (message === undefined) continue;
      const headers = Buffer.from(message['hdrs'] ?? '', 'base64').toString('latin1');
      const payload = Buffer.from(message['data'] ?? '', 'base64').toString('latin1');
      lines.push(`= ${sequence} ${message['subject']}${shownHeaders(headers)} | ${shownPayload(payload)}`.trimEnd());
    }
    return [...lines, summary];
  }

  private async request(subject: string, body: string): Promise<string> {
    const reply = `A.${++this.requests}`;
    this.client.send(Buffer.from(`PUB $JS.API.${subject} ${reply} ${body.length}\r\n${body}\r\n`, 'latin1'));
    await until(() => this.read().answers.some((each) => each.subject === reply), `the answer to ${subject}`);
    return (this.answers.find((each) => each.subject === reply) as Heard).payload;
  }

  private publication(line: string): string {
    const [address = '', payloadText = ''] = line.split(/ \|\s?/, 2);
    const [verb = '', subject = '', ...fields] = address.split(' ');
    let reply = verb === '>' ? `R.${++this.published}` : '';
    let headers = '';
    for (const field of fields) {
      const [, name = '', value = ''] = /^([^=]*)=(.*)$/.exec(field) ?? [];
      if (name === 'fi') reply = `R.${value}.$FI`;
      else headers += `${HEADERS[name] ?? name}: ${textOf(value)}\r\n`;
    }
    const payload = textOf(payloadText);
    if (headers === '') return `PUB ${subject} ${reply} ${payload.length}\r\n${payload}\r\n`;
    const block = `NATS/1.0\r\n${headers}\r\n`;
    return `HPUB ${subject} ${reply} ${block.length} ${block.length + payload.length}\r\n${block}${payload}\r\n`;
  }

  private async silence(): Promise<void> {
    for (;;) {
      const before = this.read().waiting.length;
      await delay(QUIET_MS);
      if (this.read().waiting.length === before) return;
    }
  }

  private async hears(count: number): Promise<void> {
    const deadline = performance.now() + WITHIN_MS;
    while (this.read().waiting.length < count && (await this.client.changed(deadline)));
  }

  private read(): this {
    for (;;) {
      const taken = this.client.tryTake(wholeMessage);
      if (!Buffer.isBuffer(taken)) {
        if (taken === 'mismatch') throw new Error(`no message: ${this.client.unread.toString('latin1')}`);
        return this;
      }
      const message = messageIn(taken.toString('latin1'));
      if (message.subject.startsWith('R.')) this.waiting.push(message);
      else this.answers.push(message);
    }
  }
}

function wholeMessage(received: Buffer): number | 'more' | 'mismatch' {
  const lineEnd = received.indexOf('\r\n');
  if (lineEnd < 0) return 'more';
  const line = received.toString('latin1', 0, lineEnd);
  if (!/^H?MSG /.test(line)) return 'mismatch';
  const bytes = lineEnd + 4 + Number(line.split(' ').at(-1));
  return received.length < bytes ? 'more' : bytes;
}

function messageIn(text: string): Heard {
  const lineEnd = text.indexOf('\r\n');
  const [verb = '', subject = '', , ...sizes] = text.slice(0, lineEnd).split(' ');
  const body = text.slice(lineEnd + 2, -2);
  const headerBytes = verb === 'HMSG' ? Number(sizes.at(-2)) : 0;
  return { subject, headers: body.slice(0, headerBytes), payload: body.slice(headerBytes) };
}

function lineOf({ subject, headers, payload }: Heard): string {
  const tail = subject.replace(/^R\./, '').replace(/\.\$FI$/, '');
  return `< ${tail}${headers === '' ? '' : ` ${headers.replaceAll('\r\n', ';')}`} | ${payload}`.trimEnd();
}

function shownHeaders(headers: string): string {
  const lines = headers.split('\r\n').slice(1, -2);
  const shown = lines
    .join('; ')
    .replaceAll(/x{100,}/g, (text) => `{${text.length}}`)
    .replaceAll(/[^ -~]/g, (byte) => `%${byte.codePointAt(0)?.toString(16).toUpperCase().padStart(2, '0')}`);
  return shown === '' ? '' : ` ${shown}`;
}

function shownPayload(payload: string): string {
  return payload.length > PAYLOAD_SHOWN_MAX && /^x*$/.test(payload) ? `{${payload.length}}` : payload;
}

/** `%20` is a blank, `{3}` is `xxx`. */
function textOf(written: string): string {
  return written
    .replaceAll(/%(..)/g, (_, hex: string) => String.fromCodePoint(parseInt(hex, 16)))
    .replaceAll(/\{(\d+)\}/g, (_, count: string) => 'x'.repeat(Number(count)));
}

/** A line with `{1..3}` is three lines. */
function expanded(line: string): string[] {
  const range = /\{(\d+)\.\.(\d+)\}/.exec(line);
  if (range === null) return [line];
  const [from, to] = [Number(range[1]), Number(range[2])];
  return Array.from({ length: to - from + 1 }, (_, i) => line.replaceAll(range[0], String(from + i)));
}
