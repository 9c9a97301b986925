/**
 * Many leaves in one process, each a server of its own with one remote; what they do in their own time is told on demand.
 *
 *     node leaf-farm-entry.ts URL FIRST COUNT      sends 'ready' when all have started; for every message that comes it sends
 *                                                  when dials began since the one before, in wall time
 */
import { startServer } from '../../server/index.ts';
import type { RunningServer } from '../../server/index.ts';

const [, , url = '', first = '0', count = '0'] = process.argv;
let dialledMs: number[] = [];

function log(line: string): void {
  if (line.includes('Trying to connect as leafnode')) dialledMs.push(Date.now());
}

const servers: RunningServer[] = [];
for (let number = Number(first); number < Number(first) + Number(count); number++) {
  const config = `server_name: site-${number}
    debug: true
    leafnodes { remotes: [ { url: "${url}", compression: off } ] }`;
  servers.push(await startServer({ config, log }));
}
process.on('message', () => {
  process.send?.(dialledMs);
  dialledMs = [];
});
process.once('disconnect', () => process.exit(0));
process.send?.('ready');
