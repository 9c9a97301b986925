/**
 * Plays one transcript against a running server. A failure names the file, the line and the step, shows what was
 * expected and what came, and ends with the last lines of the server's log.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { RunningServer } from '../helpers/targets.ts';
import { dial, shown } from '../helpers/wire-client.ts';
import type { Matcher, WireClient } from '../helpers/wire-client.ts';
import { infoMatcher } from './info-pattern.ts';
import type { Action, ConnectionStep, Transcript } from './transcript.ts';
import { lineMatcher, render } from './wire-text.ts';
import type { Captured, WireText } from './wire-text.ts';

const TIMEOUT_MS = 5_000;
const LOG_LINES_SHOWN = 8;
/** `>>` pieces are this far apart, so that a server reads each by itself. */
const PIECE_PAUSE_MS = 20;

/** What the player needs of a server. */
export type PlayedServer = Pick<RunningServer, 'address' | 'listening' | 'signal' | 'log' | 'target'>;

export interface PlayOptions {
  /** Everything sent is cut into pieces of that size. */
  readonly chunkBytes?: number | undefined;
  /** How long one step may take. */
  readonly timeoutMs?: number | undefined;
}

/** Plays the steps in order; rejects at the first that fails. `path` names the transcript in failures. */
export async function play(
  path: string,
  transcript: Transcript,
  server: PlayedServer,
  options: PlayOptions = {},
): Promise<void> {
  const player = new Player(server, options);
  try {
    for (const step of transcript.steps) {
      if ('waitMs' in step) await delay(step.waitMs);
      else if ('signal' in step) server.signal(step.signal);
      else await playStep(path, step, player);
    }
    await player.assertNothingLeft(path);
  } finally {
    await player.hangUp();
  }
}

async function playStep(path: string, step: ConnectionStep, player: Player): Promise<void> {
  try {
    await player.step(step);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const source = Buffer.from(step.source, 'latin1').toString('utf8');
    throw new TranscriptFailure(`${path}:${step.line}: ${source}\n${reason}\n${player.logTail()}`);
  }
}

/** What went wrong in the transcript; where the player was at that moment says nothing more. */
class TranscriptFailure extends Error {
  override readonly name = 'TranscriptFailure';
  override readonly stack = '';
}

class Player {
  readonly #server: PlayedServer;
  readonly #chunkBytes: number | undefined;
  readonly #timeoutMs: number;
  readonly #clients = new Map<string, WireClient>();
  readonly #served = new Set<WireClient>();
  readonly #captured: Captured = new Map();

  constructor(server: PlayedServer, options: PlayOptions) {
    this.#server = server;
    this.#chunkBytes = options.chunkBytes;
    this.#timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
  }

  async step({ names, action }: ConnectionStep): Promise<void> {
    if (action.kind === 'refused') {
      await this.#assertRefused();
      return;
    }
    const clients: WireClient[] = [];
    for (const name of names) clients.push(await this.#client(name, action));
    const [client] = clients;
    if (client === undefined) throw new Error('a step without a connection');
    if (clients.length > 1 && action.kind === 'expect') await this.#expectAtOne(clients, action.text);
    else await this.#act(client, action);
  }

  /**
   * A transcript must account for every byte that the server sent: at the end connections that were served a PONG before
   * are fenced, on the others at least nothing may be unread.
   */
  async assertNothingLeft(path: string): Promise<void> {
    for (const [name, client] of this.#clients) {
      if (client.hungUp) continue;
      const { unread } = client;
      if (unread.length > 0) throw new TranscriptFailure(`${path}: at its end ${name} still has ${shown(unread)}`);
      if (!this.#served.has(client) || client.ended) continue;
      await client.quiet(this.#timeoutMs).catch((error: Error) => {
        throw new TranscriptFailure(`${path}: at its end ${name} is not quiet\n${error.message}\n${this.logTail()}`);
      });
    }
  }

  async hangUp(): Promise<void> {
    await Promise.all([...this.#clients.values()].map((client) => client.close()));
  }

  logTail(): string {
    const lines = this.#server.log.trimEnd().split('\n').slice(-LOG_LINES_SHOWN);
    return `${this.#server.target.name}'s log ends with:\n${lines.join('\n')}`;
  }

  /** The connection of that name; dials it, and reads the greeting unless the first step says what to expect. */
  async #client(name: string, action: Action): Promise<WireClient> {
    const existing = this.#clients.get(name);
    if (existing !== undefined) return existing;
    const client = await dial(await this.#server.listening(action.kind === 'dial' ? action.listener : 'client'));
    this.#clients.set(name, client);
    if (!OWN_GREETING.has(action.kind)) await this.#expectInfo(client, {});
    return client;
  }

  async #act(client: WireClient, action: Action): Promise<void> {
    switch (action.kind) {
      case 'dial':
      case 'refused':
        return;
      case 'connect':
        await this.#connect(client, action.options);
        return;
      case 'send':
        await this.#send(client, Buffer.concat(action.texts.flatMap((text) => [this.#bytes(text), CRLF])));
        return;
      case 'send-piece':
        await this.#send(client, this.#bytes(action.text));
        await delay(PIECE_PAUSE_MS);
        return;
      case 'expect':
        await client.take(lineMatcher(action.text, this.#captured), 'the bytes of this step', this.#timeoutMs);
        return;
      case 'expect-info':
        await this.#expectInfo(client, action.pattern);
        return;
      case 'expect-any-order':
        await this.#expectAnyOrder(client, action.texts);
        return;
      case 'quiet':
        await client.quiet(this.#timeoutMs);
        this.#served.add(client);
        return;
      case 'closed':
        await client.closed(this.#timeoutMs);
        return;
      case 'cut':
        await client.cut(this.#timeoutMs);
        return;
      case 'close':
        await client.close();
        return;
      case 'stop-reading':
        client.stopReading();
        return;
      case 'resume-reading':
        client.resumeReading();
        return;
    }
  }

  async #connect(client: WireClient, options: Readonly<Record<string, unknown>>): Promise<void> {
    const connect = JSON.stringify({ verbose: false, pedantic: false, ...options });
    await this.#send(client, Buffer.from(`CONNECT ${connect}\r\nPING\r\n`));
    await client.expect('PONG\r\n', this.#timeoutMs);
    this.#served.add(client);
  }

  async #assertRefused(): Promise<void> {
    const client = await dial(this.#server.address()).catch((error: NodeJS.ErrnoException) => error.code);
    if (client === 'ECONNREFUSED') return;
    if (typeof client === 'object') await client.close();
    throw new Error('expected the connection to be refused');
  }

  async #send(client: WireClient, bytes: Buffer): Promise<void> {
    if (this.#chunkBytes === undefined) client.send(bytes);
    else await client.sendInChunks(bytes, this.#chunkBytes);
  }

  async #expectInfo(client: WireClient, pattern: Readonly<Record<string, unknown>>): Promise<void> {
    let reason = '';
    const matcher = infoMatcher(pattern, (found) => (reason = found));
    try {
      await client.take(matcher, 'INFO with these fields', this.#timeoutMs);
    } catch (cause) {
      if (reason === '') throw cause;
      throw new Error(`INFO differs: ${reason}`, { cause });
    }
  }

  /** Each of the texts arrives once, in whatever order. */
  async #expectAnyOrder(client: WireClient, texts: readonly WireText[]): Promise<void> {
    const open = texts.map((text) => lineMatcher(text, this.#captured));
    while (open.length > 0) {
      const anyOf: Matcher = (received) => {
        const verdicts = open.map((matcher) => matcher(received));
        const index = verdicts.findIndex((verdict) => typeof verdict === 'number');
        if (index < 0) return verdicts.includes('more') ? 'more' : 'mismatch';
        open.splice(index, 1);
        return verdicts[index] ?? 'mismatch';
      };
      await client.take(anyOf, `one of the ${open.length} open texts of this group`, this.#timeoutMs);
    }
  }

  /** The first of the connections that gets anything gets this text. */
  async #expectAtOne(clients: readonly WireClient[], text: WireText): Promise<void> {
    const deadline = performance.now() + this.#timeoutMs;
    for (;;) {
      const verdicts = clients.map((client) => client.tryTake(lineMatcher(text, this.#captured)));
      if (verdicts.some((verdict) => Buffer.isBuffer(verdict))) return;
      const rest = clients.map((client) => shown(client.unread)).join(' and ');
      if (verdicts.includes('mismatch')) throw new Error(`expected this at one of them\ncame ${rest}`);
      const changes = clients.map((client) => client.changed(deadline));
      if (!(await Promise.race(changes))) throw new Error(`expected this at one of them\ncame only ${rest}`);
    }
  }

  #bytes(text: WireText): Buffer {
    return render(text, this.#captured);
  }
}

/** First steps before which the greeting is not read away. */
const OWN_GREETING: ReadonlySet<Action['kind']> = new Set(['dial', 'expect', 'expect-info', 'expect-any-order']);
const CRLF: Buffer = Buffer.from('\r\n');
