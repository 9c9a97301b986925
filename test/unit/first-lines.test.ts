/** What is kept of lines that are not whole, and who has to go when it is too much. */
import { describe, expect, it } from 'vitest';
import { type FirstLineOwner, FirstLines, NOWHERE } from '../../server/connection/first-lines.ts';

const AT = 1000;

class Client implements FirstLineOwner {
  firstLineAt = NOWHERE;
  isGivenUp = false;
  readonly name: string;
  private readonly lines: FirstLines;

  constructor(lines: FirstLines, name: string) {
    this.lines = lines;
    this.name = name;
  }

  /** As a connection does: what was kept, and more. */
  send(text: string): void {
    const buffer = Buffer.alloc(AT + text.length, '-');
    buffer.write(text, AT);
    this.lines.keep(this, buffer, this.lines.putInFront(this, buffer, AT), buffer.length);
  }

  get kept(): string {
    const buffer = Buffer.alloc(AT);
    return buffer.toString('latin1', this.lines.putInFront(this, buffer, AT), AT);
  }

  firstLineGivenUp(): void {
    this.isGivenUp = true;
    // Closing it drops its line once more.
    this.lines.drop(this);
  }
}

describe('first lines', () => {
  it('are kept as they come, also when they outgrow their place, and dropped', () => {
    const lines = new FirstLines([
      [4, 3],
      [16, 3],
      [64, 3],
    ]);
    const clients = ['a', 'b', 'c'].map((name) => new Client(lines, name));
    let expected = '';
    for (let i = 0; i < 40; i++) {
      expected += String(i % 10);
      for (const each of clients) each.send(i === 0 ? each.name : String(i % 10));
      expect(clients.map(({ kept }) => kept)).toEqual(clients.map(({ name }) => name + expected.slice(1)));
      expect(lines.count).toBe(3);
    }
    for (const each of clients) {
      lines.drop(each);
      lines.drop(each);
    }
    expect(clients.map(({ kept }) => kept)).toEqual(['', '', '']);
    expect([lines.count, lines.givenUp]).toEqual([0, 0]);
  });

  it('are given up in turn when their shelf is full', () => {
    const lines = new FirstLines([
      [4, 4],
      [8, 2],
    ]);
    const clients = Array.from('abcdefgh', (name) => new Client(lines, name));
    const [a, b, c, d, e, f, g, h] = clients as [Client, Client, Client, Client, Client, Client, Client, Client];
    const gone = (): string => clients.map(({ isGivenUp, name }) => (isGivenUp ? name : '')).join('');
    for (const each of [a, b, c, d]) each.send(each.name);
    // Sending more does not make a line a later one.
    a.send('a');
    expect(gone()).toBe('');
    e.send('e');
    expect(gone()).toBe('a');
    lines.drop(c);
    f.send('f');
    expect(gone()).toBe('a');
    g.send('g');
    expect(gone()).toBe('ad');
    for (const each of [b, e, f]) each.send('12345');
    expect(gone()).toBe('abd');
    expect([e.kept, f.kept, g.kept]).toEqual(['e12345', 'f12345', 'g']);
    h.send('h2345');
    expect(gone()).toBe('abde');
    expect([lines.count, lines.givenUp]).toEqual([3, 4]);
  });
});
