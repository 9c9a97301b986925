/**
 * How this server introduces itself in all that it says in `$SYS`: the `server` member of answers and events. Each one
 * has the next number, so that a receiver sees what it missed, and the moment in which it was made.
 */

import type { ServerOptions } from '../config/options.ts';
import type { Io } from '../io/io.ts';
import { FEATURE_FLAGS } from '../protocol/feature-flags.ts';
import { bytesOfText } from '../protocol/go-json-reader.ts';
import { encode } from '../protocol/go-json.ts';
import type { ServerInfo } from '../protocol/server-info.ts';
import { NATS_VERSION } from '../protocol/version.ts';
import { millisecondsText } from '../protocol/wall-time.ts';

/** nats-server has further flags, of what servers of one cluster can do for each other. */
const JETSTREAM_ENABLED = 1;

/** The server that is described; what it is called is announced in its INFO. */
export interface DescribedServer {
  readonly io: Pick<Io, 'clock'>;
  readonly options: ServerOptions;
  readonly info: Readonly<Pick<ServerInfo, 'server_id' | 'server_name' | 'host'>>;
}

export class ServerDescription {
  private readonly server: DescribedServer;
  private sequence = 0;

  constructor(server: DescribedServer) {
    this.server = server;
  }

  /** The JSON of the next description, as a string of bytes. */
  next(): string {
    const { io, options, info } = this.server;
    const { serverTags, serverMetadata, jetstream } = options;
    const metadata = Object.entries(serverMetadata).toSorted(([a], [b]) => (a < b ? -1 : 1));
    return encode({
      name: bytesOfText(info.server_name),
      host: info.host,
      id: info.server_id,
      domain: jetstream.domain === '' ? undefined : bytesOfText(jetstream.domain),
      ver: NATS_VERSION,
      tags: serverTags.length === 0 ? undefined : serverTags.map(bytesOfText),
      metadata: metadata.length === 0 ? undefined : Object.fromEntries(metadata.map((pair) => pair.map(bytesOfText))),
      feature_flags: FEATURE_FLAGS,
      jetstream: jetstream.isEnabled,
      flags: jetstream.isEnabled ? JETSTREAM_ENABLED : 0,
      seq: ++this.sequence,
      time: millisecondsText(io.clock.wallMs()),
    });
  }

  /** What never changes, for those who ask for no more: the JSON of `{name, host, id}`. */
  identity(): string {
    const { server_name: name, host, server_id: id } = this.server.info;
    return encode({ name: bytesOfText(name), host, id });
  }
}
