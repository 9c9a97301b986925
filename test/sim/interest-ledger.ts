/**
 * What has to hold of a tree of leaf links, whatever happens to them:
 *
 *   - always: nothing reaches a subscription twice, nor two members of a queue group, and nothing reaches a subscription
 *     that does not match;
 *   - when the tree is whole: each end of each link knows what the sites behind it want to hear, not more and not less, and
 *     a queue group with the number of its members there; what is published anywhere reaches every plain subscription, and
 *     one member of every queue group.
 */
import { subjectMatches } from '../../server/subject/subject.ts';
import type { LeafConnection } from '../../leafnode/leaf-connection.ts';
import type { ReceivedMessage } from './simulated-client.ts';
import type { TreeSite, WantedSubject } from './tree-site.ts';

const WRONGS_SHOWN = 10;
const LOOP_PREFIX = '$LDS.';

interface Published {
  readonly label: string;
  readonly subject: string;
  /** Subscriptions and queue groups that have got it. */
  readonly reached: Set<string>;
}

export class InterestLedger {
  readonly wrongs: string[] = [];
  deliveries = 0;
  private readonly sites: readonly TreeSite[];
  private readonly published: Published[] = [];
  /** Everything that a client ever wanted: messages may be on their way when it does no more. */
  private readonly everWanted = new Map<string, WantedSubject>();

  constructor(sites: readonly TreeSite[]) {
    this.sites = sites;
    for (const site of sites) site.onMessage = (message) => this.book(site, message);
  }

  publish(site: TreeSite, subject: string): void {
    const label = `${site.name} ${this.published.length}`;
    this.published.push({ label, subject, reached: new Set() });
    site.client?.publish(subject, '', Buffer.from(String(this.published.length - 1)));
  }

  get count(): number {
    return this.published.length;
  }

  subscribe(site: TreeSite, wanted: WantedSubject): void {
    site.subscribe(wanted);
    this.everWanted.set(`${site.name}/${[...site.wanted.keys()].at(-1)}`, wanted);
  }

  private book(site: TreeSite, { sid, subject, payload }: ReceivedMessage): void {
    this.deliveries++;
    const key = `${site.name}/${sid}`;
    const message = this.published[Number(payload.toString())];
    const wanted = this.everWanted.get(key);
    if (message === undefined || wanted === undefined) return this.wrong(`${key} got something unknown on ${subject}`);
    const { label, reached } = message;
    if (message.subject !== subject) this.wrong(`${key} got ${label} as ${subject}`);
    if (!subjectMatches(wanted.subject, subject)) this.wrong(`${key} (${wanted.subject}) got ${label} on ${subject}`);
    const receiver = wanted.queueGroup === '' ? key : `group ${wanted.queueGroup}`;
    if (reached.has(receiver)) this.wrong(`${receiver} got ${label} on ${subject} twice, here at ${key}`);
    reached.add(receiver);
  }

  /** What is missing of the messages from this number on, which were published in a whole tree. */
  missingSince(first: number): string[] {
    const missing: string[] = [];
    for (const { label, subject, reached } of this.published.slice(first)) {
      for (const receiver of this.receiversOf(subject)) {
        if (!reached.has(receiver)) missing.push(`${receiver} did not get ${label} on ${subject}`);
      }
    }
    return missing;
  }

  private receiversOf(subject: string): Set<string> {
    const receivers = new Set<string>();
    for (const { name, wanted } of this.sites) {
      for (const [sid, each] of wanted) {
        if (!subjectMatches(each.subject, subject)) continue;
        receivers.add(each.queueGroup === '' ? `${name}/${sid}` : `group ${each.queueGroup}`);
      }
    }
    return receivers;
  }

  private wrong(what: string): void {
    if (this.wrongs.length < WRONGS_SHOWN) this.wrongs.push(what);
  }

  // ── interest ─────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Where what a server knows is not what is wanted; empty: the tree is whole. */
  interestWrongs(): string[] {
    const wrongs: string[] = [];
    for (const site of this.sites) {
      if (site.server === null) wrongs.push(`${site.name} is down`);
      else if (site.parent !== null) wrongs.push(...this.linkWrongs(site, site.parent));
    }
    return wrongs;
  }

  private linkWrongs(site: TreeSite, parent: TreeSite): string[] {
    const below = site.subtree();
    const above = this.sites.filter((each) => !below.includes(each));
    const { here, there } = site.upLinks();
    return [
      ...comparison(`${parent.name} of ${site.name}`, there, below),
      ...comparison(`${site.name} of ${parent.name}`, here, above),
    ];
  }
}

/** What one end of a link knows, compared with what these sites want. */
function comparison(what: string, links: readonly LeafConnection[], sites: readonly TreeSite[]): string[] {
  const [link] = links;
  if (link === undefined || links.length > 1) return [`${what}: ${links.length} links`];
  const known = new Set<string>();
  for (const { subject, queueGroup, weight } of link.peerSubscriptions())
    known.add(lineOf(subject, queueGroup, weight));
  const wanted = wantedBy(sites);
  const surplus = [...known].filter((line) => !wanted.has(line));
  const lacking = [...wanted].filter((line) => !known.has(line));
  if (surplus.length === 0 && lacking.length === 0) return [];
  return [`${what}: knows ${shown(surplus)} too many, lacks ${shown(lacking)}`];
}

/** The union of what the sites want: each subject once, each queue group with its members, and each server's loop subject. */
function wantedBy(sites: readonly TreeSite[]): Set<string> {
  const members = new Map<string, number>();
  const lines = new Set<string>();
  for (const { wanted, server } of sites) {
    if (server !== null) lines.add(lineOf(server.leafNodes.interestOf(server.globalAccount).loopSubject, '', 1));
    for (const { subject, queueGroup } of wanted.values()) {
      if (queueGroup === '') lines.add(lineOf(subject, '', 1));
      else members.set(`${subject} ${queueGroup}`, (members.get(`${subject} ${queueGroup}`) ?? 0) + 1);
    }
  }
  for (const [key, count] of members) {
    const [subject = '', queueGroup = ''] = key.split(' ');
    lines.add(lineOf(subject, queueGroup, count));
  }
  return lines;
}

function lineOf(subject: string, queueGroup: string, weight: number): string {
  return queueGroup === '' ? subject : `${subject} ${queueGroup} ${weight}`;
}

function shown(lines: readonly string[]): string {
  const shortened = lines.map((line) => (line.startsWith(LOOP_PREFIX) ? line.slice(0, 9) : line));
  return shortened.length > 8
    ? `${shortened.slice(0, 8).join(', ')} … (${shortened.length})`
    : shortened.join(', ') || '-';
}
