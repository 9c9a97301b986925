/**
 * The same tests against nats-server, whose behaviour decides, and against petiole: servers and clients that go with the
 * test that asked for them. A target that is missing shows as skipped, and in CI fails.
 */
/* oxlint-disable vitest/valid-title, vitest/valid-describe-callback, vitest/no-conditional-tests,
   vitest/no-disabled-tests -- tests are wrapped here, and what did not run must show as skipped */
import { describe, expect, onTestFinished, test } from 'vitest';
import { absenceIsFailure, isAbsent, natsServer, petiole, startServer } from './targets.ts';
import type { RunningServer, StartOptions, Target } from './targets.ts';
import { dial } from './wire-client.ts';
import type { WireClient } from './wire-client.ts';

/** Registers the tests for each of the two servers. */
export function describeTargets(title: string, tests: (target: Target) => void): void {
  for (const target of [natsServer(), petiole()]) {
    if (isAbsent(target)) describeAbsent(`${title}, ${target.name}`, target.absent);
    else describe(`${title}, ${target.name} ${target.version}`, () => tests(target));
  }
}

/** Registers the tests for each pair of servers that a link joins: both kinds at both ends. */
export function describePairs(title: string, tests: (leaf: Target, hub: Target) => void): void {
  for (const leaf of [natsServer(), petiole()]) {
    for (const hub of [natsServer(), petiole()]) {
      const name = `${title}, from ${leaf.name} to ${hub.name}`;
      if (isAbsent(leaf)) describeAbsent(name, leaf.absent);
      else if (isAbsent(hub)) describeAbsent(name, hub.absent);
      else describe(name, () => tests(leaf, hub));
    }
  }
}

function describeAbsent(title: string, absent: string): void {
  describe(title, () => {
    if (absenceIsFailure()) test('runs', () => expect.fail(`skipped: ${absent}; in CI this is a failure`));
    else test.skip(`skipped: ${absent}`, () => {});
  });
}

/** Starts a server that is stopped when the running test has ended. */
export async function serve(target: Target, config?: string, options: StartOptions = {}): Promise<RunningServer> {
  const server = await startServer(target, { ...options, config });
  onTestFinished(() => server.stop());
  return server;
}

/** A client of the running test that has said CONNECT, without verbose and pedantic unless it says so. */
export async function clientOf(server: RunningServer, connect: object = {}): Promise<WireClient> {
  const client = await dial(server.address());
  onTestFinished(() => client.close());
  await client.line();
  client.send(`CONNECT ${JSON.stringify({ verbose: false, pedantic: false, ...connect })}\r\nPING\r\n`);
  await client.expect('PONG\r\n');
  return client;
}

/** What monitoring answers. The server's config has to have `http`. */
export async function page(server: RunningServer, path: string): Promise<{ status: number; body: unknown }> {
  const { host, port } = await server.listening('monitor');
  const response = await fetch(`http://${host}:${port}${path}`);
  return { status: response.status, body: await response.json() };
}
