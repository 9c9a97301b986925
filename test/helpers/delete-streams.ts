import type { NatsConnection } from '@nats-io/transport-node';

/** Deletes every stream, so that what was begun can be tried again. */
export async function deleteStreams(client: NatsConnection): Promise<void> {
  const { streams } = (await client.request('$JS.API.STREAM.NAMES')).json<{ streams: string[] | null }>();
  for (const name of streams ?? []) await client.request(`$JS.API.STREAM.DELETE.${name}`);
}
