/**
 * Which of a stream's features go together: nats-server's checks in nats-server's order. Fields that petiole does not
 * have yet are in here too, since a request that breaks a rule is told that, whoever is asked.
 */

import { type ApiError, ApiErrors } from '../errors.ts';
import type { StreamConfig } from './stream-config-fields.ts';

type Draft = { -readonly [Key in keyof StreamConfig]: StreamConfig[Key] };

const SECOND_NS = 1_000_000_000;

const invalid = ApiErrors.streamInvalidConfig;

/** Completes what some features bring with them. Errors: 10052. */
export function completeFeatures(draft: Draft, isPedantic: boolean): ApiError | null {
  return (
    (draft.denyPurge && draft.allowRollupHdrs ? invalid('roll-ups require the purge permission') : null) ??
    checkCounters(draft) ??
    checkDiscardPerSubject(draft) ??
    completeDeleteMarkers(draft, isPedantic) ??
    completeSchedules(draft, isPedantic) ??
    checkPersistMode(draft)
  );
}

function checkCounters(draft: Draft): ApiError | null {
  if (!draft.allowMsgCounter) return null;
  if (draft.discard === 'new') return invalid('counter stream cannot use discard new');
  if (draft.allowMsgTtl) return invalid('counter stream cannot use message TTLs');
  if (draft.allowMsgSchedules) return invalid('counter stream cannot use message schedules');
  return draft.retention === 'limits' ? null : invalid('counter stream can only use limits retention');
}

function checkDiscardPerSubject(draft: Draft): ApiError | null {
  if (!draft.discardNewPerSubject) return null;
  if (draft.discard !== 'new') return invalid('discard new per subject requires discard new policy to be set');
  if (draft.maxMsgsPerSubject > 0) return null;
  return invalid('discard new per subject requires max msgs per subject > 0');
}

function completeDeleteMarkers(draft: Draft, isPedantic: boolean): ApiError | null {
  const { subjectDeleteMarkerTtlNs: ttlNs } = draft;
  if (ttlNs < 0) return invalid('subject delete marker TTL must not be negative');
  if (ttlNs === 0) return null;
  if (ttlNs < SECOND_NS) return invalid('subject delete marker TTL must be at least 1 second');
  if (!draft.allowMsgTtl) {
    if (isPedantic) return invalid('subject delete marker cannot be set if message TTLs are disabled');
    draft.allowMsgTtl = true;
  }
  if (draft.allowRollupHdrs) return null;
  return isPedantic ? invalid('subject delete marker cannot be set if roll-ups are disabled') : allowRollups(draft);
}

function completeSchedules(draft: Draft, isPedantic: boolean): ApiError | null {
  if (!draft.allowMsgSchedules) return null;
  if (draft.discard === 'new') return invalid('message scheduling cannot use discard new');
  if (draft.allowRollupHdrs) return null;
  return isPedantic ? invalid('message scheduling cannot be set if roll-ups are disabled') : allowRollups(draft);
}

function allowRollups(draft: Draft): null {
  draft.allowRollupHdrs = true;
  draft.denyPurge = false;
  return null;
}

/** Who is acknowledged early must be able to lose what was acknowledged, and only that. */
function checkPersistMode({ persistMode, storage, numReplicas, allowAtomic }: Draft): ApiError | null {
  if (persistMode !== 'async') return null;
  if (storage !== 'file') return invalid('async persist mode is only supported on file storage');
  if (numReplicas > 1) return invalid('async persist mode is not supported on replicated streams');
  return allowAtomic ? invalid('async persist mode is not supported with atomic batch publish') : null;
}
