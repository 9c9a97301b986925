/**
 * Where a JSON value ends, or why it is none, as Go's scanner sees it: which byte it stumbles over, and what it was
 * looking for there, are in the answers that clients show.
 *
 *     value   : object | array | "…" | number | true | false | null
 *     object  : { } | { key : value , … }
 *     array   : [ ] | [ value , … ]
 *
 * Bound: containers nested deeper than `DEPTH_MAX` are refused, so that whoever reads a value may recurse. Go's own
 * limit is 10,000. Takes time linear in the value and keeps nothing but its place.
 */

/** Containers within one another. */
export const DEPTH_MAX = 64;

/** What a scan stumbled over. */
export interface ScanProblem {
  /** Offset of the byte; the length of the text if that ended too early. */
  readonly at: number;
  /** What the scanner was doing there; '' when the text ended where it might have gone on after a blank. */
  readonly context: string;
}

/** The offset behind the value that begins at `from`, or after blanks there. */
export function scanValue(text: string, from: number): number | ScanProblem {
  const scan = new Scan(text, from);
  return scan.value() ? scan.at : { at: scan.at, context: scan.context };
}

/** The offset of the first byte from `from` on that is no blank; the length of the text if there is none. */
export function skipBlanks(text: string, from: number): number {
  let at = from;
  while (at < text.length && isBlank(text.charCodeAt(at))) at++;
  return at;
}

function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function isDigit(byte: string | undefined): boolean {
  return byte !== undefined && byte >= '0' && byte <= '9';
}

/** Each method takes what it is named after and says whether it was there; if not, `at` and `context` tell why. */
class Scan {
  readonly text: string;
  at: number;
  context = '';
  private depth = 0;

  constructor(text: string, at: number) {
    this.text = text;
    this.at = at;
  }

  private byte(): string | undefined {
    return this.text[this.at];
  }

  value(): boolean {
    this.at = skipBlanks(this.text, this.at);
    switch (this.byte()) {
      case '{':
        return this.container('}', () => this.member(), 'after object key:value pair');
      case '[':
        return this.container(']', () => this.value(), 'after array element');
      case '"':
        return this.string();
      case 't':
        return this.word('true');
      case 'f':
        return this.word('false');
      case 'n':
        return this.word('null');
      default:
        return this.byte() === '-' || isDigit(this.byte())
          ? this.number()
          : this.missing('looking for beginning of value');
    }
  }

  private container(end: string, item: () => boolean, afterItem: string): boolean {
    if (++this.depth > DEPTH_MAX) return this.wrong('exceeded max depth');
    this.at = skipBlanks(this.text, this.at + 1);
    if (this.byte() !== end) {
      for (;;) {
        if (!item()) return false;
        this.at = skipBlanks(this.text, this.at);
        if (this.byte() === end) break;
        if (this.byte() !== ',') return this.missing(afterItem);
        this.at++;
      }
    }
    this.at++;
    this.depth--;
    return true;
  }

  private member(): boolean {
    this.at = skipBlanks(this.text, this.at);
    if (this.byte() !== '"') return this.missing('looking for beginning of object key string');
    if (!this.string()) return false;
    this.at = skipBlanks(this.text, this.at);
    if (this.byte() !== ':') return this.missing('after object key');
    this.at++;
    return this.value();
  }

  private string(): boolean {
    for (this.at++; ; this.at++) {
      const byte = this.byte();
      if (byte === '"') break;
      if (byte === undefined || byte < ' ') return this.missing('in string literal');
      if (byte === '\\' && !this.escape()) return false;
    }
    this.at++;
    return true;
  }

  /** Stops at its last byte. */
  private escape(): boolean {
    const byte = this.text[++this.at];
    if (byte !== 'u') return (byte !== undefined && 'bfnrt\\/"'.includes(byte)) || this.wrong('in string escape code');
    for (let digit = 0; digit < 4; digit++) {
      this.at++;
      if (!/^[\da-f]$/i.test(this.byte() ?? '')) return this.wrong('in \\u hexadecimal character escape');
    }
    return true;
  }

  private number(): boolean {
    if (this.byte() === '-') this.at++;
    if (!isDigit(this.byte())) return this.wrong('in numeric literal');
    if (this.byte() === '0') this.at++;
    else this.digits();
    if (this.byte() === '.') {
      this.at++;
      if (!isDigit(this.byte())) return this.wrong('after decimal point in numeric literal');
      this.digits();
    }
    if (this.byte() === 'e' || this.byte() === 'E') {
      this.at++;
      if (this.byte() === '+' || this.byte() === '-') this.at++;
      if (!isDigit(this.byte())) return this.wrong('in exponent of numeric literal');
      this.digits();
    }
    return true;
  }

  private digits(): void {
    while (isDigit(this.byte())) this.at++;
  }

  private word(word: string): boolean {
    for (const letter of word) {
      if (this.byte() !== letter) return this.wrong(`in literal ${word} (expecting '${letter}')`);
      this.at++;
    }
    return true;
  }

  /** A byte that doesn't fit, where a blank would have done. */
  private missing(context: string): false {
    return this.wrong(this.at < this.text.length ? context : '');
  }

  /** A byte that doesn't fit, or none, in the middle of a literal. */
  private wrong(context: string): false {
    this.context = context;
    return false;
  }
}
