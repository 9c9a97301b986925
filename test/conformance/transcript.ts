/**
 * Reads a transcript file into steps. FORMAT.txt beside this file is the description of the format; what does not
 * follow it is an error that names the line.
 */
import type { ListenerKind, TargetName } from '../helpers/targets.ts';
import type { InfoPattern } from './info-pattern.ts';
import { parseText } from './wire-text.ts';
import type { WireText } from './wire-text.ts';

export interface Transcript {
  readonly title: string;
  readonly config: string | undefined;
  readonly flags: readonly string[];
  readonly ownServer: boolean;
  readonly split: boolean;
  readonly only: TargetName | undefined;
  readonly refused: string | undefined;
  readonly steps: readonly Step[];
}

export type Action =
  | { readonly kind: 'connect'; readonly options: Readonly<Record<string, unknown>> }
  | { readonly kind: 'dial'; readonly listener: ListenerKind }
  | { readonly kind: 'send'; readonly texts: readonly WireText[] }
  | { readonly kind: 'send-piece'; readonly text: WireText }
  | { readonly kind: 'expect'; readonly text: WireText }
  | { readonly kind: 'expect-info'; readonly pattern: InfoPattern }
  | { readonly kind: 'expect-any-order'; readonly texts: readonly WireText[] }
  | { readonly kind: 'refused' }
  | { readonly kind: 'quiet' | 'closed' | 'cut' | 'close' | 'stop-reading' | 'resume-reading' };

export interface ConnectionStep {
  /** More than one only with `expect`: one of them gets it. */
  readonly names: readonly string[];
  readonly action: Action;
  /** Where it stands, for failures. */
  readonly line: number;
  readonly source: string;
}

export interface WaitStep {
  readonly waitMs: number;
}

export interface SignalStep {
  readonly signal: NodeJS.Signals;
}

export type Step = ConnectionStep | WaitStep | SignalStep;

const STEP = /^(\w+(?:\|\w+)*) (>>|<\?|[<>]|[a-z]+(?: reading)?)(?: (.*))?$/s;
const PLAIN_ACTIONS = {
  quiet: 'quiet',
  closed: 'closed',
  cut: 'cut',
  closes: 'close',
  refused: 'refused',
  'stops reading': 'stop-reading',
  'resumes reading': 'resume-reading',
} as const;

/** Parses a file's bytes, read as latin1. Errors name `path` and the line. */
export function parseTranscript(path: string, latin1: string): Transcript {
  const reader = new Reader();
  latin1.split('\n').forEach((source, index) => {
    try {
      reader.read(source, index + 1);
    } catch (cause) {
      throw new Error(`${path}:${index + 1}: ${String(cause)}`, { cause });
    }
  });
  if (reader.title === '') throw new Error(`${path}: the first line is not a title`);
  if ((reader.steps.length === 0) === (reader.refused === undefined)) {
    throw new Error(`${path}: needs either steps or \`refused\``);
  }
  return reader.transcript();
}

class Reader {
  title = '';
  readonly config: string[] = [];
  flags: string[] = [];
  ownServer = false;
  split = false;
  only: TargetName | undefined;
  refused: string | undefined;
  readonly steps: Step[] = [];

  transcript(): Transcript {
    const { title, flags, ownServer, split, only, refused, steps } = this;
    const config = this.config.length > 0 ? decoded(this.config.join('\n')) : undefined;
    return { title, config, flags, ownServer, split, only, refused, steps };
  }

  read(source: string, line: number): void {
    if (line === 1 && source.startsWith('# ')) this.title = decoded(source.slice(2));
    if (source.startsWith('#') || source === '') return;
    if (source.startsWith('  ')) this.config.push(source.slice(2));
    else if (!this.#readHead(source)) this.#readStep(source, line);
  }

  #readHead(source: string): boolean {
    const [, key = '', value = ''] = /^(flags|only|refused): (.*)$/.exec(source) ?? [];
    if (key === 'flags') this.flags = value.split(' ');
    else if (key === 'refused') this.refused = value;
    else if (key === 'only') this.only = parseOnly(value);
    else if (source === 'own server') this.ownServer = true;
    else if (source === 'split') this.split = true;
    else if (source !== 'config:') return false;
    return true;
  }

  #readStep(source: string, line: number): void {
    const wait = /^wait (\d+)ms$/.exec(source);
    if (wait !== null) {
      this.steps.push({ waitMs: Number(wait[1]) });
      return;
    }
    const signal = /^server (SIG\w+)$/.exec(source);
    if (signal !== null) {
      this.steps.push({ signal: signal[1] as NodeJS.Signals });
      return;
    }
    const [, names, verb, rest = ''] = STEP.exec(source) ?? [];
    if (names === undefined || verb === undefined) throw new Error(`not a step: ${source}`);
    const step = { names: names.split('|'), action: parseAction(verb, rest), line, source };
    if (step.names.length > 1 && step.action.kind !== 'expect') throw new Error('only `<` takes several connections');
    const joined = joinedWith(this.steps.at(-1), step);
    if (joined !== null) this.steps.pop();
    this.steps.push(joined ?? step);
  }
}

/** Neighbouring sends of one connection become one write, neighbouring `<?` one group; null when they do not. */
function joinedWith(previous: Step | undefined, step: ConnectionStep): ConnectionStep | null {
  if (previous === undefined || !('action' in previous) || previous.names[0] !== step.names[0]) return null;
  const { action: before } = previous;
  const { action } = step;
  if (before.kind === 'send' && action.kind === 'send') {
    return { ...previous, action: { kind: 'send', texts: [...before.texts, ...action.texts] } };
  }
  if (before.kind === 'expect-any-order' && action.kind === 'expect-any-order') {
    return { ...previous, action: { kind: 'expect-any-order', texts: [...before.texts, ...action.texts] } };
  }
  return null;
}

function parseAction(verb: string, rest: string): Action {
  switch (verb) {
    case '>':
      return { kind: 'send', texts: [parseText(rest)] };
    case '>>':
      return { kind: 'send-piece', text: parseText(rest) };
    case '<':
      return rest.startsWith('INFO {')
        ? { kind: 'expect-info', pattern: JSON.parse(decoded(rest.slice(5))) as InfoPattern }
        : { kind: 'expect', text: parseText(rest) };
    case '<?':
      return { kind: 'expect-any-order', texts: [parseText(rest)] };
    case 'connects':
      return { kind: 'connect', options: rest === '' ? {} : (JSON.parse(decoded(rest)) as Record<string, unknown>) };
    case 'dials':
      return { kind: 'dial', listener: rest as ListenerKind };
    default: {
      const kind = PLAIN_ACTIONS[verb as keyof typeof PLAIN_ACTIONS];
      if (kind === undefined || rest !== '') throw new Error(`unknown step: ${verb} ${rest}`);
      return { kind };
    }
  }
}

/** What is no bytes on the wire is read as UTF-8. */
function decoded(latin1: string): string {
  return Buffer.from(latin1, 'latin1').toString('utf8');
}

function parseOnly(value: string): TargetName {
  const [, name, reason] = /^(nats-server|petiole), (.+)$/.exec(value) ?? [];
  if (reason === undefined) throw new Error('`only: TARGET, REASON`');
  return name as TargetName;
}
