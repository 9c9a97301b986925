/**
 * Works for one consumer of the mixed load, by pulling or by listening: acknowledges most messages, nearly always wanting
 * to know that this counts, and forgets, refuses or delays the others. A steady one acknowledges everything.
 */
import type { ReceivedMessage } from '../sim/simulated-client.ts';
import type { LoadConsumer, LoadLedger } from './load-ledger.ts';
import type { LoadLink } from './load-link.ts';

/** Tokens of an acknowledgement's subject. */
const DELIVERIES = 4;
const STREAM_SEQUENCE = 5;
const PULL_MS_MIN = 20;
const PULL_MS_MAX = 150;
const PULL_EXPIRES_NS = 200_000_000;

export class LoadWorker {
  private readonly link: LoadLink;
  private readonly ledger: LoadLedger;
  private readonly consumer: LoadConsumer;
  private readonly pullBatchMax: number;
  private readonly isConfirmed = new Set<number>();
  private newest = 0;
  private isSteady = false;
  private isStopped = false;

  constructor(link: LoadLink, ledger: LoadLedger, consumer: LoadConsumer, pullBatchMax: number) {
    this.pullBatchMax = pullBatchMax;
    this.link = link;
    this.ledger = ledger;
    this.consumer = consumer;
  }

  begin(): void {
    if (this.consumer.isPush) this.link.listen(`D.${this.consumer.name}`, (message) => this.heard(message));
    else this.pull();
  }

  /** From now on everything is acknowledged. */
  settle(): void {
    this.isSteady = true;
  }

  /** Nothing is asked for any more. */
  stop(): void {
    this.isStopped = true;
  }

  private pull(): void {
    const { link } = this;
    const subject = `P.${link.name}`;
    link.listen(subject, (message) => this.heard(message));
    const next = (): void => {
      if (this.isStopped) return;
      const body = JSON.stringify({ batch: link.random.between(1, this.pullBatchMax), expires: PULL_EXPIRES_NS });
      const { name } = this.ledger.stream;
      link.publish(`$JS.API.CONSUMER.MSG.NEXT.${name}.${this.consumer.name}`, [], body, subject);
      link.after(link.random.between(PULL_MS_MIN, PULL_MS_MAX), next);
    };
    next();
  }

  private heard({ headers, reply, payload }: ReceivedMessage): void {
    if (headers.startsWith('NATS/1.0 ')) {
      this.heardStatus(headers, reply);
      return;
    }
    const tokens = reply.split('.');
    const sequence = Number(tokens[STREAM_SEQUENCE]);
    const [id = ''] = payload.toString('latin1', 0, 100).split(' ', 1);
    const { ledger, consumer } = this;
    const nowMs = this.link.site.wallMs();
    const entry = ledger.delivered(consumer.name, id, sequence, nowMs, this.isConfirmed.has(sequence));
    if (Number(tokens[DELIVERIES]) === 1) {
      if (sequence < this.newest) ledger.faults.push(`${consumer.name} got ${sequence} first behind ${this.newest}`);
      this.newest = sequence;
    }
    if (entry === null) return;
    const answer = this.choose();
    if (answer === null) return;
    if (!this.isFinal(answer)) {
      this.link.say(reply, answer);
      return;
    }
    entry.tried.add(consumer.name);
    this.acknowledge(reply, answer, sequence);
  }

  private acknowledge(reply: string, answer: string, sequence: number): void {
    if (!this.isSteady && this.link.random.chance(0.1)) {
      this.link.say(reply, answer);
      return;
    }
    const inbox = this.link.inbox(() => {
      this.isConfirmed.add(sequence);
      this.ledger.confirmed(this.consumer.name, sequence);
      return true;
    });
    this.link.publish(reply, [], answer, inbox);
  }

  /** What is said about a message; `null`: nothing. */
  private choose(): string | null {
    const { random } = this.link;
    if (this.isSteady) return '+ACK';
    if (random.chance(0.1)) return null;
    return random.pick(['+ACK', '', '+ACK', '+ACK', '+TERM', '-NAK', '-NAK {"delay":20000000}', '+WPI']);
  }

  private isFinal(answer: string): boolean {
    return answer === '+ACK' || answer === '' || answer === '+TERM';
  }

  private heardStatus(headers: string, reply: string): void {
    const [, stalled] = /Nats-Consumer-Stalled: (\S+)/.exec(headers) ?? [];
    if (headers.includes('FlowControl') && reply !== '') this.link.say(reply, '');
    else if (stalled !== undefined) this.link.say(stalled, '');
  }
}
