/** What holds for atomic and for fast batches alike. */

/** After so long without a message a batch is abandoned. */
export const BATCH_TIMEOUT_MS = 10_000;
export const BATCH_ID_BYTES_MAX = 64;
/** It says what a server must be able to do for the batch, and is not stored. */
export const LEVEL_HEADER = 'Nats-Required-Api-Level';
