/**
 * Subjects on their way from text to the strings of bytes that the rest of the server takes for subjects, and back for
 * messages.
 */

import { bytesOf, textOf } from './runes.ts';

/** The subject that `text` spells. */
export function subjectOf(text: string): string {
  return bytesOf(text).toString('latin1');
}

/** The text of a subject, or of a message that quotes one. */
export function subjectText(subject: string): string {
  return textOf(Buffer.from(subject, 'latin1'));
}
