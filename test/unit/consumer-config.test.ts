/**
 * What becomes of requests for a consumer: the table of `consumer-config-requests.ts`, answered by petiole's functions
 * and, where there is one, by a real nats-server over its API. Both must give the same bytes.
 */
import { afterAll, describe, expect, it } from 'vitest';
import {
  type ConsumerConfig,
  consumerConfigJson,
  decodeConsumerRequest,
  durationText,
  storedConsumerConfig,
} from '../../jetstream/consumer/consumer-config.ts';
import { consumerEndpoint, nameConsumer } from '../../jetstream/consumer/consumer-config-names.ts';
import {
  completeConsumerConfig,
  newConsumerConfig,
  type StreamFacts,
} from '../../jetstream/consumer/consumer-config-rules.ts';
import { unsupportedConsumerField } from '../../jetstream/consumer/consumer-config-support.ts';
import { checkConsumerAction, updateConsumerConfig } from '../../jetstream/consumer/consumer-config-update.ts';
import { type ApiError, ApiErrors, isApiError } from '../../jetstream/errors.ts';
import { encode } from '../../server/protocol/go-json.ts';
import { absenceIsFailure } from '../helpers/targets.ts';
import { type Circumstances, CONSUMER_ROWS, PLAIN_CONSUMER } from './consumer-config-requests.ts';
import { PUSH_ROWS } from './push-config-requests.ts';
import {
  type Answer,
  answerIn,
  bytes,
  parse,
  ReferenceServers,
  referenceAbsence,
  shownMetadata,
  textOfError,
} from './stream-config-reference.ts';

const ENDPOINT = 'CREATE.S.C';
const NO_STREAM_LIMITS = { maxAckPending: 0, inactiveThresholdNs: 0 };
const STREAM: StreamFacts = {
  retention: 'limits',
  numReplicas: 1,
  subjects: ['s.>'],
  consumerLimits: NO_STREAM_LIMITS,
};
const NO_LIMITS = { maxAckPending: 0, maxRequestBatch: 0 };

const absence = referenceAbsence();
const cases = [...CONSUMER_ROWS, ...PUSH_ROWS].map(([title, body, answer, circumstances = {}]) => ({
  title,
  body,
  answer,
  circumstances,
}));

describe('petiole, asked for a consumer', () => {
  it.each(cases)('$title', ({ body, answer, circumstances }) => {
    const ours = answerOfPetiole(body, circumstances);
    expect('error' in ours ? textOfError(ours.error) : parse(ours.config)).toEqual(
      typeof answer === 'string' ? answer : { ...PLAIN_CONSUMER, ...answer, metadata: shownMetadata(answer) },
    );
  });
});

describe.skipIf(absence !== null && !absenceIsFailure())(`nats-server (${absence ?? '2.15.2'}), asked the same`, () => {
  const servers = new ReferenceServers();
  afterAll(() => servers.stop());

  it.each(cases)('$title', async ({ body, circumstances }) => {
    const { at = ENDPOINT, server = 'strict', before, petioleOnly } = circumstances;
    // In memory: nats-server may remove the files of a stream while another by that name is there already.
    await servers.request(server, 'STREAM.CREATE.S', '{"name":"S","subjects":["s.>"],"storage":"memory"}');
    if (before !== undefined) await servers.request(server, `CONSUMER.${ENDPOINT}`, before);
    const theirs = answerIn(await servers.request(server, `CONSUMER.${at}`, body));
    await servers.request(server, 'STREAM.DELETE.S', '');
    expect(petioleOnly === true ? Object.keys(theirs) : theirs).toEqual(
      petioleOnly === true ? ['config'] : answerOfPetiole(body, circumstances),
    );
  });
});

describe('a consumer configuration', () => {
  it('that petiole takes comes back from its stored form as it was', () => {
    const taken = cases
      .map(({ body, circumstances }) => consumerOf(body, circumstances.at ?? ENDPOINT, circumstances, null))
      .filter((config): config is ConsumerConfig => !isApiError(config));
    expect(taken.length).toBeGreaterThan(50);
    for (const config of taken) {
      const stored = storedConsumerConfig(encode(consumerConfigJson(config, 'stored')));
      // An empty list is not written, as nats-server doesn't.
      expect(stored).toEqual({
        ...config,
        backoffNs: config.backoffNs?.length === 0 ? null : config.backoffNs,
        filterSubjects: config.filterSubjects?.length === 0 ? null : config.filterSubjects,
      });
    }
  });

  it('is refused by its first field that petiole does not have', () => {
    const config = consumerOf(REQUEST, ENDPOINT, {}, null) as ConsumerConfig;
    expect(unsupportedConsumerField(config)).toBeNull();
    const all = { ...config, optStartSeq: Infinity, deliverSubject: 'd' };
    expect(unsupportedConsumerField(all)).toEqual(notYet('opt_start_seq'));
  });

  it('needs the replicas of a stream that keeps messages for its consumers', () => {
    const of = (numReplicas: number, stream: StreamFacts): unknown => {
      const config = { ...(consumerOf(REQUEST, ENDPOINT, {}, null) as ConsumerConfig), numReplicas };
      return completeConsumerConfig(config, stream, NO_LIMITS, false);
    };
    expect(of(1, { ...STREAM, retention: 'workqueue', numReplicas: 3 })).toBe(
      ApiErrors.consumerReplicasShouldMatchStream,
    );
    expect(of(3, { ...STREAM, retention: 'interest', numReplicas: 3 })).toMatchObject({ numReplicas: 3 });
    expect(of(0, { ...STREAM, retention: 'interest', numReplicas: 3 })).toMatchObject({ numReplicas: 0 });
    expect(of(2, { ...STREAM, retention: 'limits', numReplicas: 1 })).toBe(ApiErrors.consumerReplicasExceedsStream);
  });

  it('has what its stream says, and no more than that', () => {
    const stream = { ...STREAM, consumerLimits: { maxAckPending: 7, inactiveThresholdNs: 1_500_000_000 } };
    const of = (fields: object, isPedantic = false): unknown => {
      const config = { ...(consumerOf(REQUEST, ENDPOINT, {}, null) as ConsumerConfig), ...fields };
      return completeConsumerConfig(config, stream, NO_LIMITS, isPedantic);
    };
    const unsaid = { maxAckPending: 0, inactiveThresholdNs: 0 };
    expect(of(unsaid)).toMatchObject(stream.consumerLimits);
    expect(of(unsaid, true)).toMatchObject({ errCode: 10157 });
    expect(of({ maxAckPending: 8 })).toEqual(ApiErrors.consumerMaxPendingAckExcess(7));
    expect(of({ maxAckPending: 7, inactiveThresholdNs: 2_000_000_000 })).toEqual(
      ApiErrors.consumerInactiveThresholdExcess('1.5s'),
    );
  });

  it('needs explicit acks on a work queue, and one name', () => {
    const config = consumerOf(REQUEST, ENDPOINT, {}, null) as ConsumerConfig;
    const of = (fields: object, stream: StreamFacts): unknown =>
      completeConsumerConfig({ ...config, ...fields }, stream, NO_LIMITS, false);
    const workQueue: StreamFacts = { ...STREAM, retention: 'workqueue' };
    expect(of({ ackPolicy: 'none' }, workQueue)).toBe(ApiErrors.consumerPullRequiresAck);
    expect(of({ name: 'D' }, STREAM)).toBe(ApiErrors.consumerCreateDurableAndNameMismatch);
    expect(of({ name: '', durableName: 'a.b' }, STREAM)).toMatchObject({ errCode: 10052 });
  });

  it('of a push consumer does not become that of a pull consumer', () => {
    const current = { ...(consumerOf(REQUEST, ENDPOINT, {}, null) as ConsumerConfig), deliverSubject: 'd' };
    expect(updateConsumerConfig(current, { ...current, deliverSubject: '' })).toEqual(
      ApiErrors.consumerCreateFailed('can not update push consumer to pull based'),
    );
  });

  it.each([
    [{ pause_until: '2100-01-01T00:00:00Z' }, '1'],
    [{ pause_until: '0001-01-01T00:00:00Z' }, '0'],
    [{ priority_groups: ['a'] }, '1'],
    [{ priority_policy: 'overflow' }, '1'],
    [{ priority_timeout: 5 }, '1'],
    [{ ack_policy: 'flow_control' }, '4'],
  ])('with %o needs level %s of the API', (fields, level) => {
    const request = decodeConsumerRequest(JSON.stringify({ config: fields }), true);
    expect(request).toMatchObject({ config: { metadata: new Map([['_nats.req.level', level]]) } });
  });

  it('shows durations as Go prints them', () => {
    expect(durationText(90_000_000_000)).toBe('1m30s');
    expect(durationText(10n ** 16n)).toBe('2777h46m40s');
  });
});

describe('the subject of a request for a consumer', () => {
  it.each([
    ['CONSUMER.CREATE.S', { way: 'unnamed', streamName: 'S', consumerName: '', filterSubject: '' }],
    ['CONSUMER.CREATE.S.C', { way: 'named', streamName: 'S', consumerName: 'C', filterSubject: '' }],
    ['CONSUMER.CREATE.S.C.a.*.>', { way: 'named', streamName: 'S', consumerName: 'C', filterSubject: 'a.*.>' }],
    ['CONSUMER.DURABLE.CREATE.S.C', { way: 'durable', streamName: 'S', consumerName: 'C', filterSubject: '' }],
    ['CONSUMER.DURABLE.CREATE.S', ApiErrors.consumerDurableNameNotInSubject],
    ['CONSUMER.DURABLE.CREATE.S.C.x', ApiErrors.consumerDurableNameNotInSubject],
  ])('%s', (subject, endpoint) => {
    expect(consumerEndpoint(subject.split('.'))).toEqual(endpoint);
  });
});

const REQUEST = '{"stream_name":"S","config":{"durable_name":"C","ack_policy":"explicit"}}';

function consumerOf(
  body: string,
  at: string,
  { server }: Circumstances,
  current: ConsumerConfig | null,
): ConsumerConfig | ApiError {
  const request = decodeConsumerRequest(bytes(body), server !== 'lenient');
  if (isApiError(request)) return request;
  const endpoint = consumerEndpoint(bytes(`CONSUMER.${at}`).split('.'));
  if (isApiError(endpoint)) return endpoint;
  const named = nameConsumer(request, endpoint);
  if (isApiError(named)) return named;
  const limits = server === 'limited' ? { maxAckPending: 100, maxRequestBatch: 50 } : NO_LIMITS;
  const config = completeConsumerConfig(named, STREAM, limits, request.isPedantic);
  if (isApiError(config)) return config;
  const refused = checkConsumerAction(request.action, current, config);
  if (refused !== null) return refused;
  return current === null ? newConsumerConfig(config, config.name) : updateConsumerConfig(current, config);
}

function answerOfPetiole(body: string, circumstances: Circumstances): Answer {
  const { before, at = ENDPOINT } = circumstances;
  const current = before === undefined ? null : consumerOf(before, ENDPOINT, circumstances, null);
  if (current !== null && isApiError(current)) throw new Error(current.description);
  const config = consumerOf(body, at, circumstances, current);
  if (isApiError(config)) return { error: `${config.code} ${config.errCode} ${config.description}` };
  // Only in the level of its API may petiole differ.
  const text = encode(consumerConfigJson(config, 'full'));
  return { config: text.replace('"_nats.level":"4"', '"_nats.level":"5"') };
}

function notYet(field: string): ApiError {
  return ApiErrors.consumerCreateFailed(`${field} not supported by petiole yet`);
}
