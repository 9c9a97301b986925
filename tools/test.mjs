/**
 * `npm test`: everything that must hold before a change is published, from a fresh clone in one command. Installs and
 * builds what is missing, checks types, lint, format and dead code, then runs the tests of every kind.
 *
 *     npm test -- test/unit/sublist.test.ts        arguments go to vitest
 *
 * Tests that start a server start the binary just built (PETIOLE_BINARY names another); where the build failed, they
 * run the sources. Nothing stops at the first failure. The last line is the sum: each check counts as one, and so does
 * a test file that could not be loaded or prepared, or an error outside any test. The exit code is 0 only if nothing
 * failed.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { describe, install, root, toolEnvironment } from './workspace.mjs';

const checks = [
  { name: 'build', command: ['node', 'tools/build.mjs'] },
  { name: 'types', command: ['tsc', '--noEmit'] },
  { name: 'lint', command: ['oxlint', '--type-aware', '--deny-warnings'] },
  { name: 'format', command: ['oxfmt', '--check'] },
  { name: 'dead code', command: ['knip'] },
];

let total;
try {
  install();
  const results = checks.map(check);
  const isBuilt = results[0].failed === 0;
  total = sum([...results, runTests(process.argv.slice(2), isBuilt)]);
} catch (error) {
  process.stdout.write(`\n${describe(error)}\n`);
  total = { passed: 0, failed: 1, skipped: 0 };
}
const skipped = total.skipped > 0 ? `, ${total.skipped} skipped` : '';
process.stdout.write(`\n${total.passed} passed, ${total.failed} failed${skipped}\n`);
process.exitCode = total.failed > 0 ? 1 : 0;

function check({ name, command }) {
  process.stdout.write(`\n> ${name}: ${command.join(' ')}\n`);
  const passed = run(command);
  process.stdout.write(`${name}: ${passed ? 'passed' : 'failed'}\n`);
  return { passed: passed ? 1 : 0, failed: passed ? 0 : 1, skipped: 0 };
}

/** Runs vitest with its usual output and counts from the report it writes beside it. */
function runTests(args, isBuilt) {
  const folder = mkdtempSync(join(tmpdir(), 'petiole-test-'));
  try {
    const path = join(folder, 'report.json');
    const command = ['vitest', 'run', '--reporter=default', '--reporter=json', `--outputFile.json=${path}`, ...args];
    process.stdout.write(`\n> tests: vitest run ${args.join(' ')}\n`);
    const passed = run(command, isBuilt ? { PETIOLE_BINARY: join(root, 'dist', 'petiole') } : {});
    const count = countOf(JSON.parse(readFileSync(path, 'utf8')));
    // Vitest also fails for what belongs to no test: an error nobody caught, a filter that matches nothing.
    return passed || count.failed > 0 ? count : { ...count, failed: 1 };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function countOf(report) {
  const isFailed = ({ status }) => status === 'failed';
  const broken = report.testResults.filter((file) => isFailed(file) && !file.assertionResults.some(isFailed));
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + broken.length,
    skipped: report.numPendingTests + report.numTodoTests,
  };
}

/** What the caller's environment says goes before `defaults`. */
function run([command, ...args], defaults = {}) {
  const result = spawnSync(command, args, {
    cwd: root,
    env: { ...defaults, ...toolEnvironment() },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if (result.error) throw new Error(`${command} could not be started`, { cause: result.error });
  return result.status === 0;
}

function sum(counts) {
  return counts.reduce((a, b) => ({
    passed: a.passed + b.passed,
    failed: a.failed + b.failed,
    skipped: a.skipped + b.skipped,
  }));
}
