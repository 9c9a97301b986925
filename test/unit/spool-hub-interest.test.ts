/** What a hub wanted to hear that counts while its link is down. */
import { describe, expect, it } from 'vitest';
import { HubInterest, readWanted, type WantedSubject } from '../../jetstream/spool/hub-interest.ts';

const SPOOLED = ['telemetry.>'];
const STREAM = wanted('telemetry.>');
const BOTH = wanted('telemetry.>', 'telemetry.a workers');

describe('what a hub wanted to hear', () => {
  it('stays when the hub withdraws it and is lost before it is looked at', () => {
    const interest = new HubInterest([]);
    interest.begin(STREAM);
    interest.add([], SPOOLED);
    expect(interest.wanted).toEqual(STREAM);
  });

  it('stays when it was withdrawn just before a look that another change had asked for', () => {
    const interest = new HubInterest([]);
    interest.begin(STREAM);
    expect(interest.look([], SPOOLED)).toBe(true);
    expect(interest.wanted).toEqual(STREAM);
    interest.add([], SPOOLED);
    expect(interest.wanted).toEqual(STREAM);
  });

  it('is forgotten when it was withdrawn at two looks', () => {
    const interest = new HubInterest([]);
    interest.begin(BOTH);
    expect(interest.look(STREAM, SPOOLED)).toBe(true);
    expect(interest.look(STREAM, SPOOLED)).toBe(false);
    expect(interest.wanted).toEqual(STREAM);
  });

  it('grows at once with what is wanted when the link is lost', () => {
    const interest = new HubInterest(STREAM);
    interest.add(wanted('telemetry.a workers'), SPOOLED);
    expect(interest.wanted).toEqual(BOTH);
  });

  it('is what the next link says when that has said all', () => {
    const interest = new HubInterest(BOTH);
    interest.begin(STREAM);
    expect(interest.wanted).toEqual(STREAM);
    expect(interest.look(STREAM, SPOOLED)).toBe(false);
  });

  it('is nothing that is not spooled any more', () => {
    const interest = new HubInterest([]);
    interest.begin(wanted('alarm.>', 'telemetry.>'));
    interest.restrict(SPOOLED);
    interest.add([], SPOOLED);
    expect(interest.wanted).toEqual(STREAM);
  });

  it('is taken for everything that is spooled where it is more than can be kept', () => {
    const numbered = (from: number): readonly WantedSubject[] =>
      Array.from({ length: 600 }, (_, i) => ({ subject: `telemetry.${from + i}`, queueGroup: '' }));
    const interest = new HubInterest(numbered(0));
    interest.add(numbered(600), SPOOLED);
    expect(interest.wanted).toEqual(STREAM);
  });
});

function wanted(...lines: string[]): readonly WantedSubject[] {
  return readWanted(lines.join('\n'));
}
