/** An option's value that is compared when the configuration is loaded again, and shown to nobody (nats-server#7942). */

export class Secret {
  readonly #value: unknown;

  constructor(value: unknown) {
    this.#value = value;
  }

  /** What is compared. */
  toJSON(): unknown {
    return this.#value;
  }

  /** What is shown. */
  toString(): string {
    return '[REDACTED]';
  }
}
