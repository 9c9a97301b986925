/** The options of a remote as its configuration says them, with the files it names. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { interpretCommandLine } from '../../server/config/load.ts';
import type { LeafRemoteOptions } from '../../server/config/options.ts';
import { diskSources } from '../../server/config/sources.ts';
import { realIo } from '../../server/io/real-io.ts';
import { temporaryDirectory } from './temporary-directory.ts';

/** What stands in the braces of one remote, without its URL. */
export function remoteConfig(text: string): Partial<LeafRemoteOptions> {
  const file = join(temporaryDirectory(), 'remote.conf');
  writeFileSync(file, `leafnodes { remotes: [ { url: "nats://x"\n${text} } ] }`);
  const outcome = interpretCommandLine(['-c', file], diskSources(realIo().disk, process.env));
  if (outcome.kind !== 'start') throw new Error(JSON.stringify(outcome));
  const remote = outcome.options.leafnodes.remotes[0] as LeafRemoteOptions;
  const { tls, credentialsFile, nkeySeed, compression, firstInfoTimeoutMs } = remote;
  return { tls, credentialsFile, nkeySeed, compression, firstInfoTimeoutMs };
}
