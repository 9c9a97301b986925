import { defineConfig, type ViteUserConfig } from 'vitest/config';

/** One project per kind of test; a folder under test/ holds each. Tests that start servers get more time. */
const kinds: Record<string, number> = {
  unit: 60_000,
  property: 60_000,
  conformance: 60_000,
  regression: 60_000,
  sim: 120_000,
  interop: 60_000,
  fuzz: 120_000,
  e2e: 300_000,
};

/** Processes talk over sockets in these: on a busy machine one may be late. What fails is tried again, and still fails. */
const retried: readonly string[] = ['conformance', 'regression', 'interop', 'e2e'];

/** Measured, or leant on, so that nothing else may run meanwhile: after all others, one file at a time. */
const alone: readonly string[] = ['fuzz', 'e2e'];
const WORKERS = 2;

/** Inputs are made at random in these. */
const random: readonly string[] = ['unit', 'property', 'fuzz'];

const config: ViteUserConfig = defineConfig({
  test: {
    projects: Object.entries(kinds).map(([name, testTimeout]) => ({
      test: {
        name,
        include: [`test/${name}/**/*.test.ts`],
        setupFiles: random.includes(name) ? ['test/helpers/fast-check-seed.ts'] : [],
        testTimeout,
        hookTimeout: testTimeout,
        retry: retried.includes(name) ? 2 : 0,
        pool: 'forks',
        maxWorkers: alone.includes(name) ? 1 : WORKERS,
        sequence: { groupOrder: alone.includes(name) ? 1 : 0 },
      },
    })),
  },
});

export default config;
