/** How sources are told apart, and what stands in the header of a message that came from one. */
import { describe, expect, it } from 'vitest';
import type { StreamSource } from '../../jetstream/stream/stream-config-parts.ts';
import { readSourceHeader, sourceHeader, sourceIndexName } from '../../jetstream/stream/source-name.ts';

function source(fields: Partial<StreamSource>): StreamSource {
  return {
    name: 'O',
    optStartSeq: 0,
    optStartTime: null,
    filterSubject: '',
    subjectTransforms: null,
    external: null,
    consumer: null,
    ...fields,
  };
}

const TRANSFORMS = [
  { source: 'a.*', destination: 'b.$1' },
  { source: '', destination: '' },
];

const CASES: readonly (readonly [string, Partial<StreamSource>, string, string])[] = [
  ['of a plain source', {}, 'O > >', 'O 7 > > s.x'],
  ['of a filtered source', { filterSubject: 's.*' }, 'O s.* >', 'O 7 s.* > s.x'],
  ['of transforms', { subjectTransforms: TRANSFORMS }, 'O a.*\f> b.$1\f>', 'O 7 a.*\f> b.$1\f> s.x'],
  [
    'of another domain',
    { external: { apiPrefix: '$JS.hub.API', deliverPrefix: '' } },
    'O:bTMUkJQk > >',
    'O:bTMUkJQk 7 > > s.x',
  ],
];

describe('the header', () => {
  it.each(CASES)('%s begins with its index name', (_, fields, indexName, header) => {
    expect(sourceIndexName(source(fields))).toBe(indexName);
    expect(sourceHeader(source(fields), 7, 's.x', '')).toBe(header);
    expect(sourceHeader(source(fields), 7, 's.x', 'Identity')).toBe(`${header} Identity`);
  });

  it.each(CASES)('%s is read as it was written', (_, fields, indexName) => {
    for (const identity of ['', 'Identity']) {
      const read = readSourceHeader(sourceHeader(source(fields), 7, 's.x', identity));
      expect(read).toEqual({ origin: indexName.split(' ')[0], indexName, sequence: 7, identity });
    }
  });

  it.each([
    ['an acknowledgement subject', '$JS.ACK.O.C.1.7.9.1700000000000000000.0', 'O'],
    ['the longer form of one', '$JS.ACK._.hash.O.C.1.7.9.1700000000000000000.0', 'O'],
    ['an origin and a sequence', 'O 7', 'O'],
  ])('of an earlier server (%s) names the origin', (_, value, origin) => {
    expect(readSourceHeader(value)).toEqual({ origin, indexName: '', sequence: 7, identity: '' });
  });

  it.each(['', 'O', 'O x > >', 'O 99999999999999999999 > >', '$JS.ACK.O', '$JS.ACK.O.C.1.x.9.1.0'])(
    '%j is none',
    (value) => {
      expect(readSourceHeader(value)).toBeNull();
    },
  );
});
