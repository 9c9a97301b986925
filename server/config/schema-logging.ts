/**
 * Logging, the files a running server leaves, and what it says about itself.
 */

import type { Draft } from './draft.ts';
import { absent, Keys } from './key.ts';
import type { Key } from './key.ts';
import { goQuote } from '../protocol/go-quote.ts';
import type { Reading } from './reading.ts';
import { goType, isMap } from './tree.ts';
import type { ConfigNode } from './tree.ts';

const keys = new Keys<Draft>((options) => options);

export const LOGGING_KEYS: readonly Key<Draft>[] = [
  keys.boolean('debug', 'debug', { default: 'false', live: 'Debug', doc: 'Logs what helps to find faults.' }),
  keys.boolean('trace', 'trace', { default: 'false', live: 'Trace', doc: 'Logs every protocol line.' }),
  keys.custom(
    'trace_verbose',
    'boolean',
    {
      default: 'false',
      live: 'TraceVerbose',
      doc: 'Traces the system account as well.',
      value: (options) => options.traceVerbose,
    },
    (draft, node, reading) => {
      const isOn = reading.boolean(node);
      if (isOn !== null) draft.trace = draft.traceVerbose = isOn;
    },
  ),
  keys.custom(
    'trace_headers',
    'boolean',
    {
      default: 'false',
      live: 'TraceHeaders',
      doc: 'Traces the headers of messages and not their payloads.',
      value: (options) => options.traceHeaders,
    },
    (draft, node, reading) => {
      const isOn = reading.boolean(node);
      if (isOn !== null) draft.trace = draft.traceHeaders = isOn;
    },
  ),
  keys.integer('max_traced_msg_len', 'maxTracedMessageBytes', {
    default: '0',
    live: 'MaxTracedMsgLen',
    doc: 'Bytes of a payload that a trace shows; 0 shows all.',
  }),
  keys.boolean('logtime', 'logTime', { default: 'true', live: 'Logtime', doc: 'Begins log lines with the time.' }),
  keys.boolean('logtime_utc', 'logTimeUtc', {
    default: 'false',
    live: 'LogtimeUTC',
    doc: 'Logs the time in UTC instead of the local zone.',
  }),
  keys.string('log_file', 'logFile', { aliases: ['logfile'], live: 'LogFile', doc: 'File to log to; stderr if none.' }),
  keys.integer('log_size_limit', 'logSizeLimitBytes', {
    aliases: ['logfile_size_limit'],
    type: 'size',
    default: '0',
    restart: 'LogSizeLimit',
    doc: 'Bytes after which the log file is rotated; 0 never rotates.',
  }),
  keys.integer('log_max_num', 'logFilesMax', {
    aliases: ['logfile_max_num'],
    default: '0',
    restart: 'LogMaxFiles',
    doc: 'How many log files there may be, the current one among them; 0 keeps all.',
  }),
  keys.custom(
    'log_format',
    'text or json',
    {
      default: 'text',
      restart: 'LogFormat',
      doc: 'How log lines are written: json makes each one an object.',
      value: (options) => options.logFormat,
    },
    (draft, node, reading) => {
      const format = reading.string(node);
      if (format === 'text' || format === 'json') draft.logFormat = format;
      else if (format !== null) reading.error(node.place, `log_format ${goQuote(format)} is neither text nor json`);
    },
  ),
  absent('syslog', 'boolean', { accepts: [false], default: 'false', live: 'Syslog', doc: 'Logs to the system log.' }),
  keys.string('remote_syslog', 'remoteSyslog', {
    live: 'RemoteSyslog',
    doc: 'Syslog server to log to if there is no log_file: udp://host:port, tcp://host:port or unix:///path.',
  }),
  keys.string('pid_file', 'pidFile', {
    aliases: ['pidfile'],
    live: 'PidFile',
    doc: 'File to write the process id to.',
  }),
  keys.string('ports_file_dir', 'portsFileDirectory', {
    live: 'PortsFileDir',
    doc: 'Folder to write a file with all listening addresses to.',
  }),
  absent('prof_port', 'integer', {
    accepts: [0n],
    default: '0',
    restart: 'ProfPort',
    doc: 'Port on which Go profiles are served.',
  }),
  absent('prof_block_rate', 'integer', {
    accepts: [0n],
    default: '0',
    live: 'ProfBlockRate',
    doc: 'How much of blocking is profiled.',
  }),
  keys.custom(
    'server_tags',
    'string or list of strings',
    { live: 'Tags', doc: 'Words that tell this server from others.', value: (options) => options.serverTags },
    readTags,
  ),
  keys.custom(
    'server_metadata',
    'map of strings',
    { live: 'Metadata', doc: 'Facts that monitoring shows.', value: (options) => options.serverMetadata },
    readMetadata,
  ),
  keys.integer('connect_error_reports', 'connectErrorReports', {
    default: '3600',
    live: 'ConnectErrorReports',
    doc: 'How many failed attempts to reach a remote lie between two log lines, before the first success.',
  }),
  keys.integer('reconnect_error_reports', 'reconnectErrorReports', {
    default: '1',
    live: 'ReconnectErrorReports',
    doc: 'How many failed attempts to reach a remote lie between two log lines, after the first success.',
  }),
  absent('feature_flags', 'map of booleans', {
    acceptsEmpty: true,
    restart: 'FeatureFlags',
    doc: 'Turns features on or off by name.',
  }),
];

/** Adds tags in lower case, each once. */
function readTags(draft: Draft, node: ConfigNode, reading: Reading): void {
  const { value, place } = node;
  const nodes = Array.isArray(value) ? value : [node];
  const tags = new Set(draft.serverTags);
  for (const { value: tag } of nodes) {
    if (typeof tag !== 'string') {
      const inArray = Array.isArray(value) ? '*conf.token where string is expected' : goType(tag);
      reading.error(place, `error parsing tags: unsupported type ${inArray}`);
      return;
    }
    if (tag.trim() !== '') tags.add(tag.trim().toLowerCase());
  }
  draft.serverTags = [...tags];
}

function readMetadata(draft: Draft, node: ConfigNode, reading: Reading): void {
  if (!isMap(node.value)) {
    reading.error(node.place, `error parsing metadata: unsupported type ${goType(node.value)}`);
    return;
  }
  const metadata = new Map(Object.entries(draft.serverMetadata));
  for (const [name, child] of node.value) {
    const text = reading.string(child);
    if (text !== null) metadata.set(name, text);
  }
  draft.serverMetadata = Object.fromEntries(metadata);
}
