/**
 * Writes a JSON document as Go's json.MarshalIndent does, or on one line as json.Marshal does. A document is written
 * member by member, so that one with a hundred thousand rows is never one object, nor one string:
 *
 *     json.beginObject();
 *     json.member('total', 2);
 *     json.beginArray('rows');      {"total": 2, "rows": [{…}, {…}]}
 *     json.element({ … });
 *     json.end();
 *     json.end();
 *
 * Text becomes bytes every PIECE_CHARACTERS. Bound: whoever writes a list stops when `isOverfull`.
 */

import { bytesJsonText, exactJsonText, jsonText } from './json-text.ts';

const PIECE_CHARACTERS = 65_536;
const INDENTATION = 2;

export class JsonDocument {
  private text = '';
  private readonly pieces: Buffer[] = [];
  private pieceBytes = 0;
  private readonly bytesMax: number;
  /** The brackets that close what is open, the innermost last. */
  private readonly open: string[] = [];
  /** Blanks for each level; 0 puts all on one line. */
  private readonly indentation: number;
  private indent = '';
  private isEmpty = true;

  constructor(bytesMax: number = Number.POSITIVE_INFINITY, indentation: number = INDENTATION) {
    this.bytesMax = bytesMax;
    this.indentation = indentation;
    if (indentation > 0) this.indent = '\n';
  }

  /** More has been written than one document may have. */
  get isOverfull(): boolean {
    return this.pieceBytes + this.text.length > this.bytesMax;
  }

  /** Opens an object: a member if it has a name, else an element or the document itself. */
  beginObject(name: string | null = null): void {
    this.begin(name, '{', '}');
  }

  beginArray(name: string | null = null): void {
    this.begin(name, '[', ']');
  }

  /** Ends the innermost object or array. */
  end(): void {
    const bracket = this.open.pop() as string;
    this.indent = this.indent.slice(0, this.indent.length - this.indentation);
    this.text += this.isEmpty ? bracket : this.indent + bracket;
    this.isEmpty = false;
    if (this.text.length >= PIECE_CHARACTERS) this.cut();
  }

  /** A member of the open object. */
  member(name: string, value: unknown): void {
    this.put(name, jsonText(value, this.indentation).replaceAll('\n', this.indent));
  }

  /** An element of the open array. */
  element(value: unknown): void {
    this.put(null, jsonText(value, this.indentation).replaceAll('\n', this.indent));
  }

  /** All members of `values`, as members of the open object. They hold no bigint. */
  members(values: object): void {
    this.putMembers(jsonText(values, this.indentation));
  }

  /** The same of values that may hold bigints. */
  exactMembers(values: object): void {
    this.putMembers(exactJsonText(values, this.indentation));
  }

  /** The same of values whose texts are strings of bytes. */
  bytesMembers(values: object): void {
    this.putMembers(bytesJsonText(values, this.indentation));
  }

  /** An element of the open array, its texts being strings of bytes. */
  bytesElement(value: unknown): void {
    this.put(null, bytesJsonText(value, this.indentation).replaceAll('\n', this.indent));
  }

  /** The document, for one that is short. */
  wholeText(): string {
    return this.pieces.join('') + this.text;
  }

  /** The document as one piece of memory; yields between copying its parts. */
  *bytes(): Generator<void, Uint8Array> {
    this.cut();
    const whole = Buffer.allocUnsafe(this.pieceBytes);
    let at = 0;
    for (const piece of this.pieces) {
      piece.copy(whole, at);
      at += piece.length;
      yield;
    }
    return whole;
  }

  private begin(name: string | null, bracket: string, closing: string): void {
    this.put(name, bracket);
    this.open.push(closing);
    this.indent += ' '.repeat(this.indentation);
    this.isEmpty = true;
  }

  private put(name: string | null, text: string): void {
    if (this.open.length > 0) this.text += this.isEmpty ? this.indent : `,${this.indent}`;
    if (name !== null) this.text += JSON.stringify(name) + (this.indentation > 0 ? ': ' : ':');
    this.text += text;
    this.isEmpty = false;
    if (this.text.length >= PIECE_CHARACTERS) this.cut();
  }

  /** `object` is an object's text, indented as the document is. */
  private putMembers(object: string): void {
    const { indentation, indent } = this;
    if (object === '{}') return;
    // Between the braces, and without the indentation that `put` gives the first one.
    if (indentation === 0) this.put(null, object.slice(1, -1));
    else this.put(null, object.slice(2 + indentation, -2).replaceAll('\n', indent.slice(0, -indentation)));
  }

  private cut(): void {
    const piece = Buffer.from(this.text);
    this.text = '';
    this.pieces.push(piece);
    this.pieceBytes += piece.length;
  }
}
