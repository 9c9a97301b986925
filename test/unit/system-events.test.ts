/** What `$SYS` costs while nobody listens, and when requests come faster than what answers them can be loaded. */
import { describe, expect, it } from 'vitest';
import { Message } from '../../server/protocol/message.ts';
import type { Sink } from '../../server/ports.ts';
import { Subscription } from '../../server/subject/subscription.ts';
import { until } from '../helpers/until.ts';
import { Crowd } from './monitor-crowd.ts';

class Listener implements Sink {
  readonly sinkKind = 'internal' as const;
  readonly heard: { readonly subject: string; readonly body: string }[] = [];

  deliver(_subscription: Subscription, message: Message): boolean {
    const body = message.body.toString('latin1', message.payloadStart, message.bodyEnd);
    this.heard.push({ subject: message.subjectText(), body });
    return true;
  }
}

function listen(crowd: Crowd, subject: string): Listener {
  const listener = new Listener();
  crowd.server.systemAccount.subscribe(new Subscription(listener, subject, '', '1'));
  return listener;
}

function publish(crowd: Crowd, subject: string, reply: string): void {
  const message = new Message();
  const bytes = Buffer.from(subject);
  message.setSubject(bytes, 0, bytes.length);
  const inbox = Buffer.from(reply);
  message.setReply(inbox, 0, inbox.length);
  crowd.server.systemAccount.route(message);
}

/** Numbers that the server has given to what it said of itself. */
async function spoken(crowd: Crowd): Promise<number> {
  const answers = listen(crowd, '_INBOX.spoken');
  publish(crowd, '$SYS.REQ.SERVER.PING.VARZ', '_INBOX.spoken');
  await until(() => {
    crowd.endTurn();
    return answers.heard.length > 0;
  }, 'an answer');
  return (JSON.parse(answers.heard[0]?.body ?? '') as { server: { seq: number } }).server.seq;
}

describe('events of connections', () => {
  it('are not made while nobody listens', async () => {
    const crowd = new Crowd().start();
    for (let i = 0; i < 50; i++) crowd.client().hangUp();
    expect(await spoken(crowd)).toBe(1);
  });

  it('are not made for listeners to something else', async () => {
    const crowd = new Crowd().start();
    const others = ['$SYS.REQ.>', 'a.>', '*', '$JS.EVENT.>', '$SYS', '$SYS._INBOX.>'].map((each) =>
      listen(crowd, each),
    );
    for (let i = 0; i < 50; i++) crowd.client().hangUp();
    const before = others.reduce((sum, { heard }) => sum + heard.length, 0);
    expect(before).toBe(0);
    expect(await spoken(crowd)).toBe(1);
  });

  it.each(['>', '*.>', '$SYS.>', '$SYS.*.>', '$SYS.ACCOUNT.*.CONNECT', '*.ACCOUNT.$G.CONNECT'])(
    'are heard by who listens to %s',
    (subject) => {
      const crowd = new Crowd().start();
      const listener = listen(crowd, subject);
      crowd.client();
      const connects = listener.heard.filter(({ subject: told }) => told === '$SYS.ACCOUNT.$G.CONNECT');
      expect(connects.map(({ body }) => (JSON.parse(body) as { client: { acc: string } }).client.acc)).toEqual(['$G']);
    },
  );

  it('end with the last who listens', async () => {
    const crowd = new Crowd().start();
    const subscription = new Subscription(new Listener(), '$SYS.ACCOUNT.>', '', '1');
    crowd.server.systemAccount.subscribe(subscription);
    crowd.client();
    crowd.server.systemAccount.unsubscribe(subscription);
    crowd.client();
    // The first one was told of, and this is the second thing that is said.
    expect(await spoken(crowd)).toBe(2);
  });
});

describe('requests', () => {
  it('wait in a bounded number, and are answered in their order', async () => {
    const crowd = new Crowd().start();
    const answers = listen(crowd, '_INBOX.*');
    for (let i = 0; i < 1500; i++) publish(crowd, '$SYS.REQ.SERVER.PING.IDZ', `_INBOX.${i}`);
    await until(() => {
      crowd.endTurn();
      return answers.heard.length > 0;
    }, 'answers');
    expect(answers.heard).toHaveLength(1024);
    expect(answers.heard[1023]?.subject).toBe('_INBOX.1023');
  });
});
