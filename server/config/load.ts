/**
 * From the command line and the config file to options.
 *
 *     flags ──► draft ──► file ──► the same draft ──► flags again ──► options ──► checked against each other
 *
 * Flags are read first because they name the file, and applied last because they win. Nothing here prints or exits:
 * what the program has to print, and with which code it ends, comes back as a value.
 */

import { NATS_VERSION } from '../protocol/version.ts';
import { configDigest } from './digest.ts';
import { completeOptions, emptyDraft } from './draft.ts';
import type { Draft } from './draft.ts';
import { FlagError, parseFlags } from './flags.ts';
import type { CommandLine } from './flags.ts';
import { goQuote } from '../protocol/go-quote.ts';
import { readEntries } from './key.ts';
import type { ServerOptions } from './options.ts';
import { parseConfigFile } from './parser.ts';
import { Reading } from './reading.ts';
import { TOP_KEYS } from './schema.ts';
import { readSignal, type SignalRequest } from './signal-request.ts';
import { duplicateOf } from './schema-users.ts';
import type { ConfigSources } from './sources.ts';
import { applyTlsFlags } from './tls-flags.ts';
import { ConfigError } from './tree.ts';
import { usageText } from './usage.ts';
import { systemAccountFault, validateOptions } from './validate.ts';

/** What messages begin with, so that tools which read nats-server's understand petiole's. */
const PROGRAM = 'nats-server';

export type Outcome = StartOutcome | ExitOutcome | SignalOutcome;

export interface StartOutcome {
  readonly kind: 'start';
  readonly options: ServerOptions;
  /** Warnings about the config file, to be printed before anything is logged; '' if there are none. */
  readonly stderr: string;
}

/** A signal is to be sent to other processes, and the program ends then. */
export interface SignalOutcome {
  readonly kind: 'signal';
  readonly signal: SignalRequest;
}

/** The program ends here. */
export interface ExitOutcome {
  readonly kind: 'exit';
  readonly code: 0 | 1;
  readonly stdout: string;
  readonly stderr: string;
}

/** What to do, given the arguments behind the program's name. */
export function interpretCommandLine(args: readonly string[], sources: ConfigSources): Outcome {
  try {
    const commandLine = parseFlags(args);
    const command = commandOf(commandLine);
    if (command === 'version') return exit(0, `${PROGRAM}: v${NATS_VERSION}\n`);
    if (command === 'help') return exit(0, usageText());
    const signal = commandLine.text('sl');
    if (signal !== '') return { kind: 'signal', signal: readSignal(signal, sources) };
    return commandLine.isSet('t') ? testConfig(commandLine, sources) : start(commandLine, sources);
  } catch (error) {
    if (error instanceof FlagError) return exit(0, usageText(), `${error.message}\n`);
    if (error instanceof ConfigError) return exit(1, '', `${PROGRAM}: ${error.message}\n`);
    throw error;
  }
}

/**
 * The options that the same command line and its file come to now. Warnings about the file are ignored. Throws a
 * ConfigError that says why the file cannot be used.
 */
export function reloadOptions(args: readonly string[], sources: ConfigSources): ServerOptions {
  const commandLine = parseFlags(args);
  if (commandLine.text('c') === '') {
    throw new ConfigError('can only reload config when a file is provided using -c or --config');
  }
  return optionsOf(commandLine, sources).options;
}

function exit(code: 0 | 1, stdout: string, stderr = ''): ExitOutcome {
  return { kind: 'exit', code, stdout, stderr };
}

/** `version` and `help` may also be given as words. Throws a ConfigError on any other word, and on absent features. */
function commandOf(commandLine: CommandLine): 'version' | 'help' | 'run' {
  if (commandLine.isSet('v')) return 'version';
  if (commandLine.isSet('h')) return 'help';
  const word = commandLine.rest[0];
  if (word !== undefined) {
    const command = word.toLowerCase();
    if (command === 'version' || command === 'help') return command;
    throw new ConfigError(`unrecognized command: ${goQuote(word)}`);
  }
  const { refused } = commandLine;
  if (refused !== null) throw new ConfigError(`${refused}: not supported by petiole yet`);
  return 'run';
}

function testConfig(commandLine: CommandLine, sources: ConfigSources): ExitOutcome {
  const path = commandLine.text('c');
  if (path === '') {
    throw new ConfigError('must specify [-c, --config] option to check configuration file syntax');
  }
  const draft = emptyDraft();
  commandLine.applyTo(draft);
  const reading = readConfigFile(path, sources, draft);
  if (reading.text !== '') throw new ConfigError(reading.text);
  return exit(0, '', `${PROGRAM}: configuration file ${path} is valid (${draft.configDigest})\n`);
}

function start(commandLine: CommandLine, sources: ConfigSources): StartOutcome {
  const { options, warnings } = optionsOf(commandLine, sources);
  return { kind: 'start', options, stderr: warnings };
}

function optionsOf(
  commandLine: CommandLine,
  sources: ConfigSources,
): { readonly options: ServerOptions; readonly warnings: string } {
  const draft = emptyDraft();
  commandLine.applyTo(draft);
  const path = commandLine.text('c');
  let warnings = '';
  if (path !== '') {
    const reading = readConfigFile(path, sources, draft);
    if (reading.hasErrors) throw new ConfigError(reading.text);
    warnings = reading.text;
    commandLine.applyTo(draft);
  }
  applyTlsFlags(commandLine, draft, sources);
  const options = completeOptions(draft);
  const fault = validateOptions(options);
  if (fault !== null) throw new ConfigError(fault);
  return { options, warnings };
}

/** Reads the file into the draft. Throws a ConfigError if it cannot be parsed; what else is wrong is in the answer. */
function readConfigFile(path: string, sources: ConfigSources, draft: Draft): Reading {
  const map = parseConfigFile(path, sources);
  const reading = new Reading(sources);
  if (map.size === 0) reading.warnOfFile(path, 'config has no values or is empty');
  draft.configFile = path;
  draft.configDigest = configDigest(map);
  readEntries(TOP_KEYS, map, draft, reading);
  const fault = systemAccountFault(draft);
  const name = [...map].find(([key]) => /^system(_account)?$/i.test(key))?.[1];
  if (fault !== null && name !== undefined) reading.error(name.place, fault);
  const accounts = [...map].find(([key]) => key.toLowerCase() === 'accounts')?.[1];
  const conflict = accountsConflict(draft);
  if (conflict !== null && accounts !== undefined) reading.error(accounts.place, conflict);
  return reading;
}

/** What `authorization` and the users of accounts can't have beside each other. */
function accountsConflict({ authorization, accounts }: Draft): string | null {
  const users = accounts.flatMap((account) => account.users);
  if (users.length === 0) return null;
  if (authorization.username !== '') return 'Can not have a single user/pass and accounts';
  if (authorization.token !== '') return 'Can not have a token and accounts';
  const clash = users.find(({ username, nkey }) => {
    return authorization.users.some((other) => other.username === username && other.nkey === nkey);
  });
  return clash === undefined ? null : duplicateOf([clash, clash], new Set());
}
