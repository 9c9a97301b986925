/** What is kept of lines that are not whole, and who has to go when it is too much. */
import { describe, expect, it } from 'vitest';
import { FirstLines } from '../../server/connection/first-lines.ts';

class Dripping {
  readonly name: string;
  readonly lines: FirstLines<Dripping>;
  isGivenUp = false;

  constructor(name: string, lines: FirstLines<Dripping>) {
    this.name = name;
    this.lines = lines;
  }

  /** As a connection does: what was held, and more. */
  send(bytes: number): void {
    this.lines.hold(this, this.lines.of(this) + this.name.repeat(bytes));
  }

  firstLineGivenUp(): void {
    this.isGivenUp = true;
    // Closing it drops its line once more.
    this.lines.drop(this);
  }
}

describe('first lines', () => {
  it('are held and dropped, and counted', () => {
    const lines = new FirstLines<Dripping>(100);
    const a = new Dripping('a', lines);
    const b = new Dripping('b', lines);
    for (let i = 0; i < 5; i++) {
      a.send(3);
      b.send(2);
    }
    expect([lines.of(a), lines.of(b), lines.heldBytes]).toEqual(['a'.repeat(15), 'b'.repeat(10), 25]);
    lines.drop(a);
    lines.drop(a);
    expect([lines.of(a), lines.of(b), lines.heldBytes]).toEqual(['', 'b'.repeat(10), 10]);
    lines.drop(b);
    expect(lines.heldBytes).toBe(0);
    expect(lines.givenUp).toBe(0);
  });

  it('are given up, the earliest first, when they are too long together', () => {
    const lines = new FirstLines<Dripping>(100);
    const all = Array.from({ length: 10 }, (_, i) => new Dripping(String(i), lines));
    for (const each of all) each.send(10);
    // Sending more does not make a line a later one.
    all[0]?.send(0);
    expect(lines.heldBytes).toBe(100);
    all[5]?.send(1);
    expect(all.map(({ isGivenUp }) => isGivenUp).indexOf(true)).toBe(0);
    expect(lines.heldBytes).toBe(91);
    all[6]?.send(25);
    expect(all.filter(({ isGivenUp }) => isGivenUp).map(({ name }) => name)).toEqual(['0', '1', '2']);
    expect(lines.heldBytes).toBe(96);
    expect(lines.givenUp).toBe(3);
  });

  it('leave nothing of one that is too long by itself', () => {
    const lines = new FirstLines<Dripping>(100);
    const a = new Dripping('a', lines);
    a.send(101);
    expect([a.isGivenUp, lines.of(a), lines.heldBytes]).toEqual([true, '', 0]);
  });
});
