/** Push consumers: who gets messages, when, and what is told besides; on petiole as on nats-server. */
import { describe, expect, it } from 'vitest';
import { absenceIsFailure } from '../helpers/targets.ts';
import { absence, onBoth, type Talk } from './consumer-conversation.ts';

const HEARTBEAT = { idle_heartbeat: 2e8 };

const TALKS: readonly (readonly [string, Talk])[] = [
  [
    'delivers while somebody listens to exactly its subject',
    async (talk) => {
      await talk.store(1, 2);
      const wide = talk.listen('d.>');
      await talk.consumer('C', { durable_name: 'C', deliver_subject: 'd.x' });
      await talk.quiet();
      await talk.stand('C');
      wide();
      const exact = talk.listen('d.x');
      await talk.more(2);
      await talk.stand('C');
      exact();
      await talk.store(3, 3);
      await talk.quiet();
      await talk.stand('C');
      talk.listen('d.x');
      await talk.more(1);
    },
  ],

  [
    'with a deliver group waits for a member of it',
    async (talk) => {
      await talk.store(1, 2);
      await talk.consumer('C', { durable_name: 'C', deliver_subject: 'd', deliver_group: 'g' });
      const plain = talk.listen('d');
      const other = talk.listen('d', 'other');
      await talk.quiet();
      await talk.stand('C');
      plain();
      other();
      talk.listen('d', 'g');
      await talk.more(2);
      await talk.stand('C');
    },
  ],

  [
    'without a deliver group does not count members of any',
    async (talk) => {
      await talk.store(1, 1);
      await talk.consumer('C', { durable_name: 'C', deliver_subject: 'd' });
      talk.listen('d', 'g');
      await talk.quiet();
      await talk.stand('C');
    },
  ],

  [
    'gives no messages to those who ask',
    async (talk) => {
      await talk.store(1, 1);
      await talk.consumer('C', { durable_name: 'C', deliver_subject: 'd' });
      talk.listen('inbox');
      talk.client.publish('$JS.API.CONSUMER.MSG.NEXT.S.C', '1', { reply: 'inbox' });
      await talk.more(1);
      talk.listen('d', '', () => '+NXT');
      await talk.more(1);
      await talk.quiet();
      await talk.stand('C');
    },
  ],

  [
    'moves to another subject only while nobody listens, and delivers there what is not acknowledged',
    async (talk) => {
      const config = { durable_name: 'C', deliver_subject: 'd' };
      await talk.store(1, 3);
      await talk.consumer('C', config);
      const first = talk.listen('d');
      talk.listen('e');
      await talk.more(3);
      await talk.consumer('C', { ...config, deliver_subject: 'e' });
      first();
      await talk.quiet();
      await talk.consumer('C', { ...config, deliver_subject: 'e' });
      await talk.more(3);
      await talk.stand('C');
      await talk.consumer('C', { durable_name: 'C' });
      await talk.consumer('P', { durable_name: 'P' });
      await talk.consumer('P', { durable_name: 'P', deliver_subject: 'e' });
    },
  ],

  [
    'that is ephemeral ends some time after its last listener left',
    async (talk) => {
      const config = { deliver_subject: 'd', inactive_threshold: 4e8 };
      await talk.consumer('Kept', config);
      await talk.consumer('Alone', { ...config, deliver_subject: 'e' });
      await talk.consumer('Durable', { ...config, deliver_subject: 'f', durable_name: 'Durable' });
      const listening = talk.listen('d');
      await talk.quiet();
      await talk.quiet();
      await talk.quiet();
      await talk.stand('Kept');
      await talk.stand('Alone');
      await talk.stand('Durable');
      listening();
      await talk.quiet();
      await talk.stand('Kept');
      await talk.quiet();
      await talk.quiet();
      await talk.stand('Kept');
    },
  ],

  [
    'delivers no more than may be unacknowledged',
    async (talk) => {
      await talk.store(1, 5);
      await talk.consumer('C', { durable_name: 'C', deliver_subject: 'd', max_ack_pending: 2 });
      const acknowledge: (() => void)[] = [];
      talk.listen('d', '', (message) => {
        acknowledge.push(() => message.respond(''));
        return null;
      });
      await talk.more(2);
      await talk.quiet();
      await talk.stand('C');
      acknowledge[0]?.();
      await talk.more(1);
      await talk.quiet();
      await talk.stand('C');
    },
  ],

  [
    'delivers again what is not acknowledged in time, or refused',
    async (talk) => {
      await talk.store(1, 2);
      await talk.consumer('C', { durable_name: 'C', deliver_subject: 'd', ack_wait: 4e8, max_deliver: 3 });
      talk.listen('d', '', (message) => {
        if (message.subject === 's.2') return '+ACK';
        return message.reply?.startsWith('$JS.ACK.S.C.1.') === true ? '-NAK' : null;
      });
      await talk.more(4);
      await talk.quiet();
    },
  ],

  [
    'says where it stands while there is nothing to deliver',
    async (talk) => {
      await talk.consumer('C', { durable_name: 'C', deliver_subject: 'd', ...HEARTBEAT });
      await talk.quiet();
      talk.listen('d');
      await talk.more(2);
      await talk.store(1, 2);
      await talk.more(3);
    },
  ],

  [
    'stops when the window of flow control is full, and goes on when the receiver answers',
    async (talk) => {
      await talk.consumer('C', {
        durable_name: 'C',
        deliver_subject: 'd',
        flow_control: true,
        idle_heartbeat: 1e9,
        max_ack_pending: -1,
      });
      const requests: string[] = [];
      talk.listen('d', '', (message) => {
        if (message.headers?.description === 'FlowControl Request') requests.push(message.reply as string);
        return null;
      });
      await talk.store(1, 5, 600 * 1024);
      // Four messages are more than two MiB; the request follows the second.
      await talk.more(5);
      await talk.more(1);
      talk.client.publish(requests[0] as string, '');
      await talk.more(1);
      await talk.store(6, 6);
      await talk.more(1);
      talk.client.publish(requests[0] as string, '');
      await talk.more(1);
    },
  ],

  [
    'begins with the last message of each subject, and goes on with what comes',
    async (talk) => {
      await talk.store(1, 3);
      await talk.store(1, 2);
      const config = {
        durable_name: 'C',
        deliver_subject: 'd',
        deliver_policy: 'last_per_subject',
        ack_policy: 'none',
      };
      await talk.consumer('C', { ...config, filter_subjects: ['s.1', 's.3'] });
      talk.listen('d');
      await talk.more(2);
      await talk.store(1, 3);
      await talk.more(2);
      await talk.stand('C');
    },
  ],
  [
    'delivers headers alone, and all messages up to one are acknowledged',
    async (talk) => {
      await talk.store(1, 3, 20);
      await talk.consumer('C', { durable_name: 'C', deliver_subject: 'd', ack_policy: 'all', headers_only: true });
      talk.listen('d', '', ({ subject }) => (subject === 's.2' ? '+ACK' : null));
      await talk.more(3);
      await talk.quiet();
      await talk.stand('C');
    },
  ],
  [
    'is ordered as clients make it, and ends when nobody listens',
    async (talk) => {
      const config = {
        deliver_subject: 'd',
        ack_policy: 'none',
        max_deliver: 1,
        mem_storage: true,
        num_replicas: 1,
        flow_control: true,
        idle_heartbeat: 5e9,
        inactive_threshold: 5e8,
        ack_wait: 22 * 3600e9,
      };
      await talk.store(1, 3);
      const listening = talk.listen('d');
      await talk.consumer('C', config);
      await talk.more(3);
      await talk.ask('CONSUMER.INFO.S.C');
      listening();
      for (let i = 0; i < 4; i++) await talk.quiet();
      await talk.stand('C');
    },
  ],
  [
    'tells who is exhausted only when their last delivery is over',
    async (talk) => {
      await talk.store(1, 1);
      await talk.consumer('C', { durable_name: 'C', deliver_subject: 'd', ack_wait: 2e8, max_deliver: 2 });
      talk.listen('$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.>');
      talk.listen('d');
      await talk.more(3);
      await talk.quiet();
      await talk.stand('C');
    },
  ],
  [
    'is held to its rate',
    async (talk) => {
      await talk.store(1, 3, 600 * 1024);
      await talk.consumer('Slow', { durable_name: 'Slow', deliver_subject: 'd', rate_limit_bps: 80_000 });
      await talk.consumer('Quick', { durable_name: 'Quick', deliver_subject: 'e', rate_limit_bps: 16_000_000 });
      const slow = talk.listen('d');
      // One MiB passes at once.
      await talk.more(1);
      await talk.quiet();
      slow();
      talk.listen('e');
      await talk.more(3);
    },
  ],
  [
    'takes no answer but that to its newest request',
    async (talk) => {
      await talk.consumer('C', { durable_name: 'C', deliver_subject: 'd', flow_control: true, idle_heartbeat: 1e9 });
      talk.listen('d');
      await talk.store(1, 5, 600 * 1024);
      await talk.more(5);
      talk.client.publish('$JS.FC.S.C.none', '');
      talk.client.publish('$JS.FC.S.C', '');
      await talk.more(1);
    },
  ],
];

describe.skipIf(absence() !== null && !absenceIsFailure())(`a push consumer (${absence() ?? 'both servers'})`, () => {
  it.each(TALKS)('%s', async (_title, talk) => {
    const { ours, theirs } = await onBoth(talk);
    expect(ours).toEqual(theirs);
  });
});
