/**
 * nats-server#1509, #2273: SIGHUP was refused where leaf remotes were configured, above all with several URLs, though
 * nothing had changed.
 */
import { expect, test } from 'vitest';
import { describeTargets, serve } from '../helpers/describe-targets.ts';
import { until } from '../helpers/until.ts';

const RELOADED = /Reloaded server configuration/g;

const CONFIG = `
  max_payload: 100KB
  authorization { users: [ { user: a, password: secret, permissions: { publish: ["x.>", "y"] } } ] }
  mappings { "a.*": [ { destination: "b.$1", weight: "60%" }, { destination: "c.$1", weight: "40%" } ] }
  leafnodes { remotes: [
    { urls: ["nats://u:p@127.0.0.1:1", "nats://127.0.0.1:2", "nats://127.0.0.1:3"] }
    { url: "nats://127.0.0.1:4", deny_imports: ["x.>"], deny_exports: ["y"] }
  ] }
`;

describeTargets('a configuration that has not changed', (target) => {
  test('is reloaded as often as anybody likes', async () => {
    const server = await serve(target, CONFIG);
    for (let times = 1; times <= 3; times++) {
      server.signal('SIGHUP');
      await until(() => (server.log.match(RELOADED) ?? []).length >= times, `reload ${times}`);
    }
    expect(server.log).not.toMatch(/Failed to reload|config reload not supported/);
  });
});
