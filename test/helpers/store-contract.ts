/** What every store promises: one suite, run by the store in memory and by the store in files. */
import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../../server/io/simulated/seeded-random.ts';
import { idHeaders, nextOf, readStored, sequencesOf } from './store-messages.ts';
import { type Contract, StorePair } from './store-pair.ts';

export function storeContract(contract: Contract): void {
  describe(`the store ${contract.name}`, () => {
    it('holds nothing at first', () => {
      const pair = new StorePair(contract);
      expect(pair.agrees()).toBe(true);
      expect(pair.store.remove(1)).toBe(false);
      expect(readStored(pair.store, 1, () => pair.settle())).toBeNull();
      expect(readStored(pair.store, 0, () => pair.settle())).toBeNull();
      expect(pair.store.lastTime).toBeNull();
    });

    it('shows a message when it is settled, and what is appended before', () => {
      const pair = new StorePair(contract);
      expect(pair.append('a.b', 'one')).toBe(1);
      expect(pair.append('a.c', '', idHeaders('x'))).toBe(2);
      expect(pair.store.messages).toBe(0);
      expect([pair.store.appendedMessages, pair.store.appendedSequence, pair.store.lastSequence]).toEqual([2, 2, 0]);
      expect(pair.store.read(1, null as never)).toBe('missing');
      expect(pair.store.appendedBytes).toBeGreaterThan(0);
      pair.settle();
      expect(pair.agrees()).toBe(true);
      expect(pair.under.subject.events).toEqual(['stored 1-2']);
      expect(pair.store.lastTime).toEqual(pair.model.messages[1]?.time);
      pair.checkSubjects(['a.b', 'a.c', 'a.d']);
    });

    it('counts subjects, payloads and headers, empty and with any byte', () => {
      const pair = new StorePair(contract);
      const bytes = Array.from({ length: 256 }, (_, i) => String.fromCharCode(i)).join('');
      pair.append('\xff.\xe9', Buffer.from(bytes, 'latin1').toString('latin1'));
      pair.append('s'.repeat(5000), '');
      pair.append('e', '', 'NATS/1.0\r\n\r\n');
      pair.settle();
      expect(readStored(pair.store, 2, () => pair.settle())?.subject).toBe('s'.repeat(5000));
      expect(pair.state().messages).toBe(3);
    });

    it('removes messages, once each, and finds what is first and last then', () => {
      const pair = new StorePair(contract);
      for (let i = 1; i <= 40; i++) pair.append(`s.${i % 4}`, `m${i}`);
      pair.settle();
      for (const sequence of [1, 2, 40, 20, 21, 39, 3]) {
        expect(pair.store.remove(sequence)).toBe(true);
        pair.settle();
        expect(pair.model.remove(sequence)).toBe(true);
        expect(pair.store.remove(sequence)).toBe(false);
        expect(pair.agrees()).toBe(true);
        pair.checkSubjects(['s.0', 's.1', 's.2', 's.3']);
      }
      for (const { sequence } of pair.model.messages.slice()) {
        pair.store.remove(sequence);
        pair.model.remove(sequence);
      }
      pair.settle();
      expect(pair.agrees()).toBe(true);
      expect(pair.append('s.1', 'after')).toBe(41);
      pair.settle();
      expect(pair.agrees()).toBe(true);
    });

    it('lets a message replace the others under its subject, or all others', () => {
      const pair = new StorePair(contract);
      for (let i = 1; i <= 2500; i++) pair.append(`s.${i % 3}`, `${i}`);
      pair.append('s.1', 'alone', '', 1);
      pair.append('s.2', 'x');
      pair.settle();
      expect(pair.agrees()).toBe(true);
      pair.checkSubjects(['s.0', 's.1', 's.2']);
      pair.store.setLimits({ maxMessages: 1200, maxBytes: 0, maxMessagesPerSubject: 0 });
      pair.model.setLimits({ maxMessages: 1200, maxBytes: 0, maxMessagesPerSubject: 0 });
      pair.append('s.2', 'again', idHeaders('x'), 1);
      pair.append('s.3', 'new', '', 1);
      pair.settle();
      expect(pair.agrees()).toBe(true);
      for (let i = 1; i <= 20; i++) pair.append(`s.${i % 7}`, `${i}`, '', i % 10 === 7 ? 2 : i % 3 === 0 ? 1 : 0);
      pair.settle();
      expect(pair.agrees()).toBe(true);
      pair.checkSubjects(['s.0', 's.1', 's.2', 's.6']);
      pair.append('s.6', 'large '.repeat(20_000), '', 2);
      pair.append('s.5', 'behind');
      pair.settle();
      expect(pair.agrees()).toBe(true);
    });

    it('uses up the sequence of a message that goes itself, which pushes nothing out', () => {
      const pair = new StorePair(contract);
      pair.append('s.1', 'first of all', '', 3);
      pair.settle();
      expect(pair.agrees()).toBe(true);
      pair.store.setLimits({ maxMessages: 4, maxBytes: 0, maxMessagesPerSubject: 2 });
      pair.model.setLimits({ maxMessages: 4, maxBytes: 0, maxMessagesPerSubject: 2 });
      for (let i = 1; i <= 30; i++) pair.append(`s.${i % 3}`, `${i}`, '', i > 9 && i % 3 > 0 ? 3 : 0);
      pair.settle();
      expect(pair.agrees()).toBe(true);
      pair.checkSubjects(['s.0', 's.1', 's.2']);
      for (let i = 1; i <= 5; i++) {
        pair.append('s.1', `${i}`, '', 3);
        pair.settle();
        expect(pair.agrees()).toBe(true);
      }
      expect(pair.under.subject.events.at(-1)).toBe('removed 36');
    });

    it('purges below a sequence, everything, and beyond what there is', () => {
      const pair = new StorePair(contract);
      for (let i = 1; i <= 300; i++) pair.append(`s.${i % 7}`, `message ${i} ${'.'.repeat(i % 90)}`);
      pair.settle();
      for (const below of [1, 2, 150, 140, 299, 301, 301, 1000, 500]) {
        pair.store.purgeBelow(below);
        pair.settle();
        pair.model.purgeBelow(below);
        expect(pair.agrees()).toBe(true);
        pair.checkSubjects(['s.0', 's.3']);
      }
      expect(pair.append('s.1', 'after')).toBe(1000);
      pair.settle();
      expect(pair.agrees()).toBe(true);
    });

    it('purges what was removed in part, and the last message alone', () => {
      const pair = new StorePair(contract);
      for (let i = 1; i <= 20; i++) pair.append('s', `${i}`);
      pair.settle();
      for (const sequence of [4, 5, 6, 18, 19, 20]) {
        pair.store.remove(sequence);
        pair.model.remove(sequence);
      }
      pair.store.purgeBelow(5);
      pair.model.purgeBelow(5);
      pair.settle();
      expect(pair.agrees()).toBe(true);
      pair.store.purgeBelow(18);
      pair.model.purgeBelow(18);
      pair.settle();
      expect(pair.agrees()).toBe(true);
      expect(pair.store.firstSequence).toBe(21);
    });

    it.each([
      ['messages', { maxMessages: 10, maxBytes: 0, maxMessagesPerSubject: 0 }],
      ['bytes', { maxMessages: 0, maxBytes: 700, maxMessagesPerSubject: 0 }],
      ['messages of a subject', { maxMessages: 0, maxBytes: 0, maxMessagesPerSubject: 2 }],
      ['everything', { maxMessages: 12, maxBytes: 600, maxMessagesPerSubject: 3 }],
    ])('keeps to a limit of %s, set before and set later, raised and lowered', (_, limits) => {
      const pair = new StorePair(contract);
      const fill = (count: number): void => {
        for (let i = 0; i < count; i++) pair.append(`s.${i % 5}`, '.'.repeat((i * 37) % 120));
        pair.settle();
        expect(pair.agrees()).toBe(true);
      };
      fill(60);
      const set = (factor: number): void => {
        const scaled = {
          maxMessages: limits.maxMessages * factor,
          maxBytes: limits.maxBytes * factor,
          maxMessagesPerSubject: limits.maxMessagesPerSubject * factor,
        };
        pair.store.setLimits(scaled);
        pair.model.setLimits(scaled);
        pair.settle();
        expect(pair.agrees()).toBe(true);
      };
      set(2);
      fill(30);
      set(1);
      fill(30);
      set(3);
      fill(60);
      set(0);
      fill(20);
      pair.checkSubjects(['s.0', 's.1', 's.2', 's.3', 's.4']);
    });

    it('drops everything for a message that is larger than the stream may be', () => {
      const pair = new StorePair(contract);
      const limits = { maxMessages: 0, maxBytes: 200, maxMessagesPerSubject: 0 };
      pair.store.setLimits(limits);
      pair.model.setLimits(limits);
      for (const payload of ['a', 'b', 'c'.repeat(500), 'd']) pair.append('s', payload);
      pair.settle();
      expect(pair.agrees()).toBe(true);
      expect(pair.store.messages).toBe(1);
    });

    it('enforces limits message by message, also when many come at once', () => {
      const pair = new StorePair(contract);
      const limits = { maxMessages: 0, maxBytes: 400, maxMessagesPerSubject: 1 };
      pair.store.setLimits(limits);
      pair.model.setLimits(limits);
      pair.append('b', '.'.repeat(100));
      pair.append('a', '.'.repeat(150));
      pair.settle();
      pair.append('c', '.'.repeat(60));
      pair.append('a', '.'.repeat(10));
      pair.settle();
      expect(pair.agrees()).toBe(true);
    });

    it('keeps large messages in order with small ones', () => {
      const pair = new StorePair(contract);
      const sizes = [10, 40_000, 5, 32_700, 32_800, 100_000, 1, 2, 3, 300_000, 9, 33_000, 7];
      for (const [i, size] of sizes.entries())
        pair.append(`s.${i % 3}`, String(i % 10).repeat(size), idHeaders(`i${i}`));
      pair.settle();
      expect(pair.agrees()).toBe(true);
      pair.under.dropCaches();
      expect(pair.agrees()).toBe(true);
      for (const sequence of [2, 3, 10]) {
        pair.store.remove(sequence);
        pair.model.remove(sequence);
      }
      pair.settle();
      expect(pair.agrees()).toBe(true);
    });

    it('reads what is no longer in memory, across many blocks', () => {
      const pair = new StorePair(contract);
      for (let i = 1; i <= 500; i++) pair.append(`s.${i % 11}`, `${i} ${'x'.repeat(i % 200)}`);
      pair.settle();
      pair.under.dropCaches();
      expect(pair.agrees()).toBe(true);
      pair.under.dropCaches();
      pair.checkSubjects(['s.0', 's.10', 'none']);
      for (let sequence = 3; sequence <= 500; sequence += 17) {
        pair.store.remove(sequence);
        pair.model.remove(sequence);
      }
      pair.under.dropCaches();
      pair.settle();
      expect(pair.agrees()).toBe(true);
      pair.checkSubjects(['s.0', 's.3', 's.10']);
    });

    it('leaves out sequences, few and many', () => {
      const pair = new StorePair(contract);
      for (const sequence of [5, 6, 100, 70_000, 400_000, 2 ** 40]) {
        pair.store.skipTo(sequence);
        expect(pair.append('s', `at ${sequence}`)).toBe(sequence);
      }
      pair.store.skipTo(7);
      expect(pair.append('s', 'next')).toBe(2 ** 40 + 1);
      pair.settle();
      expect(pair.agrees()).toBe(true);
      pair.under.dropCaches();
      pair.checkSubjects(['s']);
      expect(pair.store.remove(6)).toBe(true);
      pair.model.remove(6);
      pair.store.purgeBelow(70_000);
      pair.model.purgeBelow(70_000);
      pair.settle();
      expect(pair.agrees()).toBe(true);
    });

    it('finds the next of a rare subject among many others', () => {
      const pair = new StorePair(contract);
      for (let i = 1; i <= 1000; i++) pair.append(i === 700 ? 'rare' : `s.${i % 3}`, 'x'.repeat(i % 40));
      pair.settle();
      pair.under.dropCaches();
      pair.checkSubjects(['rare', 's.1']);
      const number = pair.store.subjects.findText('rare');
      const settle = (): void => pair.under.settle();
      const accepts = (each: number): boolean => each === number;
      expect(nextOf(pair.store, 1, accepts, settle)).toBe(700);
      expect(nextOf(pair.store, 700, accepts, settle)).toBe(700);
      expect(nextOf(pair.store, 701, accepts, settle)).toBe(0);
      pair.append('rare', 'again');
      pair.settle();
      expect(nextOf(pair.store, 701, accepts, settle)).toBe(1001);
    });

    it.each(Array.from({ length: 12 }, (_, seed) => seed))('agrees with an array of messages (seed %i)', (seed) => {
      const pair = new StorePair(contract);
      const random = new SeededRandom(seed);
      for (let round = 0; round < 25; round++) {
        const what = random.pick(['append', 'append', 'append', 'remove', 'purge', 'limits', 'drop', 'skip'] as const);
        if (what === 'append') {
          for (let i = random.between(1, 30); i > 0; i--) {
            pair.append(
              `s.${random.below(9)}`,
              'p'.repeat(random.magnitude(2000)),
              random.chance(0.3) ? idHeaders('i') : '',
            );
          }
        } else if (what === 'remove') {
          for (let i = random.between(1, 9); i > 0; i--) {
            const sequence = random.between(1, pair.model.lastSequence + 1);
            pair.store.remove(sequence);
            pair.model.remove(sequence);
          }
        } else if (what === 'purge') {
          const below = random.between(1, pair.model.lastSequence + 3);
          pair.store.purgeBelow(below);
          pair.model.purgeBelow(below);
        } else if (what === 'limits') {
          const limits = {
            maxMessages: random.pick([0, 5, 50]),
            maxBytes: random.pick([0, 900, 9000]),
            maxMessagesPerSubject: random.pick([0, 1, 5]),
          };
          pair.store.setLimits(limits);
          pair.model.setLimits(limits);
        } else if (what === 'drop') pair.under.dropCaches();
        else pair.store.skipTo(pair.store.appendedSequence + random.between(1, 40));
        const isSkipped = what === 'skip';
        pair.settle();
        if (isSkipped) pair.append('after.gap', 'x');
        pair.settle();
        expect(pair.agrees()).toBe(true);
      }
      pair.checkSubjects(Array.from({ length: 9 }, (_, i) => `s.${i}`));
      expect(sequencesOf(pair.store, () => pair.settle())).toEqual(pair.model.messages.map(({ sequence }) => sequence));
    });
  });
}
