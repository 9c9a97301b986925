/**
 * What a connection may be told as `-ERR`, whether it ends the connection, and as what the end is then recorded. The
 * table is closed: clients compare these texts, and some close on any text they don't know.
 *
 * Source: nats-server 2.15, docs.nats.io/reference/reference-protocols/nats-protocol (+OK/ERR).
 */

import { goQuoteBytes } from './go-quote.ts';

/** Why a connection ended, as /connz shows it. */
export type ClosedReason =
  | 'Client Closed'
  | 'Authentication Timeout'
  | 'Authentication Failure'
  | 'TLS Handshake Failure'
  | 'Slow Consumer (Pending Bytes)'
  | 'Slow Consumer (Write Deadline)'
  | 'Write Error'
  | 'Read Error'
  | 'Parse Error'
  | 'Stale Connection'
  | 'Protocol Violation'
  | 'Bad Client Protocol Version'
  | 'Incorrect Port'
  | 'Maximum Connections Exceeded'
  | 'Maximum Account Connections Exceeded'
  | 'Maximum Message Payload Exceeded'
  | 'Maximum Control Line Exceeded'
  | 'Maximum Subscriptions Exceeded'
  | 'Server Shutdown'
  | 'Kicked'
  | 'No Responders Requires Headers'
  | 'Duplicate Remote LeafNode Connection'
  | 'Minimum Version Required'
  | 'Cluster Names Identical'
  | 'Wrong Gateway';

/** A fixed `-ERR` text; `closes` is null when the connection stays. */
export interface PeerError {
  readonly text: string;
  readonly closes: ClosedReason | null;
}

type PeerErrorName =
  | 'unknownOperation'
  | 'authorizationViolation'
  | 'authenticationTimeout'
  | 'maximumPayload'
  | 'maximumControlLine'
  | 'maximumConnections'
  | 'maximumAccountConnections'
  | 'throttled'
  | 'maximumSubscriptions'
  | 'loweredSubscriptions'
  | 'staleConnection'
  | 'invalidProtocol'
  | 'noRespondersNeedHeaders'
  | 'invalidSubject'
  | 'invalidPublishSubject';

export const PeerErrors: Readonly<Record<PeerErrorName, PeerError>> = {
  unknownOperation: { text: 'Unknown Protocol Operation', closes: 'Protocol Violation' },
  authorizationViolation: { text: 'Authorization Violation', closes: 'Authentication Failure' },
  authenticationTimeout: { text: 'Authentication Timeout', closes: 'Authentication Timeout' },
  maximumPayload: { text: 'Maximum Payload Violation', closes: 'Maximum Message Payload Exceeded' },
  maximumControlLine: { text: 'maximum control line exceeded', closes: 'Maximum Control Line Exceeded' },
  maximumConnections: { text: 'maximum connections exceeded', closes: 'Maximum Connections Exceeded' },
  maximumAccountConnections: {
    text: 'maximum account active connections exceeded',
    closes: 'Maximum Account Connections Exceeded',
  },
  throttled: {
    text: 'Connection throttling is active. Please try again later.',
    closes: 'Maximum Connections Exceeded',
  },
  maximumSubscriptions: { text: 'maximum subscriptions exceeded', closes: null },
  /** Of those it has, since the limit is another one now. */
  loweredSubscriptions: { text: 'maximum subscriptions exceeded', closes: 'Maximum Subscriptions Exceeded' },
  staleConnection: { text: 'Stale Connection', closes: 'Stale Connection' },
  invalidProtocol: { text: 'invalid client protocol', closes: 'Bad Client Protocol Version' },
  noRespondersNeedHeaders: {
    text: 'no responders requires headers support',
    closes: 'No Responders Requires Headers',
  },
  invalidSubject: { text: 'Invalid Subject', closes: null },
  invalidPublishSubject: { text: 'Invalid Publish Subject', closes: null },
};

export function publishViolation(subject: string): PeerError {
  return { text: `Permissions Violation for Publish to ${goQuoteBytes(subject)}`, closes: null };
}

export function replyViolation(reply: string): PeerError {
  return { text: `Permissions Violation for Publish with Reply of ${goQuoteBytes(reply)}`, closes: null };
}

export function subscriptionViolation(subject: string, queueGroup: string): PeerError {
  const queue = queueGroup === '' ? '' : ` using queue ${goQuoteBytes(queueGroup)}`;
  return { text: `Permissions Violation for Subscription to ${goQuoteBytes(subject)}${queue}`, closes: null };
}

/** A subscription that was allowed, and is not any more. */
export function revokedSubscription(subject: string, queueGroup: string, sid: string): PeerError {
  const { text } = subscriptionViolation(subject, queueGroup);
  return { text: `${text} (sid ${goQuoteBytes(sid)})`, closes: null };
}

export function tooManyTokens(subject: string): PeerError {
  return { text: `Permissions Violation for Subscription to ${goQuoteBytes(subject)}, too many tokens`, closes: null };
}
