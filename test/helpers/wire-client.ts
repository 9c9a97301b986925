/**
 * A client that knows nothing but TCP: it sends the bytes it is told to send and compares what comes back, byte by
 * byte and in order. Whatever a test does not expect stays unread and fails the next expectation, so nothing the
 * server says goes unnoticed.
 *
 * One thing is done unasked: a PING that arrives where something else is expected is answered and skipped. A server
 * measures the round trip about two seconds after CONNECT, and a test on a slow machine may live that long. A test that
 * expects `PING` sees it and must answer by itself.
 *
 * Bound: an expectation waits at most `timeoutMs` (15 s unless told otherwise), then fails with what came instead.
 */
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { ReceivedBytes } from './received-bytes.ts';

/**
 * Looks at the unread bytes. Returns how many of them it takes (at least 1), `'more'` when it cannot tell yet, or
 * `'mismatch'`.
 */
export type Matcher = (received: Buffer) => number | 'more' | 'mismatch';

export interface ServerAddress {
  readonly host: string;
  readonly port: number;
}

const TIMEOUT_MS = 15_000;
/** Long enough for a server on a busy machine to read one chunk before the next is written. */
const BETWEEN_CHUNKS_MS = 1;
const PING: Buffer = Buffer.from('PING\r\n');
const SHOWN_BYTES_MAX = 400;

/** A failed expectation: what was expected and what came. */
export class WireMismatch extends Error {
  override readonly name = 'WireMismatch';
}

/** Connects to a server and resolves once the connection stands. Nothing is sent or read away. */
export async function dial(address: ServerAddress): Promise<WireClient> {
  const socket = connect({ host: address.host, port: address.port, noDelay: true });
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', reject);
  });
  return new WireClient(socket);
}

export class WireClient {
  readonly #socket: Socket;
  readonly #received: ReceivedBytes = new ReceivedBytes();
  #ended = false;
  #hungUp = false;
  #wake: () => void = () => {};

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (bytes) => {
      this.#received.append(bytes);
      this.#wake();
    });
    const ended = (): void => {
      this.#ended = true;
      this.#wake();
    };
    // A reset is one of the ways in which a server closes: 'close' follows and is what tests look at.
    socket.on('error', ended);
    socket.on('end', ended);
    socket.on('close', ended);
  }

  /** The server has closed the connection; unread bytes may remain. */
  get ended(): boolean {
    return this.#ended;
  }

  /** We have closed the connection: what the server said meanwhile matters to nobody. */
  get hungUp(): boolean {
    return this.#hungUp;
  }

  /** A copy of the bytes that nobody has expected yet. */
  get unread(): Buffer {
    return Buffer.from(this.#received.view());
  }

  /** Sends exactly these bytes in one write. Strings are taken as UTF-8. */
  send(bytes: string | Uint8Array): void {
    if (!this.#ended) this.#socket.write(bytes);
  }

  /** Sends the bytes in pieces of `chunkBytes`, far enough apart that the server reads each piece by itself. */
  async sendInChunks(bytes: Uint8Array, chunkBytes: number): Promise<void> {
    for (let at = 0; at < bytes.length && !this.#ended; at += chunkBytes) {
      this.send(bytes.subarray(at, at + chunkBytes));
      await delay(BETWEEN_CHUNKS_MS);
    }
  }

  /** Waits until `matcher` takes the next bytes and returns these. `what` describes the expectation in a failure. */
  async take(matcher: Matcher, what: string, timeoutMs: number = TIMEOUT_MS): Promise<Buffer> {
    const deadline = performance.now() + timeoutMs;
    for (;;) {
      const verdict = this.tryTake(matcher);
      if (Buffer.isBuffer(verdict)) return verdict;
      if (verdict === 'mismatch') throw this.#mismatch(what, 'came');
      if (this.#ended) throw this.#mismatch(what, 'the server closed after');
      if (!(await this.changed(deadline))) throw this.#mismatch(what, `within ${timeoutMs} ms came only`);
    }
  }

  /** As `take`, with what has arrived until now; answers and skips a PING that the matcher does not want. */
  tryTake(matcher: Matcher): Buffer | 'more' | 'mismatch' {
    for (;;) {
      const view = this.#received.view();
      const verdict = view.length === 0 ? 'more' : matcher(view);
      if (typeof verdict === 'number') return this.#received.take(verdict);
      if (verdict === 'more' || !startsAlike(view, PING)) return verdict;
      if (view.length < PING.length) return 'more';
      this.#received.take(PING.length);
      this.send('PONG\r\n');
    }
  }

  /** The next bytes are exactly these; a string is taken as UTF-8 and stands for itself, CRLF included. */
  async expect(bytes: string | Uint8Array, timeoutMs?: number): Promise<void> {
    const expected = Buffer.from(bytes);
    await this.take(exactly(expected), shown(expected), timeoutMs);
  }

  /** The next line, without its CRLF. */
  async line(timeoutMs?: number): Promise<string> {
    const taken = await this.take(anyLine, 'a line', timeoutMs);
    return taken.toString('utf8', 0, taken.length - 2);
  }

  /** The server has nothing more to say: it answers a PING, and with nothing but its PONG. Needs a served connection. */
  async quiet(timeoutMs?: number): Promise<void> {
    this.send(PING);
    await this.take(exactly(Buffer.from('PONG\r\n')), 'nothing but the answer to PING', timeoutMs);
    if (this.#received.length > 0) throw this.#mismatch('nothing after the answer to PING', 'came');
  }

  /** The server closes the connection and says nothing more before it does. */
  async closed(timeoutMs: number = TIMEOUT_MS): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    for (;;) {
      if (this.tryTake(nothing) === 'mismatch') throw this.#mismatch('the server to close', 'came');
      if (this.#ended) return;
      if (!(await this.changed(deadline))) throw this.#mismatch('the server to close', 'it stayed open;');
    }
  }

  /** The server closes the connection, whatever it says before. */
  async cut(timeoutMs: number = TIMEOUT_MS): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    while (!this.#ended) {
      if (!(await this.changed(deadline))) throw this.#mismatch('the server to close', 'it stayed open;');
    }
    this.#received.take(this.#received.length);
  }

  /** Leaves what the server sends in the kernel's buffers until `resumeReading()`. */
  stopReading(): void {
    this.#socket.pause();
  }

  resumeReading(): void {
    this.#socket.resume();
  }

  /** Hangs up and waits until the server has closed its side too, so that its subscriptions are gone or going. */
  async close(): Promise<void> {
    this.#hungUp = true;
    if (this.#socket.destroyed) return;
    this.#socket.resume();
    this.#socket.end();
    const deadline = performance.now() + 1_000;
    while (!this.#ended) if (!(await this.changed(deadline))) break;
    this.#socket.destroy();
  }

  /** Resolves with true when bytes arrive or the server closes, with false at `deadline` (performance.now() time). */
  async changed(deadline: number): Promise<boolean> {
    const remainingMs = deadline - performance.now();
    if (remainingMs <= 0) return false;
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), remainingMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve(true);
      };
    });
  }

  #mismatch(expected: string, verb: string): WireMismatch {
    return new WireMismatch(`expected ${expected}\n${verb} ${shown(this.#received.view())}`);
  }
}

/** Takes exactly `expected`. */
export function exactly(expected: Buffer): Matcher {
  return (received) => {
    if (!startsAlike(received, expected)) return 'mismatch';
    return received.length >= expected.length ? expected.length : 'more';
  };
}

/** Bytes for people: printable ASCII as it is, the rest escaped as in transcripts, long ones cut. */
export function shown(bytes: Uint8Array): string {
  if (bytes.length === 0) return '(nothing)';
  const text = Buffer.from(bytes.subarray(0, SHOWN_BYTES_MAX)).toString('latin1');
  const escaped = text.replaceAll('\\', '\\\\').replaceAll(/[^ -~]/g, (character) => {
    const named = { '\r': '\\r', '\n': '\\n', '\t': '\\t' }[character];
    return named ?? `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
  });
  const rest = bytes.length > SHOWN_BYTES_MAX ? ` … (${bytes.length} bytes)` : '';
  return `"${escaped}"${rest}`;
}

/** One is the beginning of the other. */
function startsAlike(a: Buffer, b: Buffer): boolean {
  const common = Math.min(a.length, b.length);
  return a.compare(b, 0, common, 0, common) === 0;
}

function anyLine(received: Buffer): number | 'more' {
  const end = received.indexOf('\r\n');
  return end < 0 ? 'more' : end + 2;
}

function nothing(received: Buffer): 'more' | 'mismatch' {
  return received.length === 0 ? 'more' : 'mismatch';
}
