/**
 * nats-server#8232, #8037, #8063: after an error of the disk the next request hung, and an error in reading ended
 * writing. Here every request is answered, what can't be read is an error of that request, and publishing goes on.
 */
import { expect, test } from 'vitest';
import { BatchWorld } from '../sim/batch-world.ts';

/** So many that the first are no longer in memory. */
const MESSAGES = 600;
const PAYLOAD = 'x'.repeat(30_000);
const IDLE_MS = 20_000;
const FAILING_MS = 20_000;
const GET_FIRST = '{"seq":1}';

test('what cannot be read is an error of that request alone', () => {
  const site = filledSite();
  site.world.machine.disk.faults.rates.readError = 1;
  expect(site.ask('$JS.API.STREAM.MSG.GET.S', GET_FIRST)).toContain('"error"');
  expect(site.ask('s.a', 'more')).toContain(`"seq":${MESSAGES + 1}`);
  expect(site.ask('$JS.API.STREAM.MSG.GET.S', GET_FIRST)).toContain('"error"');
  expect(site.ask('s.a', 'more')).toContain(`"seq":${MESSAGES + 2}`);
  expect(site.ask('$JS.API.STREAM.INFO.S', '')).toContain(`"messages":${MESSAGES + 2}`);
  site.world.machine.disk.faults.rates.readError = 0;
  expect(site.ask('$JS.API.STREAM.MSG.GET.S', GET_FIRST)).toContain('"seq":1');
});

test('what could not be read is there again when the disk reads again, and after a restart', () => {
  const { world } = filledSite();
  const { scheduler } = world.world;
  // Nothing of the blocks is in memory any more, their indexes included.
  scheduler.runFor(IDLE_MS);
  const { rates } = world.machine.disk.faults;
  rates.readError = 1;
  const client = world.client('reader');
  client.send(`PUB $JS.API.STREAM.MSG.GET.S A ${GET_FIRST.length}\r\n${GET_FIRST}\r\n`);
  scheduler.runFor(FAILING_MS);
  rates.readError = 0;
  scheduler.runFor(1000);
  expect(world.stream.store.messages).toBe(MESSAGES);
  world.restart();
  expect(world.stream.store.messages).toBe(MESSAGES);
});

test('while nothing can be written, what waits for that is one message, and all that follow are answered', () => {
  const site = filledSite();
  const { faults } = site.world.machine.disk;
  faults.rates.writeError = 1;
  site.say('s.a', 'first');
  site.world.world.scheduler.runFor(1000);
  expect(site.answers).toHaveLength(MESSAGES);
  for (let each = 0; each < 3; each++) expect(site.ask('s.a', 'x')).toContain('"error"');
  expect(site.ask('$JS.API.STREAM.MSG.GET.S', GET_FIRST)).toContain('"seq":1');
  expect(site.ask('$JS.API.STREAM.INFO.S', '')).toContain(`"messages":${MESSAGES}`);
  faults.rates.writeError = 0;
  const before = site.answers.length;
  site.world.until(() => site.answers.length > before, 'the first to be answered');
  expect(site.answers.at(-1)).toContain(`"seq":${MESSAGES + 1}`);
  expect(site.ask('s.a', 'more')).toContain(`"seq":${MESSAGES + 2}`);
});

interface Site {
  readonly world: BatchWorld;
  readonly answers: readonly string[];
  say(subject: string, body: string): void;
  /** Sends a request, and waits for its answer. */
  ask(subject: string, body: string): string;
}

function filledSite(): Site {
  const world = new BatchWorld(1);
  const client = world.client('client');
  const answers: string[] = [];
  client.onMessage = ({ payload }) => answers.push(payload.toString());
  client.subscribe('1', 'A');
  const say = (subject: string, body: string): void => client.send(`PUB ${subject} A ${body.length}\r\n${body}\r\n`);
  const ask = (subject: string, body: string): string => {
    const before = answers.length;
    say(subject, body);
    world.until(() => answers.length > before, `an answer to ${subject}`);
    return answers.at(-1) ?? '';
  };
  for (let each = 0; each < MESSAGES; each++) ask('s.a', PAYLOAD);
  return { world, answers, say, ask };
}
