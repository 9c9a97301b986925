/**
 * An acknowledged message is on disk: of every acknowledgement that the binary writes to a socket, strace shows that
 * the synced write with the message had returned before. Sizes are on both sides of where a message goes to its block
 * first; they come one at a time and many at once, over several connections, and some twice, so that the second is
 * acknowledged as the duplicate of one that is still on its way to the disk.
 *
 * The same is asked of a binary that was built without the sync: there every acknowledgement must be found too early.
 */
import { connect } from '@nats-io/transport-node';
import type { NatsConnection } from '@nats-io/transport-node';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { describeUnless } from '../helpers/describe-unless.ts';
import type { Target } from '../helpers/targets.ts';
import { temporaryDirectory } from '../helpers/temporary-directory.ts';
import { builtPetiole, builtVariant } from './built-binary.ts';
import { startGateway } from './gateway.ts';
import { markedPayload } from './marked-message.ts';
import { straceAbsence, underStrace } from './strace.ts';
import { AUDITED_CALLS, auditSyncs } from './sync-audit.ts';
import { readSystemCalls } from './system-calls.ts';
import type { SystemCall } from './system-calls.ts';

interface Size {
  readonly bytes: number;
  /** Messages published one after the other, each when the one before is acknowledged. */
  readonly singly: number;
  /** Messages of each connection published at once. */
  readonly burst: number;
}

const SIZES: readonly Size[] = [
  { bytes: 16, singly: 40, burst: 300 },
  { bytes: 4096, singly: 40, burst: 150 },
  { bytes: 65_536, singly: 20, burst: 15 },
];
const CONNECTIONS = 3;
/** Every so-manieth message of a burst is published twice. */
const TWICE_EVERY = 5;
/** More than is ever written at once. */
const BUFFER_BYTES = 16 * 1024 * 1024;

describeUnless(straceAbsence(), 'an acknowledgement', () => {
  it('leaves after the sync of its message', async () => {
    const { calls, sequences, acknowledgements } = await publishTraced(builtPetiole());
    const { acknowledged, early } = auditSyncs(calls, sequences);
    expect(acknowledged).toHaveLength(acknowledgements);
    expect(new Set(acknowledged)).toEqual(new Set(sequences.values()));
    // A failure need not show all.
    expect(early.slice(0, 10)).toEqual([]);

    // The audit looks at both syncs of a large message.
    const withoutBlockSyncs = calls.filter(({ name, file }) => name !== 'fdatasync' || !file.endsWith('.blk'));
    const larges = SIZES.filter(({ bytes }) => bytes > 32_768).map(countOf);
    const unsynced = new Set(auditSyncs(withoutBlockSyncs, sequences).early);
    expect(unsynced.size).toBeGreaterThanOrEqual(larges.reduce((sum, count) => sum + count, 0));
    expect(unsynced.size).toBeLessThan(sequences.size);
  });

  it('is found to be early where the sync is missing', async () => {
    const target = builtVariant(temporaryDirectory(), '__PETIOLE_SYNC__', 'false');
    const { calls, sequences, acknowledgements } = await publishTraced(target);
    const { acknowledged, early } = auditSyncs(calls, sequences);
    expect(acknowledged).toHaveLength(acknowledgements);
    expect(early).toEqual(acknowledged);
  });
});

interface Traced {
  readonly calls: readonly SystemCall[];
  /** Of the messages, by the numbers in their payloads, as the acknowledgements told them. */
  readonly sequences: ReadonlyMap<number, number>;
  /** How many there were. */
  readonly acknowledgements: number;
}

/** Runs the server under strace, publishes everything and returns what was seen from both sides. */
async function publishTraced(target: Target): Promise<Traced> {
  const output = join(temporaryDirectory(), 'calls');
  const options = { calls: AUDITED_CALLS, output, bufferBytes: BUFFER_BYTES };
  const gateway = await startGateway({ target, around: (command) => underStrace(command, options) });
  const connections: NatsConnection[] = [];
  for (let i = 0; i < CONNECTIONS; i++) connections.push(await connected(await gateway.address()));

  const manager = await jetstreamManager(connections[0] as NatsConnection);
  await manager.streams.add({ name: 'MARKED', subjects: ['marked.>'] });
  const publishers = connections.map((connection) => new MarkedPublisher(connection));
  for (const size of SIZES) await (publishers[0] as MarkedPublisher).singly(size);
  for (const size of SIZES) await Promise.all(publishers.map((publisher) => publisher.burst([size])));
  await Promise.all(publishers.map((publisher) => publisher.burst(SIZES)));
  await gateway.stop();

  const sequences = new Map(publishers.flatMap((publisher) => [...publisher.sequences]));
  const acknowledgements = publishers.reduce((sum, publisher) => sum + publisher.acknowledgements, 0);
  return { calls: readSystemCalls(output), sequences, acknowledgements };
}

async function connected(servers: string): Promise<NatsConnection> {
  const connection = await connect({ servers, reconnect: false });
  onTestFinished(() => connection.close());
  return connection;
}

/** So many messages of this size are published in all. */
function countOf({ singly, burst }: Size): number {
  return singly + 2 * CONNECTIONS * burst;
}

let nextNumber = 1;

class MarkedPublisher {
  readonly sequences = new Map<number, number>();
  acknowledgements = 0;
  readonly #connection: NatsConnection;

  constructor(connection: NatsConnection) {
    this.#connection = connection;
  }

  async singly({ bytes, singly }: Size): Promise<void> {
    for (let i = 0; i < singly; i++) await this.#publish(nextNumber++, bytes);
  }

  /** Publishes the messages of these sizes at once, the sizes taking turns. */
  async burst(sizes: readonly Size[]): Promise<void> {
    const rounds = Math.max(...sizes.map(({ burst }) => burst));
    const published: Promise<void>[] = [];
    for (let round = 0; round < rounds; round++) {
      for (const { bytes, burst } of sizes) {
        if (round >= burst) continue;
        const number = nextNumber++;
        published.push(this.#publish(number, bytes));
        if (number % TWICE_EVERY === 0) published.push(this.#publish(number, bytes));
      }
    }
    await Promise.all(published);
  }

  async #publish(number: number, bytes: number): Promise<void> {
    const options = { msgID: String(number), timeout: 30_000 };
    const payload = markedPayload(number, bytes);
    const { seq } = await jetstream(this.#connection).publish(`marked.${bytes}`, payload, options);
    if ((this.sequences.get(number) ?? seq) !== seq) throw new Error(`message ${number} has two sequences`);
    this.sequences.set(number, seq);
    this.acknowledgements++;
  }
}
