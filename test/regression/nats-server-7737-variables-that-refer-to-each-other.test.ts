/** nats-server#7737: environment variables that referred to each other or to themselves were followed without end. */
import { expect, onTestFinished, test } from 'vitest';
import { describeTargets } from '../helpers/describe-targets.ts';
import { startRefused } from '../helpers/targets.ts';

/** Sets variables for the servers that the running test starts. */
function withEnvironment(variables: Readonly<Record<string, string>>): void {
  Object.assign(process.env, variables);
  onTestFinished(() => {
    for (const name of Object.keys(variables)) delete process.env[name];
  });
}

describeTargets('variables that come back to themselves', (target) => {
  test.each([
    ['one', { PETIOLE_TEST_A: '$PETIOLE_TEST_A' }],
    ['two', { PETIOLE_TEST_A: '$PETIOLE_TEST_B', PETIOLE_TEST_B: '$PETIOLE_TEST_A' }],
    [
      'three',
      { PETIOLE_TEST_A: '$PETIOLE_TEST_B', PETIOLE_TEST_B: '$PETIOLE_TEST_C', PETIOLE_TEST_C: '$PETIOLE_TEST_A' },
    ],
  ])('are refused: %s', async (_, variables) => {
    withEnvironment(variables);
    const { code, log } = await startRefused(target, { config: 'server_name: $PETIOLE_TEST_A' });
    expect(code).toBe(1);
    expect(log).toContain("variable reference cycle for 'PETIOLE_TEST_A'");
  });
});
