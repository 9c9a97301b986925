/** Something that keeps the server from starting. */
export class StartError extends Error {
  readonly code = 'START_FAILED';

  constructor(message: string, cause: unknown) {
    super(message, { cause });
    this.name = 'StartError';
  }
}
