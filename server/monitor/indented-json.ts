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

import { jsonText } from './json-text.ts';

const PIECE_CHARACTERS = 65_536;
const BYTES_MAX = 64 * 1024 * 1024;

export class IndentedJson {
  private text = '';
  private readonly pieces: Buffer[] = [];
  private pieceBytes = 0;
  private readonly bytesMax: number;
  /** The brackets that close what is open, the innermost last. */
  private readonly open: string[] = [];
  private indent = '\n';
  private isEmpty = true;

  constructor(bytesMax: number = BYTES_MAX) {
    this.bytesMax = bytesMax;
  }

  /** More has been written than one document may have. */
  get isOverfull(): boolean {
    return this.pieceBytes > this.bytesMax;
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

  /** A member of the open object; without a value, nothing. */
  member(name: string, value: unknown): void {
    if (value !== undefined) this.put(name, this.indented(value));
  }

  element(value: unknown): void {
    this.put(null, this.indented(value));
  }

  /** All members of `values`, as members of the open object. */
  members(values: object): void {
    const inner = this.indented(values, this.indent.slice(0, -2)).slice(1, -1).trim();
    if (inner !== '') this.put(null, inner);
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

  private indented(value: unknown, indent: string = this.indent): string {
    return jsonText(value, 2).replaceAll('\n', indent);
  }

  private cut(): void {
    const piece = Buffer.from(this.text);
    this.text = '';
    this.pieces.push(piece);
    this.pieceBytes += piece.length;
  }
}
