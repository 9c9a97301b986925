/**
 * What `import 'petiole'` loads. The sources are TypeScript, which older versions of Node stumble over with an error
 * that helps nobody: this says which Node it takes before it loads them.
 *
 * They are loaded by Node itself, also where a test runner has taken `import` over: vitest would transform hundreds of
 * files first, for seconds on a busy machine.
 */
import { createRequire } from 'node:module';

const MAJOR_MIN = 24;
const { node } = process.versions;

if (Number.parseInt(node, 10) < MAJOR_MIN) {
  throw new Error(`petiole needs Node ${MAJOR_MIN} or later, and this is Node ${node}`);
}

export const { startServer } = createRequire(import.meta.url)('./index.ts');
