/** Those who publish to streams that keep messages for their consumers, and those who work on the messages. */
import type { SeededRandom } from '../../server/io/simulated/seeded-random.ts';
import type { RetentionLedger } from './retention-ledger.ts';
import type { ReceivedMessage, SimulatedClient } from './simulated-client.ts';

type After = (ms: number, run: () => void) => void;

/** Token of an acknowledgement's subject: the stream sequence. */
const SEQUENCE_TOKEN = 5;
const SMALL_BYTES_MAX = 300;
const LARGE_BYTES_MAX = 40_000;

/** Publishes one message after the other, several at once now and then. */
export class RetentionPublisher {
  private readonly client: SimulatedClient;
  private readonly random: SeededRandom;
  private readonly ledger: RetentionLedger;
  private readonly subjects: readonly string[];
  private readonly name: string;
  private readonly waiting: string[] = [];

  constructor(client: SimulatedClient, random: SeededRandom, ledger: RetentionLedger, name: string) {
    this.client = client;
    this.random = random;
    this.ledger = ledger;
    this.name = name;
    this.subjects = ['a', 'b', 'c'].map((each) => `${ledger.stream.name.toLowerCase()}.${each}`);
  }

  begin(): void {
    this.client.onMessage = (message) => this.heard(message);
    this.client.subscribe('1', `R.${this.name}`);
    this.publishSome();
  }

  private publishSome(): void {
    if (this.client.isClosed) return;
    for (let count = this.random.between(1, 5); count > 0; count--) {
      const subject = this.random.pick(this.subjects);
      const bytes = this.random.chance(0.05) ? LARGE_BYTES_MAX : this.random.between(0, SMALL_BYTES_MAX);
      this.waiting.push(subject);
      this.client.send(`PUB ${subject} R.${this.name} ${bytes}\r\n${'.'.repeat(bytes)}\r\n`);
    }
  }

  private heard({ payload }: ReceivedMessage): void {
    const { seq, error } = JSON.parse(payload.toString()) as { seq: number; error?: object };
    const subject = this.waiting.shift();
    if (subject === undefined || error !== undefined)
      this.ledger.faults.push(`${this.name} heard ${payload.toString()}`);
    else this.ledger.stored(subject, seq);
    if (this.waiting.length === 0) this.publishSome();
  }
}

/** Asks for messages, and acknowledges most of them, nearly always wanting to know that this counts. */
export class RetentionWorker {
  private readonly client: SimulatedClient;
  private readonly random: SeededRandom;
  private readonly ledger: RetentionLedger;
  private readonly consumer: string;
  private readonly after: After;
  private asked = 0;

  constructor(client: SimulatedClient, random: SeededRandom, ledger: RetentionLedger, consumer: string, after: After) {
    this.client = client;
    this.random = random;
    this.ledger = ledger;
    this.consumer = consumer;
    this.after = after;
  }

  begin(): void {
    this.client.onMessage = (message) => this.heard(message);
    this.client.subscribe('1', `P.${this.consumer}.>`);
    this.client.subscribe('2', `C.${this.consumer}.*`);
    this.pull();
  }

  private pull(): void {
    if (this.client.isClosed) return;
    const body = JSON.stringify({ batch: this.random.between(1, 20), expires: 20_000_000 });
    const subject = `$JS.API.CONSUMER.MSG.NEXT.${this.ledger.stream.name}.${this.consumer}`;
    this.client.send(`PUB ${subject} P.${this.consumer}.${++this.asked} ${body.length}\r\n${body}\r\n`);
    this.after(this.random.between(1, 25), () => this.pull());
  }

  private heard({ sid, subject, reply, headers }: ReceivedMessage): void {
    if (sid === '2') {
      this.ledger.confirmed(this.consumer, Number(subject.split('.')[2]));
      return;
    }
    if (headers !== '' || reply === '') return;
    const sequence = Number(reply.split('.')[SEQUENCE_TOKEN]);
    this.ledger.delivered(this.consumer, sequence, subject);
    // Who published it has to know its sequence first, or nobody could tell what becomes of it.
    if (!this.ledger.knows(sequence) || this.random.chance(0.15)) return;
    const answer = this.random.pick(['+ACK', '', '+ACK', '+TERM', '-NAK', '+WPI']);
    if (answer === '-NAK' || answer === '+WPI') {
      this.client.send(`PUB ${reply} ${answer.length}\r\n${answer}\r\n`);
      return;
    }
    this.ledger.tries(this.consumer, sequence);
    const inbox = this.random.chance(0.9) ? `C.${this.consumer}.${sequence} ` : '';
    this.client.send(`PUB ${reply} ${inbox}${answer.length}\r\n${answer}\r\n`);
  }
}
