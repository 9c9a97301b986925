/**
 * What may cross a link: what this side may send and ask for, merged from four sources.
 *
 *     send       the hub's `export` of our user      deny_exports of the remote      JetStream's own subjects
 *     receive    the hub's `import` of our user      deny_imports of the remote      JetStream's own subjects
 *
 * JetStream: each side keeps its API (`$JS.API.>`) and its buckets (`$KV.>`, `$OBJ.>`) to itself; a request for the
 * other side names its domain (`$JS.hub.API.>`). With a domain of our own, requests for that one don't leave either.
 *
 * Rules that differ from a client's (nats-server's rules): a subscription is advertised when it is within an allowed
 * subject, or holds wildcards and overlaps one, since the hub filters what it sends; it is not advertised when it lies
 * within a denied one. Replies of services, acknowledgements and routed replies come in whatever the lists say. Entries
 * of the form `subject queue` say nothing about a link.
 *
 * On a link that was accepted it is the permissions of the peer's user: it publishes what comes in, which is not kept
 * from JetStream either, and subscribes to what goes out.
 *
 * Unlike nats-server, deny_imports never keeps anything from going out. There it does, as long as some subscription
 * with wildcards overlaps the denied subject.
 */

import { Buffer } from 'node:buffer';
import { Permissions, type SubjectRules } from '../server/account/permissions.ts';
import { isLiteral, isSubsetMatch, subjectsCollide } from '../server/subject/subject.ts';
import { isAckSubject, startsWith } from './deliver-subject.ts';
import type { SubjectLists } from './hub-info.ts';

/** What of JetStream stays on its side of a link between system accounts, beside what does on every link. */
export const SYSTEM_OWN: readonly string[] = ['$NRG.>', '$JSC.>'];
const JETSTREAM_OWN: readonly string[] = ['$JS.API.>', '$KV.>', '$OBJ.>'];
const FREE_TO_RECEIVE: readonly Buffer[] = ['_R_.', '_GR_.', '$GR.'].map((prefix) => Buffer.from(prefix));
const EVERYTHING: SubjectRules = { allow: null, deny: [] };

/** What of a remote's configuration bears on permissions. */
export interface LinkDenies {
  readonly denyExports: readonly string[];
  readonly denyImports: readonly string[];
  /** The JetStream domain of this server when it has JetStream and a domain; otherwise empty. */
  readonly ownDomain: string;
  /** What may come in, where that is not what is advertised; `null`: everything. */
  readonly inbound?: SubjectLists | null;
}

export class LeafPermissions {
  private readonly sending: SubjectFilter;
  private readonly receiving: SubjectFilter;
  private readonly importRules: SubjectRules;

  /** `exports` and `imports` are the hub's; `null` allows everything. */
  constructor(denies: LinkDenies, exports: SubjectLists | null, imports: SubjectLists | null) {
    const domainOwn = denies.ownDomain === '' ? [] : [`$JS.${denies.ownDomain}.API.>`];
    this.importRules = {
      allow: imports === null || imports.allow?.length === 0 ? null : plainEntries(imports.allow),
      deny: [...(plainEntries(imports?.deny ?? null) ?? []), ...denies.denyImports, ...JETSTREAM_OWN],
    };
    this.sending = new SubjectFilter({
      allow: plainEntries(exports?.allow ?? null),
      deny: [
        ...(exports?.deny ?? []).map((entry) => entry.split(' ')[0] ?? ''),
        ...denies.denyExports,
        ...JETSTREAM_OWN,
        ...domainOwn,
      ],
    });
    const { inbound } = denies;
    this.receiving = new SubjectFilter(
      inbound === undefined
        ? this.importRules
        : { allow: plainEntries(inbound?.allow ?? null), deny: inbound?.deny ?? [] },
    );
  }

  /** Whether a message to the literal subject may go out. */
  maySend(subject: Buffer, start: number, end: number): boolean {
    return this.sending.allows(subject, start, end);
  }

  maySendText(subject: string): boolean {
    const bytes = Buffer.from(subject, 'latin1');
    return this.sending.allows(bytes, 0, bytes.length);
  }

  /** Whether a message to the literal subject may come in. */
  mayReceive(subject: Buffer, start: number, end: number): boolean {
    if (this.receiving.allows(subject, start, end)) return true;
    if (isAckSubject(subject, start, end)) return true;
    return FREE_TO_RECEIVE.some((prefix) => startsWith(subject, start, end, prefix));
  }

  /** Whether interest in the subject, which may hold wildcards, may be told to the hub. */
  mayAdvertise(subject: string): boolean {
    const { allow, deny } = this.importRules;
    if (allow !== null && !allow.some((allowed) => isWanted(subject, allowed))) return false;
    return !deny.some((denied) => isSubsetMatch(subject, denied));
  }
}

function isWanted(subject: string, allowed: string): boolean {
  if (isSubsetMatch(subject, allowed)) return true;
  return !isLiteral(subject) && subjectsCollide(subject, allowed);
}

function plainEntries(entries: readonly string[] | null): readonly string[] | null {
  return entries === null ? null : entries.filter((entry) => !entry.includes(' '));
}

/**
 * Allow and deny lists asked about literal subjects. Every link denies something, but rarely anything that an
 * application uses: while nothing restricts what is allowed and each denied subject begins with a fixed byte, a subject
 * beginning with another byte needs no look-up.
 */
class SubjectFilter {
  private readonly permissions: Permissions;
  /** By first byte whether a denied subject begins with it; `null` when that does not tell. */
  private readonly deniedFirstBytes: Uint8Array | null;

  constructor(rules: SubjectRules) {
    this.permissions = new Permissions({ publish: rules, subscribe: EVERYTHING });
    this.deniedFirstBytes = rules.allow === null ? firstBytes(rules.deny) : null;
  }

  allows(subject: Buffer, start: number, end: number): boolean {
    const { deniedFirstBytes } = this;
    if (deniedFirstBytes !== null && deniedFirstBytes[subject[start] as number] === 0) return true;
    return this.permissions.mayPublish(subject, start, end);
  }
}

function firstBytes(patterns: readonly string[]): Uint8Array | null {
  const table = new Uint8Array(256);
  for (const pattern of patterns) {
    const [firstToken = ''] = pattern.split('.');
    if (firstToken === '*' || firstToken === '>') return null;
    table[pattern.charCodeAt(0)] = 1;
  }
  return table;
}
