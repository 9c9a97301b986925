/** Requests and messages that no sane client sends: each is answered as by nats-server, and has no effect that it has not there. */
import { describeTalks, type JetStreamTalk } from '../helpers/jetstream-talk.ts';

const LONG = 'x'.repeat(300);
const MB = 'y'.repeat(1_000_000);

/** Values that some client might send for a number. */
const NUMBERS = [
  '-1',
  '-2',
  '0',
  '1.0',
  '1.5',
  '1e3',
  '-0',
  '9223372036854775807',
  '9223372036854775808',
  '-9223372036854775808',
  '18446744073709551615',
  '18446744073709551616',
  '1e400',
  '"5"',
  'null',
  'true',
  '[]',
  '{}',
  '05',
  '.5',
  '0x10',
  'NaN',
];

const NUMERIC_FIELDS = [
  'max_msgs',
  'max_bytes',
  'max_age',
  'max_msg_size',
  'num_replicas',
  'duplicate_window',
  'first_seq',
];

/** Values for a name or a subject, as JSON. */
const TEXTS = [
  '""',
  '" "',
  '"a b"',
  '"a\\tb"',
  '"a\\r\\nb"',
  '"a\\u0000b"',
  '"a/b"',
  '"a\\\\b"',
  '"../../etc"',
  '"a.b"',
  '"a*"',
  '"a>"',
  '"é"',
  '"\\ud83d\\ude00"',
  '"\\ud800"',
  '"\\u007f"',
  '"a\\fb"',
  `"${LONG}"`,
  '5',
  'null',
  '["a"]',
];

describeTalks('strange requests', '', [
  ...NUMERIC_FIELDS.map((field): [string, (to: JetStreamTalk) => Promise<void>] => [
    `say ${field} in all ways`,
    async (to) => {
      // What is beyond 2^53 has no place in a sequence of petiole's.
      const numbers = field === 'first_seq' ? NUMBERS.filter((each) => !/^\d{17,}$/.test(each)) : NUMBERS;
      for (const number of numbers) {
        const answer = await to.api('STREAM.CREATE.N', `{"name":"N","subjects":["${field}"],"${field}":${number}}`);
        if (!('error' in answer)) await to.api('STREAM.DELETE.N');
      }
    },
  ]),
  [
    'name streams in all ways',
    async (to) => {
      for (const text of TEXTS) await to.api('STREAM.CREATE.N', `{"name":${text}}`);
      for (const name of ['a/b', 'a\\b', '..', '...', 'é', LONG]) {
        await to.api(`STREAM.CREATE.${name}`, { name }).catch(() => to.lines.push(`${name}: nobody answers`));
      }
      await to.api('STREAM.NAMES');
      for (const { name } of [{ name: 'é' }]) await to.api(`STREAM.DELETE.${name}`);
    },
  ],
  [
    'name subjects in all ways',
    async (to) => {
      for (const text of [
        ...TEXTS,
        '"a..b"',
        '".a"',
        '"a."',
        '"a.>.b"',
        '"$JS.x"',
        '"$SYS.x"',
        '">"',
        '"*"',
        '"$JS.API.>"',
      ]) {
        const answer = await to.api('STREAM.CREATE.N', `{"name":"N","subjects":[${text}]}`);
        if (!('error' in answer)) await to.api('STREAM.DELETE.N');
      }
      await to.api('STREAM.CREATE.N', '{"name":"N","subjects":"a"}');
      await to.api('STREAM.CREATE.N', '{"name":"N","subjects":null}');
      await to.api('STREAM.DELETE.N');
    },
  ],
  [
    'are no JSON, too much of it, or of another kind',
    async (to) => {
      const bodies = [
        '{',
        '}',
        '{"name":"N"}}',
        '{"name":"N",}',
        '{"name":"N" "x":1}',
        '{name:"N"}',
        "{'name':'N'}",
        '{"name":"N"}garbage',
        '{"NAME":"N","Subjects":["case"]}',
        '{"name":"M","name":"N","subjects":["twice"]}',
        '{"name":"N","unknown":1}',
        '{"name":"N","config":{}}',
        `${'['.repeat(60)}${']'.repeat(60)}`,
        `{"name":"N","metadata":{"a":${'{"a":'.repeat(50)}1${'}'.repeat(50)}}}`,
        '{"name":"N","metadata":{"a":1}}',
        '{"name":"N","metadata":["a"]}',
        '{"name":"N","retention":"none"}',
        '{"name":"N","retention":1}',
        '{"name":"N","storage":"tape"}',
        '{"name":"N","discard":"all"}',
        '{"name":"N","sealed":"yes"}',
        '{"name":"N","max_age":"5s"}',
        '{"name":"N","placement":"here"}',
        '\u0000',
        '\ufeff{"name":"N"}',
        '"N"',
        'N',
      ];
      for (const body of bodies) {
        const answer = await to.api('STREAM.CREATE.N', body);
        if (!('error' in answer)) await to.api('STREAM.DELETE.N');
      }
      for (const body of bodies) await to.api('STREAM.UPDATE.N', body);
    },
  ],
  [
    'ask for what is not there',
    async (to) => {
      await to.api('STREAM.CREATE.E', { name: 'E', subjects: ['e'] });
      for (const request of ['INFO', 'DELETE', 'PURGE', 'MSG.GET', 'MSG.DELETE']) {
        for (const body of ['', '{}', '{"seq":1}', '{"seq":-1}', '{"seq":1.5}', '{"seq":"1"}', '[1]', 'x', 'null']) {
          await to.api(`STREAM.${request}.none`, body);
          if (request !== 'DELETE') await to.api(`STREAM.${request}.E`, body);
        }
      }
      for (const body of [' ', '{"x":1}', '[]', '""', '0']) await to.api('STREAM.DELETE.E', body);
      await to.api('STREAM.NAMES');
    },
  ],
  [
    'publish too much, or with strange headers',
    async (to) => {
      await to.api('STREAM.CREATE.P', { name: 'P', subjects: ['p.>'], max_msg_size: 200_000 });
      await to.publish('p.a', 'x'.repeat(200_000));
      await to.publish('p.a', 'x'.repeat(200_001));
      await to.publish('p.a', MB);
      for (const size of [65_000, 65_520, 65_535, 65_536, 70_000]) await to.publish('p.a', '', { H: 'h'.repeat(size) });
      for (const value of [
        'x',
        '-1',
        '1.5',
        '18446744073709551615',
        '18446744073709551616',
        ' ',
        '0 ',
        '+0',
        '1e3',
        '00',
      ]) {
        await to.publish('p.s', 'x', { 'Nats-Expected-Last-Sequence': value });
        await to.publish('p.s', 'x', { 'Nats-Expected-Last-Subject-Sequence': value });
      }
      for (const value of ['x'.repeat(70), 'é', ' ', 'a b', '"']) {
        await to.publish('p.i', 'x', { 'Nats-Msg-Id': value });
        await to.publish('p.i', 'x', { 'Nats-Msg-Id': value });
        await to.publish('p.i', 'x', { 'Nats-Expected-Last-Msg-Id': value });
        await to.publish('p.i', 'x', { 'Nats-Expected-Stream': value });
        await to.publish('p.i', 'x', { 'Nats-Rollup': value });
        await to.publish('p.i', 'x', { 'Nats-TTL': value });
      }
      await to.publish(`p.${'s'.repeat(300)}`, 'x');
      await to.state('P');
    },
  ],
]);
