/**
 * Subjects that clients must not publish to, or name as a reply: they belong to servers.
 *
 *     publish    _GR_. and $GR. (gateway replies), $NRG. (Raft)
 *     reply      _R_. (service replies), $JS.ACK. (acknowledgements), _GR_. and $GR.
 */

const UNDERSCORE = 0x5f;
const DOLLAR = 0x24;

const RESERVED_TO_PUBLISH = ['_GR_.', '$GR.', '$NRG.'].map((prefix) => Buffer.from(prefix));
const RESERVED_AS_REPLY = ['_R_.', '$JS.ACK.', '_GR_.', '$GR.'].map((prefix) => Buffer.from(prefix));

export function isReservedToPublish(subject: Buffer, start: number, end: number): boolean {
  const first = subject[start];
  if (first !== UNDERSCORE && first !== DOLLAR) return false;
  return startsWithOneOf(RESERVED_TO_PUBLISH, subject, start, end);
}

export function isReservedAsReply(reply: Buffer, start: number, end: number): boolean {
  const first = reply[start];
  if (first !== UNDERSCORE && first !== DOLLAR) return false;
  // `_INBOX.` is by far the most common reply.
  if (reply[start + 1] === 0x49) return false;
  return startsWithOneOf(RESERVED_AS_REPLY, reply, start, end);
}

function startsWithOneOf(prefixes: readonly Buffer[], buffer: Buffer, start: number, end: number): boolean {
  for (const prefix of prefixes) {
    // The prefix alone, with nothing behind it, is not reserved.
    if (end - start <= prefix.length) continue;
    let i = 0;
    while (i < prefix.length && buffer[start + i] === prefix[i]) i++;
    if (i === prefix.length) return true;
  }
  return false;
}
