/** Long work in short pieces, with everything else in between. */
import { expect, it } from 'vitest';
import { SimulatedWorld } from '../../server/io/simulated/simulated-world.ts';
import { realIo } from '../../server/io/real-io.ts';
import { runSliced } from '../../server/io/slicer.ts';

it('short work is done at once', () => {
  const { io } = new SimulatedWorld(1).machine('m').start();
  const results: string[] = [];
  runSliced(
    io,
    (function* (): Generator<void, string> {
      yield;
      return 'done';
    })(),
    (result) => results.push(result),
  );
  expect(results).toEqual(['done']);
});

it('long work lets others have their turn, and gives its result once', async () => {
  const io = realIo();
  let pieces = 0;
  const turns: number[] = [];
  let isDone = false;
  const others = (): void => {
    turns.push(pieces);
    if (!isDone) setImmediate(others);
  };
  setImmediate(others);
  const result = await new Promise<number>((resolve) => {
    runSliced(
      io,
      (function* (): Generator<void, number> {
        for (; pieces < 20; pieces++) {
          const until = performance.now() + 2;
          while (performance.now() < until);
          yield;
        }
        return pieces;
      })(),
      (result) => {
        isDone = true;
        resolve(result);
      },
    );
  });
  expect(result).toBe(20);
  const between = new Set(turns.filter((at) => at > 0 && at < 20));
  // 4 ms a slice and 2 ms a piece: others come between every few pieces.
  expect(between.size).toBeGreaterThan(4);
});
