/** Somebody who is there already while others misbehave: it stores one message after the other and waits for each. */
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import type { ServerAddress } from '../helpers/wire-client.ts';
import { until } from '../helpers/until.ts';

interface StoredMessages {
  readonly count: number;
  readonly slowestMs: number;
  /** Of a hundred, one took longer. */
  readonly slowMs: number;
}

/** What is needed of a connection. */
interface Talk {
  /** All that has come so far. */
  readonly received: string;
  send(text: string): void;
}

const BETWEEN_MS = 10;
const WITHIN_MS = 60_000;
const STREAM = JSON.stringify({ name: 'S', subjects: ['s'], max_msgs: 100, storage: 'file' });

/** A connection in clear that keeps all that comes. */
export class StoringClient implements Talk {
  received = '';
  private readonly socket: Socket;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => (this.received += text));
  }

  /** As user `u` with the password `p`. */
  static async login({ host, port }: ServerAddress): Promise<StoringClient> {
    const socket = connect({ host, port, noDelay: true });
    const client = new StoringClient(socket);
    onTestFinished(() => void socket.destroy());
    client.send('CONNECT {"verbose":false,"user":"u","pass":"p"}\r\nPING\r\n');
    await until(() => client.received.includes('PONG'), 'the login');
    return client;
  }

  send(text: string): void {
    this.socket.write(text);
  }
}

export class StoringBystander {
  private readonly talk: Talk;
  private readonly tookMs: number[] = [];
  private running: Promise<void> | null = null;
  private isStopping = false;

  constructor(talk: Talk) {
    this.talk = talk;
  }

  /** Makes the stream, and begins. */
  async start(): Promise<void> {
    this.talk.send(`SUB _I 1\r\nPUB $JS.API.STREAM.CREATE.S _I ${STREAM.length}\r\n${STREAM}\r\n`);
    await until(() => this.talk.received.includes('"did_create":true'), 'the stream');
    this.running = this.run();
  }

  async stop(): Promise<StoredMessages> {
    this.isStopping = true;
    await this.running;
    const sorted = this.tookMs.toSorted((a, b) => a - b);
    const count = sorted.length;
    return { count, slowestMs: sorted.at(-1) ?? 0, slowMs: sorted[Math.floor(count * 0.99)] ?? 0 };
  }

  private async run(): Promise<void> {
    for (let sequence = 1; !this.isStopping; sequence++) {
      const before = performance.now();
      this.talk.send('PUB s _I 2\r\nhi\r\n');
      await until(() => this.talk.received.includes(`"seq":${sequence}}`), 'an acknowledgement', WITHIN_MS);
      this.tookMs.push(performance.now() - before);
      await delay(BETWEEN_MS);
    }
  }
}
