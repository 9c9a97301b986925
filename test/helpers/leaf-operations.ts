/**
 * What a leaf link's parser makes of bytes that arrive in given pieces, as text, a line per operation. After each piece
 * the bytes it lay in are overwritten, as a read buffer's are.
 */
import { encodedBytesMax, writeLeafMessage } from '../../leafnode/leaf-encoder.ts';
import { LeafParser } from '../../leafnode/leaf-parser.ts';
import type { LeafOperations } from '../../leafnode/leaf-parser.ts';
import { HEADROOM_BYTES } from '../../server/io/io.ts';
import { Message } from '../../server/protocol/message.ts';

const LIMITS = { maxPayloadBytes: 1000, maxControlLineBytes: 100 };

class Noting implements LeafOperations {
  readonly lines: string[] = [];
  isClosed = false;

  info(json: string): void {
    this.#note(`info ${json.trim()}`);
  }

  message(message: Message): void {
    const { body, bodyStart, payloadStart, bodyEnd, queueGroups, tailStart } = message;
    const text = (from: number, to: number): string => JSON.stringify(body.toString('latin1', from, to));
    const reply = JSON.stringify(message.replyText());
    const headers = text(bodyStart, payloadStart);
    const parts = [`groups=${queueGroups?.join(',')}`, `headers=${headers}`, `payload=${text(payloadStart, bodyEnd)}`];
    this.#note(`message ${message.subjectText()} reply=${reply} ${parts.join(' ')}`);
    if (tailStart < 0) return;
    const tail = body.toString('latin1', tailStart, bodyEnd + 2);
    const [line, headerSize, size] = /^(?:(\d+) )?(\d+)\r\n/.exec(tail) ?? [];
    const isWhole =
      line !== undefined &&
      Number(headerSize ?? 0) === message.headerBytes &&
      Number(size) === message.bodyBytes &&
      tail.slice(line.length) === `${body.toString('latin1', bodyStart, bodyEnd)}\r\n`;
    if (!isWhole) this.#note(`the tail is ${JSON.stringify(tail)}`);
  }

  subscribe(subject: string, queueGroup: string, weight: number): void {
    this.#note(`subscribe ${subject} ${queueGroup} ${weight}`);
  }

  unsubscribe(subject: string, queueGroup: string): void {
    this.#note(`unsubscribe ${subject} ${queueGroup}`);
  }

  ping(): void {
    this.#note('ping');
  }

  pong(): void {
    this.#note('pong');
  }

  peerError(text: string): void {
    this.#note(`error ${text}`);
  }

  violation(error: { readonly text: string } | null): void {
    this.#note(`violation ${error === null ? 'malformed' : error.text}`);
    this.isClosed = true;
  }

  #note(line: string): void {
    this.lines.push(this.isClosed ? `after the end: ${line}` : line);
  }
}

/** Writes messages for another link, and nothing else. */
class Relaying extends Noting {
  readonly groups: readonly string[];

  constructor(groups: readonly string[]) {
    super();
    this.groups = groups;
  }

  override message(message: Message): void {
    const out = Buffer.alloc(encodedBytesMax(message, this.groups), 0xdd);
    this.lines.push(out.toString('latin1', 0, writeLeafMessage(out, 0, message, this.groups, true)));
  }
}

/** The operations in these pieces. */
export function readLeafOperations(pieces: readonly Buffer[]): string {
  const noting = new Noting();
  read(pieces, noting);
  return noting.lines.join('\n');
}

/** What another link gets of the messages in these bytes, for these queue groups. */
export function relayLeafMessages(bytes: Buffer, groups: readonly string[]): string {
  const relaying = new Relaying(groups);
  read([bytes], relaying);
  return relaying.lines.join('');
}

function read(pieces: readonly Buffer[], noting: Noting): void {
  const parser = new LeafParser(noting, LIMITS, new Message());
  for (const piece of pieces) {
    if (noting.isClosed) break;
    const buffer = Buffer.alloc(HEADROOM_BYTES + piece.length);
    piece.copy(buffer, HEADROOM_BYTES);
    parser.read(buffer, HEADROOM_BYTES, buffer.length);
    buffer.fill(0xdd);
  }
}
