/** Who asks for a stream's state, or for a message, sees what was published before, also without acknowledgement. */
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
