/**
 * What becomes of requests for a stream: the table of `stream-config-requests.ts`, answered by petiole's functions and,
 * where there is one, by a real nats-server over its API. Both must give the same bytes.
 */
import { afterAll, describe, expect, it } from 'vitest';
import { type ApiError, ApiErrors, isApiError } from '../../jetstream/errors.ts';
import {
  decodeStreamRequest,
  sameStreamConfig,
  storedStreamConfig,
  type StreamConfig,
  streamConfigJson,
} from '../../jetstream/stream/stream-config.ts';
import {
  checkStreamCreate,
  completeStreamConfig,
  createStreamConfig,
  NO_STREAM_LIMITS,
} from '../../jetstream/stream/stream-config-rules.ts';
import { unsupportedStreamField } from '../../jetstream/stream/stream-config-support.ts';
import { updateStreamConfig } from '../../jetstream/stream/stream-config-update.ts';
import { encode } from '../../server/protocol/go-json.ts';
import { absenceIsFailure } from '../helpers/targets.ts';
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
import { type Circumstances, PLAIN_STREAM, STREAM_ROWS } from './stream-config-requests.ts';
import { ORIGIN_ROWS } from './stream-origin-requests.ts';

const absence = referenceAbsence();
const rows = [...STREAM_ROWS, ...ORIGIN_ROWS];
const cases = rows.map(([title, body, answer, circumstances = {}]) => ({ title, body, answer, circumstances }));

describe('petiole, asked for a stream', () => {
  it.each(cases)('$title', ({ body, answer, circumstances }) => {
    const ours = answerOfPetiole(body, circumstances);
    expect('error' in ours ? textOfError(ours.error) : parse(ours.config)).toEqual(
      typeof answer === 'string' ? answer : { ...PLAIN_STREAM, ...answer, metadata: shownMetadata(answer) },
    );
  });
});

describe.skipIf(absence !== null && !absenceIsFailure())(`nats-server (${absence ?? '2.15.2'}), asked the same`, () => {
  const servers = new ReferenceServers();
  afterAll(() => servers.stop());

  it.each(cases)('$title', async ({ body, circumstances }) => {
    const { subject = 'S', server = 'strict', before, verb = 'CREATE', petioleOnly } = circumstances;
    if (before !== undefined) await servers.request(server, `STREAM.CREATE.${subject}`, before);
    const theirs = answerIn(await servers.request(server, `STREAM.${verb}.${subject}`, body));
    await servers.request(server, `STREAM.DELETE.${subject}`, '');
    expect(petioleOnly === true ? Object.keys(theirs) : theirs).toEqual(
      petioleOnly === true ? ['config'] : answerOfPetiole(body, circumstances),
    );
  });
});

describe('a stream configuration', () => {
  it('that petiole takes comes back from its stored form as it was', () => {
    const taken = cases
      .map(({ body, circumstances }) => create(body, circumstances))
      .filter((config): config is StreamConfig => !isApiError(config));
    expect(taken.length).toBeGreaterThan(50);
    // An empty list is not written, as nats-server doesn't.
    for (const config of taken) {
      const sources = config.sources?.length === 0 ? null : config.sources;
      expect(storedStreamConfig(encode(streamConfigJson(config, 'stored')))).toEqual({ ...config, sources });
    }
  });

  it('is refused by its first field that petiole does not have', () => {
    const { config } = decodeStreamRequest('', true) as { config: StreamConfig };
    expect(unsupportedStreamField(config)).toBeNull();
    const all = { ...config, firstSeq: Infinity, allowBatched: true };
    expect(unsupportedStreamField(all)).toEqual(notYet('first_seq'));
    expect(unsupportedStreamField({ ...all, compression: 's2' })).toEqual(notYet('compression'));
  });

  it('needs max_bytes, and no more of them than the account allows', () => {
    const limits = { ...NO_STREAM_LIMITS, isMaxBytesRequired: true, fileStreamBytesMax: 10, memoryStreamBytesMax: 20 };
    const of = (fields: object): unknown => {
      const request = decodeStreamRequest(JSON.stringify({ name: 'S', ...fields }), true);
      return isApiError(request) ? request : createStreamConfig(request.config, limits, request.isPedantic);
    };
    expect(of({})).toBe(ApiErrors.streamMaxBytesRequired);
    expect(of({ max_bytes: 11 })).toBe(ApiErrors.streamMaxStreamBytesExceeded);
    expect(of({ max_bytes: 21, storage: 'memory' })).toBe(ApiErrors.streamMaxStreamBytesExceeded);
    expect(of({ max_bytes: 10 })).toMatchObject({ maxBytes: 10 });
    expect(of({ max_bytes: 20, storage: 'memory' })).toMatchObject({ maxBytes: 20 });
  });

  it('is shown in lists without what the server says of itself', () => {
    const config = create('{"name":"S","metadata":{"b":"1"}}', {}) as StreamConfig;
    expect(streamConfigJson(config, 'list')['metadata']).toEqual({ '_nats.req.level': '0', b: '1' });
    expect(streamConfigJson(config, 'full')['metadata']).toMatchObject({ '_nats.ver': '2.15.2', '_nats.level': '4' });
  });

  it.each([
    [{ allow_msg_ttl: true }, '1'],
    [{ subject_delete_marker_ttl: 1e9 }, '1'],
    [{ allow_msg_counter: true }, '2'],
    [{ allow_atomic: true }, '2'],
    [{ allow_msg_schedules: true }, '2'],
    [{ persist_mode: 'async' }, '2'],
    [{ allow_batched: true }, '4'],
  ])('with %o needs level %s of the API', (fields, level) => {
    const request = decodeStreamRequest(JSON.stringify({ name: 'S', ...fields }), true);
    expect(request).toMatchObject({ config: { metadata: new Map([['_nats.req.level', level]]) } });
  });
});

function create(body: string, { subject = 'S', server }: Circumstances): StreamConfig | ApiError {
  const request = decodeStreamRequest(bytes(body), server !== 'lenient');
  if (isApiError(request)) return request;
  const { config, isPedantic } = request;
  return checkStreamCreate(config, bytes(subject)) ?? createStreamConfig(config, limitsOf(server), isPedantic);
}

function limitsOf(server: Circumstances['server']): typeof NO_STREAM_LIMITS {
  return server === 'limited' ? { ...NO_STREAM_LIMITS, duplicateWindowMs: 60_000 } : NO_STREAM_LIMITS;
}

function createAgain(body: string, circumstances: Circumstances, current: StreamConfig): StreamConfig | ApiError {
  const config = create(body, circumstances);
  return isApiError(config) || sameStreamConfig(current, config) ? config : ApiErrors.streamNameExist;
}

function update(body: string, { server }: Circumstances, current: StreamConfig): StreamConfig | ApiError {
  const request = decodeStreamRequest(bytes(body), server !== 'lenient');
  if (isApiError(request)) return request;
  const config = completeStreamConfig(request.config, limitsOf(server), request.isPedantic);
  if (isApiError(config)) return config;
  return config.name === current.name ? updateStreamConfig(current, config) : ApiErrors.streamMismatch;
}

function answerOfPetiole(body: string, circumstances: Circumstances): Answer {
  const { before, verb } = circumstances;
  const current = before === undefined ? null : create(before, circumstances);
  if (current !== null && isApiError(current)) throw new Error(current.description);
  const change = verb === 'UPDATE' ? update : createAgain;
  const config = current === null ? create(body, circumstances) : change(body, circumstances, current);
  if (isApiError(config)) return { error: `${config.code} ${config.errCode} ${config.description}` };
  // Only in the level of its API may petiole differ.
  const text = encode(streamConfigJson(config, 'full'));
  return { config: text.replace('"_nats.level":"4"', '"_nats.level":"5"') };
}

function notYet(field: string): ApiError {
  return ApiErrors.streamInvalidConfig(`${field} not supported by petiole yet`);
}
