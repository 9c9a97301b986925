/** Seeds of keys as text. The ones that are right were made by nats-io's own library. */
import { fromSeed } from '@nats-io/nkeys';
import { describe, expect, it } from 'vitest';
import { decodeSeed } from '../../server/protocol/nkey.ts';

const USER = 'SUAKJDS7OKYX53UGWKNDJWWEGSEB6SG7PQWLU6RWATCNXRNFREMVM5JBWY';
const ACCOUNT = 'SAAB7GSMBNE77Y2GMXDLKXAQRQ6H7LMQHVPPJNX2B72H4D3ZD4T7Y33J3M';

describe('a seed', () => {
  it.each([
    ['of a user', USER, true],
    ['of an account', ACCOUNT, false],
  ])('%s is read', (_, text, isUser) => {
    const seed = decodeSeed(text);
    expect(seed?.isUser).toBe(isUser);
    // The library keeps the whole text of the seed as bytes.
    expect(fromSeed(Buffer.from(text)).getPublicKey()[0]).toBe(isUser ? 'U' : 'A');
    expect(seed?.bytes).toHaveLength(32);
  });

  it.each([
    ['nothing', ''],
    ['short', 'SU'],
    ['a letter that is none', USER.replace('A', '1')],
    ['another letter', USER.replace('KJDS', 'KJDT')],
    ['a letter less', USER.slice(0, -1)],
    ['a letter more', `${USER}A`],
    ['a public key', 'UBH2RYMNALFLMBJXV5ZF5POLYODFZLX3VBKSLUPMNY3KWY6SVMV37N5I'],
    ['small letters', USER.toLowerCase()],
  ])('is none with %s', (_, text) => {
    expect(decodeSeed(text)).toBe(null);
  });
});
