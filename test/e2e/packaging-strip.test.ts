/** Removing symbols from an executable keeps what the system loads, and refuses any form it does not know. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stripElf } from '../../tools/elf-strip.mjs';
import { temporaryDirectory } from '../helpers/temporary-directory.ts';

const runtime = `node-${process.platform}-${process.arch}`;
const node = readFileSync(join(import.meta.dirname, '../../node_modules', runtime, 'bin/node'));
const sectionTableAt = Number(node.readBigUInt64LE(0x28));
const sectionBytes = 64;

describe('an executable without its symbols', () => {
  it('is smaller, runs, and is stripped no further', () => {
    const stripped = stripElf(node);
    expect(stripped.length).toBeLessThan(node.length * 0.9);
    const path = join(temporaryDirectory(), 'node');
    writeFileSync(path, stripped, { mode: 0o755 });
    expect(execFileSync(path, ['-p', '6 * 7'], { encoding: 'utf8' })).toBe('42\n');
    expect(stripElf(stripped).equals(stripped)).toBe(true);
  });

  it.each<[string, (file: Buffer) => void, RegExp]>([
    ['is no ELF file', (file) => file.write('#!/bin/sh'), /not a 64-bit little-endian ELF file/],
    ['has 32 bits', (file) => (file[4] = 1), /not a 64-bit little-endian ELF file/],
    ['has the other byte order', (file) => (file[5] = 2), /not a 64-bit little-endian ELF file/],
    ['has other section headers', (file) => file.writeUInt16LE(40, 0x3a), /of unknown size/],
    ['loads a section behind one that it does not', (file) => setFlags(file, 1, 0), /in unknown order/],
    [
      'loads a section that refers to one that it does not',
      (file) => setLink(file, 5, 40),
      /refers to one that is not/,
    ],
  ])('is refused if it %s', (_, change, message) => {
    const file = Buffer.from(node);
    change(file);
    expect(() => stripElf(file)).toThrow(message);
  });
});

function setFlags(file: Buffer, section: number, flags: number): void {
  file.writeBigUInt64LE(BigInt(flags), sectionTableAt + section * sectionBytes + 8);
}

function setLink(file: Buffer, section: number, link: number): void {
  file.writeUInt32LE(link, sectionTableAt + section * sectionBytes + 40);
}
