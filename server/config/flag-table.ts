/**
 * The command line flags, as rows of a table: names, what is to be given, a line for people, and what the flag sets in
 * the draft. Flags of features that petiole does not have yet are known and refused, unless they are given the value
 * that leaves the feature off.
 *
 * Some flags set nothing but decide what the program does; `flags.ts` asks for those by name.
 */

import type { Draft } from './draft.ts';

export type FlagValue = string | number | boolean;

export interface Flag {
  /** Without dashes; the first is what messages call it. */
  readonly names: readonly string[];
  readonly kind: 'string' | 'integer' | 'boolean';
  /** What is to be given, as the usage shows it. */
  readonly argument: string;
  readonly doc: string;
  /** null for a flag that sets nothing, and for one of an absent feature. */
  readonly set: ((draft: Draft, value: FlagValue) => void) | null;
  readonly isAbsent: boolean;
}

export interface FlagGroup {
  readonly title: string;
  readonly flags: readonly Flag[];
}

/** `-a --addr` becomes a row; `set` gets the value in the flag's type. */
function text(names: string, argument: string, doc: string, set: ((draft: Draft, value: string) => void) | null): Flag {
  const setText = set && ((draft: Draft, value: FlagValue): void => set(draft, String(value)));
  return { names: names.split(' '), kind: 'string', argument, doc, set: setText, isAbsent: false };
}

function integer(names: string, argument: string, doc: string, set: (draft: Draft, value: number) => void): Flag {
  const setInteger = (draft: Draft, value: FlagValue): void => set(draft, Number(value));
  return { names: names.split(' '), kind: 'integer', argument, doc, set: setInteger, isAbsent: false };
}

function boolean(names: string, doc: string, set: ((draft: Draft, value: boolean) => void) | null): Flag {
  const setBoolean = set && ((draft: Draft, value: FlagValue): void => set(draft, value === true));
  return { names: names.split(' '), kind: 'boolean', argument: '', doc, set: setBoolean, isAbsent: false };
}

function absent(kind: Flag['kind'], names: string): Flag {
  return { names: names.split(' '), kind, argument: '', doc: '', set: null, isAbsent: true };
}

const SERVER_FLAGS: readonly Flag[] = [
  text('a addr net', '<host>', 'Listen on this address (default: 0.0.0.0)', (draft, value) => (draft.host = value)),
  integer(
    'p port',
    '<port>',
    'Listen on this port, -1 for any (default: 4222)',
    (draft, value) => (draft.port = value),
  ),
  text('n name server_name', '<name>', 'Name of the server (default: its id)', (draft, value) => {
    draft.serverName = value;
  }),
  text('client_advertise', '<host:port>', 'Tell clients this address', (draft, value) => {
    draft.clientAdvertise = value;
  }),
  text('P pid', '<file>', 'Write the process id to this file', (draft, value) => (draft.pidFile = value)),
  text('ports_file_dir', '<dir>', 'Write a file of all listening addresses into this folder', (draft, value) => {
    draft.portsFileDirectory = value;
  }),
  integer('m http_port', '<port>', 'Serve monitoring on this port', (draft, value) => (draft.monitorPort = value)),
  integer('ms https_port', '<port>', 'Serve monitoring over TLS on this port', (draft, value) => {
    draft.httpsPort = value;
  }),
  text('c config', '<file>', 'Read this configuration file', null),
  text(
    'sl signal',
    '<signal>[=<pid>]',
    'Send a signal to a running server: ldm, stop, quit, term, reopen, reload',
    null,
  ),
  boolean('t', 'Test the configuration file and exit', null),
];

const LOGGING_FLAGS: readonly Flag[] = [
  text('l log', '<file>', 'Log to this file', (draft, value) => (draft.logFile = value)),
  text('r remote_syslog', '<url>', 'Log to a syslog server, as in udp://localhost:514', (draft, value) => {
    draft.remoteSyslog = value;
  }),
  integer('log_size_limit', '<bytes>', 'Rotate the log file after so many bytes', (draft, value) => {
    draft.logSizeLimitBytes = value;
  }),
  boolean('T logtime', 'Begin log lines with the time (default: true)', (draft, value) => (draft.logTime = value)),
  boolean('logtime_utc', 'Log the time in UTC (default: false)', (draft, value) => (draft.logTimeUtc = value)),
  boolean('D debug', 'Log what helps to find faults', (draft, value) => (draft.debug = value)),
  boolean('V trace', 'Log every protocol line', (draft, value) => (draft.trace = value)),
  boolean('DV', 'Both of them', null),
  boolean('VV', 'Trace the system account as well', null),
  boolean('DVV', 'Debug, and trace the system account as well', null),
  integer('max_traced_msg_len', '<bytes>', 'Show no more of a payload in traces (default: all)', (draft, value) => {
    draft.maxTracedMessageBytes = value;
  }),
];

const JETSTREAM_FLAGS: readonly Flag[] = [
  boolean('js jetstream', 'Turn JetStream on', (draft, value) => (draft.jetstream.isEnabled = value)),
  text('sd store_dir', '<dir>', 'Keep streams under this folder', (draft, value) => {
    draft.jetstream.storeDirectory = value || null;
  }),
];

const AUTHORIZATION_FLAGS: readonly Flag[] = [
  text('user', '<name>', 'Name that clients must show', (draft, value) => (draft.authorization.username = value)),
  text('pass', '<password>', 'Password that clients must show', (draft, value) => {
    draft.authorization.password = value;
  }),
  text('auth', '<token>', 'Token that clients must show', (draft, value) => (draft.authorization.token = value)),
];

const TLS_FLAGS: readonly Flag[] = [
  boolean('tls', 'Encrypt connections of clients', null),
  text('tlscert', '<file>', 'Certificate of the server', null),
  text('tlskey', '<file>', 'Its private key', null),
  boolean('tlsverify', 'Ask clients for a certificate', null),
  text('tlscacert', '<file>', 'Authorities that clients are checked against', null),
];

const COMMON_FLAGS: readonly Flag[] = [
  boolean('h help', 'Show this', null),
  boolean('v version', 'Show the version', null),
];

/** What the usage shows. */
export const FLAG_GROUPS: readonly FlagGroup[] = [
  { title: 'Server Options', flags: SERVER_FLAGS },
  { title: 'Logging Options', flags: LOGGING_FLAGS },
  { title: 'JetStream Options', flags: JETSTREAM_FLAGS },
  { title: 'Authorization Options', flags: AUTHORIZATION_FLAGS },
  { title: 'TLS Options', flags: TLS_FLAGS },
  { title: 'Common Options', flags: COMMON_FLAGS },
];

const ABSENT_FLAGS: readonly Flag[] = [
  absent('boolean', 's syslog'),
  absent('integer', 'profile'),
  absent('string', 'routes'),
  absent('string', 'cluster cluster_listen'),
  absent('string', 'cluster_name'),
  absent('string', 'cluster_advertise'),
  absent('boolean', 'no_advertise'),
  absent('integer', 'connect_retries'),
  absent('boolean', 'help_tls'),
];

export const FLAGS: readonly Flag[] = [...FLAG_GROUPS.flatMap(({ flags }) => flags), ...ABSENT_FLAGS];
