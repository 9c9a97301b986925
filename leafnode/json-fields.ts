/**
 * The fields of a JSON object that a peer sent, each asked for by name and type. One of another type counts as absent,
 * and is remembered as wrong: whoever reads decides then about the whole.
 */

export class Fields {
  /** The first field of a wrong type. */
  wrong = '';
  private readonly values: Record<string, unknown>;

  constructor(values: Record<string, unknown>) {
    this.values = values;
  }

  text(name: string): string {
    const value = this.values[name] ?? '';
    if (typeof value === 'string') return value;
    return this.refuse(name, '');
  }

  flag(name: string): boolean {
    const value = this.values[name] ?? false;
    if (typeof value === 'boolean') return value;
    return this.refuse(name, false);
  }

  count(name: string): number {
    const value = this.values[name] ?? 0;
    if (typeof value === 'number' && Number.isSafeInteger(value)) return value;
    return this.refuse(name, 0);
  }

  texts(name: string): readonly string[] | null {
    const value = this.values[name] ?? null;
    if (value === null) return null;
    if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return value;
    return this.refuse(name, null);
  }

  /** A map of fields of its own; `null` when there is none. */
  fields(name: string): Fields | null {
    const value = this.values[name] ?? null;
    if (value === null) return null;
    if (typeof value !== 'object' || Array.isArray(value)) return this.refuse(name, null);
    return new Fields(value as Record<string, unknown>);
  }

  /** Notes that the field is of a wrong type. */
  refuse<T>(name: string, value: T): T {
    if (this.wrong === '') this.wrong = name;
    return value;
  }
}
