/**
 * Which member of a queue group gets a message: one at random, weighted by how many members stand behind it, and the
 * next ones when it does not take it. A member of this server is preferred to one behind a link; a link is the choice
 * when no local member took the message. Nothing goes back over the link it came from.
 */

import type { Message } from '../protocol/message.ts';
import type { QueueGroup } from '../subject/receivers.ts';
import type { Subscription } from '../subject/subscription.ts';

/** Gives the message to one member; false when none took it. `fraction` is a random number in [0, 1). */
export function deliverToOne(group: QueueGroup, message: Message, fraction: number): boolean {
  const { members } = group;
  const count = members.length;
  const start = count === 1 ? 0 : startIndex(group, fraction);
  let isAnyBehindLink = false;
  for (let i = 0; i < count; i++) {
    const index = start + i;
    const member = members[index < count ? index : index - count] as Subscription;
    if (member.sink.sinkKind === 'leaf') isAnyBehindLink = true;
    else if (member.sink.deliver(member, message)) return true;
  }
  return isAnyBehindLink && deliverOverLink(members, start, message);
}

/** Gives the message to the first member behind a link that takes it: a link does not where it would go back. */
function deliverOverLink(members: readonly Subscription[], start: number, message: Message): boolean {
  const count = members.length;
  for (let i = 0; i < count; i++) {
    const index = start + i;
    const member = members[index < count ? index : index - count] as Subscription;
    if (member.sink.sinkKind !== 'leaf' || member.sink === message.source) continue;
    if (member.sink.deliver(member, message)) return true;
  }
  return false;
}

function startIndex(group: QueueGroup, fraction: number): number {
  const { members, weight } = group;
  if (weight === members.length) return Math.floor(fraction * members.length);
  let rest = fraction * weight;
  for (let i = 0; i < members.length; i++) {
    rest -= (members[i] as Subscription).weight;
    if (rest < 0) return i;
  }
  return members.length - 1;
}
