/**
 * What options must hold together, checked when flags and file have both been read: nats-server's order and words, of
 * the options petiole has.
 */

import { isValidSubject } from '../subject/subject.ts';
import { GLOBAL_ACCOUNT, SYSTEM_ACCOUNT } from './account-options.ts';
import { formatDuration } from './duration.ts';
import { goQuote } from '../protocol/go-quote.ts';
import type { LeafRemoteOptions, LeafUrl, ServerOptions } from './options.ts';
import { subjectOf } from './subject-text.ts';
import { syslogAddress } from './syslog-address.ts';
import { webSocketFault } from './websocket-fault.ts';

/** Why a server cannot run with these options; null if it can. */
export function validateOptions(options: ServerOptions): string | null {
  return (
    monitorFault(options) ??
    lameDuckFault(options) ??
    payloadFault(options) ??
    nameFault(options) ??
    leafnodeFault(options) ??
    spoolFault(options) ??
    noAuthUserFault(options, options.authorization.noAuthUser) ??
    domainFault(options.jetstream.domain) ??
    webSocketFault(options, (noAuthUser) => noAuthUserFault(options, noAuthUser)) ??
    syslogFault(options)
  );
}

function syslogFault({ logFile, remoteSyslog }: ServerOptions): string | null {
  if (logFile !== '' || remoteSyslog === '') return null;
  const address = syslogAddress(remoteSyslog);
  return typeof address === 'string' ? address : null;
}

function monitorFault({ monitorPort, httpsPort, tls }: ServerOptions): string | null {
  if (httpsPort === null) return null;
  if (monitorPort !== null) {
    const ports = `HTTP (${monitorPort || -1}) and HTTPs (${httpsPort || -1}) ports`;
    return `Can't start monitoring: can't specify both ${ports}`;
  }
  return tls === null ? "Can't start monitoring: TLS cert and key required for HTTPS" : null;
}

function lameDuckFault({ lameDuckGraceMs, lameDuckDurationMs }: ServerOptions): string | null {
  if (lameDuckDurationMs <= 0 || lameDuckGraceMs < lameDuckDurationMs) return null;
  const [grace, duration] = [formatDuration(lameDuckGraceMs), formatDuration(lameDuckDurationMs)];
  return `lame duck grace period (${grace}) should be strictly lower than lame duck duration (${duration})`;
}

function payloadFault({ maxPayloadBytes, maxPendingBytes }: ServerOptions): string | null {
  if (maxPayloadBytes <= maxPendingBytes) return null;
  return `max_payload (${maxPayloadBytes}) cannot be higher than max_pending (${maxPendingBytes})`;
}

function nameFault({ serverName }: ServerOptions): string | null {
  return serverName.includes(' ') ? 'server name cannot contain spaces' : null;
}

function leafnodeFault({ leafnodes, accounts, systemAccount, hasSystemAccount }: ServerOptions): string | null {
  const known = new Set([GLOBAL_ACCOUNT, '', ...accounts.map(({ name }) => name)]);
  if (systemAccount === '' && hasSystemAccount) known.add(SYSTEM_ACCOUNT);
  const { authorization } = leafnodes.listener;
  const authorized = [authorization, ...authorization.users].find(({ account }) => !known.has(account));
  if (authorized !== undefined) return unknownAccount(authorized.account, 'authorization');
  const unknown = leafnodes.remotes.find(({ account }) => !known.has(account));
  if (unknown !== undefined) return unknownAccount(unknown.account, 'remote');
  const mixed = leafnodes.remotes.find(({ urls }) => urls.some((url) => isWebSocket(url) !== isWebSocket(urls[0])));
  return mixed === undefined ? null : `${MIXED_URLS}: [${mixed.urls.map((url) => goQuote(withPort(url))).join(' ')}]`;
}

const MIXED_URLS = 'remote leaf node configuration cannot have a mix of websocket and non-websocket urls';

function isWebSocket(url: LeafUrl | undefined): boolean {
  return url !== undefined && url.webSocketPath !== null;
}

/** Also where it is the default. */
function withPort({ redactedText, port }: LeafUrl): string {
  return redactedText.replace(/^[^/]*\/\/[^/?#]*/, (start) => (/:\d+$/.test(start) ? start : `${start}:${port}`));
}

function quotedUrls({ urls }: LeafRemoteOptions): string {
  return urls.map(({ redactedText }) => goQuote(redactedText)).join(' ');
}

/** A spool is a stream. */
function spoolFault({ leafnodes, jetstream }: ServerOptions): string | null {
  const spooled = leafnodes.remotes.find(({ spool }) => spool !== null);
  if (spooled === undefined || jetstream.isEnabled) return null;
  return `spool of leafnode remote [${quotedUrls(spooled)}] needs jetstream, which is not enabled`;
}

function unknownAccount(name: string, where: string): string {
  return `cannot find local account ${goQuote(name)} specified in leafnode ${where}`;
}

/** Why the account for system events can't be had. */
export function systemAccountFault({
  systemAccount,
  accounts,
}: Pick<ServerOptions, 'systemAccount' | 'accounts'>): string | null {
  if (systemAccount === '' || accounts.some(({ name }) => name === systemAccount)) return null;
  return 'error resolving system account: account missing';
}

function noAuthUserFault({ authorization, accounts }: ServerOptions, noAuthUser: string): string | null {
  const users = [...authorization.users, ...accounts.flatMap((account) => account.users)];
  if (noAuthUser === '' || users.some(({ username, nkey }) => username === noAuthUser || nkey === noAuthUser)) {
    return null;
  }
  return users.length === 0
    ? `no_auth_user: "${noAuthUser}" present, but users/nkeys are not defined`
    : `no_auth_user: "${noAuthUser}" not present as user or nkey in authorization block or account configuration`;
}

function domainFault(domain: string): string | null {
  if (domain === '') return null;
  const subject = `$JS.${domain}.API.>`;
  if (!isValidSubject(subjectOf(subject))) {
    return `invalid domain name: derived ${goQuote(subject)} is not a valid subject`;
  }
  return /[ \t\r\n\f.*>]/.test(domain) ? 'invalid domain name: may not contain ., * or >' : null;
}
