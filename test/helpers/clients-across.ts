/** A client at each end of a link, which hears what the other one publishes. */
import type { LeafPetiole } from './leaf-petiole.ts';
import type { RealHub } from './real-hub.ts';
import { until } from './until.ts';
import type { WireClient } from './wire-client.ts';

export interface ClientsAcross {
  /** At the leaf, subscribed to `down`. */
  readonly near: WireClient;
  /** At the hub, subscribed to `up`. */
  readonly far: WireClient;
}

/** Both ends know of both subscriptions. */
export async function clientsAcross(edge: LeafPetiole, hub: RealHub): Promise<ClientsAcross> {
  const [near, far] = [await edge.client(), await hub.client()];
  const link = await edge.link();
  near.send('SUB down 1\r\n');
  far.send('SUB up 1\r\n');
  await hub.awaitInterest(edge.name, ['down']);
  await until(() => [...link.peerSubscriptions()].some(({ subject }) => subject === 'up'), 'interest of the hub');
  return { near, far };
}
