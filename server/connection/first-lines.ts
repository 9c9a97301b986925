/**
 * The beginnings of first lines: what clients have sent that are not authenticated, and whose CONNECT is not whole yet.
 * It is all that is kept of such clients besides their connections, and as text it takes a few bytes more than its
 * length, where a buffer of its own would take hundreds.
 *
 * Bounds: a text is at most LINE_BYTES_MAX long, all of them together `bytesMax`. When there would be more, those that
 * began earliest are given up: a line in several pieces is whole within moments, unless somebody wants it otherwise.
 */

/** Longer lines, where max_control_line allows them, are kept by a parser. */
export const LINE_BYTES_MAX = 8192;

const BYTES_MAX = 4 * 1024 * 1024;

/** Whose line it is. */
export interface FirstLineOwner {
  /** There is no room for what it sent any more. */
  firstLineGivenUp(): void;
}

export class FirstLines<Owner extends FirstLineOwner> {
  /** In the order in which they began; a character for each byte. */
  private readonly texts: Map<Owner, string> = new Map();
  private readonly bytesMax: number;
  private bytes = 0;
  /** How many were given up. */
  givenUp = 0;

  constructor(bytesMax: number = BYTES_MAX) {
    this.bytesMax = bytesMax;
  }

  get heldBytes(): number {
    return this.bytes;
  }

  /** What has come of the owner's line so far; empty if nothing. */
  of(owner: Owner): string {
    return this.texts.get(owner) ?? '';
  }

  /** Keeps what has come so far, instead of what was kept before. */
  hold(owner: Owner, text: string): void {
    this.bytes += text.length - this.of(owner).length;
    this.texts.set(owner, text);
    while (this.bytes > this.bytesMax) this.giveUpOldest();
  }

  /** The line is whole, or its owner is gone. */
  drop(owner: Owner): void {
    if (this.bytes === 0) return;
    this.bytes -= this.of(owner).length;
    this.texts.delete(owner);
  }

  private giveUpOldest(): void {
    for (const owner of this.texts.keys()) {
      this.drop(owner);
      this.givenUp++;
      owner.firstLineGivenUp();
      return;
    }
  }
}
