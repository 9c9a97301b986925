/**
 * Writes a JSON document as Go's json.MarshalIndent does, two blanks for each level. A document is written member by member, so that one with a hundred thousand rows is never one object, nor one string:
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

import { exactJsonText, jsonText } from './json-text.ts';

const PIECE_CHARACTERS = 65_536;

export class IndentedJson {
  private text = '';
  private readonly pieces: Buffer[] = [];
  private pieceBytes = 0;
  private readonly bytesMax: number;
  /** The brackets that close what is open, the innermost last. */
  private readonly open: string[] = [];
  private indent = '\n';
  private isEmpty = true;

  constructor(bytesMax: number = Number.POSITIVE_INFINITY) {
    this.bytesMax = bytesMax;
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
    this.indent = `\n${'  '.repeat(this.open.length)}`;
    this.text += this.isEmpty ? bracket : this.indent + bracket;
    this.isEmpty = false;
    if (this.text.length >= PIECE_CHARACTERS) this.cut();
  }

  /** A member of the open object. */
  member(name: string, value: unknown): void {
    this.put(name, jsonText(value, 2).replaceAll('\n', this.indent));
  }

  /** An element of the open array. */
  element(value: unknown): void {
    this.put(null, jsonText(value, 2).replaceAll('\n', this.indent));
  }

  /** All members of `values`, as members of the open object. They hold no bigint. */
  members(values: object): void {
    this.putMembers(jsonText(values, 2));
  }

  /** The same of values that may hold bigints. */
  exactMembers(values: object): void {
    this.putMembers(exactJsonText(values, 2));
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
    this.indent += '  ';
    this.isEmpty = true;
  }

  private put(name: string | null, text: string): void {
    if (this.open.length > 0) this.text += this.isEmpty ? this.indent : `,${this.indent}`;
    if (name !== null) this.text += `${JSON.stringify(name)}: `;
    this.text += text;
    this.isEmpty = false;
    if (this.text.length >= PIECE_CHARACTERS) this.cut();
  }

  /** `object` is an object's text, indented by two. */
  private putMembers(object: string): void {
    // Between the braces, and without the indentation that `put` gives the first one.
    const inner = object.slice(4, -2);
    if (inner !== '') this.put(null, inner.replaceAll('\n', this.indent.slice(0, -2)));
  }

  private cut(): void {
    const piece = Buffer.from(this.text);
    this.text = '';
    this.pieces.push(piece);
    this.pieceBytes += piece.length;
  }
}
