/** While bringing back what is stored takes long, the log says once a second how far it is, and /healthz says the same. */
import { expect, it } from 'vitest';
import { JetStreamMonitor } from '../../server/monitor/jetstream-monitor.ts';
import { BatchWorld } from './batch-world.ts';

it('a long recovery says once a second how far it is', () => {
  const world = new BatchWorld(1);
  world.createStream('T');
  world.restart();
  const { jetstream } = world.server;
  if (jetstream === null) throw new Error('JetStream is on');
  const { scheduler } = world.world;
  const lines = (): string[] => world.log.filter((line) => line.includes(' of 2 streams and consumers'));
  // It was over at once; as far as the log is concerned it begins again, and does not end.
  expect(lines()).toEqual([]);
  jetstream.recovery.begin();
  scheduler.runFor(3500);
  expect(lines()).toHaveLength(3);
  const [line = ''] = lines();
  expect(line).toMatch(/\[INF\] {3}Restored \d of 2 streams and consumers, \d+ entries of the log so far$/);
  const progress = new JetStreamMonitor(jetstream).startProgress();
  expect(progress).toBe(`JetStream is recovering: ${line.slice(line.indexOf('Restored ') + 'Restored '.length)}`);
  jetstream.recovery.end();
  scheduler.runFor(3500);
  expect(lines()).toHaveLength(3);
});
