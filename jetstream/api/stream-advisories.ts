/** Tells whoever listens that a stream has come, changed or gone. */

import type { Stream } from '../stream/stream.ts';

export type StreamAction = 'create' | 'modify' | 'delete';

const SUBJECT_BY_ACTION: Readonly<Record<StreamAction, string>> = {
  create: '$JS.EVENT.ADVISORY.STREAM.CREATED',
  modify: '$JS.EVENT.ADVISORY.STREAM.UPDATED',
  delete: '$JS.EVENT.ADVISORY.STREAM.DELETED',
};

export function adviseStreamAction({ account, host, name }: Stream, action: StreamAction): void {
  const { advisories } = host;
  advisories.advise(account, `${SUBJECT_BY_ACTION[action]}.${name}`, 'advisory.v1.stream_action', () => ({
    stream: name,
    action,
    domain: advisories.domain,
  }));
}
