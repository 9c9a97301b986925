/** How streams are told of: names, lists, pages, details of their state, and what the account holds. */
import { describeTalks, type JetStreamTalk } from '../helpers/jetstream-talk.ts';

const PAYLOAD = '{"offset":1}';

describeTalks('streams', 'max_mem: 4096, max_file: 10000', [
  [
    'are named and listed, by their subjects and from an offset on',
    async (to) => {
      await to.api('STREAM.NAMES');
      await to.api('STREAM.LIST');
      for (const name of ['b', 'a', 'Z', 'c1']) {
        await to.api(`STREAM.CREATE.${name}`, { name, subjects: [`s.${name}`, `${name}.*.x`], storage: 'memory' });
      }
      for (const request of ['STREAM.NAMES', 'STREAM.LIST']) {
        await to.api(request);
        await to.api(request, PAYLOAD);
        for (const offset of [3, 4, 5, 100, -1]) await to.api(request, { offset });
        for (const subject of [
          's.a',
          's.*',
          's.>',
          '>',
          '*.*.x',
          'a.1.x',
          'a.1.y',
          'none',
          's.',
          's..a',
          ' ',
          'a.*.*',
        ]) {
          await to.api(request, { subject });
        }
        await to.api(request, { subject: 's.*', offset: 2 });
        await to.api(request, { subject: 5 });
        await to.api(request, '{"offset":"1"}');
        await to.api(request, '{"offset":1.5}');
        await to.api(request, '{"offset":1e99}');
        await to.api(request, '{"unknown":1}');
        await to.api(request, '[]');
        await to.api(request, '{"offset":1} x');
      }
      for (const name of ['b', 'a', 'Z', 'c1']) await to.api(`STREAM.DELETE.${name}`);
    },
  ],
  ...['file', 'memory'].map((storage): [string, (to: JetStreamTalk) => Promise<void>] => [
    `tell of their subjects and of what is deleted, in ${storage}`,
    async (to) => {
      const name = `I${storage}`;
      await to.api(`STREAM.CREATE.${name}`, { name, subjects: [`${name}.>`], storage });
      await to.api(`STREAM.INFO.${name}`, { subjects_filter: '>' });
      for (let i = 0; i < 12; i++) await to.publish(`${name}.${i % 5}.${i % 2}`, `${i}`);
      for (const seq of [1, 3, 4, 9]) await to.api(`STREAM.MSG.DELETE.${name}`, { seq });
      for (const subjects_filter of [
        '>',
        `${name}.*.1`,
        `${name}.1.>`,
        `${name}.1.1`,
        'none',
        `${name}.9.*`,
        'a..b',
        '*',
        ' ',
      ]) {
        await to.api(`STREAM.INFO.${name}`, { subjects_filter });
      }
      for (const offset of [0, 1, 3, 8, 9, 10, 1000, -1]) {
        await to.api(`STREAM.INFO.${name}`, { subjects_filter: '>', offset });
      }
      await to.api(`STREAM.INFO.${name}`, { deleted_details: true });
      await to.api(`STREAM.INFO.${name}`, { deleted_details: true, subjects_filter: `${name}.1.1` });
      await to.api(`STREAM.INFO.${name}`, { offset: 5 });
      await to.api(`STREAM.INFO.${name}`, '{"deleted_details":1}');
      await to.api(`STREAM.INFO.${name}`, '{"unknown":1}');
      await to.api(`STREAM.PURGE.${name}`, { keep: 2 });
      await to.api(`STREAM.INFO.${name}`, { deleted_details: true, subjects_filter: '>' });
      await to.api(`STREAM.PURGE.${name}`);
      await to.api(`STREAM.INFO.${name}`, { deleted_details: true, subjects_filter: '>' });
      await to.api(`STREAM.DELETE.${name}`);
      await to.api(`STREAM.INFO.${name}`);
    },
  ]),
  [
    'set aside what the server has',
    async (to) => {
      await to.api('INFO');
      await to.api('STREAM.CREATE.R1', { name: 'R1', max_bytes: 6000 });
      await to.api('STREAM.CREATE.R2', { name: 'R2', max_bytes: 4001 });
      await to.api('STREAM.CREATE.R2', { name: 'R2', max_bytes: 4001, subjects: ['R1'] });
      await to.api('STREAM.CREATE.R2', { name: 'R2', max_bytes: 4000 });
      await to.api('STREAM.CREATE.R3', { name: 'R3' });
      await to.api('STREAM.CREATE.R3', { name: 'R3', max_bytes: 1 });
      await to.api('INFO');
      await to.api('STREAM.UPDATE.R1', { name: 'R1', max_bytes: 6001 });
      await to.api('STREAM.UPDATE.R1', { name: 'R1', max_bytes: 5999 });
      await to.api('STREAM.CREATE.R3', { name: 'R3' });
      await to.api('STREAM.UPDATE.R3', { name: 'R3', max_bytes: 2 });
      await to.api('STREAM.UPDATE.R1', { name: 'R1' });
      await to.api('STREAM.CREATE.M1', { name: 'M1', max_bytes: 4097, storage: 'memory' });
      await to.api('STREAM.CREATE.M1', { name: 'M1', max_bytes: 4096, storage: 'memory' });
      await to.api('STREAM.CREATE.M2', { name: 'M2', storage: 'memory' });
      await to.api('CONSUMER.CREATE.M1.c', { stream_name: 'M1', config: { name: 'c', durable_name: 'c' } });
      await to.publish('M1', 'abc');
      await to.api('STREAM.INFO.none');
      await to.api('INFO', '{}');
      await to.api('INFO', 'x');
      for (const name of ['R1', 'R2', 'R3', 'M1']) await to.api(`STREAM.DELETE.${name}`);
      await to.api('INFO');
    },
  ],
]);
