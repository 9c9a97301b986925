/**
 * What is found damaged in a store's files, told as it is found to whoever writes the log. A damaged file costs what
 * stands in it, and an operator should hear of it the first time and not when a message is missed.
 *
 * Bound: NOTES_MAX notes, then one that says that there is more.
 */

const NOTES_MAX = 200;

export class DamageNotes {
  onNote: (text: string) => void = () => undefined;
  private count = 0;

  note(text: string): void {
    this.count++;
    if (this.count <= NOTES_MAX) this.onNote(text);
    else if (this.count === NOTES_MAX + 1) this.onNote('more of the store is damaged than is said here');
  }
}
