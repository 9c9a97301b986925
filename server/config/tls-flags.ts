/**
 * TLS by flags: any of them asks for it, in place of what the file says, unless `-tls=false` stands beside them. A
 * certificate and its key have to be named then.
 */

import type { Draft } from './draft.ts';
import type { CommandLine } from './flags.ts';
import { tlsOfFiles } from './tls-block.ts';
import type { ConfigSources } from './sources.ts';
import { ConfigError } from './tree.ts';

const FLAGS: readonly string[] = ['tls', 'tlscert', 'tlskey', 'tlsverify', 'tlscacert'];

/** Throws a ConfigError when what the flags name cannot be used. */
export function applyTlsFlags(commandLine: CommandLine, draft: Draft, sources: ConfigSources): void {
  if (FLAGS.every((name) => commandLine.value(name) === undefined)) return;
  if (commandLine.value('tls') === false) {
    draft.tls = null;
    return;
  }
  const [certFile, keyFile, caFile] = ['tlscert', 'tlskey', 'tlscacert'].map((name) => commandLine.text(name));
  if (!certFile) throw new ConfigError('TLS Server certificate must be present and valid');
  if (!keyFile) throw new ConfigError('TLS Server private key must be present and valid');
  const verifiesClients = commandLine.isSet('tlsverify');
  draft.tls = tlsOfFiles({ certFile, keyFile, caFile: caFile ?? '', verifiesClients }, sources);
}
