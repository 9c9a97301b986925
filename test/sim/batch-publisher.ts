/**
 * Publishes to a stream over a simulated connection, one thing after the other: atomic batches, fast batches and single
 * messages, small and large, as a seed decides. It says the next thing when it has the answer to the last.
 */
import type { SeededRandom } from '../../server/io/simulated/seeded-random.ts';
import { batchPayload, type BatchLedger, type Published } from './batch-ledger.ts';
import type { ReceivedMessage, SimulatedClient } from './simulated-client.ts';

const BATCH_MESSAGES_MAX = 40;
const SMALL_BYTES_MAX = 400;
const MEDIUM_BYTES_MAX = 25_000;
const LARGE_BYTES_MAX = 70_000;
/** How much of a batch is sent before its publisher may pause. */
const PAUSE_CHANCE = 0.1;
const PAUSE_MS_MAX = 4;

export class BatchPublisher {
  private readonly client: SimulatedClient;
  private readonly random: SeededRandom;
  private readonly ledger: BatchLedger;
  private readonly name: string;
  private readonly after: (ms: number, run: () => void) => void;
  private count = 0;
  private waitingFor: Published | null = null;

  constructor(
    client: SimulatedClient,
    random: SeededRandom,
    ledger: BatchLedger,
    name: string,
    after: (ms: number, run: () => void) => void,
  ) {
    this.client = client;
    this.random = random;
    this.ledger = ledger;
    this.name = name;
    this.after = after;
    client.onMessage = (message) => this.heard(message);
    client.subscribe('1', `R.${name}.>`);
    this.publishNext();
  }

  private publishNext(): void {
    if (this.client.isClosed) return;
    const id = `${this.name}-${++this.count}`;
    const choice = this.random.fraction();
    if (choice < 0.5) this.publishAtomic(id, this.random.between(1, BATCH_MESSAGES_MAX));
    else if (choice < 0.6) this.publishFast(id);
    else this.publishSingle(id);
  }

  private publishAtomic(id: string, count: number): void {
    this.waitingFor = this.ledger.publishing(id, count);
    const isEndedExtra = this.random.chance(0.3);
    const bytesMax = this.random.pick([SMALL_BYTES_MAX, SMALL_BYTES_MAX, MEDIUM_BYTES_MAX, LARGE_BYTES_MAX]);
    const send = (position: number): void => {
      if (position > count) {
        if (isEndedExtra) this.send(`R.${id}`, atomicHeaders(id, position, 'eob'), Buffer.alloc(0));
        return;
      }
      const isCommit = position === count && !isEndedExtra;
      const payload = batchPayload(id, position, count, this.random.below(bytesMax));
      this.send(isCommit ? `R.${id}` : '', atomicHeaders(id, position, isCommit ? '1' : ''), payload);
      const pauseMs = this.random.chance(PAUSE_CHANCE) ? this.random.fraction() * PAUSE_MS_MAX : 0;
      if (pauseMs > 0) this.after(pauseMs, () => send(position + 1));
      else send(position + 1);
    };
    send(1);
  }

  /** Each message of a fast batch stands for itself. */
  private publishFast(id: string): void {
    const count = this.random.between(2, BATCH_MESSAGES_MAX);
    for (let sequence = 1; sequence <= count; sequence++) {
      const each = this.ledger.publishing(`${id}/${sequence}`, 1);
      const operation = sequence === 1 ? 0 : sequence === count ? 2 : 1;
      if (operation === 2) this.waitingFor = each;
      const payload = batchPayload(each.id, 1, 1, this.random.below(SMALL_BYTES_MAX));
      this.send(`R.${id}.5.fail.${sequence}.${operation}.$FI`, '', payload);
    }
  }

  private publishSingle(id: string): void {
    this.waitingFor = this.ledger.publishing(id, 1);
    const bytesMax = this.random.pick([SMALL_BYTES_MAX, SMALL_BYTES_MAX, LARGE_BYTES_MAX]);
    this.send(`R.${id}`, '', batchPayload(id, 1, 1, this.random.below(bytesMax)));
  }

  private send(reply: string, headers: string, payload: Buffer): void {
    const address = reply === '' ? `s.${this.name}` : `s.${this.name} ${reply.replace(/^R\./, `R.${this.name}.`)}`;
    const size = headers.length + payload.length;
    if (headers === '') this.client.send(`PUB ${address} ${size}\r\n`);
    else this.client.send(`HPUB ${address} ${headers.length} ${size}\r\n${headers}`);
    this.client.send(payload);
    this.client.send('\r\n');
  }

  /** Everything up to this sequence of a fast batch is stored. */
  private promised(subject: string, sequence: number): void {
    const [, , id] = subject.split('.');
    for (let each = 1; each <= sequence; each++) {
      const entry = this.ledger.published.get(`${id}/${each}`);
      if (entry === undefined) throw new Error(`${subject} promises ${each} messages`);
      entry.isPromised = true;
    }
  }

  private heard({ subject, payload }: ReceivedMessage): void {
    const { waitingFor } = this;
    const answer = JSON.parse(payload.toString()) as { seq: number; type?: string; error?: object };
    if (answer.error !== undefined) throw new Error(`${subject} was answered with ${payload.toString()}`);
    if (answer.type === 'ack') this.promised(subject, answer.seq);
    if (answer.type !== undefined || waitingFor === null) return;
    waitingFor.acknowledged = answer.seq;
    this.waitingFor = null;
    this.after(this.random.fraction() * PAUSE_MS_MAX, () => this.publishNext());
  }
}

function atomicHeaders(id: string, sequence: number, commit: string): string {
  const last = commit === '' ? '' : `Nats-Batch-Commit: ${commit}\r\n`;
  return `NATS/1.0\r\nNats-Batch-Id: ${id}\r\nNats-Batch-Sequence: ${sequence}\r\n${last}\r\n`;
}
