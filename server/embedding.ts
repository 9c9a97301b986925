/**
 * What a program that embeds petiole gives and gets. It imports nothing, so that TypeScript reads these types in any
 * project, whatever that is configured to allow; `entry.d.mts` adds the function.
 */

export interface StartServerOptions {
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** 0, the default, takes any free port. */
  readonly port?: number;
  /** Where monitoring listens, 0 for any free port; no monitoring without it. */
  readonly monitorPort?: number;
  /** `true` stores in a temporary folder that goes with the server, a path stores there and stays. Default: none. */
  readonly jetstream?: boolean | string;
  /** Configuration in the language of the config file. What is given above wins over it. */
  readonly config?: string;
  /** Receives the log, a line at a time with its line end. Default: nobody. */
  readonly log?: (line: string) => void;
}

export interface RunningServer {
  readonly host: string;
  readonly port: number;
  /** `nats://127.0.0.1:4222` */
  readonly url: string;
  /** `http://127.0.0.1:8222`; `null` without monitoring. */
  readonly monitorUrl: string | null;
  /** `ws://127.0.0.1:8080`; `null` where `config` has no port for WebSocket. */
  readonly webSocketUrl: string | null;
  /** Ends connections after what was queued for them, brings everything stored to the disk, and frees the ports. */
  close(): Promise<void>;
}
