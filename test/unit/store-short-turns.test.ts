/** However many messages go at once, they go some in a turn, and everybody else has turns in between. */
import { describe, expect, it } from 'vitest';
import { NO_LIMITS, StoreSite } from '../helpers/store-site.ts';
import { messageOf } from '../helpers/store-messages.ts';
import type { StoreSubject } from '../helpers/store-subject.ts';

const MESSAGES = 20_000;
/** Twice what goes in one turn: between two looks there may be two turns of the store. */
const BETWEEN_LOOKS_MAX = 2000;

function siteWithMessages(): { site: StoreSite; stream: StoreSubject } {
  const site = new StoreSite(1);
  site.open();
  const stream = site.putStream('S');
  const time = { seconds: 1, nanoseconds: 0 };
  for (let i = 0; i < MESSAGES; i++) stream.fileStore.append(messageOf(`s.${i % 7}`, 'x'), time);
  site.settle();
  return { site, stream };
}

/** The most messages that went in one turn until so many are left. */
function mostInOneTurn(site: StoreSite, stream: StoreSubject, left: number): number {
  let most = 0;
  let inTurn = 0;
  stream.onRemoved = () => inTurn++;
  const look = (): void => {
    most = Math.max(most, inTurn);
    inTurn = 0;
    if (stream.fileStore.messages > left) site.process.io.timers.afterTurn(look);
  };
  look();
  site.until(() => stream.fileStore.messages === left, 'the messages to go');
  return Math.max(most, inTurn);
}

describe('messages that go together', () => {
  it('because each of them is removed', () => {
    const { site, stream } = siteWithMessages();
    for (let each = 1; each <= MESSAGES; each++) stream.fileStore.remove(each);
    expect(mostInOneTurn(site, stream, 0)).toBeLessThanOrEqual(BETWEEN_LOOKS_MAX);
  });

  it('because the limit of the stream was lowered', () => {
    const { site, stream } = siteWithMessages();
    site.process.io.timers.afterTurn(() => stream.fileStore.setLimits({ ...NO_LIMITS, maxMessages: 10 }));
    expect(mostInOneTurn(site, stream, 10)).toBeLessThanOrEqual(BETWEEN_LOOKS_MAX);
    site.close();
    site.open();
    expect(site.stream('S').fileStore.messages).toBe(10);
  });
});
