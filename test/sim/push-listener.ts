/**
 * Whoever listens to a push consumer, leaves and comes again, stops reading now and then, answers flow control mostly, and
 * acknowledges most messages, wanting to know that this counts. It notes what must never be seen.
 */
import type { SeededRandom } from '../../server/io/simulated/seeded-random.ts';
import type { ReceivedMessage, SimulatedClient } from './simulated-client.ts';

type After = (ms: number, run: () => void) => void;

/** Tokens of an acknowledgement's subject. */
const DELIVERIES = 4;
const STREAM_SEQUENCE = 5;
const CONSUMER_SEQUENCE = 6;
const TURN_MS_MAX = 60;

/** What all listeners of a consumer saw, through all lives of the server. */
export class PushLedger {
  readonly confirmed: Set<number> = new Set();
  readonly faults: string[] = [];
  heartbeats = 0;
  flowRequests = 0;
  /** Confirmed in an earlier life: no copy of these can be on its way. */
  private settled: ReadonlySet<number> = new Set();

  restarted(): void {
    this.settled = new Set(this.confirmed);
  }

  isSettled(sequence: number): boolean {
    return this.settled.has(sequence);
  }
}

export class PushListener {
  private readonly client: SimulatedClient;
  private readonly random: SeededRandom;
  private readonly ledger: PushLedger;
  private readonly subject: string;
  private readonly queueGroup: string;
  private readonly after: After;
  private isListening = false;
  private isSteady = false;
  /** What this one heard: the last message that came for the first time, the last delivery, what is confirmed. */
  private newest = 0;
  private lastDelivery = 0;
  private readonly confirmed = new Set<number>();

  constructor(
    client: SimulatedClient,
    random: SeededRandom,
    ledger: PushLedger,
    [subject, queueGroup]: readonly [string, string],
    after: After,
  ) {
    this.client = client;
    this.random = random;
    this.ledger = ledger;
    this.subject = subject;
    this.queueGroup = queueGroup;
    this.after = after;
  }

  begin(): void {
    this.client.onMessage = (message) => this.heard(message);
    this.client.subscribe('c', `C.${this.client.name}.*`);
    this.turn();
  }

  /** From now on it stays, and acknowledges everything. */
  settle(): void {
    this.isSteady = true;
    if (!this.isListening) this.listen();
  }

  private turn(): void {
    if (this.isSteady || this.client.isClosed) return;
    if (!this.isListening) this.listen();
    else if (this.random.chance(0.4)) {
      this.isListening = false;
      this.client.unsubscribe('d');
    }
    this.after(this.random.between(1, TURN_MS_MAX), () => this.turn());
  }

  private listen(): void {
    this.isListening = true;
    this.client.subscribe('d', this.subject, this.queueGroup);
  }

  private heard({ sid, subject, reply, headers }: ReceivedMessage): void {
    if (sid === 'c') {
      const sequence = Number(subject.split('.')[2]);
      this.ledger.confirmed.add(sequence);
      this.confirmed.add(sequence);
    } else if (headers.includes('FlowControl')) {
      this.ledger.flowRequests++;
      this.answerFlow(reply);
    } else if (headers.includes('Heartbeat')) {
      this.ledger.heartbeats++;
      const [, stalled] = /Nats-Consumer-Stalled: (\S+)/.exec(headers) ?? [];
      if (stalled !== undefined) this.answerFlow(stalled);
    } else this.acknowledge(reply, this.delivered(reply));
  }

  /** The stream sequence of what was delivered. */
  private delivered(reply: string): number {
    const tokens = reply.split('.').map(Number);
    const sequence = tokens[STREAM_SEQUENCE] as number;
    const delivery = tokens[CONSUMER_SEQUENCE] as number;
    const { ledger } = this;
    if (this.confirmed.has(sequence) || ledger.isSettled(sequence)) {
      ledger.faults.push(`${sequence} came again behind its confirmed acknowledgement`);
    }
    if (delivery <= this.lastDelivery) ledger.faults.push(`delivery ${delivery} behind ${this.lastDelivery}`);
    this.lastDelivery = delivery;
    if (tokens[DELIVERIES] === 1) {
      if (sequence <= this.newest) ledger.faults.push(`${sequence} for the first time behind ${this.newest}`);
      this.newest = sequence;
    }
    return sequence;
  }

  private answerFlow(reply: string): void {
    if (this.isSteady || this.random.chance(0.7)) this.client.send(`PUB ${reply} 0\r\n\r\n`);
  }

  private acknowledge(reply: string, sequence: number): void {
    if (!this.isSteady && this.random.chance(0.15)) return;
    const answer = this.isSteady ? '' : this.random.pick(['', '+ACK', '+TERM', '', '-NAK', '+WPI']);
    const counts = answer !== '-NAK' && answer !== '+WPI';
    const inbox = counts && (this.isSteady || this.random.chance(0.9)) ? `C.${this.client.name}.${sequence} ` : '';
    this.client.send(`PUB ${reply} ${inbox}${answer.length}\r\n${answer}\r\n`);
  }
}
