/** What the API shows of a stream and of a consumer. */

import type { Consumer } from '../consumer/consumer.ts';
import { consumerConfigJson } from '../consumer/consumer-config.ts';
import { readState } from '../store/store-state.ts';
import type { StoreState } from '../store/store.ts';
import { streamConfigJson } from '../stream/stream-config.ts';
import { encodeTime, millisecondsText, nowText, ZERO_TIME_TEXT } from './api-time.ts';
import type { StateDetails } from './state-details.ts';
import type { StreamEntry } from './stream-entry.ts';

/** `list`: without what the server adds to the metadata, as lists show it. */
export type ConfigForm = 'full' | 'list';

/** Calls back with the stream's info; reading its state may take a moment. */
export function streamInfo(
  entry: StreamEntry,
  form: ConfigForm,
  details: Pick<StateDetails, 'subjects' | 'deleted'>,
  done: (info: Record<string, unknown>) => void,
): void {
  const { stream, consumers, services } = entry;
  readState(stream.store, (state) => {
    const info: Record<string, unknown> = {
      config: streamConfigJson(stream.config, form),
      created: stream.created,
      state: stateJson(state, countOfClients(consumers), details),
    };
    const { domain, io } = stream.host;
    if (domain !== '') info['domain'] = domain;
    Object.assign(info, services.feeds.infoJson());
    info['ts'] = nowText(io.clock);
    done(info);
  });
}

/** Consumers that feed streams and are gone with them are not counted. */
function countOfClients(consumers: StreamEntry['consumers']): number {
  let count = 0;
  for (const { config } of consumers.values()) if (!config.direct) count++;
  return count;
}

function stateJson(state: StoreState, consumers: number, details: Pick<StateDetails, 'subjects' | 'deleted'>): object {
  const isUntouched = state.lastTime === null && state.firstSequence === 1;
  return {
    messages: state.messages,
    bytes: state.bytes,
    first_seq: isUntouched ? 0 : state.firstSequence,
    first_ts: state.firstTime === null ? ZERO_TIME_TEXT : encodeTime(state.firstTime),
    last_seq: state.lastSequence,
    last_ts: state.lastTime === null ? ZERO_TIME_TEXT : encodeTime(state.lastTime),
    num_subjects: state.subjects > 0 ? state.subjects : undefined,
    subjects: details.subjects,
    num_deleted: state.deleted > 0 ? state.deleted : undefined,
    deleted: details.deleted,
    lost: state.lost > 0 ? { msgs: null, bytes: state.lost } : undefined,
    consumer_count: consumers,
  };
}

/**
 * Calls back when all of these consumers of one stream know what they have yet to deliver, which after a start takes a
 * while, with what was published and acknowledged before.
 */
export function whenCounted(consumers: readonly Consumer[], then: () => void): void {
  const [first] = consumers;
  const count = (): void => afterAll(consumers, ({ undelivered }, done) => undelivered.whenKnown(done), then);
  if (first === undefined) then();
  else first.stream.whenVisible(count);
}

/** Calls back when what was published in these streams, and acknowledged, before now is visible. */
export function whenVisible(entries: readonly StreamEntry[], then: () => void): void {
  afterAll(entries, ({ stream }, done) => stream.whenVisible(done), then);
}

/** Waits for each of them, all at once, and calls back when the last has come. */
function afterAll<Each>(all: readonly Each[], wait: (each: Each, done: () => void) => void, then: () => void): void {
  let open = all.length + 1;
  const oneMore = (): void => {
    open -= 1;
    if (open === 0) then();
  };
  for (const each of all) wait(each, oneMore);
  oneMore();
}

export function consumerInfo(consumer: Consumer, form: ConfigForm): Record<string, unknown> {
  const { state, stream } = consumer;
  const { pending, ackFloor } = state;
  const { isPaused, remaining } = consumer.pause;
  const isSingle = consumer.config.maxDeliver === 1;
  return {
    stream_name: stream.name,
    name: consumer.name,
    created: consumer.created,
    config: consumerConfigJson(consumer.config, form),
    delivered: {
      consumer_seq: state.nextConsumer - 1,
      stream_seq: Math.max(0, state.deliveredStream),
      last_active: consumer.lastDeliveredMs === 0 ? undefined : millisecondsText(consumer.lastDeliveredMs),
    },
    ack_floor: {
      consumer_seq: ackFloor.consumer,
      stream_seq: Math.max(0, ackFloor.stream),
      last_active: consumer.lastAckMs === 0 ? undefined : millisecondsText(consumer.lastAckMs),
    },
    num_ack_pending: pending.size,
    // Messages delivered once at most can't have been redelivered.
    num_redelivered: isSingle ? 0 : state.redelivered,
    num_waiting: consumer.delivery.numWaiting,
    num_pending: consumer.numPending,
    push_bound: consumer.delivery.isBound === true ? true : undefined,
    paused: isPaused ? true : undefined,
    pause_remaining: isPaused ? remaining : undefined,
    ts: nowText(stream.host.io.clock),
    priority_groups: priorityGroups(consumer),
  };
}

/** The state of the first group stands for all. */
function priorityGroups({ config, delivery }: Consumer): object[] | undefined {
  const [group] = config.priorityGroups ?? [];
  if (group === undefined) return undefined;
  const { pin } = delivery;
  const isPinned = pin !== null && pin.id !== '';
  const pinned_ts = isPinned ? millisecondsText(pin.sinceMs) : ZERO_TIME_TEXT;
  return [{ group, pinned_client_id: isPinned ? pin.id : undefined, pinned_ts }];
}
