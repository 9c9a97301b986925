/** JSON without its blanks says what it said with them. */
import { assert, integer, json, property } from 'fast-check';
import { expect, it } from 'vitest';
import { compactJson } from '../../server/system/compact-json.ts';

/** The text, and in how many pieces it was made. */
function compacted(text: string): { text: string; pauses: number } {
  const work = compactJson(Buffer.from(text));
  for (let pauses = 0; ; pauses++) {
    const step = work.next();
    if (step.done === true) return { text: step.value.toString(), pauses };
  }
}

it('is what would have been written without them', () => {
  assert(
    property(json({ stringUnit: 'binary' }), integer({ min: 0, max: 8 }), (text, blanks) => {
      const value = JSON.parse(text) as unknown;
      expect(compacted(JSON.stringify(value, null, blanks)).text).toBe(JSON.stringify(value));
    }),
  );
});

it('keeps blanks and quotes within strings, and pauses in long texts', () => {
  const value = { 'a "b" \\': ['  x\\" \n', ' '.repeat(200_000)] };
  const { text, pauses } = compacted(JSON.stringify(value, null, 2));
  expect(text).toBe(JSON.stringify(value));
  expect(pauses).toBeGreaterThanOrEqual(3);
});
