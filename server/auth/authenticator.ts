/**
 * Who a client is, from what its CONNECT says. In nats-server's order:
 *
 *     a key           one of the users' keys, with a signature of the nonce that INFO carried
 *     a certificate   where users are mapped from those (`verify_and_map`): the user that goes by one of its names, if
 *                     what CONNECT says is the password that this user has
 *     a name          one of the users', with the password; those who say nothing become `no_auth_user`
 *     otherwise       the single user or the token
 *
 * Nobody has to say anything when none of these is configured. Where the only users are those of the system account,
 * clients that say nothing belong to `$G`.
 *
 * A user without a password is known by a certificate alone where any port maps those: a name is not enough for such a
 * user at the other ports, unless it is `no_auth_user`.
 *
 * Passwords and tokens are compared in constant time. Signatures are checked by the runtime: in JavaScript one takes
 * 25 ms, for which no message may wait.
 */

import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { Buffer } from 'node:buffer';
import type { Account } from '../account/account.ts';
import type { Accounts } from '../account/accounts.ts';
import { Permissions } from '../account/permissions.ts';
import type { AuthorizationOptions, ServerOptions, UserOptions } from '../config/options.ts';
import type { Decided, Identity, Login } from '../connection/connection-host.ts';
import type { ConnectOptions } from '../protocol/connect-options.ts';
import { canonicalName, namesOf } from './certificate-names.ts';
import { decodeNkey } from '../protocol/nkey.ts';
import { type Logins, sameSecret } from './logins.ts';

/** What stands before the 32 bytes of an Ed25519 key in DER. */
const ED25519_DER = Buffer.from('302a300506032b6570032100', 'hex');

const CLIENT: Pick<Login, 'connectionType'> = { connectionType: 'STANDARD' };

interface KnownUser {
  readonly options: UserOptions;
  readonly identity: Identity;
  /** `null` for one who logs in with a password. */
  readonly key: KeyObject | null;
}

type Verdict = Identity | null | 'later';

export type AuthenticatorOptions = Pick<ServerOptions, 'authorization' | 'accounts'> &
  Partial<Pick<ServerOptions, 'tls' | 'websocket' | 'leafnodes'>>;
export type KnownAccounts = Pick<Accounts, 'global' | 'system' | 'account'>;

export class Authenticator {
  readonly isRequired: boolean;
  /** Whether somebody may log in with a key, for which INFO has to carry a nonce. */
  readonly asksForSignatures: boolean;
  private readonly options: AuthorizationOptions;
  private readonly logins: Logins;
  /** Users are who their certificates say, whatever CONNECT does. */
  private readonly mapsCertificates: boolean;
  /** Kinds of connections whose users are who their certificates say. */
  private readonly mappedTypes: readonly string[];
  /** The user that leaves without credentials become which come by WebSocket; '' for that of everybody. */
  private readonly noAuthLeaf: string;
  private readonly account: Account;
  private readonly users = new Map<string, KnownUser>();
  private readonly keys = new Map<string, KnownUser>();
  /** Those who say nothing are let in, as nobody in particular. */
  private readonly takesAnybody: boolean;
  private readonly anybody: Identity;

  constructor(options: AuthenticatorOptions, accounts: KnownAccounts, logins: Logins) {
    const { authorization, accounts: configured, tls, websocket } = options;
    this.logins = logins;
    this.options = authorization;
    this.mapsCertificates = tls?.mapsUsers ?? false;
    this.mappedTypes = mappedTypesOf(options);
    this.noAuthLeaf = websocket?.noAuthUser ?? '';
    this.account = accounts.global;
    this.anybody = { user: '', account: this.account, permissions: null };
    this.learn(authorization.users, this.account);
    const hasOwn = this.users.size + this.keys.size > 0 || authorization.username !== '' || authorization.token !== '';
    for (const { name, users } of configured) this.learn(users, accounts.account(name));
    this.isRequired = hasOwn || this.users.size + this.keys.size > 0;
    const isSystemAlone = configured.every(({ name }) => name === accounts.system.name);
    this.takesAnybody = !this.isRequired || (!hasOwn && isSystemAlone && authorization.noAuthUser === '');
    this.asksForSignatures = this.keys.size > 0;
  }

  /** Whether the first INFO asks for credentials: not when clients without any become some user. */
  get isAnnounced(): boolean {
    return this.isRequired && this.options.noAuthUser === '';
  }

  /** The identity of a client, `null` to refuse it; `later` if a hash has to be compared, and then by `decided`. */
  authenticate(connect: ConnectOptions, login: Login, decided: Decided): Verdict {
    if (!this.isRequired) return this.anybody;
    const { user, pass, authToken, nkey } = connect;
    const saysNothing = user === '' && pass === '' && authToken === '';
    if (this.keys.size > 0) {
      if (nkey !== '') return this.byKey(connect, login);
      if (saysNothing && this.keys.has(this.options.noAuthUser)) return this.withoutCredentials(login);
    }
    const mapsCertificate = login.mapsCertificate ?? this.mapsCertificates;
    if (mapsCertificate && this.users.size > 0) return this.byCertificate(connect, login, decided);
    if (this.users.size > 0 && (user !== '' || saysNothing)) {
      return saysNothing ? this.withoutCredentials(login) : this.byName(connect, login, decided);
    }
    return this.bySingle(connect, decided);
  }

  /** Whether there is a user, or a key, of the name that the client gave; true for those who gave none. */
  hasUserOf({ nkey, user }: ConnectOptions): boolean {
    if (nkey !== '') return this.keys.has(nkey);
    return user === '' || this.users.has(user);
  }

  /** The identity of a client that says nothing about itself. */
  withoutCredentials({ connectionType }: Pick<Login, 'connectionType'> = CLIENT): Identity | null {
    if (this.takesAnybody) return this.anybody;
    const ofLeaf = connectionType === 'LEAFNODE_WS' ? this.noAuthLeaf : '';
    const noAuthUser = ofLeaf || this.options.noAuthUser;
    const known = this.users.get(noAuthUser) ?? this.keys.get(noAuthUser);
    return known !== undefined && admits(known, connectionType) ? known.identity : null;
  }

  private byCertificate({ user, pass }: ConnectOptions, login: Login, decided: Decided): Verdict {
    const known = this.named(login);
    if (known === undefined) return null;
    this.logins.passOver(user);
    return this.logins.check(known.options.password, pass, known.identity, decided);
  }

  /** The user that goes by one of the names in the certificate. */
  private named({ certificate, connectionType }: Login): KnownUser | undefined {
    if (certificate === undefined || certificate === null) return undefined;
    for (const { kind, text } of namesOf(certificate)) {
      const known = kind === 'subject' ? this.bySubject(text) : this.users.get(text);
      if (known !== undefined && admits(known, connectionType)) return known;
    }
    return undefined;
  }

  private bySubject(subject: string): KnownUser | undefined {
    const name = canonicalName(subject);
    const exact = this.users.get(subject);
    if (exact !== undefined || name === null) return exact;
    return [...this.users].find(([user]) => canonicalName(user) === name)?.[1];
  }

  private byKey({ nkey, sig }: ConnectOptions, { nonce, connectionType }: Login): Identity | null {
    const known = this.keys.get(nkey);
    if (known === undefined || known.key === null || !admits(known, connectionType)) return null;
    if (nkey === this.options.noAuthUser) return known.identity;
    const signature = Buffer.from(sig, 'base64');
    return verify(null, Buffer.from(nonce), known.key, signature) ? known.identity : null;
  }

  private byName({ user, pass }: ConnectOptions, { connectionType }: Login, decided: Decided): Verdict {
    const known = this.users.get(user);
    if (known === undefined || !admits(known, connectionType) || this.needsCertificate(known)) return null;
    return this.logins.check(known.options.password, pass, known.identity, decided);
  }

  private needsCertificate(known: KnownUser): boolean {
    const { username, password } = known.options;
    if (password !== '' || username === this.options.noAuthUser) return false;
    return this.mappedTypes.some((type) => admits(known, type));
  }

  private bySingle({ user, pass, authToken }: ConnectOptions, decided: Decided): Verdict {
    const { username, password, token } = this.options;
    if (token !== '') return this.logins.check(token, authToken, this.anybody, decided);
    if (username === '' || !sameSecret(username, user)) return null;
    return this.logins.check(password, pass, { user: username, account: this.account, permissions: null }, decided);
  }

  private learn(users: readonly UserOptions[], account: Account): void {
    for (const options of users) {
      const { username, nkey, permissions } = options;
      const name = nkey === '' ? username : nkey;
      const rights = permissions === null ? null : new Permissions(permissions);
      const known = { options, identity: { user: name, account, permissions: rights }, key: keyOf(nkey) };
      (nkey === '' ? this.users : this.keys).set(name, known);
    }
  }
}

/** Links have this server's users only where their block names nobody. */
function mappedTypesOf({ tls, websocket, leafnodes }: AuthenticatorOptions): string[] {
  const types = tls?.mapsUsers === true ? ['STANDARD'] : [];
  const web = websocket === undefined || websocket.port === null ? null : websocket.tls;
  if (web?.mapsUsers === true) types.push('WEBSOCKET');
  const listener = leafnodes?.listener;
  if (listener === undefined || listener.port === null || listener.tls?.mapsUsers !== true) return types;
  const { username, nkey, users } = listener.authorization;
  if (username === '' && nkey === '' && users.length === 0) types.push('LEAFNODE');
  return types;
}

function admits({ options }: KnownUser, connectionType: string): boolean {
  return options.connectionTypes === null || options.connectionTypes.includes(connectionType);
}

/** The key that signatures are checked with; `null` for what is no public key of a user. */
export function keyOf(nkey: string): KeyObject | null {
  const bytes = decodeNkey('user', nkey);
  if (bytes === null) return null;
  return createPublicKey({ key: Buffer.concat([ED25519_DER, bytes]), format: 'der', type: 'spki' });
}
