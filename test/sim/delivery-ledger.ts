/**
 * The book of a core simulation: who subscribed to what, who published what, who got what; and what is wrong with it.
 *
 * The rules that are checked:
 *   - a message is delivered as it was published, to a subscription that matches, as often as there are such (an UNSUB
 *     with a maximum bounds it), and to one member of each queue group;
 *   - what one client gets of one publisher comes in the order of publishing, over all its subscriptions;
 *   - what one subscription gets of one publisher has no gap;
 *   - between two clients that stay, a subscription that was there before the first message gets everything.
 */
import type { ReceivedMessage, SimulatedClient } from './simulated-client.ts';

const WRONGS_SHOWN = 10;

export interface BookedSubscription {
  readonly client: SimulatedClient;
  readonly sid: string;
  readonly pattern: string;
  readonly queueGroup: string;
  /** 0: no maximum. */
  readonly max: number;
  /** It stood before anything was published, and the client stays. */
  readonly isComplete: boolean;
}

interface Published {
  readonly publisher: SimulatedClient;
  readonly number: number;
  readonly subject: string;
  readonly headers: string;
  readonly payload: Buffer;
}

export class DeliveryLedger {
  readonly wrongs: string[] = [];
  deliveries = 0;
  private readonly subscriptions = new Map<string, BookedSubscription>();
  private readonly published = new Map<SimulatedClient, Published[]>();
  private readonly byName = new Map<string, SimulatedClient>();
  /** Of each subscription and publisher, the numbers of the messages that came. */
  private readonly delivered = new Map<BookedSubscription, Map<SimulatedClient, number[]>>();
  /** Of each client and publisher, the number of the last message that came, over all subscriptions. */
  private readonly latest = new Map<SimulatedClient, Map<SimulatedClient, number>>();

  /** Everything the client gets is booked from now on. */
  watch(client: SimulatedClient): void {
    this.byName.set(client.name, client);
    client.onMessage = (message) => this.book(client, message);
  }

  subscribe(subscription: BookedSubscription): void {
    const { client, sid, pattern, queueGroup, max } = subscription;
    this.subscriptions.set(`${client.name} ${sid}`, subscription);
    this.delivered.set(subscription, new Map());
    client.subscribe(sid, pattern, queueGroup);
    if (max > 0) client.unsubscribe(sid, max);
  }

  /** Publishes so many bytes that tell where they come from. */
  publish(publisher: SimulatedClient, subject: string, bytes: number, hasHeaders: boolean): void {
    const list = this.published.get(publisher) ?? [];
    this.published.set(publisher, list);
    const number = list.length;
    const label = `${publisher.name} ${number} `;
    const payload = Buffer.alloc(Math.max(bytes, label.length), number & 0xff);
    payload.write(label);
    const headers = hasHeaders ? `NATS/1.0\r\nNumber: ${number}\r\n\r\n` : '';
    list.push({ publisher, number, subject, headers, payload });
    publisher.publish(subject, headers, payload);
  }

  /** What was wrong on the way, and what is missing now that everything has been delivered. */
  verdict(stayed: (client: SimulatedClient) => boolean): string[] {
    for (const subscription of this.subscriptions.values()) {
      if (subscription.queueGroup === '') this.checkGaps(subscription, stayed);
    }
    this.checkGroups(stayed);
    return this.wrongs;
  }

  private book(client: SimulatedClient, { sid, subject, headers, payload }: ReceivedMessage): void {
    this.deliveries++;
    const subscription = this.subscriptions.get(`${client.name} ${sid}`);
    if (subscription === undefined) return this.wrong(`${client.name} got something for ${sid}, which it has not got`);
    const [name = '', numberText = ''] = payload.toString('latin1', 0, 40).split(' ');
    const publisher = this.byName.get(name);
    const message = publisher && this.published.get(publisher)?.[Number(numberText)];
    const label = `${client.name}/${sid} (${subscription.pattern}) got ${name} ${numberText}`;
    if (message === undefined) return this.wrong(`${label}, which nobody published`);
    if (message.subject !== subject) this.wrong(`${label} as ${subject} instead of ${message.subject}`);
    if (!message.payload.equals(payload)) this.wrong(`${label} damaged`);
    if (headers !== (client.options.headers ? message.headers : '')) this.wrong(`${label} with headers ${headers}`);
    if (!matches(subscription.pattern, subject)) this.wrong(`${label} on ${subject}, which does not match`);
    if (message.publisher === client && !client.options.echo) this.wrong(`${label}: its own`);
    this.checkOrder(subscription, message, label);
  }

  private checkOrder(subscription: BookedSubscription, { publisher, number }: Published, label: string): void {
    const numbers = this.numbersOf(subscription, publisher);
    const last = numbers.at(-1) ?? -1;
    if (number === last || numbers.includes(number)) this.wrong(`${label} twice`);
    else if (number < last) this.wrong(`${label} after ${last}`);
    numbers.push(number);
    const latest = this.latest.get(subscription.client) ?? new Map<SimulatedClient, number>();
    this.latest.set(subscription.client, latest);
    if (number < (latest.get(publisher) ?? -1)) this.wrong(`${label} after ${latest.get(publisher)} on another sid`);
    latest.set(publisher, Math.max(number, latest.get(publisher) ?? -1));
  }

  /** What came to a plain subscription is a run of what was published for it; all of it where that is due. */
  private checkGaps(subscription: BookedSubscription, stayed: (client: SimulatedClient) => boolean): void {
    let due = 0;
    let got = 0;
    for (const [publisher, messages] of this.published) {
      const expected = this.expectedBy(subscription, messages);
      const numbers = this.numbersOf(subscription, publisher);
      const first = subscription.isComplete ? 0 : expected.indexOf(numbers[0] ?? -1);
      const run = expected.slice(first, first + numbers.length);
      const where = `${subscription.client.name}/${subscription.sid} (${subscription.pattern}) of ${publisher.name}`;
      if (numbers.some((number, i) => number !== run[i])) this.wrong(`${where}: ${shown(numbers)}, not ${shown(run)}`);
      if (stayed(publisher)) due += expected.length;
      got += numbers.length;
      const isAll = subscription.isComplete && stayed(subscription.client) && stayed(publisher);
      if (isAll && subscription.max === 0 && numbers.length < expected.length) {
        this.wrong(`${where}: ${numbers.length} instead of ${expected.length}`);
      }
    }
    const { client, max, sid, isComplete } = subscription;
    if (max === 0) return;
    if (got > max) this.wrong(`${client.name}/${sid}: ${got} although no more than ${max} were wanted`);
    if (isComplete && stayed(client) && got < Math.min(max, due)) {
      this.wrong(`${client.name}/${sid}: ${got} instead of ${Math.min(max, due)}`);
    }
  }

  /** Each message went to at most one member of a group, whatever subjects its members have; to one where they stay. */
  private checkGroups(stayed: (client: SimulatedClient) => boolean): void {
    const groups = new Map<string, BookedSubscription[]>();
    for (const each of this.subscriptions.values()) {
      if (each.queueGroup !== '') groups.set(each.queueGroup, [...(groups.get(each.queueGroup) ?? []), each]);
    }
    for (const [group, members] of groups) {
      for (const [publisher, messages] of this.published) {
        const numbers = members.flatMap((each) => this.numbersOf(each, publisher));
        const got = new Set(numbers);
        if (got.size < numbers.length) this.wrong(`group ${group} got something of ${publisher.name} twice`);
        if (!stayed(publisher)) continue;
        for (const { number, subject } of messages) {
          if (got.has(number) || !isDueToGroup(members, publisher, subject, stayed)) continue;
          this.wrong(`group ${group} never got ${publisher.name} ${number} on ${subject}`);
        }
      }
    }
  }

  private expectedBy({ pattern, client }: BookedSubscription, messages: readonly Published[]): number[] {
    const wanted = messages.filter(({ subject, publisher }) => {
      return matches(pattern, subject) && (publisher !== client || client.options.echo);
    });
    return wanted.map(({ number }) => number);
  }

  private numbersOf(subscription: BookedSubscription, publisher: SimulatedClient): number[] {
    const ofSubscription = this.delivered.get(subscription) as Map<SimulatedClient, number[]>;
    const numbers = ofSubscription.get(publisher) ?? [];
    ofSubscription.set(publisher, numbers);
    return numbers;
  }

  private wrong(what: string): void {
    if (this.wrongs.length < WRONGS_SHOWN) this.wrongs.push(what);
  }
}

/** Whether some member of the group has to get it: all that could take it were there all the time, without a maximum. */
function isDueToGroup(
  members: readonly BookedSubscription[],
  publisher: SimulatedClient,
  subject: string,
  stayed: (client: SimulatedClient) => boolean,
): boolean {
  const candidates = members.filter(({ pattern }) => matches(pattern, subject));
  if (candidates.length === 0) return false;
  return candidates.every(({ client, isComplete, max }) => {
    return isComplete && stayed(client) && max === 0 && (client !== publisher || client.options.echo);
  });
}

/** Whether the subject matches the pattern, by the plainest reckoning. */
function matches(pattern: string, subject: string): boolean {
  const wanted = pattern.split('.');
  const tokens = subject.split('.');
  for (const [i, token] of wanted.entries()) {
    if (token === '>') return tokens.length > i;
    if (i >= tokens.length || (token !== '*' && token !== tokens[i])) return false;
  }
  return wanted.length === tokens.length;
}

function shown(numbers: readonly number[]): string {
  return numbers.length > 8 ? `${numbers.slice(0, 8).join(' ')} … (${numbers.length})` : numbers.join(' ') || 'nothing';
}
