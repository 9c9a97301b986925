/**
 * A client at the level of the wire, in a simulated world: it speaks the client protocol over a simulated socket, at its
 * own pace. It understands everything a server may say and fails on anything else, so that a byte lost or doubled shows
 * at once.
 */
import type { Address, Io, IoError, Socket, SocketHandler } from '../../server/io/io.ts';
import type { SeededRandom } from '../../server/io/simulated/seeded-random.ts';
import { ReceivedBytes } from '../helpers/received-bytes.ts';

export interface ClientOptions {
  readonly headers: boolean;
  readonly echo: boolean;
  readonly sendsConnect: boolean;
  /** How often it stops reading after a read, and for how long at most. */
  readonly stopChance: number;
  readonly stopMsMax: number;
}

export interface ReceivedMessage {
  readonly sid: string;
  readonly subject: string;
  /** Empty when there is none. */
  readonly reply: string;
  readonly headers: string;
  readonly payload: Buffer;
}

const CRLF = '\r\n';

export class SimulatedClient implements SocketHandler {
  readonly name: string;
  readonly options: ClientOptions;
  readonly errors: string[] = [];
  isClosed = false;
  closeError: IoError | null = null;
  onMessage: (message: ReceivedMessage) => void = () => undefined;
  /** Runs when the server has greeted the client. */
  onGreeted: () => void = () => undefined;
  private readonly io: Io;
  private readonly random: SeededRandom;
  private readonly received = new ReceivedBytes();
  private socket: Socket | null = null;
  private outbox: Buffer[] = [];
  private isWriting = false;
  private isGreeted = false;
  private isEnding = false;
  private pingsSent = 0;
  private pongsReceived = 0;

  constructor(io: Io, random: SeededRandom, name: string, options: Partial<ClientOptions>) {
    this.io = io;
    this.random = random;
    this.name = name;
    this.options = { headers: true, echo: true, sendsConnect: true, stopChance: 0, stopMsMax: 0, ...options };
  }

  dial(address: Address): void {
    this.socket = this.io.network.connect(address, this);
  }

  // ── what it says ─────────────────────────────────────────────────────────────────────────────────────────────────

  subscribe(sid: string, subject: string, queueGroup = ''): void {
    this.send(queueGroup === '' ? `SUB ${subject} ${sid}${CRLF}` : `SUB ${subject} ${queueGroup} ${sid}${CRLF}`);
  }

  unsubscribe(sid: string, max = 0): void {
    this.send(max === 0 ? `UNSUB ${sid}${CRLF}` : `UNSUB ${sid} ${max}${CRLF}`);
  }

  /** `headers` is a whole block, as `NATS/1.0␍␊A: b␍␊␍␊`; empty for none. */
  publish(subject: string, headers: string, payload: Buffer): void {
    if (headers === '') this.send(`PUB ${subject} ${payload.length}${CRLF}`);
    else this.send(`HPUB ${subject} ${headers.length} ${headers.length + payload.length}${CRLF}${headers}`);
    this.send(payload);
    this.send(CRLF);
  }

  ping(): void {
    if (this.isClosed) return;
    this.pingsSent++;
    this.send(`PING${CRLF}`);
  }

  /** Every PING of its own has been answered. */
  get isFenced(): boolean {
    return this.isGreeted && this.pongsReceived === this.pingsSent;
  }

  /** Hangs up after what it has said. */
  end(): void {
    this.isEnding = true;
    this.flush();
  }

  /** Hangs up in the middle of whatever it says. */
  destroy(): void {
    this.outbox = [];
    this.socket?.destroy();
  }

  send(bytes: string | Buffer): void {
    if (this.isClosed || this.isEnding) return;
    this.outbox.push(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
    this.flush();
  }

  private flush(): void {
    if (!this.isGreeted || this.isWriting || this.isClosed) return;
    if (this.outbox.length === 0) {
      if (this.isEnding) this.socket?.end();
      return;
    }
    const pieces = this.outbox;
    this.outbox = [];
    this.isWriting = true;
    this.socket?.write(pieces);
  }

  // ── what it hears ────────────────────────────────────────────────────────────────────────────────────────────────

  connected(): void {}

  written(): void {
    this.isWriting = false;
    this.flush();
  }

  data(buffer: Buffer, start: number, end: number): boolean {
    this.received.append(buffer.subarray(start, end));
    while (this.understandNext());
    if (!this.random.chance(this.options.stopChance)) return true;
    this.io.timers.after(this.random.fraction() * this.options.stopMsMax, () => this.socket?.resume());
    return false;
  }

  ended(): void {
    this.socket?.end();
  }

  closed(error: IoError | null): void {
    this.isClosed = true;
    this.closeError = error;
  }

  /** Takes the next thing the server said; false when it is not whole yet. */
  private understandNext(): boolean {
    const view = this.received.view();
    const lineEnd = view.indexOf(CRLF);
    if (lineEnd < 0) return false;
    const line = view.toString('latin1', 0, lineEnd);
    const [verb = '', ...words] = line.split(' ');
    if (verb === 'MSG' || verb === 'HMSG') return this.takeMessage(verb, words, lineEnd + 2);
    this.received.take(lineEnd + 2);
    if (verb === 'INFO') this.greet();
    else if (verb === 'PING') this.send(`PONG${CRLF}`);
    else if (verb === 'PONG') this.pongsReceived++;
    else if (verb === '-ERR') this.errors.push(line.slice(5));
    else if (verb !== '+OK') throw new Error(`${this.name} does not understand ${JSON.stringify(line)}`);
    return true;
  }

  private greet(): void {
    if (this.isGreeted) return;
    this.isGreeted = true;
    const { headers, echo, sendsConnect } = this.options;
    if (!sendsConnect) return;
    const connect = JSON.stringify({ verbose: false, pedantic: false, headers, echo, protocol: 1, lang: 'simulated' });
    // What it wanted to say before follows CONNECT.
    this.outbox.unshift(Buffer.from(`CONNECT ${connect}${CRLF}`));
    this.flush();
    this.onGreeted();
  }

  private takeMessage(verb: 'MSG' | 'HMSG', words: readonly string[], bodyStart: number): boolean {
    const total = Number(words.at(-1));
    const headerBytes = verb === 'HMSG' ? Number(words.at(-2)) : 0;
    if (this.received.length < bodyStart + total + 2) return false;
    this.received.take(bodyStart);
    const body = this.received.take(total);
    const lineEnd = this.received.take(2).toString('latin1');
    if (lineEnd !== CRLF) throw new Error(`${this.name}: ${JSON.stringify(lineEnd)} behind a message`);
    const [subject = '', sid = '', third = ''] = words;
    const reply = words.length > (verb === 'HMSG' ? 4 : 3) ? third : '';
    const headers = body.toString('latin1', 0, headerBytes);
    this.onMessage({ sid, subject, reply, headers, payload: body.subarray(headerBytes) });
    return true;
  }
}
