/** What the services of the system account need of the server: more than to look at it, for some change something. */

import type { MonitorSource } from '../monitor/monitor-source.ts';
import type { RequestCounts } from '../monitor/request-counts.ts';

export interface SystemHost extends MonitorSource {
  /** `null` where there is no monitoring port. */
  readonly monitor: { readonly requests: RequestCounts } | null;
  /** Loads the configuration again; why that failed, or null. `null` where there is no file to load. */
  readonly reloadConfiguration: (() => string | null) | null;
}
