/**
 * The accounts of one server, from its configuration: `$G`, which everybody belongs to who is not told otherwise, the
 * system account, and those that `accounts` names, tied together by what they share.
 *
 * All of it can change while the server runs (`reconfigure`): what stays keeps its objects, what goes is taken apart.
 *
 * Imports are put in place when every account is there. The configuration was checked when it was read; what does not
 * compile here is a mistake of the program.
 */

import { strict as assert } from 'node:assert';
import type { AccountOptions, ImportOptions } from '../config/account-options.ts';
import { emptyAccount, GLOBAL_ACCOUNT, SYSTEM_ACCOUNT, UNLIMITED_JETSTREAM } from '../config/account-options.ts';
import type { MappingOptions, ServerOptions } from '../config/options.ts';
import type { Io } from '../io/io.ts';
import { isSubsetMatch } from '../subject/subject.ts';
import { Sublist } from '../subject/sublist.ts';
import { compileTransform, placeholdersToWildcards, wildcardsToPlaceholders } from '../subject/transform.ts';
import type { Transform } from '../subject/transform.ts';
import { Account } from './account.ts';
import { compileMapping } from './mapping.ts';
import { Mappings } from './mappings.ts';
import { ServiceExport } from './service-export.ts';
import { ServiceImport } from './service-import.ts';
import { type StreamImport, StreamImports } from './stream-imports.ts';

type AccountsIo = Pick<Io, 'clock' | 'random' | 'timers'>;

/** What one account has from others, as it stands. */
interface Imported {
  /** By what the configuration says of them. */
  readonly services: Map<string, ServiceImport>;
  /** What the configuration says of streams. */
  streams: string;
}

export class Accounts {
  readonly byName: ReadonlyMap<string, Account>;
  readonly global: Account;
  readonly system: Account;
  private readonly io: AccountsIo;
  private readonly isCached: boolean;
  private readonly known = new Map<string, Account>();
  /** By account, in the order of the configuration. */
  private readonly services = new Map<string, Map<string, ServiceExport>>();
  private readonly imported = new Map<string, Imported>();

  constructor(io: AccountsIo, options: ServerOptions) {
    this.io = io;
    this.isCached = options.hasSublistCache;
    this.byName = this.known;
    const systemName = options.systemAccount === '' ? SYSTEM_ACCOUNT : options.systemAccount;
    for (const name of [GLOBAL_ACCOUNT, systemName]) this.known.set(name, this.makeAccount(name));
    this.global = this.account(GLOBAL_ACCOUNT);
    this.system = this.account(systemName);
    this.reconfigure(options);
  }

  /**
   * Makes the accounts what the configuration says; returns those that are new. Accounts, exports and imports that stay
   * are the same objects as before, so that subscriptions in them and answers on their way are kept. Those who belong to
   * an account that is gone are the caller's to send away.
   */
  reconfigure(options: ServerOptions): Account[] {
    const configured = this.complete(options.accounts);
    const names = new Set(configured.map(({ name }) => name));
    for (const name of this.known.keys()) if (!names.has(name)) this.remove(name);
    const added = configured.filter(({ name }) => !this.known.has(name)).map(({ name }) => this.makeAccount(name));
    for (const account of added) this.known.set(account.name, account);
    for (const account of configured) this.configure(account);
    for (const account of configured) this.connect(account);
    this.global.mappings = this.makeMappings(options.mappings);
    // With other accounts it is these that have JetStream, each if it says so.
    if (isAlone(options)) this.global.jetstream ??= { ...UNLIMITED_JETSTREAM };
    return added;
  }

  account(name: string): Account {
    const account = this.byName.get(name);
    assert(account !== undefined, `account ${name} is known`);
    return account;
  }

  /** With the two that are always there, about which the configuration may say nothing. */
  private complete(configured: readonly AccountOptions[]): AccountOptions[] {
    const absent = [this.global.name, this.system.name].filter((each) => !configured.some(({ name }) => name === each));
    return [...absent.map((name) => emptyAccount(name)), ...configured];
  }

  /** What it shares ends; everything else is gone with the last who holds it. */
  private remove(name: string): void {
    const options = emptyAccount(name);
    this.configure(options);
    this.connect(options);
    this.services.delete(name);
    this.imported.delete(name);
    this.known.delete(name);
  }

  private makeAccount(name: string): Account {
    const { random } = this.io;
    return new Account(name, new Sublist(random.bytes(4).readInt32LE(0), { cached: this.isCached }), random.fraction);
  }

  private makeMappings(options: readonly MappingOptions[]): Mappings | null {
    if (options.length === 0) return null;
    const mappings = new Mappings(this.io.random, () => '');
    for (const { source, destinations } of options) {
      const { value } = compileMapping(source, destinations);
      assert(value !== null, `the mapping of ${source} compiles`);
      mappings.set(value);
    }
    return mappings;
  }

  private configure({ name, mappings, limits, jetstream, exports }: AccountOptions): void {
    const account = this.account(name);
    account.mappings = this.makeMappings(mappings);
    account.limits.options = limits;
    // JetStream holds the object, and goes by what stands in it.
    if (account.jetstream !== null && jetstream !== null) Object.assign(account.jetstream, jetstream);
    else account.jetstream = jetstream === null ? null : { ...jetstream };
    const before = this.services.get(name);
    const services = new Map<string, ServiceExport>();
    for (const each of exports) {
      if (each.kind !== 'service') continue;
      const service = before?.get(each.subject) ?? new ServiceExport(account, each, this.io);
      service.reconfigure(each);
      services.set(each.subject, service);
    }
    for (const [subject, service] of before ?? []) if (!services.has(subject)) service.close();
    this.services.set(name, services);
  }

  /** Puts what the account imports in place, and takes away what it no longer does. */
  private connect({ name, imports }: AccountOptions): void {
    const account = this.account(name);
    const imported = this.imported.get(name) ?? { services: new Map<string, ServiceImport>(), streams: '[]' };
    this.imported.set(name, imported);
    const services = imports.filter(({ kind }) => kind === 'service');
    const wanted = new Set(services.map((each) => JSON.stringify(each)));
    for (const [text, each] of imported.services) {
      if (wanted.has(text) && this.isStillExported(each)) continue;
      imported.services.delete(text);
      account.unsubscribe(each.subscription);
    }
    for (const each of services) {
      const text = JSON.stringify(each);
      if (imported.services.has(text)) continue;
      const made = this.serviceImport(account, each);
      imported.services.set(text, made);
      account.subscribe(made.subscription);
    }
    const streams = imports.filter(({ kind }) => kind === 'stream');
    const text = JSON.stringify(streams);
    if (text === imported.streams) return;
    imported.streams = text;
    const found = streams.map((each) => this.streamImport(each));
    account.importStreams(found.length === 0 ? null : new StreamImports(found, this.io.random));
  }

  /** Another export of the same account may answer for the subject now. */
  private isStillExported({ service, to }: ServiceImport): boolean {
    return this.serviceOf(service.account.name, to) === service;
  }

  private streamImport(options: ImportOptions): StreamImport {
    const { subject, to } = options;
    const inward = subject === to ? null : compile(subject, to);
    return {
      exporter: this.account(options.account),
      from: subject,
      to: placeholdersToWildcards(to).pattern,
      inward,
      outward: inward?.reverse() ?? null,
    };
  }

  private serviceImport(importer: Account, options: ImportOptions): ServiceImport {
    const { subject, to, isShared } = options;
    const hasWildcards = /(^|\.)[*>](\.|$)/.test(subject);
    const outward = hasWildcards && subject !== to ? compile(subject, to).reverse() : null;
    const from = placeholdersToWildcards(to).pattern;
    const service = this.serviceOf(options.account, subject);
    assert(service !== null, `account ${options.account} exports the service ${subject}`);
    return new ServiceImport({ importer, service, from, to: subject, outward, isShared }, this.io.random);
  }

  private serviceOf(account: string, subject: string): ServiceExport | null {
    const services = this.services.get(account) ?? new Map<string, ServiceExport>();
    const exact = services.get(subject);
    if (exact !== undefined) return exact;
    for (const [pattern, service] of services) if (isSubsetMatch(subject, pattern)) return service;
    return null;
  }
}

/** Whether there are no accounts but the two that are always there. */
function isAlone({ accounts, systemAccount }: ServerOptions): boolean {
  return accounts.every(({ name }) => name === (systemAccount === '' ? SYSTEM_ACCOUNT : systemAccount));
}

/** The accounts that JetStream is for. */
export function jetstreamAccounts(options: ServerOptions): string[] {
  const named = options.accounts.filter(({ jetstream }) => jetstream !== null).map(({ name }) => name);
  return isAlone(options) ? [GLOBAL_ACCOUNT, ...named] : named;
}

/** From subjects of the exporter to those of the importer. */
function compile(from: string, to: string): Transform {
  const { value, error } = compileTransform(from, wildcardsToPlaceholders(to), { strict: from.includes('*') });
  assert(value !== null, `${from} becomes ${to}: ${error?.message}`);
  return value;
}
