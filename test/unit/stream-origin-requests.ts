/** Requests for mirrors and for streams with sources, and what nats-server 2.15.2 answers (`stream-config-requests.ts`). */
import type { Changes, StreamRow } from './stream-config-requests.ts';

/** A stream that others feed. */
const FED: Changes = { subjects: undefined, duplicate_window: undefined };

function mirror(fields: object, others: object = {}): string {
  return JSON.stringify({ name: 'S', mirror: { name: 'X', ...fields }, ...others });
}

function sources(...all: readonly (object | null)[]): string {
  return JSON.stringify({ name: 'S', sources: all });
}

const LATE = '2030-01-01T00:00:00Z';

export const ORIGIN_ROWS: readonly StreamRow[] = [
  ['a mirror', mirror({}), { ...FED, mirror: { name: 'X' } }],
  [
    'a mirror in a window',
    mirror({}, { duplicate_window: 1e9 }),
    { ...FED, duplicate_window: 1e9, mirror: { name: 'X' } },
  ],
  ['a mirror of nothing', mirror({ name: '' }), '10142 mirrored stream name is invalid'],
  ['a mirror of several', mirror({ name: 'X.*' }), '10142 mirrored stream name is invalid'],
  ['a mirror of itself', mirror({ name: 'S' }), '10052 detected cycle'],
  [
    'a mirror that begins at a sequence and a time',
    mirror({ opt_start_seq: 5, opt_start_time: LATE }),
    { ...FED, mirror: { name: 'X', opt_start_seq: 5, opt_start_time: LATE } },
  ],
  ['a filtered mirror', mirror({ filter_subject: 'a.*' }), { ...FED, mirror: { name: 'X', filter_subject: 'a.*' } }],
  [
    'a mirror with an invalid filter',
    mirror({ filter_subject: 'a..b' }),
    "10049 subject filter 'a..b' for the mirror invalid subject",
  ],
  [
    'a mirror with a filter and transforms',
    mirror({ filter_subject: 'a', subject_transforms: [{ src: 'a', dest: 'b' }] }),
    '10150 mirror with multiple subject transforms cannot also have a single subject filter',
  ],
  [
    'a mirror with transforms',
    mirror({
      subject_transforms: [
        { src: 'a.*', dest: 'b.{{wildcard(1)}}' },
        { src: 'c', dest: '' },
      ],
    }),
    {
      ...FED,
      mirror: {
        name: 'X',
        subject_transforms: [
          { src: 'a.*', dest: 'b.{{wildcard(1)}}' },
          { src: 'c', dest: '' },
        ],
      },
    },
  ],
  [
    'a mirror whose transforms overlap',
    mirror({
      subject_transforms: [
        { src: 'a.*', dest: 'b' },
        { src: 'a.b', dest: 'c' },
      ],
    }),
    '10152 mirror subject filters can not overlap',
  ],
  [
    'a mirror with transforms of no subject',
    mirror({ subject_transforms: [{ src: 'a..b', dest: 'c' }] }),
    '10151 mirror transform source: invalid subject a..b',
  ],
  [
    'a mirror with transforms to nowhere',
    mirror({ subject_transforms: [{ src: 'a.*', dest: 'b.{{wildcard(2)}}' }] }),
    '10154 mirror transform: invalid mapping destination: wildcard index out of range in {{wildcard(2)}}: [2]',
  ],
  [
    'direct gets of a mirror',
    mirror({}, { mirror_direct: true }),
    { ...FED, mirror_direct: true, mirror: { name: 'X' } },
  ],
  [
    'a mirror of another domain',
    mirror({ external: { api: '$JS.hub.API', deliver: '' } }),
    { ...FED, mirror: { name: 'X', external: { api: '$JS.hub.API', deliver: '' } } },
  ],
  [
    'a mirror of any name of another domain',
    mirror({ name: 'a.b', external: { api: '$JS.hub.API', deliver: 'd' } }),
    { ...FED, mirror: { name: 'a.b', external: { api: '$JS.hub.API', deliver: 'd' } } },
  ],
  [
    'a mirror by the own API',
    mirror({ external: { api: '$JS.API', deliver: '' } }),
    '10021 stream external api prefix $JS.API must not overlap with $JS.API',
  ],
  [
    'a mirror by an API of several',
    mirror({ external: { api: '$JS.*.API', deliver: '' } }),
    '10052 stream external api prefix "$JS.*.API" must be a valid subject without wildcards',
  ],
  [
    'a mirror delivered to several subjects',
    mirror({ external: { api: '$JS.hub.API', deliver: 'd.*' } }),
    '10024 stream external delivery prefix d.* must not contain wildcards',
  ],
  [
    'a mirror by a consumer',
    mirror({ consumer: { name: 'C', deliver_subject: 'd' } }),
    { ...FED, mirror: { name: 'X', consumer: { name: 'C', deliver_subject: 'd' } } },
  ],
  ...[
    { consumer: { name: 'C' } },
    { consumer: { deliver_subject: 'd' } },
    { consumer: { name: 'C', deliver_subject: 'd.*' } },
    { consumer: { name: 'C', deliver_subject: 'd' }, opt_start_seq: 1 },
    { consumer: { name: 'C', deliver_subject: 'd' }, opt_start_time: LATE },
    { consumer: { name: 'C', deliver_subject: 'd' }, filter_subject: 'a' },
  ].map((fields): StreamRow => [
    `a mirror by a consumer that does not fit: ${JSON.stringify(fields)}`,
    mirror(fields),
    '10213 stream mirror consumer config is invalid',
  ]),
  ['sources', sources({ name: 'X' }, { name: 'Y' }), { ...FED, sources: [{ name: 'X' }, { name: 'Y' }] }],
  [
    'sources and subjects',
    JSON.stringify({ name: 'S', sources: [{ name: 'X' }], subjects: ['own'] }),
    { ...FED, subjects: ['own'], sources: [{ name: 'X' }] },
  ],
  ['a source that is none', sources(null), '10141 sourced stream name is invalid'],
  ['a source without a name', sources({}), '10141 sourced stream name is invalid'],
  [
    'a source with an invalid filter',
    sources({ name: 'X', filter_subject: 'a..b' }),
    "10049 subject filter 'a..b' for the source: invalid subject",
  ],
  ['a source twice', sources({ name: 'X' }, { name: 'X' }), '10140 duplicate source configuration detected'],
  [
    'a source twice, from elsewhere',
    sources({ name: 'X' }, { name: 'X', opt_start_seq: 5 }),
    '10140 duplicate source configuration detected',
  ],
  [
    'a source twice, of several domains',
    sources(
      { name: 'X', external: { api: '$JS.a.API', deliver: '' } },
      { name: 'X', external: { api: '$JS.b.API', deliver: '' } },
    ),
    {
      ...FED,
      sources: [
        { name: 'X', external: { api: '$JS.a.API', deliver: '' } },
        { name: 'X', external: { api: '$JS.b.API', deliver: '' } },
      ],
    },
  ],
  [
    'a source twice, differently filtered',
    sources({ name: 'X', filter_subject: 'a' }, { name: 'X', filter_subject: 'b' }),
    {
      ...FED,
      sources: [
        { name: 'X', filter_subject: 'a' },
        { name: 'X', filter_subject: 'b' },
      ],
    },
  ],
  [
    'a source with a filter and transforms',
    sources({ name: 'X', filter_subject: 'a', subject_transforms: [{ src: 'a', dest: 'b' }] }),
    '10144 source with multiple subject transforms cannot also have a single subject filter',
  ],
  [
    'a source with transforms of no subject',
    sources({ name: 'X', subject_transforms: [{ src: 'a..b', dest: 'c' }] }),
    '10145 source transform source: invalid subject a..b',
  ],
  [
    'a source with transforms to nowhere',
    sources({ name: 'X', subject_transforms: [{ src: 'a.*', dest: 'b.{{wildcard(2)}}' }] }),
    '10146 source transform: invalid mapping destination: wildcard index out of range in {{wildcard(2)}}: [2]',
  ],
  [
    'a source with a transform in another',
    sources({
      name: 'X',
      subject_transforms: [
        { src: 'a.*', dest: 'b' },
        { src: 'a.b', dest: 'c' },
      ],
    }),
    '10147 source filters can not overlap',
  ],
  [
    'a source with transforms that cross',
    sources({
      name: 'X',
      subject_transforms: [
        { src: 'a.*', dest: 'b' },
        { src: '*.b', dest: 'c' },
      ],
    }),
    {
      ...FED,
      sources: [
        {
          name: 'X',
          subject_transforms: [
            { src: 'a.*', dest: 'b' },
            { src: '*.b', dest: 'c' },
          ],
        },
      ],
    },
  ],
  [
    'sources by one consumer',
    sources(
      { name: 'X', consumer: { name: 'C', deliver_subject: 'd' }, subject_transforms: [{ src: 'a', dest: 'b' }] },
      { name: 'X', consumer: { name: 'C', deliver_subject: 'd' } },
    ),
    '10216 duplicate stream source consumer detected',
  ],
  [
    'a source by a consumer that does not fit',
    sources({ name: 'X', consumer: { name: 'C', deliver_subject: 'd' }, filter_subject: 'a' }),
    '10215 stream source consumer config is invalid',
  ],
  [
    'a source with schedules',
    JSON.stringify({ name: 'S', sources: [{ name: 'X' }], allow_msg_schedules: true }),
    '10187 stream source can not also schedule messages',
  ],
  ['itself as a source', sources({ name: 'S' }), '10052 detected cycle'],
  [
    'itself as a source, of what it does not have',
    JSON.stringify({ name: 'S', subjects: ['a'], sources: [{ name: 'S', filter_subject: 'b' }] }),
    { ...FED, subjects: ['a'], sources: [{ name: 'S', filter_subject: 'b' }] },
  ],
  [
    'update: sources come',
    sources({ name: 'X' }),
    { ...FED, sources: [{ name: 'X' }] },
    { before: '{"name":"S"}', verb: 'UPDATE' },
  ],
  [
    'update: a mirror stays',
    mirror({}, { max_msgs: 5 }),
    { ...FED, mirror: { name: 'X' }, max_msgs: 5 },
    { before: mirror({}), verb: 'UPDATE' },
  ],
  [
    'update: a mirror of another stream',
    mirror({ name: 'Y' }),
    '10055 stream mirror configuration can not be updated',
    { before: mirror({}), verb: 'UPDATE' },
  ],
  ['update: a mirror no more', '{"name":"S"}', {}, { before: mirror({}), verb: 'UPDATE' }],
];
