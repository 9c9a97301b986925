/** What consumers offer besides messages: pauses, resets, advisories and samples; on petiole as on nats-server. */
import { describe, expect, it } from 'vitest';
import { absenceIsFailure } from '../helpers/targets.ts';
import { absence, type Conversation, onBoth, type Talk } from './consumer-conversation.ts';

const FAR = '2100-01-01T00:00:00Z';
const ADVISORIES = '$JS.EVENT.*.CONSUMER.>';

interface Listed {
  readonly consumers: readonly (string | { readonly name: string })[];
}

function soon(): string {
  return new Date(Date.now() + 600).toISOString();
}

async function pull(talk: Conversation, request: object | string = '1'): Promise<void> {
  const body = typeof request === 'string' ? request : JSON.stringify(request);
  talk.client.publish('$JS.API.CONSUMER.MSG.NEXT.S.C', body, { reply: 'inbox' });
  await talk.more(1);
}

const TALKS: readonly (readonly [string, Talk])[] = [
  [
    'a pause holds back a push consumer until its end',
    async (talk) => {
      await talk.store(1, 2);
      await talk.consumer('C', { durable_name: 'C', deliver_subject: 'd', pause_until: soon() });
      talk.listen('d');
      await talk.quiet();
      await talk.stand('C');
      await talk.more(2);
      await talk.stand('C');
    },
  ],
  [
    'a pause begins and ends on request',
    async (talk) => {
      await talk.consumer('C', { durable_name: 'C', deliver_subject: 'd' });
      await talk.ask('CONSUMER.PAUSE.S.C', { pause_until: FAR });
      await talk.ask('CONSUMER.INFO.S.C');
      await talk.store(1, 1);
      const listening = talk.listen('d');
      await talk.quiet();
      listening();
      await talk.tell('CONSUMER.PAUSE.S.C', {});
      // nats-server notices the end of a pause that was ended only when something else happens.
      talk.listen('d');
      await talk.more(1);
      await talk.ask('CONSUMER.PAUSE.S.C', { pause_until: '2000-01-01T02:00:00.5+02:00' });
      await talk.consumer('C', { durable_name: 'C', deliver_subject: 'd', pause_until: FAR });
      await talk.stand('C');
    },
  ],
  [
    'heartbeats go on in a pause',
    async (talk) => {
      await talk.store(1, 1);
      await talk.consumer('C', { durable_name: 'C', deliver_subject: 'd', idle_heartbeat: 3e8, pause_until: FAR });
      talk.listen('d');
      await talk.more(2);
    },
  ],
  [
    'those who ask a paused consumer are told when their time has come',
    async (talk) => {
      await talk.store(1, 1);
      await talk.consumer('C', { durable_name: 'C', pause_until: FAR });
      talk.listen('inbox');
      await pull(talk, { batch: 1, no_wait: true });
      await pull(talk, { batch: 1, expires: 2e8 });
      await pull(talk, { batch: 1, expires: 5e8, idle_heartbeat: 2e8 });
      await talk.more(2);
    },
  ],
  [
    'a reset goes back to what is not acknowledged, or to a message',
    async (talk) => {
      await talk.store(1, 4);
      await talk.consumer('C', { durable_name: 'C', deliver_subject: 'd' });
      const first = talk.listen('d', '', ({ subject }) => (subject < 's.3' ? '+ACK' : null));
      await talk.more(4);
      first();
      await talk.quiet();
      await talk.ask('CONSUMER.RESET.S.C');
      const second = talk.listen('d');
      await talk.more(2);
      second();
      await talk.quiet();
      await talk.ask('CONSUMER.RESET.S.C', { seq: 2 });
      talk.listen('d');
      await talk.more(3);
      await talk.ask('CONSUMER.RESET.S.C', { seq: 100 });
      await talk.stand('C');
    },
  ],
  [
    'a reset does not go behind where the consumer begins',
    async (talk) => {
      await talk.store(1, 4);
      await talk.consumer('C', { durable_name: 'C', deliver_policy: 'by_start_sequence', opt_start_seq: 3 });
      await talk.ask('CONSUMER.RESET.S.C', { seq: 2 });
      await talk.ask('CONSUMER.RESET.S.C', { seq: 3 });
      await talk.consumer('N', { durable_name: 'N', deliver_policy: 'new' });
      await talk.ask('CONSUMER.RESET.S.N', { seq: 5 });
      await talk.ask('CONSUMER.RESET.S.N');
      await talk.consumer('T', { durable_name: 'T', deliver_policy: 'by_start_time', opt_start_time: FAR });
      await talk.ask('CONSUMER.RESET.S.T', { seq: 4 });
      await talk.ask('CONSUMER.RESET.S.T', { seq: 5 });
    },
  ],
  [
    'a consumer that comes, changes and goes',
    async (talk) => {
      talk.listen(ADVISORIES);
      await talk.consumer('C', { durable_name: 'C' });
      await talk.more(1);
      await talk.consumer('C', { durable_name: 'C' });
      await talk.consumer('C', { durable_name: 'C', description: 'x' });
      await talk.askAndHear(1, 'CONSUMER.DELETE.S.C', '');
      await talk.consumer('E', { inactive_threshold: 2e8 });
      await talk.more(2);
      await talk.consumer('D', { durable_name: 'D' });
      await talk.more(1);
      await talk.tell('STREAM.DELETE.S');
      await talk.more(1);
    },
  ],
  [
    'a consumer that rests is told of',
    async (talk) => {
      talk.listen(ADVISORIES);
      await talk.consumer('C', { durable_name: 'C', pause_until: FAR });
      await talk.more(2);
      await talk.ask('CONSUMER.PAUSE.S.C', { pause_until: FAR });
      await talk.quiet();
      await talk.askAndHear(1, 'CONSUMER.PAUSE.S.C', {});
      await talk.ask('CONSUMER.PAUSE.S.C', {});
      await talk.quiet();
      await talk.askAndHear(1, 'CONSUMER.PAUSE.S.C', { pause_until: '2000-01-01T00:00:00Z' });
    },
  ],
  [
    'what becomes of messages is told of',
    async (talk) => {
      await talk.store(1, 4);
      await talk.consumer('C', { durable_name: 'C', sample_freq: '100', ack_wait: 3e8, max_deliver: 1 });
      talk.listen(ADVISORIES);
      const replies: string[] = [];
      talk.listen('inbox', '', ({ reply }) => {
        replies.push(reply as string);
        return null;
      });
      const answer = async (body: string): Promise<void> => {
        await pull(talk);
        talk.client.publish(replies.at(-1) as string, body);
        await talk.more(1);
      };
      await answer('+ACK');
      await answer('+TERM');
      await answer('+TERM <it> "is" not good ');
      await pull(talk);
      await talk.more(1);
    },
  ],
  [
    'a refusal is told of, with a delay or without',
    async (talk) => {
      await talk.store(1, 1);
      await talk.consumer('C', { durable_name: 'C', deliver_subject: 'd' });
      talk.listen(ADVISORIES);
      talk.listen('d', '', ({ reply }) => {
        if (reply?.includes('.C.1.') === true) return '-NAK';
        return reply?.includes('.C.2.') === true ? '-NAK {"delay":200000000}' : null;
      });
      await talk.more(5);
      await talk.stand('C');
    },
  ],
  [
    'many consumers are listed by pages',
    async (talk) => {
      const count = 300;
      for (let i = 0; i < count; i++) {
        const name = `C${(i * 7) % count}`;
        await talk.consumer(name, { durable_name: name });
      }
      for (const body of [
        '',
        '{"offset":0}',
        '{"offset":256}',
        '{"offset":299}',
        '{"offset":300}',
        '{"offset":999}',
        '{"offset":-5}',
      ]) {
        for (const kind of ['NAMES', 'LIST']) {
          const { consumers, ...page } = JSON.parse(await talk.tell(`CONSUMER.${kind}.S`, body)) as Listed;
          const names = consumers.map((each) => (typeof each === 'string' ? each : each.name));
          talk.lines.push(`${kind} ${body} -> ${JSON.stringify({ ...page, names })}`);
        }
      }
    },
  ],
  [
    'whoever waits is told that the consumer is deleted, and nobody who listens',
    async (talk) => {
      await talk.consumer('C', { durable_name: 'C' });
      await talk.consumer('D', { durable_name: 'D', deliver_subject: 'd', flow_control: true, idle_heartbeat: 1e8 });
      talk.listen('inbox');
      talk.client.publish('$JS.API.CONSUMER.MSG.NEXT.S.C', '{"batch":5,"expires":5000000000}', { reply: 'inbox' });
      await talk.quiet();
      await talk.tell('CONSUMER.DELETE.S.C');
      await talk.more(1);
      await talk.tell('CONSUMER.DELETE.S.D');
      talk.listen('d');
      await talk.quiet();
    },
  ],
  [
    'no acknowledgement is sampled where none is to be',
    async (talk) => {
      await talk.store(1, 1);
      await talk.consumer('C', { durable_name: 'C', deliver_subject: 'd', sample_freq: '0%' });
      await talk.consumer('D', { durable_name: 'D', deliver_subject: 'e' });
      talk.listen(ADVISORIES);
      talk.listen('d', '', () => '+ACK');
      await talk.more(1);
      talk.listen('e', '', () => '+ACK');
      await talk.more(1);
      await talk.quiet();
    },
  ],
];

describe.skipIf(absence() !== null && !absenceIsFailure())(`consumers (${absence() ?? 'both servers'})`, () => {
  it.each(TALKS)('%s', async (_title, talk) => {
    const { ours, theirs } = await onBoth(talk);
    expect(ours).toEqual(theirs);
  });
});
