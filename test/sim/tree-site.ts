/**
 * One site of a tree of leaf links: a machine with a petiole, and a client of that which wants to hear one thing or
 * another. The server can be ended and started again; the client then comes back with everything it still wants, as
 * clients do. What is wanted is known here whatever becomes of servers and links.
 */
import { defaultOptions } from '../../server/config/draft.ts';
import type { LeafnodeOptions, LeafRemoteOptions } from '../../server/config/options.ts';
import { ChunkPool } from '../../server/connection/chunk-pool.ts';
import { Log } from '../../server/io/log.ts';
import type { SimulatedMachine, SimulatedProcess } from '../../server/io/simulated/simulated-machine.ts';
import * as leafDoor from '../../server/leaf-door.ts';
import { NO_ROOMS } from '../../server/rooms.ts';
import { Server } from '../../server/server.ts';
import type { LeafConnection } from '../../leafnode/leaf-connection.ts';
import { remoteOptions } from '../helpers/leaf-petiole.ts';
import { CountedNetwork } from './counted-network.ts';
import { type ReceivedMessage, SimulatedClient } from './simulated-client.ts';

const CLIENT_PORT = 4222;
const LEAF_PORT = 7422;
const PING_INTERVAL_MS = 500;
const PINGS_OUT = 2;
const RECONNECT_MS = 100;
const DIAL_MS = 1000;
const LOGGED_LINES_MAX = 2000;

export interface WantedSubject {
  readonly subject: string;
  /** '' for a plain subscription. */
  readonly queueGroup: string;
}

export class TreeSite {
  readonly machine: SimulatedMachine;
  readonly parent: TreeSite | null;
  readonly children: TreeSite[] = [];
  /** What the client wants to hear, by sid. */
  readonly wanted: Map<string, WantedSubject> = new Map();
  /** `null` while it is down. */
  server: Server | null = null;
  client: SimulatedClient | null = null;
  onMessage: (message: ReceivedMessage) => void = () => undefined;
  readonly log: string[] = [];
  private readonly clients: SimulatedMachine;
  private readonly link: Partial<LeafRemoteOptions>;
  private process: SimulatedProcess | null = null;
  private network: CountedNetwork | null = null;
  private lives = 0;
  private nextSid = 1;

  /** `clients` is the machine of all clients; `link` how this site dials its parent. */
  constructor(
    machine: SimulatedMachine,
    parent: TreeSite | null,
    clients: SimulatedMachine,
    link: Partial<LeafRemoteOptions>,
  ) {
    this.machine = machine;
    this.parent = parent;
    this.clients = clients;
    this.link = link;
    parent?.children.push(this);
  }

  get name(): string {
    return this.machine.name;
  }

  /** This site and all below it. */
  subtree(): TreeSite[] {
    return [this, ...this.children.flatMap((child) => child.subtree())];
  }

  // ── the server ───────────────────────────────────────────────────────────────────────────────────────────────────

  start(): void {
    this.lives++;
    this.process = this.machine.start();
    this.network = new CountedNetwork(this.process.io.network);
    const io = { ...this.process.io, network: this.network };
    const format = { debug: true, trace: false, time: true, utc: true };
    const log = new Log((line) => this.note(line.trimEnd()), io.clock, io.host.processId, format);
    const server = new Server(
      io,
      log,
      {
        ...defaultOptions(),
        serverName: this.name,
        port: CLIENT_PORT,
        pingIntervalMs: PING_INTERVAL_MS,
        maxPingsOut: PINGS_OUT,
        leafnodes: this.leafnodes(),
      },
      this.children.length === 0 ? NO_ROOMS : { ...NO_ROOMS, leafDoor },
    );
    // The pool that servers of a process share remembers earlier runs, and a seed must not depend on them.
    Object.assign(server.outbound, { pool: new ChunkPool() });
    this.server = server;
    server.start((error) => {
      if (error !== null) throw error;
      if (this.server === server) this.connect();
    });
  }

  /** The process ends, or the whole machine loses its power: then nobody is told. */
  end(isPowerCut: boolean): void {
    if (this.client !== null) this.client.onMessage = () => undefined;
    this.client?.destroy();
    this.client = null;
    this.server = null;
    if (isPowerCut) this.machine.powerCut();
    else this.process?.kill();
  }

  pause(ms: number): void {
    this.process?.pause(ms);
  }

  /** How many sockets and listeners it has. */
  get openHandles(): number {
    return this.network?.open ?? 0;
  }

  private leafnodes(): LeafnodeOptions {
    const { listener } = defaultOptions().leafnodes;
    const { parent, link } = this;
    return {
      listener: { ...listener, port: this.children.length === 0 ? null : LEAF_PORT },
      remotes: parent === null ? [] : [remoteOptions([`nats://${parent.name}:${LEAF_PORT}`], link)],
      reconnectIntervalMs: RECONNECT_MS,
      dialTimeoutMs: DIAL_MS,
      writeDeadlineMs: 0,
      writeTimeoutPolicy: 'default',
    };
  }

  private note(line: string): void {
    if (this.log.length < LOGGED_LINES_MAX) this.log.push(line);
  }

  // ── its links ────────────────────────────────────────────────────────────────────────────────────────────────────

  /** The open links between this site and its parent, as seen from here and from there. */
  upLinks(): { readonly here: LeafConnection[]; readonly there: LeafConnection[] } {
    const here = this.server?.leafNodes.links().filter(({ isSpoke }) => isSpoke) ?? [];
    const fromParent = this.parent?.server?.leafNodes.links() ?? [];
    return { here, there: fromParent.filter((link) => !link.isSpoke && link.remoteServer === this.name) };
  }

  // ── the client ───────────────────────────────────────────────────────────────────────────────────────────────────

  private connect(): void {
    const { io } = this.clients.start();
    const random = this.machine.random.fork(`client ${this.lives}`);
    const client = new SimulatedClient(io, random, `${this.name} ${this.lives}`, {});
    client.onMessage = (message) => this.onMessage(message);
    client.dial({ host: this.name, port: CLIENT_PORT });
    for (const [sid, { subject, queueGroup }] of this.wanted) client.subscribe(sid, subject, queueGroup);
    this.client = client;
  }

  subscribe(wanted: WantedSubject): void {
    const sid = String(this.nextSid++);
    this.wanted.set(sid, wanted);
    this.client?.subscribe(sid, wanted.subject, wanted.queueGroup);
  }

  unsubscribe(sid: string): void {
    this.wanted.delete(sid);
    this.client?.unsubscribe(sid);
  }
}
