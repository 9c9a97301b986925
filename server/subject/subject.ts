/**
 * The algebra of subjects: which texts are subjects, and how a pattern, a literal and another pattern relate.
 *
 * A subject at rest is a string in which every char code is one byte (the "latin1" reading of its UTF-8 bytes), so that
 * lengths are bytes and no text is refused for its encoding. Tokens are separated by `.`:
 *
 *     orders.*.created.>        literal token | `*`: exactly one token | `>`: one token or more, only at the end
 *
 * `*` and `>` are wildcards only as whole tokens; `a*`, `*a` and `>>` are ordinary ones. nats-server holds to this in
 * its sublist, but its subset and collision tests take any pattern token that begins with a wildcard's character for
 * the wildcard, so that a mapping of `*foo` catches `bar` there. Here a pattern means the same everywhere.
 *
 * nats-server asks three different questions of a subject, and clients can tell them apart:
 *
 *     question              empty token, or one after `>`   blank within   wildcard token   asked of
 *     isSubscribable        no                              yes            yes              SUB
 *     isValidSubject        no                              no             yes              configuration, API requests
 *     isValidLiteral        no                              yes            no               PUB of a pedantic client
 *     isValidPublish        no                              no             no               deliver and trace subjects …
 *
 * A blank is space, tab, LF, FF or CR; vertical tab and NUL are not. An unpedantic PUB is not asked at all: wildcards
 * in its subject are ordinary tokens to a `*`, and a subject with an empty token reaches nobody.
 *
 * Everything here is pure, allocates nothing and takes time linear in the shorter subject. The only bound on a
 * subject's length is the control line that brought it.
 */

const DOT = 0x2e;
const STAR = 0x2a;
const GREATER = 0x3e;

/** What one look at a subject can tell, as bits, so that each question above is one mask. */
const MALFORMED = 1;
const HAS_BLANK = 2;
const HAS_WILDCARD = 4;

function isBlank(byte: number): boolean {
  return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d && byte !== 0x0b);
}

function shapeOf(subject: string): number {
  let shape = 0;
  let tokenStart = 0;
  for (let at = 0; at <= subject.length; at++) {
    const byte = at === subject.length ? DOT : subject.charCodeAt(at);
    if (byte !== DOT) {
      if (isBlank(byte)) shape |= HAS_BLANK;
      continue;
    }
    if (at === tokenStart) shape |= MALFORMED;
    if (isToken(subject, tokenStart, at, STAR)) shape |= HAS_WILDCARD;
    if (isToken(subject, tokenStart, at, GREATER))
      shape |= at === subject.length ? HAS_WILDCARD : MALFORMED | HAS_WILDCARD;
    tokenStart = at + 1;
  }
  return shape;
}

/** Whether the token `[start, end)` of `subject` is exactly the one byte given. */
function isToken(subject: string, start: number, end: number, byte: number): boolean {
  return end - start === 1 && subject.charCodeAt(start) === byte;
}

/** Whether SUB takes it: no empty token, and nothing after `>`. Blanks, where the protocol lets one in, are taken. */
export function isSubscribableSubject(subject: string): boolean {
  return (shapeOf(subject) & MALFORMED) === 0;
}

/** Whether it is a subject, wildcards allowed: no empty token, no blank, nothing after `>`. */
export function isValidSubject(subject: string): boolean {
  return (shapeOf(subject) & (MALFORMED | HAS_BLANK)) === 0;
}

/** Whether a pedantic client may publish to it: no empty token and no wildcard. Blanks are not looked for. */
export function isValidLiteralSubject(subject: string): boolean {
  return (shapeOf(subject) & (MALFORMED | HAS_WILDCARD)) === 0;
}

/** Whether it is a valid subject without wildcards, as asked of deliver subjects and other places to publish to. */
export function isValidPublishSubject(subject: string): boolean {
  return shapeOf(subject) === 0;
}

/** Whether no token is a wildcard. Says nothing of validity. */
export function isLiteral(subject: string): boolean {
  return (shapeOf(subject) & HAS_WILDCARD) === 0;
}

/** `isValidLiteralSubject` of the bytes `[start, end)`. */
export function isValidLiteralSubjectBytes(buffer: Uint8Array, start: number, end: number): boolean {
  let tokenStart = start;
  for (let at = start; at <= end; at++) {
    if (at < end && buffer[at] !== DOT) continue;
    if (at === tokenStart) return false;
    if (at - tokenStart === 1 && (buffer[tokenStart] === STAR || buffer[tokenStart] === GREATER)) return false;
    tokenStart = at + 1;
  }
  return true;
}

/** Clients may not join this queue group: nats-server answers SUB with a permissions violation. */
const RESERVED_QUEUE_GROUP = '_sys_';

/**
 * Whether a client's SUB may name this queue group. A queue group is any word: `a..b` and `>` are taken on the wire.
 * (Queue names in permissions are patterns, and there `isValidSubject` decides.)
 */
export function isValidQueueName(queueGroup: string): boolean {
  return queueGroup !== '' && queueGroup !== RESERVED_QUEUE_GROUP;
}

/** The number of tokens, empty ones included; 0 for the empty text. */
export function tokenCount(subject: string): number {
  if (subject === '') return 0;
  let count = 1;
  for (let at = subject.indexOf('.'); at !== -1; at = subject.indexOf('.', at + 1)) count++;
  return count;
}

function endOfToken(subject: string, start: number): number {
  const dot = subject.indexOf('.', start);
  return dot === -1 ? subject.length : dot;
}

function sameToken(a: string, aStart: number, aEnd: number, b: string, bStart: number, bEnd: number): boolean {
  if (aEnd - aStart !== bEnd - bStart) return false;
  for (let at = aStart, bt = bStart; at < aEnd; at++, bt++) {
    if (a.charCodeAt(at) !== b.charCodeAt(bt)) return false;
  }
  return true;
}

function hasEmptyTokenFrom(subject: string, start: number): boolean {
  return start === subject.length || subject[start] === '.' || subject.endsWith('.') || subject.includes('..', start);
}

/**
 * Whether a message published on `literal` reaches a subscription to `pattern`, exactly as the sublist decides:
 * wildcards in `literal` are ordinary tokens, and a literal with an empty token matches nothing.
 */
export function subjectMatches(pattern: string, literal: string): boolean {
  let p = 0;
  let l = 0;
  for (;;) {
    const pEnd = endOfToken(pattern, p);
    if (pEnd === pattern.length && isToken(pattern, p, pEnd, GREATER)) return !hasEmptyTokenFrom(literal, l);
    const lEnd = endOfToken(literal, l);
    if (lEnd === l) return false;
    if (!isToken(pattern, p, pEnd, STAR) && !sameToken(pattern, p, pEnd, literal, l, lEnd)) return false;
    const patternEnds = pEnd === pattern.length;
    const literalEnds = lEnd === literal.length;
    if (patternEnds || literalEnds) return patternEnds && literalEnds;
    p = pEnd + 1;
    l = lEnd + 1;
  }
}

/**
 * Whether every literal that `subset` matches is matched by `pattern`. `subset` may be a literal; whatever stands under
 * the `>` of `pattern`, even an empty token, is taken, as nats-server's mappings do.
 */
export function isSubsetMatch(subset: string, pattern: string): boolean {
  let s = 0;
  let p = 0;
  for (;;) {
    const pEnd = endOfToken(pattern, p);
    if (isToken(pattern, p, pEnd, GREATER)) return true;
    const sEnd = endOfToken(subset, s);
    if (pEnd === p || sEnd === s || isToken(subset, s, sEnd, GREATER)) return false;
    if (!isToken(pattern, p, pEnd, STAR) && !sameToken(subset, s, sEnd, pattern, p, pEnd)) return false;
    const subsetEnds = sEnd === subset.length;
    const patternEnds = pEnd === pattern.length;
    if (subsetEnds || patternEnds) return subsetEnds && patternEnds;
    s = sEnd + 1;
    p = pEnd + 1;
  }
}

/** Whether some literal is matched by both patterns; a literal counts as the pattern of itself. */
export function subjectsCollide(a: string, b: string): boolean {
  let i = 0;
  let j = 0;
  for (;;) {
    const aEnd = endOfToken(a, i);
    const bEnd = endOfToken(b, j);
    if (aEnd === i || bEnd === j) return false;
    if (isToken(a, i, aEnd, GREATER) || isToken(b, j, bEnd, GREATER)) return true;
    const wild = isToken(a, i, aEnd, STAR) || isToken(b, j, bEnd, STAR);
    if (!wild && !sameToken(a, i, aEnd, b, j, bEnd)) return false;
    const aEnds = aEnd === a.length;
    const bEnds = bEnd === b.length;
    if (aEnds || bEnds) return aEnds && bEnds;
    i = aEnd + 1;
    j = bEnd + 1;
  }
}
