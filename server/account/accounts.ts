/**
 * The accounts of one server, from its configuration: `$G`, which everybody belongs to who is not told otherwise, the
 * system account, and those that `accounts` names, tied together by what they share.
 *
 * Imports are put in place when every account is there. The configuration was checked when it was read; what does not
 * compile here is a mistake of the program.
 */

import { strict as assert } from 'node:assert';
import type { AccountOptions, ImportOptions } from '../config/account-options.ts';
import { GLOBAL_ACCOUNT, SYSTEM_ACCOUNT, UNLIMITED_JETSTREAM } from '../config/account-options.ts';
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

export class Accounts {
  readonly byName: ReadonlyMap<string, Account>;
  readonly global: Account;
  readonly system: Account;
  private readonly io: AccountsIo;
  private readonly isCached: boolean;
  /** By account, in the order of the configuration. */
  private readonly services = new Map<string, Map<string, ServiceExport>>();

  constructor(io: AccountsIo, options: ServerOptions) {
    this.io = io;
    this.isCached = options.hasSublistCache;
    const byName = new Map<string, Account>();
    const systemName = options.systemAccount === '' ? SYSTEM_ACCOUNT : options.systemAccount;
    for (const name of [GLOBAL_ACCOUNT, systemName, ...options.accounts.map((account) => account.name)]) {
      if (!byName.has(name)) byName.set(name, this.makeAccount(name));
    }
    this.byName = byName;
    this.global = this.account(GLOBAL_ACCOUNT);
    this.system = this.account(systemName);
    this.global.mappings = this.makeMappings(options.mappings);
    for (const account of options.accounts) this.configure(account);
    for (const account of options.accounts) this.connect(account);
    // With other accounts it is these that have JetStream, each if it says so.
    const isAlone = [...byName.values()].every((each) => each === this.global || each === this.system);
    if (isAlone) this.global.jetstream = UNLIMITED_JETSTREAM;
  }

  /** Takes on what can change of the accounts that are there: limits and mappings. */
  reconfigure(options: ServerOptions): void {
    this.global.mappings = this.makeMappings(options.mappings);
    for (const { name, mappings, limits } of options.accounts) {
      const account = this.account(name);
      account.mappings = this.makeMappings(mappings);
      account.limits.options = limits;
    }
  }

  account(name: string): Account {
    const account = this.byName.get(name);
    assert(account !== undefined, `account ${name} is known`);
    return account;
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
    account.jetstream = jetstream;
    const services = new Map<string, ServiceExport>();
    for (const each of exports) {
      if (each.kind === 'service') services.set(each.subject, new ServiceExport(account, each, this.io));
    }
    this.services.set(name, services);
  }

  /** Puts what the account imports in place. */
  private connect({ name, imports }: AccountOptions): void {
    const account = this.account(name);
    const streams: StreamImport[] = [];
    for (const each of imports) {
      if (each.kind === 'stream') streams.push(this.streamImport(each));
      else account.subscribe(this.serviceImport(account, each).subscription);
    }
    if (streams.length > 0) account.importStreams(new StreamImports(streams, this.io.random));
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
    return new ServiceImport({ importer, service, from, to: subject, outward, isShared }, this.io.random);
  }

  private serviceOf(account: string, subject: string): ServiceExport {
    const services = this.services.get(account) ?? new Map<string, ServiceExport>();
    const exact = services.get(subject);
    if (exact !== undefined) return exact;
    for (const [pattern, service] of services) if (isSubsetMatch(subject, pattern)) return service;
    throw new Error(`account ${account} exports no service ${subject}`);
  }
}

/** From subjects of the exporter to those of the importer. */
function compile(from: string, to: string): Transform {
  const { value, error } = compileTransform(from, wildcardsToPlaceholders(to), { strict: from.includes('*') });
  assert(value !== null, `${from} becomes ${to}: ${error?.message}`);
  return value;
}
