/**
 * What differs between the options a server runs with and those a changed configuration comes to, and whether the
 * change can be made while it runs. Everything is decided before anything is applied: one change that needs a restart
 * refuses them all, in nats-server's words.
 *
 * The rows of the schema say what is compared. Passing from a fixed port to any free one is no change: the server stays
 * where it is. A handful of options can be changed in one direction only, which the rules below tell.
 */

import { goQuote } from '../protocol/go-quote.ts';
import { SYSTEM_ACCOUNT } from './account-options.ts';
import { formatDuration } from './duration.ts';
import { advertisedAddress } from './host-port.ts';
import type { KeyFacts } from './key.ts';
import type { LeafRemoteOptions, ServerOptions } from './options.ts';
import { TABLES } from './schema.ts';
import { remoteKey, remoteName } from './schema-leaf-remotes.ts';
import { Secret } from './secret.ts';

/** One option that differs. */
export interface Change {
  /** Path of the key that sets it, such as `jetstream.max_file_store`. */
  readonly key: string;
  /** Its name in nats-server's messages. */
  readonly field: string;
  /** Why nats-server refuses the change while it runs; null if it applies it. */
  readonly refusal: string | null;
}

/** Every option that differs, in the order in which nats-server compares them. */
export function changedOptions(before: ServerOptions, after: ServerOptions): Change[] {
  const changes: Change[] = [];
  for (const [path, keys] of Object.entries(TABLES)) {
    for (const key of keys) changes.push(...changesOf(key, path, before, after));
  }
  const rank = ({ field }: Change): number => {
    const index = FIELD_ORDER.indexOf(field.replace(/\..*/, ''));
    return index === -1 ? FIELD_ORDER.length : index;
  };
  return changes.sort((a, b) => rank(a) - rank(b));
}

/** Why the changes cannot be made while the server runs; null if they can. `canApply` knows what the server can. */
export function reloadRefusal(changes: readonly Change[], canApply: (change: Change) => boolean): string | null {
  const refused = changes.find(({ refusal }) => refusal !== null);
  if (refused !== undefined) return refused.refusal;
  const unable = changes.find((change) => !canApply(change));
  return unable === undefined ? null : `config reload not supported by petiole yet for ${unable.field}`;
}

function changesOf(facts: KeyFacts, path: string, before: ServerOptions, after: ServerOptions): Change[] {
  const key = path === '' ? facts.name : `${path}.${facts.name}`;
  const changes: Change[] = [];
  for (const { field, value } of facts.compared) {
    const [old, now] = [value(before), value(after)];
    if (JSON.stringify(old) === JSON.stringify(now) || (field === 'Port' && now === 0)) continue;
    const rule = RULES[field] ?? (facts.isLive ? ALWAYS_APPLIED : NEVER_APPLIED);
    const refusal = rule(before, after, { field, before: goText(old), after: goText(now) });
    changes.push({ key, field, refusal });
  }
  return changes;
}

/** The texts of a change, for a refusal of it. */
interface Values {
  readonly field: string;
  readonly before: string;
  readonly after: string;
}

function refusalOf({ field, before, after }: Values): string {
  const [outer, inner] = field.split('.');
  const within = inner === undefined ? '' : ` field ${goQuote(inner)}:`;
  return `config reload not supported for ${outer}:${within} old=${before}, new=${after}`;
}

/** A value as Go's `%v` shows it. */
function goText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(goText).join(' ')}]`;
  if (typeof value === 'object' && value !== null && !(value instanceof Secret)) {
    const entries = Object.entries(value).map(([name, child]) => `${name}:${goText(child)}`);
    return `map[${entries.sort().join(' ')}]`;
  }
  return String(value);
}

type Rule = (before: ServerOptions, after: ServerOptions, values: Values) => string | null;

const ALWAYS_APPLIED: Rule = () => null;
const NEVER_APPLIED: Rule = (_before, _after, values) => refusalOf(values);

/** Options of which some changes can be applied and others cannot. */
const RULES: Readonly<Record<string, Rule | undefined>> = {
  ClientAdvertise: (_before, { clientAdvertise }) => {
    const address = clientAdvertise === '' ? null : advertisedAddress(clientAdvertise, 0);
    return typeof address === 'string' ? `invalid ClientAdvertise value of ${clientAdvertise}, err=${address}` : null;
  },
  NoAuthUser: (before, after, values) => {
    const old = before.authorization.noAuthUser;
    const isGone = after.authorization.users.every(({ username }) => username !== old);
    return after.authorization.noAuthUser === '' && isGone ? null : refusalOf(values);
  },
  SystemAccount: (before, after, values) => {
    return before.systemAccount === SYSTEM_ACCOUNT && after.systemAccount === '' ? null : refusalOf(values);
  },
  JetStreamMaxMemory: (before, after) =>
    storeLimitRefusal(before, after, before.jetstream.maxMemoryBytes, after.jetstream.maxMemoryBytes),
  JetStreamMaxStore: (before, after) =>
    storeLimitRefusal(before, after, before.jetstream.maxFileBytes, after.jetstream.maxFileBytes),
  StoreDir: (before, after) => {
    if (!before.jetstream.isEnabled) return null;
    if (after.jetstream.storeDirectory !== null) return 'config reload not supported for jetstream storage directory';
    return after.jetstream.isEnabled ? 'config reload not supported for jetstream storage dir' : null;
  },
  'LeafNode.Remotes': (before, after) => remotesRefusal(before.leafnodes.remotes, after.leafnodes.remotes),
};

/** Limits of storage can be raised; null stands for what the host offers, which cannot be left or returned to. */
function storeLimitRefusal(
  before: ServerOptions,
  after: ServerOptions,
  old: number | null,
  now: number | null,
): string | null {
  if (!before.jetstream.isEnabled) return null;
  if (now === null) {
    return after.jetstream.isEnabled ? 'config reload not supported for jetstream max memory and max store' : null;
  }
  if (old === null) return 'config reload not supported for jetstream dynamic max memory and store';
  return now > old ? null : 'config reload not supported for decreasing jetstream max memory and store';
}

/** Remotes can be added, removed and disabled; in one that stays, some options cannot change. */
function remotesRefusal(before: readonly LeafRemoteOptions[], after: readonly LeafRemoteOptions[]): string | null {
  for (const remote of after) {
    const old = before.find((other) => remoteKey(other) === remoteKey(remote));
    if (old === undefined) continue;
    for (const [field, value] of REMOTE_FIELDS) {
      const [oldText, newText] = [value(old), value(remote)];
      if (oldText === newText) continue;
      const which = remoteName(remote);
      return `config reload not supported for LeafNode: remote ${which}: field ${goQuote(field)}: old=${oldText}, new=${newText}`;
    }
    // What changed would show the password.
    if (JSON.stringify({ ...old.proxy, tls: null }) === JSON.stringify({ ...remote.proxy, tls: null })) continue;
    return `config reload not supported for LeafNode: remote ${remoteName(remote)}: field "Proxy": only the proxy TLS configuration can be changed`;
  }
  return null;
}

const REMOTE_FIELDS: readonly (readonly [field: string, value: (remote: LeafRemoteOptions) => string])[] = [
  ['NoRandomize', ({ randomizesUrls }) => String(!randomizesUrls)],
  ['Hub', ({ isHub }) => String(isHub)],
  ['DenyImports', ({ denyImports }) => goText(denyImports)],
  ['DenyExports', ({ denyExports }) => goText(denyExports)],
  ['FirstInfoTimeout', ({ firstInfoTimeoutMs }) => formatDuration(firstInfoTimeoutMs)],
  ['DialTimeout', ({ dialTimeoutMs }) => formatDuration(dialTimeoutMs)],
  ['LocalIsolation', ({ isIsolated }) => String(isIsolated)],
  ['RequestIsolation', ({ asksForIsolation }) => String(asksForIsolation)],
  ['Websocket', ({ compressesFrames, asksForNoMasking }) => `{${compressesFrames} ${asksForNoMasking}}`],
  ['IgnoreDiscoveredServers', ({ followsDiscoveredServers }) => String(!followsDiscoveredServers)],
];

/** The order in which nats-server compares fields; of several refused changes it tells the first. */
const FIELD_ORDER: readonly string[] = [
  ['ServerName', 'Host', 'Port', 'ClientAdvertise', 'Trace', 'Debug', 'TraceVerbose', 'TraceHeaders'],
  ['NoSublistCache', 'NoHeaderSupport', 'Logtime', 'LogtimeUTC', 'MaxConn', 'MaxSubs', 'MaxSubTokens', 'Users'],
  ['Accounts', 'NoAuthUser', 'NoSystemAccount', 'Username', 'Password', 'Authorization', 'PingInterval'],
  ['MaxPingsOut', 'HTTPHost', 'HTTPPort', 'HTTPBasePath', 'AuthTimeout', 'MaxControlLine', 'MaxPayload'],
  ['MaxPending', 'NoFastProducerStall', 'LeafNode', 'JetStream', 'NoJetStreamStrict', 'JetStreamMaxMemory'],
  ['JetStreamMaxStore', 'JetStreamDomain', 'JetStreamLimits', 'JetStreamRequestQueueLimit'],
  ['JetStreamInfoQueueLimit', 'StreamMaxBufferedMsgs', 'StreamMaxBufferedSize', 'StoreDir', 'SyncInterval'],
  ['SyncAlways', 'PidFile', 'PortsFileDir', 'LogFile', 'WriteDeadline', 'WriteTimeout', 'MaxClosedClients'],
  ['LameDuckDuration', 'LameDuckGracePeriod', 'MaxTracedMsgLen', 'ConnectErrorReports', 'ReconnectErrorReports'],
  ['Tags', 'Metadata'],
].flat();
