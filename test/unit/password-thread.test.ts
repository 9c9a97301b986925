/** The thread that compares passwords: what it says, and that it gives way to everybody else. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { hashSync } from 'bcryptjs';
import { RealPasswords } from '../../server/io/real-passwords.ts';

const TASKS = '/proc/self/task';
const LOW = 10;

function compare(passwords: RealPasswords, hash: string, password: string): Promise<boolean> {
  return new Promise((resolve) => {
    expect(passwords.compare(hash, password, resolve)).toBe(true);
  });
}

/** How nice each thread of this process is. */
function niceValues(): number[] {
  return readdirSync(TASKS).map((thread) => {
    const fields = readFileSync(`${TASKS}/${thread}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ');
    return Number(fields[16]);
  });
}

describe('the thread that compares passwords', () => {
  const hash = hashSync('secret', 4);

  it('tells right ones from wrong ones', async () => {
    const passwords = new RealPasswords();
    expect(await compare(passwords, hash, 'secret')).toBe(true);
    expect(await compare(passwords, hash, 'other')).toBe(false);
  });

  it.runIf(process.platform === 'linux')('has a low priority, and nobody else has', async () => {
    const lowOnes = (): number => niceValues().filter((nice) => nice === LOW).length;
    const before = lowOnes();
    expect(await compare(new RealPasswords(), hash, 'secret')).toBe(true);
    expect(lowOnes()).toBe(before + 1);
  });
});
