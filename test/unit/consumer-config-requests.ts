/**
 * Requests to create or change a consumer of a stream with the subjects `s.>`, and what nats-server 2.15.2 answers: the
 * error, or how the configuration in the answer differs from that of a durable consumer of which nothing more was said.
 */

/** `undefined`: the field is not there. */
export type Changes = Readonly<Record<string, unknown>>;

export interface Circumstances {
  /** The endpoint behind `CONSUMER.`; else `CREATE.S.C`. */
  readonly at?: string;
  /** How JetStream is configured; else strict. */
  readonly server?: 'lenient' | 'limited';
  /** What the consumer was created with before. */
  readonly before?: string;
  /** nats-server accepts it. */
  readonly petioleOnly?: true;
}

export type ConsumerRow = readonly [
  title: string,
  body: string,
  answer: string | Changes,
  circumstances?: Circumstances,
];

/** What nats-server shows of a durable consumer of which nothing more was said. */
export const PLAIN_CONSUMER: Changes = {
  durable_name: 'C',
  name: 'C',
  deliver_policy: 'all',
  ack_policy: 'explicit',
  ack_wait: 30_000_000_000,
  max_deliver: -1,
  replay_policy: 'instant',
  max_waiting: 512,
  max_ack_pending: 1000,
  num_replicas: 0,
};

const LONG = 'x'.repeat(256);

/** A request for an ephemeral consumer. */
function e(config: object, more: object = {}): string {
  return JSON.stringify({ stream_name: 'S', config: { ack_policy: 'explicit', ...config }, ...more });
}

/** A request for a durable one. */
function d(config: object, more: object = {}): string {
  return e({ durable_name: 'C', ...config }, more);
}

export const CONSUMER_ROWS: readonly ConsumerRow[] = [
  // reading
  ['an empty body', '', '10056 stream name in subject does not match request'],
  ['a body cut off', '{"stream_name":"S"', '10025 invalid JSON: unexpected EOF'],
  ['an unknown field', e({ foo: 1 }), '10025 invalid JSON: json: unknown field "foo"'],
  ['an unknown field outside the config', e({}, { foo: 1 }), '10025 invalid JSON: json: unknown field "foo"'],
  [
    'text for a number',
    e({ max_deliver: 'x' }),
    '10025 invalid JSON: json: cannot unmarshal string into Go struct field ConsumerConfig.config.max_deliver of type int',
  ],
  [
    'text for an unsigned number',
    e({ opt_start_seq: 'x' }),
    '10025 invalid JSON: json: cannot unmarshal string into Go struct field ConsumerConfig.config.opt_start_seq of type uint64',
  ],
  [
    'a negative sequence',
    e({ opt_start_seq: -1 }),
    '10025 invalid JSON: json: cannot unmarshal number -1 into Go struct field ConsumerConfig.config.opt_start_seq of type uint64',
  ],
  [
    'text for a duration',
    e({ ack_wait: '30s' }),
    '10025 invalid JSON: json: cannot unmarshal string into Go struct field ConsumerConfig.config.ack_wait of type time.Duration',
  ],
  [
    'text in a list of durations',
    e({ backoff: [1, '2s'] }),
    '10025 invalid JSON: json: cannot unmarshal string into Go struct field ConsumerConfig.config.backoff of type time.Duration',
  ],
  [
    'text for the config',
    '{"stream_name":"S","config":"x"}',
    '10025 invalid JSON: json: cannot unmarshal string into Go struct field CreateConsumerRequest.config of type server.ConsumerConfig',
  ],
  [
    'a number for the stream',
    '{"stream_name":5}',
    '10025 invalid JSON: json: cannot unmarshal number into Go struct field CreateConsumerRequest.stream_name of type string',
  ],
  [
    'a time that is none',
    e({ opt_start_time: 'now' }),
    '10025 invalid JSON: parsing time "now" as "2006-01-02T15:04:05Z07:00": cannot parse "now" as "2006"',
  ],
  [
    'a time as a number',
    e({ opt_start_time: 5 }),
    '10025 invalid JSON: Time.UnmarshalJSON: input is not a JSON string',
  ],
  [
    'an hour that is none',
    e({ opt_start_time: '2024-01-01T25:00:00Z' }),
    '10025 invalid JSON: parsing time "2024-01-01T25:00:00Z": hour out of range',
  ],
  [
    'a time without a zone',
    e({ opt_start_time: '2024-01-01T10:00:00' }),
    '10025 invalid JSON: parsing time "2024-01-01T10:00:00" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "Z07:00"',
  ],
  [
    'a time with more behind it',
    e({ opt_start_time: '2024-01-01T10:00:00Zulu' }),
    '10025 invalid JSON: parsing time "2024-01-01T10:00:00Zulu": extra text: "ulu"',
  ],
  [
    'a day that is none',
    e({ opt_start_time: '2023-02-29T10:00:00Z' }),
    '10025 invalid JSON: parsing time "2023-02-29T10:00:00Z": day out of range',
  ],
  ['an unknown ack policy', e({ ack_policy: 'some' }), '10025 invalid JSON: can not unmarshal "\\"some\\""'],
  ['ack policy null', e({ ack_policy: null }), '10025 invalid JSON: can not unmarshal "null"'],
  ['an unknown deliver policy', e({ deliver_policy: 'first' }), '10025 invalid JSON: can not unmarshal "\\"first\\""'],
  [
    'the undefined deliver policy',
    e({ deliver_policy: 'undefined' }),
    { inactive_threshold: 5_000_000_000, durable_name: undefined },
  ],
  ['an unknown replay policy', e({ replay_policy: 'slow' }), '10025 invalid JSON: can not unmarshal "\\"slow\\""'],
  ['an unknown priority policy', e({ priority_policy: 'x' }), '10025 invalid JSON: unknown priority policy: "x"'],
  ['an unknown action', e({}, { action: 'delete' }), '10025 invalid JSON: unknown consumer action: "delete"'],
  [
    'action null',
    '{"stream_name":"S","config":{"ack_policy":"explicit"},"action":null}',
    '10025 invalid JSON: unknown consumer action: null',
  ],
  [
    'a number in the metadata',
    e({ metadata: { a: 1 } }),
    '10025 invalid JSON: json: cannot unmarshal number into Go struct field ConsumerConfig.config.metadata of type string',
  ],
  // names
  ['named, durable', d({}), {}],
  ['named, ephemeral', e({}), { inactive_threshold: 5_000_000_000, durable_name: undefined }],
  ['named, durable and name', d({ name: 'C' }), {}],
  [
    'named, another durable name',
    e({ durable_name: 'X' }),
    '10017 consumer name in subject does not match durable name in request',
  ],
  ['named, another name', e({ name: 'X' }), { inactive_threshold: 5_000_000_000, durable_name: undefined }],
  ['named, another name and durable', e({ durable_name: 'C', name: 'X' }), {}],
  [
    'unnamed',
    e({}),
    { inactive_threshold: 5_000_000_000, durable_name: undefined, name: undefined },
    { at: 'CREATE.S' },
  ],
  [
    'unnamed with a name',
    e({ name: 'C' }),
    { inactive_threshold: 5_000_000_000, durable_name: undefined },
    { at: 'CREATE.S' },
  ],
  [
    'unnamed with a durable name',
    d({}),
    '10020 consumer expected to be ephemeral but a durable name was set in request',
    { at: 'CREATE.S' },
  ],
  [
    'unnamed with a name with a slash',
    e({ name: 'a/b' }),
    '10127 Consumer name can not contain path separators',
    { at: 'CREATE.S' },
  ],
  [
    'unnamed with a name with a dot',
    e({ name: 'a.b' }),
    "10052 consumer name can not contain '.', '*', '>', '\\', '/'",
    { at: 'CREATE.S' },
  ],
  ['durable', d({}), {}, { at: 'DURABLE.CREATE.S.C' }],
  ['durable, and another name', d({ name: 'X' }), {}, { at: 'DURABLE.CREATE.S.C' }],
  [
    'durable without a durable name',
    e({}),
    '10018 consumer expected to be durable but a durable name was not set',
    { at: 'DURABLE.CREATE.S.C' },
  ],
  [
    'durable with another durable name',
    e({ durable_name: 'X' }),
    '10017 consumer name in subject does not match durable name in request',
    { at: 'DURABLE.CREATE.S.C' },
  ],
  [
    'durable with a slash',
    e({ durable_name: 'a/b' }),
    '10127 Consumer name can not contain path separators',
    { at: 'DURABLE.CREATE.S.a/b' },
  ],
  [
    'a name with a star',
    d({ durable_name: 'a*b' }),
    "10052 consumer name can not contain '.', '*', '>', '\\', '/'",
    { at: 'CREATE.S.a*b' },
  ],
  ['a name with a backslash', e({}), '10127 Consumer name can not contain path separators', { at: 'CREATE.S.a\\b' }],
  [
    'a durable name too long',
    e({ durable_name: LONG }),
    '10102 consumer name is too long, maximum allowed is 255',
    { at: `CREATE.S.${LONG}` },
  ],
  [
    'a name beyond ASCII',
    e({ durable_name: 'Größe' }),
    { durable_name: 'Größe', name: 'Größe' },
    { at: 'CREATE.S.Größe' },
  ],
  [
    'another stream in the body',
    JSON.stringify({ stream_name: 'T', config: {} }),
    '10056 stream name in subject does not match request',
  ],
  [
    'no stream in the body',
    '{"config":{"ack_policy":"explicit"}}',
    '10056 stream name in subject does not match request',
  ],
  [
    'no config',
    '{"stream_name":"S"}',
    {
      durable_name: undefined,
      ack_policy: 'none',
      ack_wait: undefined,
      max_ack_pending: undefined,
      inactive_threshold: 5_000_000_000,
    },
  ],
  ['a filter in the subject', d({ filter_subject: 's.a' }), { filter_subject: 's.a' }, { at: 'CREATE.S.C.s.a' }],
  [
    'another filter in the subject',
    d({ filter_subject: 's.b' }),
    '10131 Consumer create request did not match filtered subject from create subject',
    { at: 'CREATE.S.C.s.a' },
  ],
  [
    'a filter in the subject alone',
    d({}),
    '10131 Consumer create request did not match filtered subject from create subject',
    { at: 'CREATE.S.C.s.a' },
  ],
  [
    'a filter in the subject and several',
    d({ filter_subjects: ['s.a', 's.b'] }),
    '10137 consumer with multiple subject filters cannot use subject based API',
    { at: 'CREATE.S.C.s.a' },
  ],
  [
    'a wildcard filter in the subject',
    d({ filter_subject: 's.>' }),
    { filter_subject: 's.>' },
    { at: 'CREATE.S.C.s.>' },
  ],
  [
    'another stream and a bad name: the stream',
    JSON.stringify({ stream_name: 'T', config: { durable_name: 'X' } }),
    '10056 stream name in subject does not match request',
  ],
  // values
  [
    'everything that there is',
    d({
      description: 'd <>',
      deliver_policy: 'new',
      ack_wait: 1e9,
      max_deliver: 5,
      filter_subject: 's.*',
      replay_policy: 'instant',
      max_waiting: 10,
      max_ack_pending: 20,
      max_batch: 30,
      max_expires: 2e9,
      max_bytes: 1000,
      inactive_threshold: 60e9,
      num_replicas: 1,
      metadata: { b: '1', a: '2' },
    }),
    {
      description: 'd <>',
      deliver_policy: 'new',
      ack_wait: 1_000_000_000,
      max_deliver: 5,
      filter_subject: 's.*',
      max_waiting: 10,
      max_ack_pending: 20,
      max_batch: 30,
      max_expires: 2_000_000_000,
      max_bytes: 1000,
      inactive_threshold: 60_000_000_000,
      num_replicas: 1,
      metadata: { a: '2', b: '1' },
    },
  ],
  [
    'what official clients say',
    d({
      deliver_policy: 'all',
      ack_wait: 30e9,
      max_deliver: -1,
      replay_policy: 'instant',
      max_ack_pending: 1000,
      num_replicas: 0,
      opt_start_seq: 0,
      filter_subjects: [],
      backoff: [],
      headers_only: false,
      mem_storage: false,
      flow_control: false,
      priority_policy: 'none',
      pause_until: '0001-01-01T00:00:00Z',
    }),
    { pause_until: '0001-01-01T00:00:00Z' },
  ],
  [
    'null for everything',
    d({
      description: null,
      ack_wait: null,
      opt_start_time: null,
      backoff: null,
      filter_subjects: null,
      metadata: null,
      pause_until: null,
      max_deliver: null,
    }),
    {},
  ],
  ['deliver last', d({ deliver_policy: 'last' }), { deliver_policy: 'last' }],
  [
    'a start sequence',
    d({ deliver_policy: 'by_start_sequence', opt_start_seq: 7 }),
    { deliver_policy: 'by_start_sequence', opt_start_seq: 7 },
  ],
  [
    'a start time',
    d({ deliver_policy: 'by_start_time', opt_start_time: '2024-05-06T07:08:09.123456789Z' }),
    { deliver_policy: 'by_start_time', opt_start_time: '2024-05-06T07:08:09.123456789Z' },
  ],
  [
    'a start time elsewhere',
    d({ deliver_policy: 'by_start_time', opt_start_time: '2024-05-06T07:08:09.120+05:30' }),
    { deliver_policy: 'by_start_time', opt_start_time: '2024-05-06T07:08:09.12+05:30' },
  ],
  [
    'no start sequence',
    d({ deliver_policy: 'by_start_sequence' }),
    '10094 consumer delivery policy is deliver by start sequence, but optional start sequence is not set',
  ],
  [
    'no start time',
    d({ deliver_policy: 'by_start_time' }),
    '10094 consumer delivery policy is deliver by start time, but optional start time is not set',
  ],
  [
    'all and a start sequence',
    d({ opt_start_seq: 7 }),
    '10094 consumer delivery policy is deliver all, but optional start sequence is also set',
  ],
  [
    'all and a start time',
    d({ opt_start_time: '2024-05-06T07:08:09Z' }),
    '10094 consumer delivery policy is deliver all, but optional start time is also set',
  ],
  [
    'last and a start sequence',
    d({ deliver_policy: 'last', opt_start_seq: 7 }),
    '10094 consumer delivery policy is deliver last, but optional start sequence is also set',
  ],
  [
    'last and a start time',
    d({ deliver_policy: 'last', opt_start_time: '2024-05-06T07:08:09Z' }),
    '10094 consumer delivery policy is deliver last, but optional start time is also set',
  ],
  [
    'new and a start sequence',
    d({ deliver_policy: 'new', opt_start_seq: 7 }),
    '10094 consumer delivery policy is deliver new, but optional start sequence is also set',
  ],
  [
    'new and a start time',
    d({ deliver_policy: 'new', opt_start_time: '2024-05-06T07:08:09Z' }),
    '10094 consumer delivery policy is deliver new, but optional start time is also set',
  ],
  [
    'a start sequence and a time',
    d({ deliver_policy: 'by_start_sequence', opt_start_seq: 7, opt_start_time: '2024-05-06T07:08:09Z' }),
    '10094 consumer delivery policy is deliver by start sequence, but optional start time is also set',
  ],
  [
    'a start time and a sequence',
    d({ deliver_policy: 'by_start_time', opt_start_seq: 7, opt_start_time: '2024-05-06T07:08:09Z' }),
    '10094 consumer delivery policy is deliver by start time, but optional start start sequence is also set',
  ],
  [
    'last per subject and a start sequence',
    d({ deliver_policy: 'last_per_subject', opt_start_seq: 7 }),
    '10094 consumer delivery policy is deliver last per subject, but optional start sequence is also set',
  ],
  [
    'ack wait beyond 2^53',
    '{"stream_name":"S","config":{"durable_name":"C","ack_policy":"explicit","ack_wait":9007199254740993}}',
    { ack_wait: 9007199254740993n },
  ],
  ['a negative ack wait', d({ ack_wait: -1 }), '10183 consumer ack wait needs to be positive'],
  ['max deliver 0', d({ max_deliver: 0 }), {}],
  ['max deliver below -1', d({ max_deliver: -5 }), {}],
  ['a negative max waiting', d({ max_waiting: -1 }), {}],
  ['max ack pending unlimited', d({ max_ack_pending: -1 }), { max_ack_pending: -1 }],
  ['max ack pending below -1', d({ max_ack_pending: -5 }), { max_ack_pending: -1 }],
  ['a negative max batch', d({ max_batch: -1 }), {}],
  ['negative max expires', d({ max_expires: -1 }), {}],
  ['max expires too short', d({ max_expires: 1000 }), '10115 consumer max request expires needs to be >= 1ms'],
  ['negative max bytes', d({ max_bytes: -1 }), {}],
  [
    'a negative inactive threshold',
    e({ inactive_threshold: -1 }),
    { inactive_threshold: 5_000_000_000, durable_name: undefined },
  ],
  ['a negative heartbeat', d({ idle_heartbeat: -1 }), {}],
  ['a negative priority timeout', d({ priority_timeout: -1 }), { metadata: { '_nats.req.level': '1' } }],
  [
    'the largest numbers',
    '{"stream_name":"S","config":{"durable_name":"C","ack_policy":"explicit","max_deliver":9223372036854775807,"max_ack_pending":9223372036854775807,"max_batch":9223372036854775807,"max_bytes":9223372036854775807,"max_expires":9223372036854775807}}',
    {
      max_deliver: 9223372036854775807n,
      max_ack_pending: 9223372036854775807n,
      max_batch: 9223372036854775807n,
      max_expires: 9223372036854775807n,
      max_bytes: 9223372036854775807n,
    },
  ],
  ['pedantic, nothing wrong', d({}, { pedantic: true }), {}],
  [
    'pedantic, max deliver',
    d({ max_deliver: -2 }, { pedantic: true }),
    '10157 pedantic mode: max_deliver must be set to -1',
  ],
  [
    'pedantic, max waiting',
    d({ max_waiting: -1 }, { pedantic: true }),
    '10157 pedantic mode: max_waiting must not be negative',
  ],
  [
    'pedantic, max ack pending',
    d({ max_ack_pending: -2 }, { pedantic: true }),
    '10157 pedantic mode: max_ack_pending must be set to -1',
  ],
  [
    'pedantic, max batch',
    d({ max_batch: -1 }, { pedantic: true }),
    '10157 pedantic mode: max_batch must not be negative',
  ],
  [
    'pedantic, max expires',
    d({ max_expires: -1 }, { pedantic: true }),
    '10157 pedantic mode: max_expires must not be negative',
  ],
  [
    'pedantic, max bytes',
    d({ max_bytes: -1 }, { pedantic: true }),
    '10157 pedantic mode: max_bytes must not be negative',
  ],
  [
    'pedantic, heartbeat',
    d({ idle_heartbeat: -1 }, { pedantic: true }),
    '10157 pedantic mode: idle_heartbeat must not be negative',
  ],
  [
    'pedantic, inactive threshold',
    d({ inactive_threshold: -1 }, { pedantic: true }),
    '10157 pedantic mode: inactive_threshold must not be negative',
  ],
  [
    'pedantic, priority timeout',
    d({ priority_timeout: -1 }, { pedantic: true }),
    '10157 pedantic mode: priority_timeout must not be negative',
  ],
  ['replicas 3', d({ num_replicas: 3 }), '10074 replicas > 1 not supported in non-clustered mode'],
  ['negative replicas', d({ num_replicas: -1 }), '10133 replicas count cannot be negative'],
  [
    'a description too long',
    d({ description: 'x'.repeat(4097) }),
    '10107 consumer description is too long, maximum allowed is 4096',
  ],
  [
    'metadata too long',
    d({ metadata: { a: 'x'.repeat(128 * 1024) } }),
    '10135 consumer metadata exceeds maximum size of 128KB',
  ],
  [
    'metadata that only the server writes',
    d({ metadata: { '_nats.ver': '1', '_nats.level': '9', '_nats.req.level': '7', a: 'b' } }),
    { metadata: { a: 'b' } },
  ],
  ['an invalid filter', d({ filter_subject: 's..a' }), '10052 invalid subject'],
  ['a filter with a blank', d({ filter_subject: 'a b' }), '10052 invalid subject'],
  [
    'a filter and several',
    d({ filter_subject: 's.a', filter_subjects: ['s.b'] }),
    '10136 consumer cannot have both FilterSubject and FilterSubjects specified',
  ],
  ['a filter that the stream has not', d({ filter_subject: 'other' }), { filter_subject: 'other' }],
  [
    'a rate limit without a deliver subject',
    d({ rate_limit_bps: 5 }),
    '10086 consumer in pull mode can not have rate limit set',
  ],
  [
    'a heartbeat without a deliver subject',
    d({ idle_heartbeat: 1e9 }),
    '10088 consumer idle heartbeat requires a push based consumer',
  ],
  [
    'flow control without a deliver subject',
    d({ flow_control: true }),
    '10089 consumer flow control requires a push based consumer',
  ],
  ['direct without a deliver subject', d({ direct: true }), '10090 consumer direct requires a push based consumer'],
  [
    'the largest start sequence',
    '{"stream_name":"S","config":{"durable_name":"C","ack_policy":"explicit","deliver_policy":"by_start_sequence","opt_start_seq":18446744073709551615}}',
    '10012 opt_start_seq not supported by petiole yet',
    { petioleOnly: true },
  ],
  // not yet
  ['no acks', d({ ack_policy: 'none' }), { ack_policy: 'none', ack_wait: undefined, max_ack_pending: undefined }],
  ['acks of all', d({ ack_policy: 'all' }), { ack_policy: 'all' }],
  [
    'acks that are flow control',
    d({ ack_policy: 'flow_control', deliver_subject: 'd' }),
    {
      ack_policy: 'flow_control',
      ack_wait: undefined,
      deliver_subject: 'd',
      flow_control: true,
      idle_heartbeat: 1e9,
      max_waiting: undefined,
      metadata: { '_nats.req.level': '4' },
    },
  ],
  [
    'acks that are flow control, by pulling',
    d({ ack_policy: 'flow_control' }),
    '10218 flow control ack policy requires a push based consumer',
  ],
  [
    'acks that are flow control, with deadlines',
    d({ ack_policy: 'flow_control', deliver_subject: 'd', ack_wait: 1e9 }),
    '10221 flow control ack policy requires unset ack wait',
  ],
  [
    'acks that are flow control, with back-off',
    d({ ack_policy: 'flow_control', deliver_subject: 'd', backoff: [1e9] }),
    '10221 flow control ack policy requires unset ack wait',
  ],
  [
    'acks that are flow control, so many times',
    d({ ack_policy: 'flow_control', deliver_subject: 'd', max_deliver: 5 }),
    '10222 flow control ack policy requires unset max deliver',
  ],
  [
    'acks that are flow control, for any number',
    d({ ack_policy: 'flow_control', deliver_subject: 'd', max_ack_pending: -1 }),
    '10220 flow control ack policy requires max ack pending',
  ],
  [
    'last per subject',
    d({ deliver_policy: 'last_per_subject', filter_subject: 's.>' }),
    { deliver_policy: 'last_per_subject', filter_subject: 's.>' },
  ],
  [
    'last per subject without filters',
    d({ deliver_policy: 'last_per_subject' }),
    '10094 consumer delivery policy is deliver last per subject, but optional filter subject is not set',
  ],
  [
    'last per subject with several filters',
    d({ deliver_policy: 'last_per_subject', filter_subjects: ['s.a', 's.b.*'] }),
    { deliver_policy: 'last_per_subject', filter_subjects: ['s.a', 's.b.*'] },
  ],
  ['backoff', d({ backoff: [1e9, 2e9] }), { backoff: [1e9, 2e9], ack_wait: 1e9 }],
  ['backoff and another ack wait', d({ backoff: [2e9], ack_wait: 5e9 }), { backoff: [2e9], ack_wait: 2e9 }],
  [
    'pedantic: backoff and another ack wait',
    d({ backoff: [2e9], ack_wait: 5e9 }, { pedantic: true }),
    '10157 pedantic mode: first backoff value has to equal batch AckWait',
  ],
  [
    'pedantic: backoff alone',
    d({ backoff: [2e9] }, { pedantic: true }),
    '10157 pedantic mode: first backoff value has to equal batch AckWait',
  ],
  ['a negative backoff', d({ backoff: [1e9, -1] }), '10184 consumer backoff needs to be positive'],
  ['a first backoff of nothing', d({ backoff: [0, 1e9] }), { backoff: [0, 1e9], ack_wait: undefined }],
  [
    'more backoffs than deliveries',
    d({ backoff: [1, 2, 3], max_deliver: 2 }),
    '10116 max deliver is required to be > length of backoff values',
  ],
  [
    'as many backoffs as deliveries',
    d({ backoff: [1, 2, 3], max_deliver: 3 }),
    { backoff: [1, 2, 3], max_deliver: 3, ack_wait: 1 },
  ],
  [
    'backoff without acks',
    d({ backoff: [5], ack_policy: 'none' }),
    { backoff: [5], ack_policy: 'none', ack_wait: 5, max_ack_pending: undefined },
  ],
  ['several filters', d({ filter_subjects: ['s.a', 's.b'] }), { filter_subjects: ['s.a', 's.b'] }],
  ['one of several filters', d({ filter_subjects: ['s.a'] }), { filter_subjects: ['s.a'] }],
  ['filters that overlap', d({ filter_subjects: ['s.a', 's.*'] }), '10138 consumer subject filters cannot overlap'],
  [
    'filters that overlap the other way round',
    d({ filter_subjects: ['s.>', 's.a.b'] }),
    '10138 consumer subject filters cannot overlap',
  ],
  ['the same filter twice', d({ filter_subjects: ['s.a', 's.a'] }), '10138 consumer subject filters cannot overlap'],
  [
    'filters of which neither is part of the other',
    d({ filter_subjects: ['s.foo.*', 's.*.foo'] }),
    { filter_subjects: ['s.foo.*', 's.*.foo'] },
  ],
  [
    'an empty filter among several',
    d({ filter_subjects: ['s.a', ''] }),
    '10139 consumer filter in FilterSubjects cannot be empty',
  ],
  ['an invalid filter among several', d({ filter_subjects: ['s.a', 's..b'] }), '10052 invalid subject'],
  [
    'an invalid filter behind ones that overlap',
    d({ filter_subjects: ['s.a', 's.a', 's..b'] }),
    '10138 consumer subject filters cannot overlap',
  ],
  ['original replay', d({ replay_policy: 'original' }), { replay_policy: 'original' }],
  ['headers only', d({ headers_only: true }), { headers_only: true }],
  ['memory', d({ mem_storage: true }), { mem_storage: true }],
  [
    'priorities',
    d({ priority_policy: 'overflow', priority_groups: ['a'] }),
    { priority_policy: 'overflow', priority_groups: ['a'], metadata: { '_nats.req.level': '1' } },
  ],
  // limited
  ['limited: nothing said', d({}), { max_ack_pending: 100, max_batch: 50 }, { server: 'limited' }],
  [
    'limited: too many pending acks',
    d({ max_ack_pending: 101 }),
    '10121 consumer max ack pending exceeds system limit of 100',
    { server: 'limited' },
  ],
  [
    'limited: unlimited pending acks',
    d({ max_ack_pending: -1 }),
    { max_ack_pending: -1, max_batch: 50 },
    { server: 'limited' },
  ],
  [
    'limited: too large a batch',
    d({ max_batch: 51 }),
    '10125 consumer max request batch exceeds server limit of 50',
    { server: 'limited' },
  ],
  [
    'limited: pedantic without a batch',
    d({}, { pedantic: true }),
    "10157 pedantic mode: max_request_batch must be set if it's JetStream limits are set",
    { server: 'limited' },
  ],
  // lenient
  ['lenient: an unknown field', d({ foo: 1 }), {}, { server: 'lenient' }],
  [
    'lenient: an unknown action',
    d({ foo: 1 }, { action: 'x' }),
    '10025 invalid JSON: unknown consumer action: "x"',
    { server: 'lenient' },
  ],
  // again
  ['again: the same', d({}), {}, { before: d({}) }],
  ['again: create, the same', d({}, { action: 'create' }), {}, { before: d({}) }],
  [
    'again: create, the same with defaults said',
    d(
      { ack_wait: 30e9, max_waiting: 512, deliver_policy: 'all', metadata: { '_nats.ver': 'x' } },
      { action: 'create' },
    ),
    {},
    { before: d({}) },
  ],
  [
    'again: create, another',
    d({ max_deliver: 5 }, { action: 'create' }),
    '10148 consumer already exists',
    { before: d({}) },
  ],
  [
    'again: create, an empty list where there was none',
    d({ backoff: [] }, { action: 'create' }),
    '10148 consumer already exists',
    { before: d({}) },
  ],
  ['again: create, ephemeral', e({}, { action: 'create' }), '10148 consumer already exists', { before: e({}) }],
  [
    'again: create, ephemeral with its threshold',
    e({ inactive_threshold: 5e9 }, { action: 'create' }),
    { inactive_threshold: 5_000_000_000, durable_name: undefined },
    { before: e({}) },
  ],
  [
    'again: ephemeral',
    e({ description: 'x' }),
    { description: 'x', inactive_threshold: 5_000_000_000, durable_name: undefined },
    { before: e({}) },
  ],
  ['again: create, a pause', d({ pause_until: '2100-01-01T00:00:00Z' }, { action: 'create' }), {}, { before: d({}) }],
  [
    'again: no pause',
    d({}),
    { pause_until: '0001-01-01T00:00:00Z' },
    { before: d({ pause_until: '0001-01-01T00:00:00Z' }) },
  ],
  ['update of none', d({}, { action: 'update' }), '10149 consumer does not exist'],
  ['create of none', d({}, { action: 'create' }), {}],
  [
    'update: all that may change',
    d(
      {
        description: 'd',
        ack_wait: 5e9,
        max_deliver: 7,
        filter_subject: 's.b',
        max_ack_pending: 3,
        max_batch: 4,
        max_expires: 1e9,
        max_bytes: 9,
        inactive_threshold: 9e9,
        num_replicas: 1,
        metadata: { x: 'y' },
      },
      { action: 'update' },
    ),
    {
      description: 'd',
      ack_wait: 5_000_000_000,
      max_deliver: 7,
      filter_subject: 's.b',
      max_ack_pending: 3,
      max_batch: 4,
      max_expires: 1_000_000_000,
      max_bytes: 9,
      inactive_threshold: 9_000_000_000,
      num_replicas: 1,
      metadata: { x: 'y' },
    },
    { before: d({}) },
  ],
  [
    'update: the deliver policy',
    d({ deliver_policy: 'new' }),
    '10012 deliver policy can not be updated',
    { before: d({}) },
  ],
  [
    'update: the start sequence',
    d({ deliver_policy: 'by_start_sequence', opt_start_seq: 8 }),
    '10012 start sequence can not be updated',
    { before: d({ deliver_policy: 'by_start_sequence', opt_start_seq: 7 }) },
  ],
  [
    'update: the start time',
    d({ deliver_policy: 'by_start_time', opt_start_time: '2024-05-06T07:08:10Z' }),
    '10012 start time can not be updated',
    { before: d({ deliver_policy: 'by_start_time', opt_start_time: '2024-05-06T07:08:09Z' }) },
  ],
  [
    'update: the same start time elsewhere',
    d({ deliver_policy: 'by_start_time', opt_start_time: '2024-05-06T09:08:09+02:00' }),
    { deliver_policy: 'by_start_time', opt_start_time: '2024-05-06T09:08:09+02:00' },
    { before: d({ deliver_policy: 'by_start_time', opt_start_time: '2024-05-06T07:08:09Z' }) },
  ],
  ['update: the ack policy', d({ ack_policy: 'all' }), '10012 ack policy can not be updated', { before: d({}) }],
  [
    'update: the replay policy',
    d({ replay_policy: 'original' }),
    '10012 replay policy can not be updated',
    { before: d({}) },
  ],
  ['update: max waiting', d({ max_waiting: 5 }), '10012 max waiting can not be updated', { before: d({}) }],
  ['update: the storage', d({ mem_storage: true }), '10012 storage type can not be updated', { before: d({}) }],
  [
    'update: to push',
    d({ deliver_subject: 'd' }),
    '10012 can not update pull consumer to push based',
    { before: d({ max_waiting: 5 }) },
  ],
  ['update: to backoff', d({ backoff: [1e9] }), { backoff: [1e9], ack_wait: 1e9 }, { before: d({}) }],
  [
    'update: more backoffs than deliveries',
    d({ backoff: [1e9, 2e9], max_deliver: 1 }),
    '10116 max deliver is required to be > length of backoff values',
    { before: d({}) },
  ],
  [
    'update: to several filters',
    d({ filter_subjects: ['s.a', 's.b'] }),
    { filter_subjects: ['s.a', 's.b'] },
    { before: d({ filter_subject: 's.a' }) },
  ],
  ['update: to headers only', d({ headers_only: true }), { headers_only: true }, { before: d({}) }],
  [
    'update: the deliver policy',
    d({ deliver_policy: 'last_per_subject', filter_subject: 's.a' }),
    '10012 deliver policy can not be updated',
    { before: d({ filter_subject: 's.a' }) },
  ],
  ['update: ephemeral to durable', d({}), { inactive_threshold: 5_000_000_000 }, { before: e({}) }],
  ['update: durable to ephemeral', e({}), { durable_name: undefined }, { before: d({}) }],
];
