/** Headers that nobody but a server may set. */

import { type ApiError, ApiErrors } from '../errors.ts';
import type { PublishHeaders } from './publish-headers.ts';

/** `Nats-Stream-Source`, which a stream sets that draws from another. */
export function sourceRefusal({ streamSource }: PublishHeaders): ApiError | null {
  return streamSource === null ? null : ApiErrors.messageStreamSourceNotAllowed;
}
