/** /jsz where it can't be written in one go: during a start, beside a disk that keeps the first messages back. */
import { expect, it, vi } from 'vitest';
import type { HttpResponse } from '../../server/io/io.ts';
import { type AnswerWork, runAnswer } from '../../server/monitor/answer-work.ts';
import { CpuUsage } from '../../server/monitor/cpu-usage.ts';
import { jsz } from '../../server/monitor/jsz.ts';
import { MetricsRoom } from '../../server/monitor/metrics-room.ts';
import { Query } from '../../server/monitor/query.ts';
import { RequestCounts } from '../../server/monitor/request-counts.ts';
import { BatchWorld } from './batch-world.ts';

const MANY = 12;
/** What all waits of one answer come to at most. */
const WAITS_MS = 1000;
const NO_TIME = '0001-01-01T00:00:00Z';

interface Page {
  readonly streams: number;
  readonly messages: number;
  readonly account_details?: readonly { readonly stream_detail?: readonly StreamDetail[] }[];
}

interface StreamDetail {
  readonly name: string;
  readonly state: { readonly messages: number; readonly first_seq: number; readonly first_ts: string };
}

function ask(world: BatchWorld, query: string, listBytesMax = 1_000_000): HttpResponse {
  const { server } = world;
  const { io } = server;
  const metrics = new MetricsRoom();
  const context = { source: server, requests: new RequestCounts(), cpu: new CpuUsage(io), metrics, listBytesMax };
  const responses: HttpResponse[] = [];
  runAnswer(io, jsz(new Query(query), context) as AnswerWork<HttpResponse>, (response) => responses.push(response));
  world.until(() => responses.length > 0, 'the page');
  return responses[0] as HttpResponse;
}

function page(world: BatchWorld, query: string): Page {
  return JSON.parse(Buffer.from(ask(world, query).body).toString()) as Page;
}

function detailsOf(world: BatchWorld): readonly StreamDetail[] {
  return page(world, 'streams=1').account_details?.[0]?.stream_detail ?? [];
}

function worldWithMany(): BatchWorld {
  const world = new BatchWorld(1);
  for (let i = 0; i < MANY; i++) world.createStream(`T${i}`);
  const client = world.client('publisher');
  let answers = 0;
  client.subscribe('1', 'A');
  client.onMessage = () => answers++;
  for (let i = 0; i < MANY; i++) client.send(`PUB t${i}.x A 1\r\nx\r\n`);
  world.until(() => answers === MANY, 'what was published');
  return world;
}

it('leaves out the times that a slow disk keeps back, and does not wait for each of them', () => {
  const world = worldWithMany();
  const entries = [...(world.server.jetstream?.accountOf('$G').streams.values() ?? [])];
  expect(detailsOf(world).filter(({ state }) => state.first_ts > NO_TIME)).toHaveLength(MANY);
  for (const { stream } of entries) {
    vi.spyOn(stream.store, 'read').mockReturnValue('loading');
    vi.spyOn(stream.store, 'whenReadable').mockReturnValue();
  }
  const { clock } = world.server.io;
  const before = clock.monotonicMs();
  const slow = detailsOf(world);
  expect(clock.monotonicMs() - before).toBeLessThan(WAITS_MS + 100);
  expect(slow.map(({ name }) => name)).toEqual(entries.map(({ stream }) => stream.name));
  const states = slow.filter(({ name }) => name !== 'S').map(({ state }) => state);
  expect(states).toHaveLength(MANY);
  for (const state of states) expect(state).toMatchObject({ messages: 1, first_seq: 1, first_ts: NO_TIME });
});

it('shows numbers alone as long as a start reads what is stored', () => {
  const world = worldWithMany();
  world.server.clientAddress = null;
  const early = page(world, 'consumers=1&acc=$G');
  expect(early).toMatchObject({ streams: MANY + 1, messages: MANY });
  expect(early).not.toHaveProperty('account_details');
});

it('is refused when it is too long', () => {
  const world = worldWithMany();
  const response = ask(world, 'streams=1&config=1', 4000);
  expect(response.status).toBe(503);
  expect(Buffer.from(response.body).toString()).toContain('the list is too long');
});
