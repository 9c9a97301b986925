/**
 * What the system account shares with all others without a word in the configuration, as /accountz shows it: its own
 * exports, and in every account the imports by which ordinary users ask who they are and how their account fares.
 */

import { textAsBytes } from './byte-text.ts';
import type { MonitorSource } from './monitor-source.ts';

const USER_INFO = { request: '$SYS.REQ.USER.INFO', answered: ['$SYS.REQ.USER.', '.INFO'], isShared: true } as const;
const STATISTICS = [
  { request: '$SYS.REQ.ACCOUNT.PING.CONNZ', answered: ['$SYS.REQ.ACCOUNT.', '.CONNZ'], isShared: false },
  { request: '$SYS.REQ.SERVER.PING.CONNZ', answered: ['$SYS.REQ.ACCOUNT.', '.CONNZ'], isShared: false },
  { request: '$SYS.REQ.ACCOUNT.PING.STATZ', answered: ['$SYS.REQ.ACCOUNT.', '.STATZ'], isShared: false },
] as const;
const JETSTREAM = '$JS.API.>';

/** Its own exports: of subjects, with the types of their answers. */
export function exportsOfSystem(source: MonitorSource): object[] {
  const ofJetStream = source.jetstream === null ? [] : [service(JETSTREAM, 'Singleton')];
  return [
    ...ofJetStream,
    service('$SYS.REQ.ACCOUNT.*.CONNZ', 'Streamed'),
    service('$SYS.REQ.ACCOUNT.*.STATZ', 'Streamed'),
    service('$SYS.DEBUG.SUBSCRIBERS', 'Singleton'),
    service('$SYS.REQ.USER.*.INFO', 'Singleton'),
  ];
}

/** What the account of this name imports of them. Texts are strings of bytes. */
export function importsFromSystem(source: MonitorSource, account: string): object[] {
  const system = textAsBytes(source.systemAccount.name);
  const isSystem = account === source.systemAccount.name;
  const imported = (subject: string, request: string, share: boolean): object => ({
    subject,
    account: system,
    to: request,
    local_subject: request,
    type: 'service',
    invalid: false,
    share,
    tracking: false,
  });
  const asked = isSystem ? [USER_INFO] : [...STATISTICS, USER_INFO];
  const imports = asked.map(({ request, answered: [before, behind], isShared }) =>
    imported(before + textAsBytes(account) + behind, request, isShared),
  );
  if (!isSystem && source.jetstream !== null) imports.push(imported(JETSTREAM, JETSTREAM, true));
  return imports;
}

function service(subject: string, responseType: string): object {
  return { subject, type: 'service', response_type: responseType };
}
