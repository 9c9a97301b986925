/** Who a client is, and who is refused. */
import { describe, expect, it } from 'vitest';
import { Account } from '../../server/account/account.ts';
import { Authenticator, type KnownAccounts } from '../../server/auth/authenticator.ts';
import { Logins } from '../../server/auth/logins.ts';
import type { Identity } from '../../server/connection/connection-host.ts';
import { realIo } from '../../server/io/real-io.ts';
import { nodeHash, serverId } from '../../server/auth/server-identity.ts';
import { defaultOptions } from '../../server/config/draft.ts';
import type { AuthorizationOptions, UserOptions } from '../../server/config/options.ts';
import { type ConnectOptions, defaultConnectOptions } from '../../server/protocol/connect-options.ts';
import { Sublist } from '../../server/subject/sublist.ts';

const ACCOUNT = new Account('$G', new Sublist(1), () => 0);

const ACCOUNTS: KnownAccounts = { global: ACCOUNT, system: ACCOUNT, account: () => ACCOUNT };
const NEVER_SAID = (text: string): void => expect.unreachable(text);
const LOGINS = new Logins(realIo(), { warn: NEVER_SAID });
const NEVER = (): void => expect.unreachable('no hash is compared');
const LOGIN = { nonce: '', connectionType: 'STANDARD' };

function authenticator(options: Partial<AuthorizationOptions>): Authenticator {
  return new Authenticator(
    { authorization: { ...defaultOptions().authorization, ...options }, accounts: [] },
    ACCOUNTS,
    LOGINS,
  );
}

function identityOf(of: Authenticator, connect: Partial<ConnectOptions>): Identity | null {
  const verdict = of.authenticate({ ...defaultConnectOptions(), ...connect }, LOGIN, NEVER);
  if (verdict === 'later') throw new Error('no hash is compared');
  return verdict;
}

/** The name under which a client with these credentials is known; `null` for one that is refused. */
function nameOf(of: Authenticator, connect: Partial<ConnectOptions>): string | null {
  const identity = identityOf(of, connect);
  if (identity === null) return null;
  return identity.account === ACCOUNT ? identity.user : `${identity.user} of another account`;
}

function user(username: string, password: string, rest: Partial<UserOptions> = {}): UserOptions {
  return { username, password, nkey: '', permissions: null, connectionTypes: null, ...rest };
}

describe('without any credentials configured', () => {
  const of = authenticator({});

  it('everybody may come, whatever they say', () => {
    expect([of.isRequired, of.isAnnounced]).toEqual([false, false]);
    expect(nameOf(of, {})).toBe('');
    expect(nameOf(of, { user: 'x', pass: 'y', authToken: 'z' })).toBe('');
    expect(of.withoutCredentials()?.permissions).toBeNull();
  });
});

describe('a single user', () => {
  const of = authenticator({ username: 'ann', password: 'secret' });

  it.each<[Partial<ConnectOptions>, string | null]>([
    [{ user: 'ann', pass: 'secret' }, 'ann'],
    [{ user: 'ann', pass: 'Secret' }, null],
    [{ user: 'ann', pass: 'secret ' }, null],
    [{ user: 'Ann', pass: 'secret' }, null],
    [{ user: 'ann' }, null],
    [{ pass: 'secret' }, null],
    [{ authToken: 'secret' }, null],
    [{}, null],
  ])('%j is %s', (connect, expected) => {
    expect(nameOf(of, connect)).toBe(expected);
  });

  it('has to be named first', () => {
    expect([of.isRequired, of.isAnnounced, of.withoutCredentials()]).toEqual([true, true, null]);
  });
});

describe('a token', () => {
  const of = authenticator({ token: 's3cr3t' });

  it.each<[Partial<ConnectOptions>, string | null]>([
    [{ authToken: 's3cr3t' }, ''],
    [{ authToken: 's3cr3' }, null],
    [{ user: 's3cr3t' }, null],
    [{ user: '', pass: 's3cr3t' }, null],
    [{}, null],
  ])('%j is %s', (connect, expected) => {
    expect(nameOf(of, connect)).toBe(expected);
  });
});

describe('users', () => {
  const permissions = { publish: { allow: ['a'], deny: [] }, subscribe: { allow: null, deny: [] }, responses: null };
  const users = [user('ann', 'one'), user('bob', 'two', { permissions }), user('\u00e9ve', 'p\u00e4ss')];

  it.each<[Partial<ConnectOptions>, string | null]>([
    [{ user: 'ann', pass: 'one' }, 'ann'],
    [{ user: 'bob', pass: 'two' }, 'bob'],
    [{ user: '\u00e9ve', pass: 'p\u00e4ss' }, '\u00e9ve'],
    [{ user: 'ann', pass: 'two' }, null],
    [{ user: 'cid', pass: 'one' }, null],
    [{ user: '__proto__', pass: '' }, null],
    [{ pass: 'one' }, null],
    [{}, null],
  ])('%j is %s', (connect, expected) => {
    expect(nameOf(authenticator({ users }), connect)).toBe(expected);
  });

  it('have permissions of their own', () => {
    const of = authenticator({ users });
    const permissionsOf = (user: string, pass: string): unknown => identityOf(of, { user, pass })?.permissions?.rules;
    expect(permissionsOf('ann', 'one')).toBeUndefined();
    expect(permissionsOf('bob', 'two')).toEqual(permissions);
  });

  it('one of which those become who say nothing', () => {
    const of = authenticator({ users, noAuthUser: 'bob' });
    expect([of.isRequired, of.isAnnounced]).toEqual([true, false]);
    expect(nameOf(of, {})).toBe('bob');
    expect(of.withoutCredentials()?.user).toBe('bob');
    expect(nameOf(of, { user: 'ann', pass: 'one' })).toBe('ann');
    // Whoever says something wrong is nobody.
    expect(nameOf(of, { user: 'ann', pass: 'x' })).toBeNull();
    expect(nameOf(of, { authToken: 'x' })).toBeNull();
    expect(nameOf(of, { pass: 'x' })).toBeNull();
  });

  it('which those who say nothing become only by connections of the kinds that it may have', () => {
    const of = authenticator({ users: [user('web', 'x', { connectionTypes: ['WEBSOCKET'] })], noAuthUser: 'web' });
    expect(nameOf(of, {})).toBeNull();
    expect(of.withoutCredentials({ connectionType: 'STANDARD' })).toBeNull();
    expect(of.withoutCredentials({ connectionType: 'WEBSOCKET' })?.user).toBe('web');
  });
});

describe('the names of a server', () => {
  it('its id is a public key in text, with the check sum that tools verify', () => {
    const id = 'NCHBPV3CQF3JG5GMKRCH5RRLCTFTIMN75U2XQWLH5YDUIHMZHLC665FN';
    expect(serverId(fromBase32(id).subarray(1, 33))).toBe(id);
  });

  it('its hash is that by which nats-server knows a node of this name', () => {
    expect(nodeHash('edge-7')).toBe('vLYKG4EB');
  });
});

function fromBase32(text: string): Buffer {
  const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
  const bits = Array.from(text, (each) => digits.indexOf(each).toString(2).padStart(5, '0')).join('');
  return Buffer.from(Array.from({ length: 35 }, (_, i) => Number.parseInt(bits.slice(i * 8, i * 8 + 8), 2)));
}
