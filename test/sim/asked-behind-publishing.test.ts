/** Who asks for a stream's state, or for a message, sees what was published and acknowledged before, answered or not. */
import { expect, it } from 'vitest';
import { BatchWorld } from './batch-world.ts';

const SEEDS = [1, 2, 3];

it.each(SEEDS)('a stream is described with what came before the request (seed %i)', (seed) => {
  const world = new BatchWorld(seed);
  const publishing = 'PUB s.a 3\r\none\r\nPUB s.b 3\r\ntwo\r\n';
  expect(JSON.parse(ask(world, publishing, 'STREAM.INFO.S', ''))).toMatchObject({
    state: { messages: 2, last_seq: 2 },
  });
});

it.each(SEEDS)('a message is found that came before the request (seed %i)', (seed) => {
  const world = new BatchWorld(seed);
  const publishing = 'PUB s.a 3\r\none\r\n';
  expect(JSON.parse(ask(world, publishing, 'STREAM.MSG.GET.S', '{"last_by_subj":"s.a"}'))).toMatchObject({
    message: { seq: 1, data: Buffer.from('one').toString('base64') },
  });
});

it.each(SEEDS)('a work queue is described without what was acknowledged before the request (seed %i)', (seed) => {
  const world = new BatchWorld(seed);
  world.request('STREAM.CREATE.W', JSON.stringify({ name: 'W', subjects: ['w'], retention: 'workqueue' }));
  const config = { durable_name: 'C', ack_policy: 'explicit' };
  world.request('CONSUMER.CREATE.W.C', JSON.stringify({ stream_name: 'W', config }));
  const client = world.client('worker');
  const replies: string[] = [];
  client.onMessage = ({ reply }) => replies.push(reply);
  client.subscribe('1', 'D');
  client.send('PUB w 3\r\none\r\nPUB w 3\r\ntwo\r\nPUB $JS.API.CONSUMER.MSG.NEXT.W.C D 1\r\n2\r\n');
  world.until(() => replies.length === 2, 'both messages');
  const acknowledging = replies.map((reply) => `PUB ${reply} 0\r\n\r\n`).join('');
  expect(JSON.parse(ask(world, acknowledging, 'STREAM.INFO.W', ''))).toMatchObject({
    state: { messages: 0, last_seq: 2 },
  });
});

it.each(SEEDS)('streams are listed with what came before the request (seed %i)', (seed) => {
  const world = new BatchWorld(seed);
  const publishing = 'PUB s.a 3\r\none\r\n';
  expect(JSON.parse(ask(world, publishing, 'STREAM.LIST', ''))).toMatchObject({
    streams: [{ state: { messages: 1 } }],
  });
});

it.each(SEEDS)('consumers are described and listed with what came before the request (seed %i)', (seed) => {
  const world = new BatchWorld(seed);
  const config = { durable_name: 'C', ack_policy: 'explicit' };
  world.request('CONSUMER.CREATE.S.C', JSON.stringify({ stream_name: 'S', config }));
  const publishing = 'PUB s.a 3\r\none\r\nPUB s.b 3\r\ntwo\r\n';
  expect(JSON.parse(ask(world, publishing, 'CONSUMER.INFO.S.C', ''))).toMatchObject({ num_pending: 2 });
  expect(JSON.parse(ask(world, publishing, 'CONSUMER.LIST.S', ''))).toMatchObject({ consumers: [{ num_pending: 4 }] });
});

/** Publishes and asks in one write. */
function ask(world: BatchWorld, publishing: string, request: string, body: string): string {
  const client = world.client('publisher');
  let answer = '';
  client.onMessage = ({ payload }) => (answer = payload.toString());
  client.subscribe('1', 'A');
  client.send(`${publishing}PUB $JS.API.${request} A ${body.length}\r\n${body}\r\n`);
  world.until(() => answer !== '', 'the answer');
  client.end();
  return answer;
}
