/**
 * Requests about what push consumers have: deliver subject and group, heartbeats, flow control, rate limit, sampling and
 * pause; and what nats-server 2.15.2 answers.
 */
import type { Changes, ConsumerRow } from './consumer-config-requests.ts';

/** How the configuration of a push consumer differs from that of a pull consumer of which nothing more was said. */
const PUSH: Changes = { deliver_subject: 'd', max_waiting: undefined };

function d(config: object, more: object = {}): string {
  return JSON.stringify({
    stream_name: 'S',
    config: { durable_name: 'C', ack_policy: 'explicit', ...config },
    ...more,
  });
}

function p(config: object, more: object = {}): string {
  return d({ deliver_subject: 'd', ...config }, more);
}

const FLOW = { flow_control: true, idle_heartbeat: 5e9 };

export const PUSH_ROWS: readonly ConsumerRow[] = [
  ['push', p({}), PUSH],
  ['push to a group', p({ deliver_group: 'g' }), { ...PUSH, deliver_group: 'g' }],
  ['a group without a deliver subject', d({ deliver_group: 'g' }), { deliver_group: 'g' }],
  ['push to a wildcard', p({ deliver_subject: 'd.*' }), '10079 consumer deliver subject has wildcards'],
  ['push to a full wildcard', p({ deliver_subject: '>' }), '10079 consumer deliver subject has wildcards'],
  ['push to an invalid subject', p({ deliver_subject: 'd..e' }), '10112 invalid push consumer deliver subject'],
  ['push to a subject with a blank', p({ deliver_subject: 'd e' }), '10112 invalid push consumer deliver subject'],
  ['push into the stream', p({ deliver_subject: 's.a' }), '10081 consumer deliver subject forms a cycle'],
  ['push, max waiting', p({ max_waiting: 5 }), '10080 consumer in push mode can not set max waiting'],
  ['push, a negative max waiting', p({ max_waiting: -5 }), PUSH],
  [
    'push, no acks but max ack pending',
    p({ ack_policy: 'none', max_ack_pending: 5 }),
    '10082 consumer requires ack policy for max ack pending',
  ],
  ['push, a short heartbeat', p({ idle_heartbeat: 99_999_999 }), '10083 consumer idle heartbeat needs to be >= 100ms'],
  ['push, the shortest heartbeat', p({ idle_heartbeat: 1e8 }), { ...PUSH, idle_heartbeat: 100_000_000 }],
  ['push, a negative heartbeat', p({ idle_heartbeat: -1 }), PUSH],
  ['flow control', p(FLOW), { ...PUSH, flow_control: true, idle_heartbeat: 5_000_000_000 }],
  [
    'flow control without a heartbeat',
    p({ flow_control: true }),
    '10108 consumer with flow control also needs heartbeats',
  ],
  ['a rate limit', p({ rate_limit_bps: 1024 }), { ...PUSH, rate_limit_bps: 1024 }],
  [
    'push, what only pull has',
    p({ max_batch: 5, max_expires: 5, max_bytes: 6 }),
    { ...PUSH, max_batch: 5, max_expires: 5, max_bytes: 6 },
  ],
  ['push on a limited server', p({}), { ...PUSH, max_ack_pending: 100 }, { server: 'limited' }],
  ['samples in percent', d({ sample_freq: '50%' }), { sample_freq: '50%' }],
  ['samples as a number', d({ sample_freq: '+30' }), { sample_freq: '+30' }],
  ['samples above all', d({ sample_freq: '1000' }), { sample_freq: '1000' }],
  [
    'samples that are no number',
    d({ sample_freq: 'x"%' }),
    '10095 failed to parse consumer sampling configuration: strconv.Atoi: parsing "x\\"": invalid syntax',
  ],
  [
    'samples of nothing',
    d({ sample_freq: '%' }),
    '10095 failed to parse consumer sampling configuration: strconv.Atoi: parsing "": invalid syntax',
  ],
  [
    'samples with a fraction',
    d({ sample_freq: '1.5' }),
    '10095 failed to parse consumer sampling configuration: strconv.Atoi: parsing "1.5": invalid syntax',
  ],
  ['negative samples', d({ sample_freq: '-1' }), '10095 failed to parse consumer sampling configuration: <nil>'],
  [
    'far too many samples',
    d({ sample_freq: '9223372036854775808' }),
    '10095 failed to parse consumer sampling configuration: strconv.Atoi: parsing "9223372036854775808": value out of range',
  ],
  [
    'a pause',
    d({ pause_until: '2100-01-01T02:00:00+02:00' }),
    { pause_until: '2100-01-01T02:00:00+02:00', metadata: { '_nats.req.level': '1' } },
  ],
  [
    'a pause that is over',
    d({ pause_until: '2000-01-01T00:00:00Z' }),
    { pause_until: '2000-01-01T00:00:00Z', metadata: { '_nats.req.level': '1' } },
  ],
  ['again: an update does not pause', d({ pause_until: '2100-01-01T00:00:00Z' }), {}, { before: d({}) }],
  [
    'again: an update does not resume',
    d({}),
    { pause_until: '2100-01-01T00:00:00Z', metadata: { '_nats.req.level': '1' } },
    { before: d({ pause_until: '2100-01-01T00:00:00Z' }) },
  ],
  [
    'update: to another deliver subject',
    p({ deliver_subject: 'e' }),
    { ...PUSH, deliver_subject: 'e' },
    { before: p({}) },
  ],
  ['update: to a deliver group', p({ deliver_group: 'g' }), { ...PUSH, deliver_group: 'g' }, { before: p({}) }],
  ['update: to pull', d({}), '10012 can not update push consumer to pull based', { before: p({}) }],
  ['update: to push', p({ max_waiting: 0 }), '10012 can not update pull consumer to push based', { before: d({}) }],
  [
    'update: heartbeat',
    p({ idle_heartbeat: 6e9 }),
    '10012 heart beats can not be updated',
    { before: p({ idle_heartbeat: 5e9 }) },
  ],
  ['update: flow control', p({ idle_heartbeat: 5e9 }), '10012 flow control can not be updated', { before: p(FLOW) }],
  ['update: rate limit', p({ rate_limit_bps: 5 }), { ...PUSH, rate_limit_bps: 5 }, { before: p({}) }],
  ['update: samples', d({ sample_freq: '5' }), { sample_freq: '5' }, { before: d({ sample_freq: '6' }) }],
];
