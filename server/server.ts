/**
 * One server: its accounts, its listeners and its connections, from start to shutdown. Several live in one process;
 * everything hangs on this object.
 */

import { Account } from './account/account.ts';
import { ClientConnection } from './connection/client-connection.ts';
import type { Connection } from './connection/connection.ts';
import type { ConnectionHost, ConnectionLimits, Identity } from './connection/connection-host.ts';
import { DeadlineWheel } from './connection/deadline-wheel.ts';
import { Outbound } from './connection/outbound.ts';
import { Traffic } from './connection/statistics.ts';
import type { Address, Io, IoError, Listener } from './io/io.ts';
import type { Log } from './io/log.ts';
import type { ConnectOptions } from './protocol/connect-options.ts';
import type { ClosedReason } from './protocol/errors.ts';
import { Message } from './protocol/message.ts';
import { encodeInfo, type ServerInfo } from './protocol/server-info.ts';
import { Sublist } from './subject/sublist.ts';

const UNSENT_BYTES_MAX = 256 * 1024 * 1024;

export class Server implements ConnectionHost {
  readonly io: Io;
  readonly log: Log;
  readonly outbound: Outbound;
  readonly wheel: DeadlineWheel;
  readonly limits: ConnectionLimits;
  readonly inbound: Message = new Message();
  readonly headersSupported: boolean = true;
  readonly authRequired: boolean = false;
  readonly globalAccount: Account;
  readonly clients: Map<number, ClientConnection> = new Map();
  readonly goneTraffic: Traffic = new Traffic();
  private nextClientId = 1;
  private readonly info: ServerInfo;
  private readonly identity: Identity;
  private listener: Listener | null = null;

  constructor(io: Io, log: Log, info: ServerInfo, limits: ConnectionLimits) {
    this.io = io;
    this.log = log;
    this.info = info;
    this.limits = limits;
    this.outbound = new Outbound(io, Math.min(UNSENT_BYTES_MAX, io.host.memoryLimitBytes() / 4));
    this.wheel = new DeadlineWheel(io);
    const seed = io.random.bytes(4).readInt32LE(0);
    this.globalAccount = new Account('$G', new Sublist(seed), io.random.fraction);
    this.identity = { user: '', account: this.globalAccount, permissions: null };
  }

  listen(address: Address, done: (error: IoError | null) => void): void {
    this.listener = this.io.network.listen(address, {
      listening: (bound) => {
        this.info.port = bound.port;
        this.log.notice(`Listening for client connections on ${bound.host}:${bound.port}`);
        done(null);
      },
      accepted: (socket) => {
        const connection = new ClientConnection(this, socket, this.nextClientId++);
        this.clients.set(connection.id, connection);
        connection.connected();
        return connection;
      },
      failed: done,
    });
  }

  close(): void {
    this.listener?.close(() => undefined);
    this.wheel.close();
    for (const client of this.clients.values()) client.close('Server Shutdown');
  }

  clientInfo(clientId: number, clientIp: string, connectInfo: Account | null): Uint8Array {
    const info: ServerInfo = { ...this.info, client_id: clientId, client_ip: clientIp };
    if (connectInfo !== null) {
      info.connect_info = true;
      info.remote_account = connectInfo.name;
    }
    return encodeInfo(info);
  }

  authenticate(_options: ConnectOptions): Identity | null {
    return this.identity;
  }

  identityWithoutConnect(): Identity | null {
    return this.identity;
  }

  slowConsumer(connection: Connection, detail: string): void {
    this.log.notice(`${connection.label} - Slow Consumer Detected: ${detail}`);
  }

  connectionClosing(_connection: Connection, _reason: ClosedReason): void {}

  connectionGone(connection: Connection): void {
    this.clients.delete(connection.id);
    this.goneTraffic.add(connection.traffic);
  }
}
