/**
 * The beginnings of first lines: what clients have sent that are not authenticated, and whose CONNECT is not whole yet.
 * It is all that is kept of such clients besides their connections.
 *
 *     shelf of short lines   │ 64 B │ 64 B │ … 16,384 places            a line that outgrows its place moves to the next
 *     shelf of usual lines   │ 1 KiB │ 1 KiB │ … 512 places            shelf; the memory of a shelf is touched as far as
 *     shelf of long lines    │ 8 KiB │ 8 KiB │ … 64 places             it was ever used
 *
 * Bounds: 2 MiB in all, however many clients there are and however slowly they speak. When a shelf is full, one of the
 * lines that are there longest is given up: a line in several pieces is whole within moments, unless somebody wants it
 * otherwise.
 * Longer lines, where max_control_line allows them, are not kept here.
 */

import { Buffer } from 'node:buffer';
import { ClientParser } from '../protocol/client-parser.ts';

/** Bytes of a place, and places, of each shelf. */
const SHELVES: readonly (readonly [number, number])[] = [
  [64, 16_384],
  [1024, 512],
  [8192, 64],
];

export const FIRST_LINE_BYTES_MAX = 8192;

const SHELF_SHIFT = 16;
const PLACE_MASK = 0xffff;

/** Whose line it is. */
export interface FirstLineOwner {
  /** Where its line is kept; NOWHERE if none is. Only `FirstLines` changes it. */
  firstLineAt: number;
  /** There is no room for the line any more: it is dropped. */
  firstLineGivenUp(): void;
}

export const NOWHERE = -1;

export class FirstLines {
  private readonly shelves: readonly Shelf[];
  /** How many were given up. */
  givenUp = 0;

  constructor(shelves: readonly (readonly [number, number])[] = SHELVES) {
    this.shelves = shelves.map(([bytes, places]) => new Shelf(bytes, places));
  }

  /** Copies what is kept of the owner's line in front of `buffer[at]`; where it begins. */
  putInFront(owner: FirstLineOwner, buffer: Buffer, at: number): number {
    if (owner.firstLineAt === NOWHERE) return at;
    return this.shelfOf(owner).putInFront(owner.firstLineAt & PLACE_MASK, buffer, at);
  }

  /** Keeps `buffer[start, end)`, at most FIRST_LINE_BYTES_MAX bytes, as what has come of the line so far. */
  keep(owner: FirstLineOwner, buffer: Buffer, start: number, end: number): void {
    const length = end - start;
    const shelf = this.shelves.findIndex(({ placeBytes }) => length <= placeBytes);
    if (owner.firstLineAt === NOWHERE || owner.firstLineAt >> SHELF_SHIFT !== shelf) {
      this.drop(owner);
      const { place, previous } = (this.shelves[shelf] as Shelf).takePlace(owner);
      owner.firstLineAt = (shelf << SHELF_SHIFT) | place;
      if (previous !== null) {
        previous.firstLineAt = NOWHERE;
        this.givenUp++;
        previous.firstLineGivenUp();
      }
    }
    this.shelfOf(owner).put(owner.firstLineAt & PLACE_MASK, buffer, start, end);
  }

  /** The line is whole, or its owner is gone. */
  drop(owner: FirstLineOwner): void {
    if (owner.firstLineAt === NOWHERE) return;
    this.shelfOf(owner).free(owner.firstLineAt & PLACE_MASK);
    owner.firstLineAt = NOWHERE;
  }

  /** Lines kept now. */
  get count(): number {
    return this.shelves.reduce((sum, { used }) => sum + used, 0);
  }

  private shelfOf(owner: FirstLineOwner): Shelf {
    return this.shelves[owner.firstLineAt >> SHELF_SHIFT] as Shelf;
  }
}

/** Places of one size, taken in turn: when all are, the next is about the one that was taken first. */
class Shelf {
  readonly placeBytes: number;
  used = 0;
  private readonly places: number;
  private bytes: Buffer | null = null;
  private readonly lengths: Uint16Array;
  private readonly owners: (FirstLineOwner | null)[] = [];
  private next = 0;

  constructor(placeBytes: number, places: number) {
    this.placeBytes = placeBytes;
    this.places = places;
    this.lengths = new Uint16Array(places);
  }

  /** A place for the owner; `previous` is who had it, if all are taken. */
  takePlace(owner: FirstLineOwner): { place: number; previous: FirstLineOwner | null } {
    this.bytes ??= Buffer.allocUnsafeSlow(this.placeBytes * this.places);
    if (this.used < this.places) while ((this.owners[this.next] ?? null) !== null) this.advance();
    const place = this.next;
    const previous = this.owners[place] ?? null;
    this.owners[place] = owner;
    if (previous === null) this.used++;
    this.advance();
    return { place, previous };
  }

  free(place: number): void {
    this.owners[place] = null;
    this.used--;
  }

  put(place: number, buffer: Buffer, start: number, end: number): void {
    buffer.copy(this.bytes as Buffer, place * this.placeBytes, start, end);
    this.lengths[place] = end - start;
  }

  putInFront(place: number, buffer: Buffer, at: number): number {
    const start = place * this.placeBytes;
    const length = this.lengths[place] as number;
    (this.bytes as Buffer).copy(buffer, at - length, start, start + length);
    return at - length;
  }

  private advance(): void {
    this.next = this.next + 1 === this.places ? 0 : this.next + 1;
  }
}

/** Says of half a line what can be said already, and keeps nothing of it. */
export class FirstLineProbe extends ClientParser {
  look(buffer: Buffer, start: number, end: number): void {
    this.parse(buffer, start, end);
  }
}
