/** Atomic batches where a stream discards what is new, keeps by interest, or is sealed: as with nats-server. */
import { describeTalks, type JetStreamTalk } from '../helpers/jetstream-talk.ts';

describeTalks('atomic batches', '', [
  [
    'count what they have of a subject themselves',
    async (to) => {
      await create(to, 'B1', { discard: 'new', max_msgs_per_subject: 2, discard_new_per_subject: true });
      await batch(to, 'B1.a', 'B1.a', 'B1.a');
      await to.publish('B1.a', '1');
      await to.state('B1');
      await batch(to, 'B1.a', 'B1.b', 'B1.a');
      await batch(to, 'B1.a', 'B1.b', 'B1.b');
      await batch(to, 'B1.c');
      await to.state('B1');
    },
  ],
  [
    'make no room for themselves',
    async (to) => {
      await create(to, 'B2', { discard: 'new', max_msgs: 2, max_msgs_per_subject: 1 });
      await to.publish('B2.a', '1');
      await batch(to, 'B2.b');
      await batch(to, 'B2.a', 'B2.b');
      await batch(to, 'B2.a');
      await to.publish('B2.a', '2');
      await to.state('B2');
    },
  ],
  [
    'fit into the bytes that are left',
    async (to) => {
      await create(to, 'B3', { discard: 'new', max_bytes: 400 });
      await to.publish('B3.a', '1');
      await batch(to, 'B3.b', 'B3.b', 'B3.b', 'B3.b', 'B3.b');
      await batch(to, 'B3.b', 'B3.b');
      await to.state('B3');
    },
  ],
  [
    'use up sequences where nobody wants them',
    async (to) => {
      await create(to, 'B4', { retention: 'interest' });
      await to.publish('B4.a', '1');
      await batch(to, 'B4.a', 'B4.a');
      await to.state('B4');
    },
  ],
  [
    'are refused by a sealed stream',
    async (to) => {
      await create(to, 'B5', {});
      await to.publish('B5.a', '1');
      await to.api('STREAM.UPDATE.B5', { name: 'B5', subjects: ['B5.>'], allow_atomic: true, sealed: true });
      await batch(to, 'B5.a', 'B5.a');
      await to.state('B5');
    },
  ],
]);

async function create(to: JetStreamTalk, name: string, fields: object): Promise<void> {
  await to.api(`STREAM.CREATE.${name}`, { name, subjects: [`${name}.>`], allow_atomic: true, ...fields });
}

/** Publishes a batch of one message to each subject. */
async function batch(to: JetStreamTalk, ...subjects: string[]): Promise<void> {
  for (const [at, subject] of subjects.entries()) {
    const headers = { 'Nats-Batch-Id': 'b', 'Nats-Batch-Sequence': String(at + 1) };
    const isLast = at === subjects.length - 1;
    await to.publish(subject, String(at), isLast ? { ...headers, 'Nats-Batch-Commit': '1' } : headers);
  }
}
