/**
 * One row on both servers, in alternating rounds: whatever changes on the machine meanwhile meets both. Who begins
 * alternates too.
 */
import { medians } from './figures.ts';
import type { Sample } from './figures.ts';
import type { Contender, ContenderName } from './programs.ts';
import type { Bench, Row } from './row.ts';

export interface Outcome {
  /** Medians over the rounds that went well; empty if none did. */
  readonly figures: Sample;
  readonly rounds: readonly Sample[];
  /** Why rounds failed. */
  readonly failures: readonly string[];
}

export type Comparison = Readonly<Record<ContenderName, Outcome>>;

export async function compare(bench: Bench, row: Row, rounds: number): Promise<Comparison> {
  const { petiole, natsServer } = bench.programs;
  const runs = { petiole: new Runs(), 'nats-server': new Runs() };
  for (let round = 0; round < Math.min(rounds, row.roundsMax); round++) {
    const order = round % 2 === 0 ? [petiole, natsServer] : [natsServer, petiole];
    const asked = order.filter(({ name }) => row.only === undefined || row.only === name);
    for (const contender of asked) await runs[contender.name].add(() => row.measure(bench, contender), contender);
  }
  return { petiole: runs.petiole.outcome(), 'nats-server': runs['nats-server'].outcome() };
}

/** The rounds of one side. */
class Runs {
  readonly #samples: Sample[] = [];
  readonly #failures: string[] = [];

  async add(measure: () => Promise<Sample>, { name }: Contender): Promise<void> {
    try {
      this.#samples.push(await measure());
    } catch (error) {
      this.#failures.push(`${name}: ${(error as Error).message}`);
    }
  }

  outcome(): Outcome {
    return { figures: medians(this.#samples), rounds: this.#samples, failures: this.#failures };
  }
}
