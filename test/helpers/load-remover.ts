/** Purges a stream of the mixed load up to some sequence now and then, and deletes single messages. */
import type { LoadLedger } from './load-ledger.ts';
import type { LoadLink } from './load-link.ts';

const PAUSE_MS_MAX = 60;

export class LoadRemover {
  private readonly link: LoadLink;
  private readonly ledger: LoadLedger;
  private readonly keptMessages: number;
  private isStopping = false;

  /** Purges leave so many messages, or a few more or less. */
  constructor(link: LoadLink, ledger: LoadLedger, keptMessages: number) {
    this.link = link;
    this.ledger = ledger;
    this.keptMessages = keptMessages;
  }

  begin(): void {
    const { link, ledger } = this;
    if (this.isStopping) return;
    const again = (): void => link.after(link.random.fraction() * PAUSE_MS_MAX, () => this.begin());
    const { name } = ledger.stream;
    const below = ledger.lastSequence - link.random.between(this.keptMessages >> 1, this.keptMessages * 2);
    if (below > 1 && link.random.chance(0.2)) {
      ledger.purging(below);
      link.request(`STREAM.PURGE.${name}`, { seq: below }, ({ success }) => {
        if (success === true) ledger.purged(below);
        again();
      });
      return;
    }
    const sequence = ledger.someSequence((count) => link.random.below(count));
    if (sequence === 0) {
      again();
      return;
    }
    ledger.removes(sequence);
    link.request(`STREAM.MSG.DELETE.${name}`, { seq: sequence, no_erase: link.random.chance(0.5) }, ({ success }) => {
      if (success === true) ledger.wasRemoved(sequence);
      again();
    });
  }

  stop(): void {
    this.isStopping = true;
  }
}
