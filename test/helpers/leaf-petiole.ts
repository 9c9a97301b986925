/**
 * A petiole in the test's own process with leaf links: the production server and links on the real network, with short
 * intervals, and its log in a list. Whoever starts one closes it; `startLeafPetiole` does that when the test has ended.
 */
import { onTestFinished } from 'vitest';
import { LeafNodes } from '../../leafnode/leaf-nodes.ts';
import type { LeafConnection } from '../../leafnode/leaf-connection.ts';
import type { LeafSite } from '../../leafnode/leaf-site.ts';
import { parseLeafUrl } from '../../server/config/leaf-url.ts';
import type { LeafnodeOptions, LeafRemoteOptions } from '../../server/config/options.ts';
import type { ConnectionLimits } from '../../server/connection/connection-host.ts';
import { realIo } from '../../server/io/real-io.ts';
import { Log } from '../../server/io/log.ts';
import { Server } from '../../server/server.ts';
import { until } from './until.ts';
import { dial } from './wire-client.ts';
import type { ServerAddress, WireClient } from './wire-client.ts';

export interface LeafPetioleOptions {
  /** As in a config: `nats://user:password@host:port`. Of one remote. */
  readonly urls: readonly string[];
  readonly remote?: Partial<LeafRemoteOptions>;
  readonly leafnodes?: Partial<LeafnodeOptions>;
  readonly limits?: Partial<ConnectionLimits>;
  readonly site?: Partial<LeafSite>;
  /** Before the links begin. */
  readonly prepare?: (server: Server) => void;
}

let nextName = 1;

export class LeafPetiole {
  readonly name: string = `edge-${process.pid}-${nextName++}`;
  readonly server: Server;
  readonly leafNodes: LeafNodes;
  readonly log: string[] = [];
  #address: ServerAddress = { host: '', port: 0 };

  constructor(options: LeafPetioleOptions) {
    const io = realIo();
    const log = new Log((line) => this.log.push(line.trimEnd()), io.clock, 1, {
      debug: true,
      trace: false,
      time: false,
      utc: false,
    });
    this.server = new Server(io, log, infoOf(this.name), { ...defaultLimits(), ...options.limits });
    options.prepare?.(this.server);
    const site: LeafSite = { ...siteOf(this.server, this.name), ...options.site };
    this.leafNodes = new LeafNodes(this.server, site, leafnodeOptions(options));
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.server.listen({ host: '127.0.0.1', port: 0 }, (error) => (error === null ? resolve() : reject(error)));
    });
    const [, port = ''] = /client connections on \S+:(\d+)/.exec(this.log.join('\n')) ?? [];
    this.#address = { host: '127.0.0.1', port: Number(port) };
  }

  /** A client that has connected without verbose answers. */
  async client(options: object = {}): Promise<WireClient> {
    const client = await dial(this.#address);
    await client.line();
    client.send(`CONNECT ${JSON.stringify({ verbose: false, pedantic: false, ...options })}\r\nPING\r\n`);
    await client.expect('PONG\r\n');
    onTestFinished(() => client.close());
    return client;
  }

  /** The only link, once it is open and has told its interest. */
  async link(timeoutMs?: number): Promise<LeafConnection> {
    return until(() => this.leafNodes.links()[0], `${this.name} to be linked`, timeoutMs);
  }

  logged(text: string | RegExp): boolean {
    return this.log.some((line) => (typeof text === 'string' ? line.includes(text) : text.test(line)));
  }

  close(): void {
    this.leafNodes.close();
    this.server.close();
  }
}

/** Starts one; it is closed when the test has ended. */
export async function startLeafPetiole(options: LeafPetioleOptions): Promise<LeafPetiole> {
  const petiole = new LeafPetiole(options);
  onTestFinished(() => petiole.close());
  await petiole.listen();
  petiole.leafNodes.start();
  return petiole;
}

/** The options of one remote to these URLs. */
export function remoteOptions(urls: readonly string[], remote: Partial<LeafRemoteOptions> = {}): LeafRemoteOptions {
  return {
    urls: urls.map((text) => {
      const parsed = parseLeafUrl(text);
      if (parsed === null) throw new Error(`${text} is no URL`);
      return parsed.url;
    }),
    account: '$G',
    randomizesUrls: false,
    isHub: false,
    denyImports: [],
    denyExports: [],
    firstInfoTimeoutMs: 1000,
    dialTimeoutMs: 0,
    isDisabled: false,
    followsDiscoveredServers: true,
    compression: 'off',
    ...remote,
  };
}

function leafnodeOptions({ urls, remote, leafnodes }: LeafPetioleOptions): LeafnodeOptions {
  return {
    remotes: [remoteOptions(urls, remote)],
    reconnectIntervalMs: 50,
    dialTimeoutMs: 1000,
    writeDeadlineMs: 0,
    writeTimeoutPolicy: 'default',
    ...leafnodes,
  };
}

function siteOf(server: Server, name: string): LeafSite {
  let id = 1000;
  return {
    serverId: name,
    serverName: name,
    version: '2.15.2',
    clusterName: name,
    hasJetStream: false,
    domain: '',
    connectErrorReports: 3600,
    reconnectErrorReports: 1,
    nextConnectionId: () => id++,
    account: (account) => (account === '$G' ? server.globalAccount : null),
  };
}

function infoOf(name: string): ConstructorParameters<typeof Server>[2] {
  return {
    server_id: name,
    server_name: name,
    version: '2.15.2',
    proto: 1,
    go: 'petiole',
    host: '127.0.0.1',
    port: 0,
    headers: true,
    max_payload: 1024 * 1024,
  };
}

function defaultLimits(): ConnectionLimits {
  return {
    maxPayloadBytes: 1024 * 1024,
    maxControlLineBytes: 4096,
    maxPendingBytes: 64 * 1024 * 1024,
    maxSubscriptions: 0,
    maxSubscriptionTokens: 0,
    writeDeadlineMs: 10_000,
    pingIntervalMs: 120_000,
    pingsOutMax: 2,
    authTimeoutMs: 2000,
    stallFastProducers: true,
  };
}
