/**
 * What a user may do: `permissions` of users and of the whole `authorization` block.
 *
 * Subjects become strings of bytes here. A `subscribe` entry may name queue groups behind the subject
 * (`"orders.* workers"`). Unlike nats-server, every message says where the subject stands.
 */

import { isValidSubject } from '../subject/subject.ts';
import { goQuote } from '../protocol/go-quote.ts';
import { goValue } from './go-text.ts';
import { Keys, readEntries } from './key.ts';
import type { Key } from './key.ts';
import type { Permissions, ResponseRules, SubjectRules } from './options.ts';
import type { Reading } from './reading.ts';
import { subjectOf } from './subject-text.ts';
import { goType, isMap } from './tree.ts';
import type { ConfigNode } from './tree.ts';

interface PermissionsBlock {
  publish: SubjectRules;
  subscribe: SubjectRules;
  responses: ResponseRules | null;
}

interface SubjectRulesBlock {
  allow: readonly string[];
  deny: readonly string[];
}

const UNRESTRICTED: SubjectRules = { allow: null, deny: [] };

const permissions = new Keys<PermissionsBlock>(null);

export const PERMISSIONS_KEYS: readonly Key<PermissionsBlock>[] = [
  permissions.custom(
    'publish',
    'subjects, or map of allow and deny',
    { aliases: ['pub', 'import'], live: 'Users', doc: 'Subjects the user may publish to.' },
    (draft, node, reading) => {
      draft.publish = readRules(node, reading, false);
    },
  ),
  permissions.custom(
    'subscribe',
    'subjects, or map of allow and deny',
    { aliases: ['sub', 'export'], live: 'Users', doc: 'Subjects the user may subscribe to, also "subject queue".' },
    (draft, node, reading) => {
      draft.subscribe = readRules(node, reading, true);
    },
  ),
  permissions.custom(
    'allow_responses',
    'boolean or map',
    {
      aliases: ['publish_allow_responses'],
      default: 'false',
      live: 'Users',
      doc: 'The user may answer the requests it gets.',
    },
    (draft, node, reading) => {
      draft.responses = readResponses(node, reading);
    },
  ),
];

/** The permissions; null, with an error, if they are no map. */
export function readPermissions(node: ConfigNode, reading: Reading): Permissions | null {
  if (!isMap(node.value)) {
    reading.error(node.place, `Expected permissions to be a map/struct, got ${goValue(node.value)}`);
    return null;
  }
  const read: PermissionsBlock = { publish: UNRESTRICTED, subscribe: UNRESTRICTED, responses: null };
  readEntries(PERMISSIONS_KEYS, node.value, read, reading, (name) => {
    return `Unknown field ${goQuote(name)} parsing permissions`;
  });
  // Who is only let answer may publish nothing else.
  const { publish, responses } = read;
  return responses !== null && publish.allow === null ? { ...read, publish: { ...publish, allow: [] } } : read;
}

interface ResponseRulesBlock {
  max: number;
  expiresMs: number;
}

const RESPONSES: ResponseRules = { max: 1, expiresMs: 120_000 };

const responses = new Keys<ResponseRulesBlock>(null);

export const RESPONSES_KEYS: readonly Key<ResponseRulesBlock>[] = [
  responses.custom(
    'max',
    'integer',
    {
      aliases: ['max_msgs', 'max_messages', 'max_responses'],
      default: '1',
      live: 'Users',
      doc: 'How many answers a request may get; any number if negative.',
    },
    (draft, node, reading) => {
      draft.max = reading.integer(node) || draft.max;
    },
  ),
  responses.custom(
    'expires',
    'duration',
    {
      aliases: ['expiration', 'ttl'],
      default: '2m',
      live: 'Users',
      doc: 'How long a request may be answered; without end if negative.',
    },
    (draft, node, reading) => {
      if (typeof node.value === 'string') draft.expiresMs = reading.durationText(node, 'expires') || draft.expiresMs;
      else reading.error(node.place, 'error parsing expires, not a duration string');
    },
  ),
];

function readResponses(node: ConfigNode, reading: Reading): ResponseRules | null {
  if (typeof node.value === 'boolean') return node.value ? RESPONSES : null;
  if (!isMap(node.value)) {
    reading.error(node.place, 'error parsing response permissions, expected a boolean or a map');
    return null;
  }
  const read: ResponseRulesBlock = { ...RESPONSES };
  readEntries(
    RESPONSES_KEYS,
    node.value,
    read,
    reading,
    (name) => `Unknown field ${goQuote(name)} parsing permissions`,
  );
  return read;
}

const sides = new Keys<SubjectRulesBlock>(null);

function sideKeys(takesQueues: boolean): readonly Key<SubjectRulesBlock>[] {
  return [
    sides.custom('allow', 'subjects', { live: 'Users', doc: 'All that is allowed.' }, (draft, node, reading) => {
      draft.allow = readSubjects(node, reading, takesQueues);
    }),
    sides.custom(
      'deny',
      'subjects',
      { live: 'Users', doc: 'What is not allowed all the same.' },
      (draft, node, reading) => {
        draft.deny = readSubjects(node, reading, takesQueues);
      },
    ),
  ];
}

export const PUBLISH_KEYS: readonly Key<SubjectRulesBlock>[] = sideKeys(false);
export const SUBSCRIBE_KEYS: readonly Key<SubjectRulesBlock>[] = sideKeys(true);

/** Subjects by themselves are those allowed. Nothing allowed by name means that everything is. */
function readRules(node: ConfigNode, reading: Reading, takesQueues: boolean): SubjectRules {
  const read: SubjectRulesBlock = { allow: [], deny: [] };
  if (isMap(node.value)) {
    readEntries(takesQueues ? SUBSCRIBE_KEYS : PUBLISH_KEYS, node.value, read, reading, (name) => {
      return `Unknown field name ${goQuote(name)} parsing subject permissions, only 'allow' or 'deny' are permitted`;
    });
  } else {
    read.allow = readSubjects(node, reading, takesQueues);
  }
  return { allow: read.allow.length === 0 ? null : read.allow, deny: read.deny };
}

/** The subjects of a string or array; none, with an error, if one is not valid. */
export function readSubjects(node: ConfigNode, reading: Reading, takesQueues: boolean): string[] {
  const { value, place } = node;
  const entries = Array.isArray(value) ? value : [node];
  const subjects: string[] = [];
  for (const entry of entries) {
    if (typeof entry.value !== 'string') {
      const wanted = 'Expected subject permissions to be a subject, or array of subjects';
      if (entry === node) reading.error(place, `${wanted}, got ${goType(value)}`);
      else reading.error(entry.place, 'Subject in permissions array cannot be cast to string');
      return [];
    }
    const fault = subjectFault(entry.value, takesQueues);
    if (fault !== null) {
      reading.error(place, fault);
      return [];
    }
    const whole = subjectOf(entry.value);
    subjects.push(isValidSubject(whole) ? whole : subjectOf(fieldsOf(entry.value).join(' ')));
  }
  return subjects;
}

function fieldsOf(text: string): string[] {
  return text.split(/\s+/).filter((field) => field !== '');
}

/** Why the text is no subject, nor a subject with a queue where that may stand. */
function subjectFault(text: string, takesQueues: boolean): string | null {
  if (isValidSubject(subjectOf(text))) return null;
  const notValid = (subject: string): string => `subject ${goQuote(subject)} is not a valid subject`;
  const [subject = '', queueGroup = '', ...more] = fieldsOf(text);
  if (!takesQueues || queueGroup === '' || more.length > 0) return notValid(text);
  if (!isValidSubject(subjectOf(subject))) return notValid(subject);
  return isValidSubject(subjectOf(queueGroup)) ? null : `queue ${goQuote(queueGroup)} is not a valid queue`;
}
