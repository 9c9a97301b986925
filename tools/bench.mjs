/**
 * `npm run bench`: measures petiole beside nats-server. Installs what is missing; test/bench/main.ts does the rest and
 * is told the arguments.
 *
 *     npm run bench -- --only core,js --rounds 5
 *     npm run bench -- --help
 */
import { join } from 'node:path';

import { runInForeground } from './foreground.mjs';
import { describe, install, root, runtime } from './workspace.mjs';

try {
  install();
  runInForeground(runtime(), [join(root, 'test', 'bench', 'main.ts'), ...process.argv.slice(2)]);
} catch (error) {
  process.stderr.write(`bench: ${describe(error)}\n`);
  process.exitCode = 1;
}
