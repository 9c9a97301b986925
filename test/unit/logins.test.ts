/** Secrets as they are and as hashes: what is compared at once, what later, and what is remembered. */
import { expect, it } from 'vitest';
import { createUser } from '@nats-io/nkeys';
import { Account } from '../../server/account/account.ts';
import { Logins } from '../../server/auth/logins.ts';
import type { Identity } from '../../server/connection/connection-host.ts';
import type { Io } from '../../server/io/io.ts';
import { realIo } from '../../server/io/real-io.ts';
import { decodeNkey, encodeNkey } from '../../server/protocol/nkey.ts';
import { Sublist } from '../../server/subject/sublist.ts';

const HASH = '$2a$04$zCegHLmI0BPKVVHh5rG8iOLPGz4D8BPwSHkNhGe4xIgmKiHFsL0em';
const PASSWORD = 'correct horse battery staple';
const ANN: Identity = { user: 'ann', account: new Account('A', new Sublist(1), () => 0), permissions: null };

const LOG = { warn: (text: string): void => expect.unreachable(text) };

/** Logins on a clock that stands still unless told otherwise. */
function loginsAt(time: { ms: number }): Logins {
  return new Logins({ ...realIo(), clock: { wallMs: () => time.ms, monotonicMs: () => time.ms } }, LOG);
}

function later(logins: Logins, password: string): Promise<Identity | null> {
  return new Promise((resolve) => {
    expect(logins.check(HASH, password, ANN, resolve)).toBe('later');
  });
}

function atOnce(logins: Logins, expected: string, password: string): Identity | null | 'later' {
  return logins.check(expected, password, ANN, () => expect.unreachable('it was answered at once'));
}

it('compares plain secrets at once', () => {
  const logins = loginsAt({ ms: 0 });
  expect([atOnce(logins, 'one', 'one'), atOnce(logins, 'one', 'two'), atOnce(logins, '', '')]).toEqual([
    ANN,
    null,
    ANN,
  ]);
});

it('compares a secret that several come with at a time once, for all of them', async () => {
  const io = realIo();
  let comparisons = 0;
  const passwords: Io['passwords'] = {
    compare: (...args) => {
      comparisons++;
      return io.passwords.compare(...args);
    },
  };
  const logins = new Logins({ ...io, passwords }, LOG);
  const right = Array.from({ length: 50 }, () => later(logins, PASSWORD));
  const wrong = Array.from({ length: 50 }, () => later(logins, 'wrong'));
  expect(await Promise.all(right)).toEqual(right.map(() => ANN));
  expect(await Promise.all(wrong)).toEqual(wrong.map(() => null));
  expect(comparisons).toBe(2);
  expect(await later(logins, 'wrong')).toBe(null);
  expect(comparisons).toBe(3);
});

it('compares hashes later, and remembers who was right for a minute', async () => {
  const time = { ms: 0 };
  const logins = loginsAt(time);
  expect(await later(logins, PASSWORD)).toBe(ANN);
  time.ms += 59_999;
  expect(atOnce(logins, HASH, PASSWORD)).toBe(ANN);
  time.ms += 1;
  expect(await later(logins, PASSWORD)).toBe(ANN);
});

it('remembers nobody who was wrong', async () => {
  const logins = loginsAt({ ms: 0 });
  expect(await later(logins, 'incorrect')).toBeNull();
  expect(await later(logins, 'incorrect')).toBeNull();
});

it('refuses at once when too many wait', async () => {
  const logins = loginsAt({ ms: 0 });
  const waiting = Array.from({ length: 1_024 }, (_, i) => later(logins, `wrong ${i}`));
  expect(atOnce(logins, HASH, PASSWORD)).toBeNull();
  expect(new Set(await Promise.all(waiting))).toEqual(new Set([null]));
  expect(await later(logins, PASSWORD)).toBe(ANN);
});

it('reads the public keys that nkeys writes, and no others', () => {
  const text = createUser().getPublicKey();
  const bytes = decodeNkey('user', text);
  expect(bytes?.length).toBe(32);
  expect(encodeNkey('user', bytes as Buffer)).toBe(text);
  const damaged = `${text.slice(0, 10)}${text[10] === 'A' ? 'B' : 'A'}${text.slice(11)}`;
  for (const wrong of ['', 'UA', damaged, text.toLowerCase(), text.slice(1), `${text}A`, text.replace('U', 'A')]) {
    expect(decodeNkey('user', wrong)).toBeNull();
  }
  expect(decodeNkey('account', text)).toBeNull();
});
