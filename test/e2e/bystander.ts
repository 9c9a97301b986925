/** Somebody who is there already while others misbehave (`bystander-entry.ts`), and how long its messages took. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { ServerAddress } from '../helpers/wire-client.ts';

interface StoredMessages {
  readonly count: number;
  readonly slowestMs: number;
  /** Of a hundred, one took longer. */
  readonly slowMs: number;
}

const ENTRY = join(import.meta.dirname, 'bystander-entry.ts');

export class StoringBystander {
  private readonly child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.child = child;
  }

  /** Logs in as user `u` with the password `p`, over TLS if there is a file of authorities, and begins. */
  static async start({ host, port }: ServerAddress, authorities: string | null): Promise<StoringBystander> {
    const args = [host, String(port), ...(authorities === null ? [] : [authorities])];
    const child = fork(ENTRY, args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    onTestFinished(() => void child.kill());
    await answer(child);
    return new StoringBystander(child);
  }

  async stop(): Promise<StoredMessages> {
    const answered = answer(this.child);
    this.child.send('stop');
    const tookMs = ((await answered) as number[]).toSorted((a, b) => a - b);
    const count = tookMs.length;
    return { count, slowestMs: tookMs.at(-1) ?? 0, slowMs: tookMs[Math.floor(count * 0.99)] ?? 0 };
  }
}

/** What the child sends next; fails when it ends first. */
async function answer(child: ChildProcess): Promise<unknown> {
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the bystander ended with ${String(code)}`);
  });
  const [message] = (await Promise.race([once(child, 'message'), ended])) as unknown[];
  return message;
}
