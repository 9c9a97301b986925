/**
 * nats-server#5473, #5519, #7259: with plain and queue subscribers behind an import, plain ones got messages of a leaf
 * link twice, and when one of the two left the interest of the other was gone.
 */
import type { NatsConnection, Subscription } from '@nats-io/transport-node';
import { expect, test } from 'vitest';
import { describePairs } from '../helpers/describe-targets.ts';
import { natsClientOf, startLinkedPair } from '../helpers/linked-pair.ts';
import { until } from '../helpers/until.ts';

const ACCOUNTS = `
  accounts {
    ORIGIN { users: [ { user: o, password: p } ], exports: [ { stream: "data.>" } ] }
    APP { users: [ { user: a, password: p } ], imports: [ { stream: { account: ORIGIN, subject: "data.>" } } ] }
  }`;

/** Subscribers that come and go, and how often each has got the last message. */
class Subscribers {
  readonly #client: NatsConnection;
  readonly #heard = new Map<string, string[]>();
  readonly #subscriptions = new Map<string, Subscription>();

  constructor(client: NatsConnection) {
    this.#client = client;
  }

  async come(name: string, queue?: string): Promise<void> {
    const heard: string[] = [];
    this.#heard.set(name, heard);
    const callback = (_: unknown, message: { string(): string }): void => void heard.push(message.string());
    this.#subscriptions.set(
      name,
      this.#client.subscribe('data.x', queue === undefined ? { callback } : { queue, callback }),
    );
    await this.#client.flush();
  }

  async go(name: string): Promise<void> {
    this.#subscriptions.get(name)?.unsubscribe();
    this.#heard.delete(name);
    await this.#client.flush();
  }

  /** Publishes until everybody here has got something, then a last message; how many of it each has got. */
  async copies(publisher: NatsConnection, label: string): Promise<Record<string, number>> {
    await until(async () => {
      publisher.publish('data.x', 'try');
      await new Promise((resolve) => setTimeout(resolve, 20));
      return [...this.#heard.values()].every((heard) => heard.length > 0);
    }, `everybody to hear something, ${label}`);
    publisher.publish('data.x', label);
    publisher.publish('data.x', 'end');
    const has = (text: string) => (heard: string[]) => heard.includes(text);
    await until(() => [...this.#heard.values()].every(has('end')), `everybody to hear the end, ${label}`);
    const entries = [...this.#heard].map(([name, heard]) => [name, heard.filter((text) => text === label).length]);
    for (const heard of this.#heard.values()) heard.length = 0;
    return Object.fromEntries(entries) as Record<string, number>;
  }
}

/** Both, then the plain one, both again, then the member: how many copies each got, every time. */
async function comeAndGo(subscribers: Subscribers, publisher: NatsConnection): Promise<object[]> {
  const got: object[] = [];
  await subscribers.come('plain');
  await subscribers.come('member', 'q');
  got.push(await subscribers.copies(publisher, 'both'));
  await subscribers.go('member');
  got.push(await subscribers.copies(publisher, 'the plain one'));
  await subscribers.come('member', 'q');
  got.push(await subscribers.copies(publisher, 'both again'));
  await subscribers.go('plain');
  got.push(await subscribers.copies(publisher, 'the member'));
  return got;
}

const ONCE = [{ plain: 1, member: 1 }, { plain: 1 }, { plain: 1, member: 1 }, { member: 1 }];

describePairs('plain and queue subscribers', (leafTarget, hubTarget) => {
  test('behind an import of the leaf get one copy each', async () => {
    const pair = await startLinkedPair(leafTarget, hubTarget, { leaf: ACCOUNTS, remote: 'account: ORIGIN' });
    const app = await natsClientOf(pair.leaf, { user: 'a', pass: 'p' });
    expect(await comeAndGo(new Subscribers(app), await natsClientOf(pair.hub))).toEqual(ONCE);
  });

  test('at a leaf behind an import of the hub get one copy each', async () => {
    const pair = await startLinkedPair(leafTarget, hubTarget, { hub: ACCOUNTS, login: 'a:p' });
    const origin = await natsClientOf(pair.hub, { user: 'o', pass: 'p' });
    expect(await comeAndGo(new Subscribers(await natsClientOf(pair.leaf)), origin)).toEqual(ONCE);
  });
});
