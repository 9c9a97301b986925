/** What a program hears that imports petiole under a Node that can't run it, and that others can. */
import { spawnSync } from 'node:child_process';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const PROGRAM =
  "import { startServer } from 'petiole'; const s = await startServer(); await s.close(); console.log('ran')";

function run(node: string, before: string): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(node, ['--input-type=module', '-e', `${before}${PROGRAM}`], {
    cwd: ROOT,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], HOME: homedir() },
  });
}

test('the Node it needs runs it', () => {
  const { status, stdout, stderr } = run(process.execPath, '');
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: 'ran\n', stderr: '' });
});

test('an older Node is told which one it takes', () => {
  // Static imports come first, so the version is changed by one of them.
  const older = "Object.defineProperty(process, 'versions', { value: { node: '20.11.1' } });";
  const before = `import 'data:text/javascript;base64,${btoa(older)}';`;
  const { status, stderr } = run(process.execPath, before);
  expect(status).toBe(1);
  expect(stderr).toContain('Error: petiole needs Node 24 or later, and this is Node 20.11.1');
});
