/** `--signal <command>[=<pid, pid file or pid*>]`: what is to be sent, and to whom. */

import { goQuote } from '../protocol/go-quote.ts';
import type { ConfigSources } from './sources.ts';
import { ConfigError } from './tree.ts';

export interface SignalRequest {
  /** As it was written. */
  readonly command: string;
  readonly signal: SignalName;
  /** Of one process; null: of the processes that `pidPrefix` fits. */
  readonly pid: number | null;
  /** null: the only one that runs; '' fits all. */
  readonly pidPrefix: string | null;
}

export type SignalName = 'SIGKILL' | 'SIGINT' | 'SIGUSR1' | 'SIGUSR2' | 'SIGHUP' | 'SIGTERM';

const SIGNALS: Readonly<Record<string, SignalName>> = {
  stop: 'SIGKILL',
  quit: 'SIGINT',
  reopen: 'SIGUSR1',
  reload: 'SIGHUP',
  ldm: 'SIGUSR2',
  term: 'SIGTERM',
};

/** Throws a ConfigError that says what is wrong with it. */
export function readSignal(text: string, sources: ConfigSources): SignalRequest {
  const [command = '', target = '', ...more] = text.split('=');
  if (more.length > 0) throw new ConfigError(`invalid signal parameters: [${more.join(' ')}]`);
  const whom = target === '' ? '' : pidText(target, sources);
  const isGlob = whom.endsWith('*');
  const digits = isGlob ? whom.slice(0, -1) : whom;
  if (digits !== '' && !/^[-+]?\d+$/.test(digits)) throw new ConfigError(`invalid pid: ${digits}`);
  const signal = SIGNALS[command];
  if (signal === undefined) throw new ConfigError(`unknown signal ${goQuote(command)}`);
  if (isGlob) return { command, signal, pid: null, pidPrefix: digits };
  return { command, signal, pid: digits === '' ? null : Number(digits), pidPrefix: null };
}

/** What stands in the file of this name; the text itself where there is no such file. */
function pidText(target: string, sources: ConfigSources): string {
  const content = sources.readFile(target);
  return 'message' in content ? target : new TextDecoder().decode(content);
}
