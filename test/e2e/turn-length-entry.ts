/**
 * petiole as a process of its own that measures its turns of the event loop: how much CPU time the one thread that serves
 * everybody spends before it looks at its timers again. What else runs on the machine does not count.
 *
 *     node turn-length-entry.ts STORE      sends { port, monitorPort }, then answers each message with a `TurnReport`
 */
import { startServer } from '../../server/index.ts';

export interface TurnReport {
  /** Of the turns since the last report, in milliseconds. */
  readonly longestMs: number;
  /** How many were longer than 5 ms, and than 10 ms. */
  readonly over5: number;
  readonly over10: number;
}

const LOOK_MS = 1;
const US_PER_MS = 1000;

const [store = ''] = process.argv.slice(2);
const server = await startServer({ jetstream: store, monitorPort: 0 });

let turns: number[] = [];
let before = process.threadCpuUsage();
setInterval(() => {
  const { user, system } = process.threadCpuUsage(before);
  before = process.threadCpuUsage();
  turns.push((user + system) / US_PER_MS);
}, LOOK_MS);

process.on('message', () => {
  const over = (ms: number): number => turns.filter((each) => each > ms).length;
  const longestMs = turns.reduce((longest, each) => Math.max(longest, each), 0);
  const report: TurnReport = { longestMs, over5: over(5), over10: over(10) };
  turns = [];
  process.send?.(report);
});
process.on('disconnect', () => process.exit());
process.send?.({ port: server.port, monitorPort: Number(new URL(server.monitorUrl ?? '').port) });
