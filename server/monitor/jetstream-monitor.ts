/**
 * What monitoring shows of JetStream: limits and use in /varz, and in /healthz whether an asset that is asked for is
 * there. Costs a walk over the streams.
 */

import type { JetStream } from '../../jetstream/api/jetstream.ts';
import type { JetStreamAccount } from '../../jetstream/api/jetstream-account.ts';
import type { JetStreamOptions } from '../config/options.ts';
import { durationNs } from '../config/duration.ts';
import { goQuote } from '../protocol/go-quote.ts';
import { API_LEVEL } from '../protocol/version.ts';
import type { AssetHealth, AssetHealthRequest, HealthProblem, JetStreamPart, JetStreamView } from './monitor-source.ts';

const HEALTHY: AssetHealth = { status: 200, problems: [] };

export class JetStreamMonitor implements JetStreamView {
  private readonly jetstream: JetStream;

  constructor(jetstream: JetStream) {
    this.jetstream = jetstream;
  }

  varz(): JetStreamPart {
    const { options } = this.jetstream;
    return { config: this.config(options), stats: this.stats(), limits: limitsOf(options) };
  }

  startProgress(): string {
    return `JetStream is recovering: ${this.jetstream.recovery.progress()}`;
  }

  health(request: AssetHealthRequest): AssetHealth {
    const asked = this.assetHealth(request);
    const problems = [...this.diskProblems(), ...this.losses()];
    if (asked.status === 404 || problems.length === 0) return asked;
    return { status: 503, problems };
  }

  /** Why nothing can be stored at present. */
  private diskProblems(): HealthProblem[] {
    return this.jetstream.disk.problems().map((problem) => ({
      type: 'JETSTREAM',
      error: `JetStream write error: ${problem}`,
    }));
  }

  /** What this start found to be lost. It can't be brought back: the next start does not speak of it any more. */
  private losses(): HealthProblem[] {
    const { damagedBytes, missingEnd } = this.jetstream.storage.report;
    const losses: string[] = [];
    if (damagedBytes > 0) losses.push(`${damagedBytes} bytes of the commit log are damaged; what they held is lost`);
    if (missingEnd !== null) losses.push(missingEnd);
    return losses.map((loss) => ({ type: 'JETSTREAM', error: `JetStream lost messages: ${loss}` }));
  }

  private assetHealth({ account, stream, consumer }: AssetHealthRequest): AssetHealth {
    if (account === '') return HEALTHY;
    const owner = this.jetstream.accounts.get(account);
    // An account shows once something of it is stored.
    if (owner === undefined || owner.streams.size === 0) {
      return missing({ type: 'ACCOUNT', account, error: `JetStream account ${goQuote(account)} not found` });
    }
    if (stream === '') return HEALTHY;
    const entry = owner.streams.get(stream);
    const where = `on account ${goQuote(account)}`;
    if (entry === undefined) {
      const error = `JetStream stream ${goQuote(stream)} not found ${where}`;
      return missing({ type: 'STREAM', account, stream, error });
    }
    if (consumer === '' || entry.consumers.has(consumer)) return HEALTHY;
    const error = `JetStream consumer ${goQuote(consumer)} not found for stream ${goQuote(stream)} ${where}`;
    return missing({ type: 'CONSUMER', account, stream, consumer, error });
  }

  private config(options: JetStreamOptions): object {
    const { domain, isStrict, syncsAlways, syncIntervalMs } = options;
    const { memoryUse, fileUse, storage } = this.jetstream;
    return {
      max_memory: memoryUse.bytesMax,
      max_storage: fileUse.bytesMax,
      store_dir: storage.directory,
      sync_interval: durationNs(syncIntervalMs),
      sync_always: syncsAlways || undefined,
      domain: domain || undefined,
      // nats-server says so only where it did not have to find out how much there is.
      compress_ok: isAboveZero(options.maxMemoryBytes) && isAboveZero(options.maxFileBytes) ? true : undefined,
      strict: isStrict || undefined,
    };
  }

  private stats(): object {
    const accounts = [...this.jetstream.accounts.values()];
    const sum = (valueOf: (account: JetStreamAccount) => number): number =>
      accounts.reduce((total, account) => total + valueOf(account), 0);
    return {
      memory: sum((account) => account.bytes('memory')),
      storage: sum((account) => account.bytes('file')),
      reserved_memory: sum((account) => account.reservedBytes('memory')),
      reserved_storage: sum((account) => account.reservedBytes('file')),
      accounts: accounts.length,
      // Assets with more than one replica.
      ha_assets: 0,
      api: {
        level: API_LEVEL,
        total: sum(({ apiTotal }) => apiTotal),
        errors: sum(({ apiErrors }) => apiErrors),
      },
    };
  }
}

function isAboveZero(limit: number | null): boolean {
  return limit !== null && limit > 0;
}

function limitsOf({ limits }: JetStreamOptions): object {
  const { duplicateWindowMs } = limits;
  return {
    max_request_batch: limits.maxRequestBatch || undefined,
    max_ack_pending: limits.maxAckPending || undefined,
    max_duplicate_window: duplicateWindowMs === 0 ? undefined : durationNs(duplicateWindowMs),
    default_max_consumers: limits.defaultMaxConsumers || undefined,
  };
}

function missing(problem: HealthProblem): AssetHealth {
  return { status: 404, problems: [problem] };
}
