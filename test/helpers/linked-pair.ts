/** Two servers of the running test, one linked to the other as its leaf, through a proxy that can break the link. */
import { connect, type ConnectionOptions, type NatsConnection } from '@nats-io/transport-node';
import { onTestFinished } from 'vitest';
import { serve } from './describe-targets.ts';
import { type FaultProxy, startFaultProxy } from './fault-proxy.ts';
import type { RunningServer, Target } from './targets.ts';

export interface PairConfig {
  /** Beside `leafnodes`. */
  readonly hub?: string;
  readonly leaf?: string;
  /** Inside of the hub's `leafnodes`. */
  readonly listener?: string;
  /** Inside of the remote, beside its URL. */
  readonly remote?: string;
  /** `user:password` of the remote. */
  readonly login?: string;
}

export interface LinkedPair {
  readonly hub: RunningServer;
  readonly leaf: RunningServer;
  readonly proxy: FaultProxy;
  /** Ends the leaf's server and starts another one in its place. */
  restartLeaf(): Promise<RunningServer>;
}

export async function startLinkedPair(leafTarget: Target, hubTarget: Target, config: PairConfig): Promise<LinkedPair> {
  const { listener = '', remote = '', login } = config;
  const leafnodes = `leafnodes { listen: "127.0.0.1:-1", no_advertise: true\n${listener} }`;
  const hub = await serve(hubTarget, `server_name: hub\n${config.hub ?? ''}\n${leafnodes}`);
  const proxy = await startFaultProxy(await hub.listening('leafnode'));
  const user = login === undefined ? '' : `${login}@`;
  const remotes = `{ url: "nats://${user}127.0.0.1:${proxy.address.port}"\n${remote} }`;
  const leafConfig = `server_name: leaf\n${config.leaf ?? ''}\nleafnodes { reconnect: "100ms", remotes: [ ${remotes} ] }`;
  const leaf = await serve(leafTarget, leafConfig);
  const restartLeaf = async (): Promise<RunningServer> => {
    await leaf.stop();
    return serve(leafTarget, leafConfig);
  };
  return { hub, leaf, proxy, restartLeaf };
}

/** An official client of the running test. */
export async function natsClientOf(server: RunningServer, options: ConnectionOptions = {}): Promise<NatsConnection> {
  const { host, port } = server.address();
  const client = await connect({ servers: `${host}:${port}`, ...options });
  onTestFinished(() => client.close());
  return client;
}

/** Whether the request is answered. */
export async function isAnswered(client: NatsConnection, subject: string): Promise<boolean> {
  return client.request(subject, '', { timeout: 500 }).then(
    () => true,
    () => false,
  );
}
