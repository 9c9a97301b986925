/**
 * Who a leaf is that links to this hub. Where `leafnodes` has an authorization of its own, that alone counts: a user, a
 * key, or one of several users, each with the account that its link joins. Otherwise it is the users of clients. With
 * `verify_and_map` users go by the names in their certificates, whatever they say.
 */

import { verify } from 'node:crypto';
import { Buffer } from 'node:buffer';
import type { Account } from '../account/account.ts';
import type { LeafAuthorizationOptions, LeafUserOptions } from '../config/leaf-listener-options.ts';
import type { Decided, Identity, Login } from '../connection/connection-host.ts';
import type { ConnectOptions } from '../protocol/connect-options.ts';
import { keyOf } from './authenticator.ts';
import { canonicalName, namesOf } from './certificate-names.ts';
import { type Logins, sameSecret } from './logins.ts';

type Verdict = Identity | null | 'later';

/** Where accounts are looked up, and users of clients asked for. */
export interface LeafAuthority {
  readonly globalAccount: Account;
  readonly accounts: ReadonlyMap<string, Account>;
  authenticate(connect: ConnectOptions, login: Login, decided: Decided): Verdict;
}

export class LeafAuthenticator {
  private readonly authority: LeafAuthority;
  private readonly logins: Logins;

  constructor(authority: LeafAuthority, logins: Logins) {
    this.authority = authority;
    this.logins = logins;
  }

  /** The identity of a leaf, `null` to refuse it; `later` if a hash has to be compared, and then by `decided`. */
  authenticate(options: LeafAuthorizationOptions, connect: ConnectOptions, login: Login, decided: Decided): Verdict {
    const { username, password, nkey, account, users } = options;
    if (username !== '') {
      if (!sameSecret(username, connect.user)) return null;
      return this.byPassword(username, password, account, connect, decided);
    }
    if (nkey !== '') return this.byKey(nkey, account, connect, login);
    if (users.length === 0) return this.authority.authenticate(connect, login, decided);
    const isMapped = login.mapsCertificate === true;
    const user = isMapped ? ofCertificate(users, login) : users.find(isNamed(connect.user));
    if (user === undefined) return null;
    if (isMapped) this.logins.passOver(connect.user);
    return this.byPassword(user.username, user.password, user.account, connect, decided);
  }

  private byPassword(
    user: string,
    password: string,
    account: string,
    connect: ConnectOptions,
    decided: Decided,
  ): Verdict {
    const identity = this.identityOf(user, account);
    return identity === null ? null : this.logins.check(password, connect.pass, identity, decided);
  }

  private byKey(
    nkey: string,
    account: string,
    { nkey: given, sig }: ConnectOptions,
    { nonce }: Login,
  ): Identity | null {
    const key = given === nkey ? keyOf(nkey) : null;
    if (key === null) return null;
    return verify(null, Buffer.from(nonce), key, Buffer.from(sig, 'base64')) ? this.identityOf(nkey, account) : null;
  }

  private identityOf(user: string, accountName: string): Identity | null {
    const { globalAccount, accounts } = this.authority;
    const account = accountName === '' ? globalAccount : accounts.get(accountName);
    return account === undefined ? null : { user, account, permissions: null };
  }
}

function isNamed(name: string): (user: LeafUserOptions) => boolean {
  return ({ username }) => username === name;
}

/** The user that goes by one of the names in the certificate. */
function ofCertificate(users: readonly LeafUserOptions[], { certificate }: Login): LeafUserOptions | undefined {
  if (certificate === undefined || certificate === null) return undefined;
  for (const { kind, text } of namesOf(certificate)) {
    const subject = kind === 'subject' ? canonicalName(text) : null;
    const isSame = (name: string): boolean => subject !== null && canonicalName(name) === subject;
    const found = users.find(({ username }) => username === text || isSame(username));
    if (found !== undefined) return found;
  }
  return undefined;
}
