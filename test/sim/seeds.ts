/**
 * How simulations are run: each with a few fixed seeds and a few new ones, which are printed; SEEDS in the environment
 * asks for more new ones. A failure says how to see it again: with SEED in the environment only that seed is run.
 */

const FIXED_SEEDS = 6;
const NEW_SEEDS = 2;

/** The seeds that a file's simulations are run with. */
export function seedsFor(simulation: string): number[] {
  const asked = process.env['SEED'];
  if (asked !== undefined && asked !== '') return [Number(asked)];
  const fixed = Array.from({ length: FIXED_SEEDS }, (_, i) => i + 1);
  const count = Number(process.env['SEEDS'] ?? NEW_SEEDS);
  const fresh = Array.from({ length: count }, () => Math.floor(Math.random() * 2 ** 32));
  process.stdout.write(`${simulation}: seeds ${[...fixed, ...fresh].join(', ')}\n`);
  return [...fixed, ...fresh];
}

/** Runs a simulation; its failure says how to see it again. */
export function replayable(seed: number, run: () => void): void {
  try {
    run();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`${reason}\n\nreplay: SEED=${seed} npm run test:sim`, { cause: error });
  }
}
