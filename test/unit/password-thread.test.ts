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
  it('tells right ones from wrong ones, and alone has a low priority', async () => {
    const passwords = new RealPasswords();
    const hash = hashSync('secret', 4);
    const before = niceValues().filter((nice) => nice === LOW).length;
    expect(await compare(passwords, hash, 'secret')).toBe(true);
    expect(await compare(passwords, hash, 'other')).toBe(false);
    if (process.platform === 'linux') expect(niceValues().filter((nice) => nice === LOW).length).toBe(before + 1);
  });
});
