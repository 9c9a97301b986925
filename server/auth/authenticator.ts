/**
 * Who a client is, from what its CONNECT says. In order: the users by name and password; `no_auth_user` for those who say
 * nothing; else the single user or token. Nobody has to say anything when none of these is configured.
 *
 * Passwords and tokens are compared in constant time.
 */

import type { Buffer } from 'node:buffer';
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Account } from '../account/account.ts';
import { Permissions } from '../account/permissions.ts';
import type { AuthorizationOptions, UserOptions } from '../config/options.ts';
import type { Identity } from '../connection/connection-host.ts';
import type { ConnectOptions } from '../protocol/connect-options.ts';

interface KnownUser {
  readonly password: string;
  readonly identity: Identity;
}

export class Authenticator {
  readonly isRequired: boolean;
  private readonly options: AuthorizationOptions;
  private readonly account: Account;
  private readonly users: ReadonlyMap<string, KnownUser>;
  private readonly anybody: Identity;

  /** Everybody belongs to `account`. */
  constructor(options: AuthorizationOptions, account: Account) {
    this.options = options;
    this.account = account;
    this.users = new Map(options.users.map((user) => [user.username, this.known(user)]));
    this.anybody = { user: '', account, permissions: null };
    this.isRequired = options.users.length > 0 || options.username !== '' || options.token !== '';
  }

  /** Whether the first INFO asks for credentials: not when clients without any become some user. */
  get isAnnounced(): boolean {
    return this.isRequired && this.options.noAuthUser === '';
  }

  /** The identity of a client, `null` to refuse it. */
  authenticate(connect: ConnectOptions): Identity | null {
    if (!this.isRequired) return this.anybody;
    const { user, pass, authToken } = connect;
    if (this.users.size > 0) {
      if (user === '' && pass === '' && authToken === '') return this.withoutCredentials();
      const known = this.users.get(user);
      return known !== undefined && sameSecret(known.password, pass) ? known.identity : null;
    }
    const { username, password, token } = this.options;
    if (token !== '') return sameSecret(token, authToken) ? this.anybody : null;
    const matches = sameSecret(username, user) && sameSecret(password, pass);
    return matches ? { user: username, account: this.account, permissions: null } : null;
  }

  /** The identity of a client that says nothing about itself. */
  withoutCredentials(): Identity | null {
    if (!this.isRequired) return this.anybody;
    return this.users.get(this.options.noAuthUser)?.identity ?? null;
  }

  private known(user: UserOptions): KnownUser {
    const { username, password, permissions } = user;
    const identity: Identity = {
      user: username,
      account: this.account,
      permissions: permissions === null ? null : new Permissions(permissions),
    };
    return { password, identity };
  }
}

/** Whether the texts are equal, in a time that tells nothing about either. */
function sameSecret(expected: string, given: string): boolean {
  return timingSafeEqual(digest(expected), digest(given));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
