/**
 * A petiole in the test's own process with leaf links: the production server and links on the real network, with short
 * intervals, and its log in a list. Whoever starts one closes it; `startLeafPetiole` does that when the test has ended.
 */
import { onTestFinished } from 'vitest';
import { LeafNodes } from '../../leafnode/leaf-nodes.ts';
import type { LeafConnection } from '../../leafnode/leaf-connection.ts';
import type { LeafSite } from '../../leafnode/leaf-site.ts';
import { defaultOptions } from '../../server/config/draft.ts';
import { parseLeafUrl } from '../../server/config/leaf-url.ts';
import type { LeafnodeOptions, LeafRemoteOptions, ServerOptions } from '../../server/config/options.ts';
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
  readonly options?: Partial<ServerOptions>;
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

  constructor(options: LeafPetioleOptions) {
    const io = realIo();
    const log = new Log((line) => this.log.push(line.trimEnd()), io.clock, 1, {
      debug: true,
      trace: false,
      time: false,
      utc: false,
    });
    const serverName = this.name;
    this.server = new Server(io, log, {
      ...defaultOptions(),
      host: '127.0.0.1',
      port: 0,
      serverName,
      ...options.options,
    });
    options.prepare?.(this.server);
    const site: LeafSite = { ...siteOf(this.server, this.name), ...options.site };
    this.leafNodes = new LeafNodes(this.server, site, leafnodeOptions(options));
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.server.start((error) => (error === null ? resolve() : reject(error)));
    });
    this.leafNodes.start();
  }

  get errors(): string[] {
    return this.log.filter((line) => line.includes('[ERR]'));
  }

  /** A client that has connected without verbose answers. */
  async client(options: object = {}): Promise<WireClient> {
    const client = await dial(this.#address());
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

  async close(): Promise<void> {
    this.leafNodes.close();
    await new Promise<void>((resolve) => this.server.close(resolve));
  }

  #address(): ServerAddress {
    const { clientAddress } = this.server;
    if (clientAddress === null) throw new Error('not started');
    return clientAddress;
  }
}

/** Starts one; it is closed when the test has ended. */
export async function startLeafPetiole(options: LeafPetioleOptions): Promise<LeafPetiole> {
  const petiole = new LeafPetiole(options);
  onTestFinished(() => petiole.close());
  await petiole.start();
  return petiole;
}

/** The options of one remote to these URLs. */
export function remoteOptions(urls: readonly string[], remote: Partial<LeafRemoteOptions> = {}): LeafRemoteOptions {
  return {
    urls: urls.map((text) => {
      const parsed = parseLeafUrl(text);
      if (parsed === null) throw new Error(`${text} is no URL`);
      return parsed;
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
    isIsolated: false,
    asksForIsolation: false,
    compression: { mode: 'off', rttThresholdsMs: [] },
    compressesFrames: false,
    asksForNoMasking: false,
    proxy: null,
    spool: null,
    tls: null,
    credentialsFile: '',
    nkeySeed: '',
    ...remote,
  };
}

function leafnodeOptions({ urls, remote, leafnodes }: LeafPetioleOptions): LeafnodeOptions {
  return {
    listener: defaultOptions().leafnodes.listener,
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
    isSystemAccount: (account) => account === server.systemAccount,
    nextConnectionId: () => id++,
    account: (account) => (account === '$G' ? server.globalAccount : null),
  };
}
