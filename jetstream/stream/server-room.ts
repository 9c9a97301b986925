/**
 * Whether the server can take messages for a stream now: what all its streams hold together, a disk that fails, and how
 * much waits to become durable.
 */

import { type ApiError, ApiErrors } from '../errors.ts';
import type { MessageStore } from '../store/store.ts';
import { BytesShare } from './bytes-share.ts';
import type { StorageUse, StreamHost } from './stream-host.ts';
import type { StreamConfig } from './stream-config.ts';

export class ServerRoom {
  private readonly host: StreamHost;
  private readonly store: MessageStore;
  private readonly isFile: boolean;
  private readonly use: StorageUse;
  private readonly share: BytesShare;

  constructor(host: StreamHost, storage: StreamConfig['storage'], store: MessageStore) {
    this.host = host;
    this.store = store;
    this.isFile = storage === 'file';
    this.use = this.isFile ? host.fileUse : host.memoryUse;
    this.share = new BytesShare(this.use);
  }

  /** Why no message at all can be taken now. Errors: 10023, 10047, 10167. */
  check(): ApiError | null {
    const { host, use, store } = this;
    if (use.bytes > use.bytesMax) {
      this.complain();
      return ApiErrors.insufficientResources;
    }
    if (!this.isFile) return null;
    const { log, files } = host.storage;
    if (!log.acceptsMessages || files.writeError !== null) return ApiErrors.storageResourcesExceeded;
    const pending = store.appendedSequence - store.lastSequence;
    const tooMany = pending > host.maxBufferedMessages || log.pendingBytes > host.maxBufferedBytes;
    return tooMany ? ApiErrors.tooManyRequests : null;
  }

  /** The stream holds more, or less. */
  count(): void {
    this.share.set(this.store.bytes);
  }

  /** The stream is gone. */
  leave(): void {
    this.share.set(0);
  }

  private complain(): void {
    const { host } = this;
    if (!host.resourceNotices.isDue(host.io.clock.monotonicMs())) return;
    host.log.error(`JetStream ${this.isFile ? 'file' : 'memory'} resource limits exceeded for server`);
  }
}
