/**
 * A hub with many leaf links: 2,000 of them, each with interest in 50 subjects of its own, and none hears of the others'
 * (which would be 200 million entries). What is measured is the hub. The leaves say what a leaf says, and keep nothing.
 */
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../helpers/free-port.ts';
import type { Sample } from './figures.ts';
import { startMeasured } from './measured-server.ts';
import type { Contender } from './programs.ts';
import type { Bench, Row } from './row.ts';
import { WireConnection } from './wire-connection.ts';

const LINKS = 2_000;
const SUBJECTS = 50;
const DIALLED = 50;
const QUIET_MS = 3_000;
const REACHED_MS_MAX = 30_000;

export const LEAF_HUB_ROW: Row = {
  name: 'leaf-hub',
  title: 'links of leaves, each with interest in 50 subjects of its own',
  table: 'own',
  roundsMax: 1,
  needsDisk: false,
  measure,
};

async function measure({ count }: Bench, contender: Contender): Promise<Sample> {
  const total = count(LINKS);
  const port = await freePort();
  const server = await startMeasured(contender, {
    jetstream: null,
    name: 'hub',
    more: `leafnodes { listen: "127.0.0.1:${port}", compression: off, isolate_leafnode_interest: true }`,
  });
  const leaves: ScriptedLeaf[] = [];
  try {
    await delay(QUIET_MS);
    const { usage } = server;
    const idleMb = usage.residentMb();
    const beganMs = performance.now();
    while (leaves.length < total) {
      const next = Array.from({ length: Math.min(DIALLED, total - leaves.length) }, (_, i) => leaves.length + i);
      leaves.push(...(await Promise.all(next.map((number) => ScriptedLeaf.link(port, number)))));
    }
    const acceptS = (performance.now() - beganMs) / 1000;
    await delay(QUIET_MS);
    const loadedMb = usage.residentMb();
    const reached = await reach(server.port, leaves);
    return { idleMb, loadedMb, kbPerConnection: ((loadedMb - idleMb) * 1024) / total, acceptS, reached };
  } finally {
    for (const leaf of leaves) leaf.close();
    await server.stop();
  }
}

/** Sends one message to each; how many got theirs. */
async function reach(port: number, leaves: readonly ScriptedLeaf[]): Promise<number> {
  const client = await WireConnection.open(port);
  for (const { number } of leaves) client.send(`PUB ${subjectOf(number, SUBJECTS - 1)} 1\r\n!\r\n`);
  await client.fence();
  const beganMs = performance.now();
  const reached = (): number => leaves.filter(({ messages }) => messages === 1).length;
  while (reached() < leaves.length && performance.now() - beganMs < REACHED_MS_MAX) await delay(20);
  client.close();
  return reached();
}

function subjectOf(leaf: number, at: number): string {
  return `site.${leaf}.device.${at}.command`;
}

class ScriptedLeaf {
  readonly number: number;
  messages = 0;
  readonly #socket: Socket;
  #told: (() => void) | null = null;

  constructor(socket: Socket, number: number) {
    this.#socket = socket;
    this.number = number;
    socket.on('data', (bytes) => this.#read(bytes.toString('latin1')));
    socket.on('error', () => undefined);
  }

  /** Resolves when the hub has taken the link with all its interest. */
  static async link(port: number, number: number): Promise<ScriptedLeaf> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    await once(socket, 'data');
    const leaf = new ScriptedLeaf(socket, number);
    const facts = { name: `leaf-${number}`, server_id: `ID${number}`, version: '2.15.2', cluster: `leaf-${number}` };
    const told = new Promise<void>((resolve) => (leaf.#told = resolve));
    let text = `CONNECT ${JSON.stringify({ ...facts, headers: true, compression: 'off' })}\r\n`;
    for (let at = 0; at < SUBJECTS; at++) text += `LS+ ${subjectOf(number, at)}\r\n`;
    socket.write(`${text}PING\r\n`);
    await told;
    return leaf;
  }

  close(): void {
    this.#socket.destroy();
  }

  #read(text: string): void {
    if (/^PING\r\n/m.test(text)) this.#socket.write('PONG\r\n');
    if (/^PONG\r\n/m.test(text)) this.#told?.();
    if (text.includes('-ERR')) throw new Error(`the hub said ${text}`);
    this.messages += text.split('LMSG ').length - 1;
  }
}
