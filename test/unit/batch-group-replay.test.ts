/** Which groups of messages, read from a log at start, count: those with an end, and those whose end must have been there. */
import { describe, expect, it } from 'vitest';
import { GroupReplay } from '../../jetstream/store/message-group.ts';

/** Plays frames, written as `g5` (message 5 of a group), `m5`, `e4-5` (end), `r5`, `p5` (purge below 5), `end`. */
function played(script: string): { taken: string; missing: number[] } {
  const taken: string[] = [];
  const missing: number[] = [];
  const group = new GroupReplay((kind, body) => taken.push(`${kind}:${body.toString()}`));
  for (const word of script.split(' ')) {
    const [from = 0, to = 0] = word.slice(1).split('-').map(Number);
    const bytes = Buffer.from(`<${from}>`);
    if (word === 'end') group.drop();
    else if (word.startsWith('g')) group.hold(8, from, bytes, 1, bytes.length - 1);
    else if (word.startsWith('e')) missing.push(group.end(from, to));
    else if (word.startsWith('r')) group.removed(from);
    else if (word.startsWith('p')) group.purged(from);
    else {
      group.message(from);
      taken.push(`m:${from}`);
    }
    bytes.fill(0xdd);
  }
  return { taken: taken.join(' '), missing };
}

describe('a group read from the log', () => {
  it.each([
    ['counts with its end', 'm4 g5 g6 e5-6 m7', 'm:4 8:5 8:6 m:7', [0]],
    ['counts once', 'g5 e5-5 g6 g7 e6-7 end', '8:5 8:6 8:7', [0, 0]],
    ['does not count before its end', 'm4 g5 g6', 'm:4', []],
    ['was cut off when the log ends', 'g5 g6 end m5', 'm:5', []],
    ['was cut off when its sequences are given to a message', 'g5 g6 g7 m5 m6', 'm:5 m:6', []],
    ['was cut off when its last sequence is given to a message', 'g5 g6 m6', 'm:6', []],
    ['was cut off when its sequences are given to a group', 'g5 g6 g7 g5 g6 e5-6', '8:5 8:6', [0]],
    ['was cut off when its sequences are given to a longer group', 'g5 g6 g5 g6 g7 e5-7', '8:5 8:6 8:7', [0]],
    ['was cut off twice', 'g5 g6 g5 g6 g7 g5 end', '', []],
    ['was cut off when a purge goes on behind it', 'g5 g6 p9 m9', 'm:9', []],
    ['is not concerned by a purge before it', 'm4 g5 p5 g6 e5-6', 'm:4 8:5 8:6', [0]],
    ['is not concerned by removals before it', 'm4 g5 r4 g6 e5-6', 'm:4 8:5 8:6', [0]],
    ['counts without its end when a message follows', 'g5 g6 m7', '8:5 8:6 m:7', []],
    ['counts without its end when a group follows', 'g5 g6 g7 g8 e7-8', '8:5 8:6 8:7 8:8', [0]],
    ['counts without its end when one of it was removed', 'g5 g6 r6', '8:5 8:6', []],
    ['lacks what is damaged', 'g5 g8 e5-9', '8:5 8:8', [3]],
    ['lacks everything', 'm4 e5-6 m7', 'm:4 m:7', [2]],
  ])('%s', (_, script, taken, missing) => {
    expect(played(script)).toEqual({ taken, missing });
  });
});
