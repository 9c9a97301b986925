/** What `Nats-Expected-Last-Msg-Id` is compared with survives a restart. */
import { expect, it } from 'vitest';
import { BatchWorld } from './batch-world.ts';

const SEEDS = [1, 2, 3];

it.each(SEEDS)('the id of the last message is known after a restart (seed %i)', (seed) => {
  const world = new BatchWorld(seed);
  expect(publish(world, 's.a', 'Nats-Msg-Id: first')).toBe('{"stream":"S","seq":1}');
  world.restart();
  expect(publish(world, 's.a', 'Nats-Expected-Last-Msg-Id: other')).toContain('wrong last msg ID: first');
  expect(publish(world, 's.a', 'Nats-Expected-Last-Msg-Id: first')).toBe('{"stream":"S","seq":2}');
  world.restart();
  expect(publish(world, 's.a', 'Nats-Expected-Last-Msg-Id: first')).toContain('wrong last msg ID: "');
});

function publish(world: BatchWorld, subject: string, header: string): string {
  const client = world.client('publisher');
  let answer = '';
  client.onMessage = ({ payload }) => (answer = payload.toString());
  const block = `NATS/1.0\r\n${header}\r\n\r\n`;
  client.subscribe('1', 'A');
  client.send(`HPUB ${subject} A ${block.length} ${block.length}\r\n${block}\r\n`);
  world.until(() => answer !== '', 'the answer');
  client.end();
  return answer;
}
