/** Another configuration for a server that runs. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunningServer } from './targets.ts';
import { until } from './until.ts';

/** Writes another config file and has it loaded; resolves when the server says that it was, or was not. */
export async function reload(server: RunningServer, config: string): Promise<string> {
  const before = server.log.length;
  writeFileSync(join(server.directory, 'server.conf'), config);
  server.signal('SIGHUP');
  const done = /Reloaded server configuration.*|Failed to reload server configuration: .*/;
  const [line] = await until(() => done.exec(server.log.slice(before)), 'the reload');
  return line;
}
