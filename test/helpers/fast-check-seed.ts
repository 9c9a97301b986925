/**
 * Where random inputs begin: FUZZ_SEED in the environment replays a run of properties and fuzzing, or makes two runs
 * alike; without it each run tries new inputs, and a failure prints its seed. Vitest loads this before such tests.
 */
import * as fc from 'fast-check';

const asked = process.env['FUZZ_SEED'];
if (asked !== undefined && asked !== '') fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(asked) });
