/** What the log says first: which server this is, and how it was configured. */

import type { ServerOptions } from './config/options.ts';
import type { Log } from './io/log.ts';
import { NATS_VERSION, PETIOLE_VERSION } from './protocol/version.ts';

interface Starting {
  readonly log: Log;
  readonly options: ServerOptions;
  readonly id: string;
  readonly name: string;
  /** Made when it is asked for, which loads what makes hashes. */
  readonly nodeHash: string;
}

export function logStart(starting: Starting): void {
  const { log, options, id, name } = starting;
  log.notice('Starting nats-server');
  log.notice(`  Version:  ${NATS_VERSION} (petiole ${PETIOLE_VERSION})`);
  log.notice('  Git:      [not set]');
  log.notice(`  Name:     ${name}`);
  if (options.jetstream.isEnabled) log.notice(`  Node:     ${starting.nodeHash}`);
  log.notice(`  ID:       ${id}`);
  for (const warning of options.logWarnings) log.warn(warning);
  if (options.configFile !== '') {
    log.notice(`Using configuration file: ${options.configFile} (${options.configDigest})`);
  }
}
