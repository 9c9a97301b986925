/** The types of `entry.mjs`: what `import 'petiole'` gives. */

import type { RunningServer, StartServerOptions } from './embedding.ts';

export type { RunningServer, StartServerOptions };

/**
 * Starts a server; the promise is kept when clients can connect. Fails with an `Error` that says what is wrong with the
 * configuration (with line and column), the port or the store.
 */
export declare function startServer(given?: StartServerOptions): Promise<RunningServer>;
