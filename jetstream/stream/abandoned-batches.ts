/** Tells whoever listens, in the stream's account and in the system account, that an atomic batch was given up. */

import type { BatchingStream } from './batching-stream.ts';

export type AbandonReason = 'timeout' | 'large' | 'incomplete' | 'unsupported';

const SUBJECT = '$JS.EVENT.ADVISORY.STREAM.BATCH_ABANDONED';
const TYPE = 'advisory.v1.stream_batch_abandoned';

export function adviseAbandonedBatch(
  { account, config, host }: BatchingStream,
  id: string,
  reason: AbandonReason,
): void {
  const { advisories } = host;
  const { domain, systemAccount } = advisories;
  const subject = `${SUBJECT}.${config.name}`;
  const fields = { stream: config.name, domain, batch: id, reason };
  advisories.advise(account, subject, TYPE, () => fields);
  advisories.advise(systemAccount, subject, TYPE, () => ({ account: account.name, ...fields }));
}
