/** Who hands on what was inflated, and when. */
import { expect, test } from 'vitest';
import { BYTES_A_TURN, InflationTurns, type Waiting } from '../../server/websocket/inflation-turns.ts';

/** Turns that end when the test says so. */
class Turns {
  private due: (() => void)[] = [];

  afterTurn(callback: () => void): void {
    this.due.push(callback);
  }

  /** Whether somebody waited for the end of this one. */
  end(): boolean {
    const { due } = this;
    this.due = [];
    for (const each of due) each();
    return due.length > 0;
  }
}

function waiting(name: string, heldBytes: number, served: string[], then: () => void = () => undefined): Waiting {
  return {
    heldBytes,
    turnCame: () => {
      served.push(name);
      then();
    },
  };
}

test('nothing waits where little is inflated', () => {
  const turns = new Turns();
  const inflation = new InflationTurns(turns);
  for (let i = 0; i < 100; i++) {
    expect(inflation.take(BYTES_A_TURN)).toBe(true);
    expect(turns.end()).toBe(true);
  }
  for (let i = 0; i < 16; i++) expect(inflation.take(BYTES_A_TURN / 16)).toBe(true);
  expect(turns.end()).toBe(true);
  expect(turns.end()).toBe(false);
});

test('a turn has room for so much, and the others follow in order, before who comes later', () => {
  const turns = new Turns();
  const inflation = new InflationTurns(turns);
  const served: string[] = [];
  const large = (name: string): Waiting => waiting(name, BYTES_A_TURN, served);
  expect(inflation.take(BYTES_A_TURN)).toBe(true);
  for (const name of ['a', 'b', 'c']) {
    expect(inflation.take(1)).toBe(false);
    inflation.wait(large(name));
  }
  expect(served).toEqual([]);
  turns.end();
  expect(served).toEqual(['a']);
  expect(inflation.take(1)).toBe(false);
  inflation.wait(large('d'));
  for (let i = 0; i < 3; i++) turns.end();
  expect(served).toEqual(['a', 'b', 'c', 'd']);
  turns.end();
  expect(turns.end()).toBe(false);
  expect(inflation.take(1)).toBe(true);
});

test('small pieces share a turn, and one that comes back at once does not keep the others waiting', () => {
  const turns = new Turns();
  const inflation = new InflationTurns(turns);
  const served: string[] = [];
  const quarter = BYTES_A_TURN / 4;
  const greedy: Waiting = waiting('greedy', quarter, served, () => inflation.wait(greedy));
  inflation.take(BYTES_A_TURN);
  inflation.wait(greedy);
  for (const name of ['a', 'b', 'c', 'd']) inflation.wait(waiting(name, quarter, served));
  turns.end();
  expect(served).toEqual(['greedy', 'a', 'b', 'c']);
  turns.end();
  expect(served.slice(4)).toEqual(['d', 'greedy', 'greedy', 'greedy']);
});

test('who leaves has no turn', () => {
  const turns = new Turns();
  const inflation = new InflationTurns(turns);
  const served: string[] = [];
  const [a, b] = [waiting('a', BYTES_A_TURN, served), waiting('b', 1, served)];
  inflation.take(BYTES_A_TURN);
  inflation.wait(a);
  inflation.wait(b);
  inflation.leave(a);
  turns.end();
  expect(served).toEqual(['b']);
});
