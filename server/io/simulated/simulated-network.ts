/**
 * The network of one simulated world: its machines, the links between them, and every socket and listener.
 *
 * A dial travels to the other machine as the first thing in the connection's pipe. Where a listener stands behind the
 * port, the kernel there takes the connection and the listener's process hears of it soon; where none does, it is
 * refused. A machine reaches itself as 127.0.0.1, ::1 or localhost, and others by name or address.
 *
 * Faults are methods here: cut links (one way or both), machines without power, connections reset. They change only
 * what a network could: TCP hides losses and reordering, so they show as delay.
 */

import type { Address, HttpRequest, HttpResponse, SocketHandler } from '../io.ts';
import type { EventOwner } from './event-queue.ts';
import { Link, type LinkConditions } from './link.ts';
import type { Door } from './network-interface.ts';
import type { Scheduler } from './scheduler.ts';
import type { SeededRandom } from './seeded-random.ts';
import { makeReadBuffer, SimulatedSocket, type SocketWorld } from './simulated-socket.ts';
import { type BufferSizes, StreamPipe } from './stream-pipe.ts';
import { SystemError } from './system-error.ts';

const LOOPBACK: readonly string[] = ['127.0.0.1', '::1', 'localhost'];
const LOOPBACK_CONDITIONS: LinkConditions = { latencyMs: 0.02, jitterMs: 0.1 };
const LAN: LinkConditions = { latencyMs: 0.2, jitterMs: 1 };
const FIRST_EPHEMERAL_PORT = 32_768;
const PORTS_END = 65_536;

/** A kernel's buffers for a socket: without a send buffer, small, and as large as on a host. */
const SEND_BUFFERS: readonly number[] = [0, 2048, 65_536, 262_144];
const RECEIVE_BUFFERS: readonly number[] = [1024, 16_384, 131_072];

/** A machine as the network knows it. */
export interface NetworkNode {
  readonly name: string;
  readonly address: string;
}

interface Connection {
  readonly dialled: SimulatedSocket;
  readonly accepted: SimulatedSocket;
  readonly from: NetworkNode;
  readonly to: NetworkNode;
}

export class SimulatedNetwork implements SocketWorld {
  readonly scheduler: Scheduler;
  readonly readBuffer: Buffer = makeReadBuffer();
  /** Kernels' buffers and the largest piece of a read; chosen for each connection by the seed where `null`. */
  buffers: BufferSizes | null = null;
  largestPiece: number | null = null;
  private readonly random: SeededRandom;
  private readonly nodes: NetworkNode[] = [];
  private readonly links = new Map<string, Link>();
  private readonly withoutPower = new Set<string>();
  private readonly doors = new Map<string, Door>();
  private readonly connections = new Set<Connection>();
  private readonly connectionOf = new Map<SimulatedSocket, Connection>();
  private readonly nextPorts = new Map<string, number>();
  private nextSocketId = 1;

  constructor(scheduler: Scheduler, random: SeededRandom) {
    this.scheduler = scheduler;
    this.random = random;
  }

  add(node: NetworkNode): void {
    this.nodes.push(node);
  }

  /** The link between two machines, in one direction. */
  link(from: NetworkNode, to: NetworkNode): Link {
    const key = `${from.name}>${to.name}`;
    const known = this.links.get(key);
    if (known !== undefined) return known;
    const conditions = from === to ? LOOPBACK_CONDITIONS : LAN;
    const link = new Link(from.name, to.name, conditions, this.scheduler, this.random.fork(`link ${key}`));
    if (this.withoutPower.has(to.name)) link.cut('power');
    this.links.set(key, link);
    return link;
  }

  // ── faults ───────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Nothing arrives any more from one machine at the other; the other direction is as it was. */
  cut(from: NetworkNode, to: NetworkNode): void {
    this.link(from, to).cut('partition');
  }

  partition(one: NetworkNode, other: NetworkNode): void {
    this.cut(one, other);
    this.cut(other, one);
  }

  /** Everything that was cut between the two works again. */
  heal(one: NetworkNode, other: NetworkNode): void {
    this.link(one, other).heal('partition');
    this.link(other, one).heal('partition');
  }

  setConditions(one: NetworkNode, other: NetworkNode, conditions: LinkConditions): void {
    this.link(one, other).conditions = conditions;
    this.link(other, one).conditions = conditions;
  }

  /** Breaks every connection between the two machines, as a firewall does that forgot them; how many these were. */
  resetBetween(one: NetworkNode, other: NetworkNode): number {
    let count = 0;
    for (const { dialled, accepted, from, to } of this.connections) {
      if (!((from === one && to === other) || (from === other && to === one))) continue;
      dialled.fail(new SystemError('ECONNRESET', 'read'));
      accepted.fail(new SystemError('ECONNRESET', 'read'));
      count++;
    }
    return count;
  }

  /** The machine's power goes: it hears nothing and says nothing until `powerReturns`. */
  powerGoes(node: NetworkNode): void {
    this.withoutPower.add(node.name);
    for (const each of this.links.values()) if (each.to === node.name) each.cut('power');
    for (const { dialled, accepted, from, to } of this.connections) {
      if (from === node) dialled.vanish();
      if (to === node) accepted.vanish();
    }
    this.closeDoors((door) => door.node === node);
  }

  powerReturns(node: NetworkNode): void {
    if (!this.withoutPower.delete(node.name)) return;
    for (const each of this.links.values()) if (each.to === node.name) each.heal('power');
  }

  /** The process is gone: its kernel closes what it had open. */
  processGone(owner: EventOwner): void {
    this.closeDoors((door) => door.owner === owner);
    for (const { dialled, accepted } of this.connections) {
      if (dialled.belongsTo(owner)) dialled.orphan();
      if (accepted.belongsTo(owner)) accepted.orphan();
    }
  }

  // ── what exists ──────────────────────────────────────────────────────────────────────────────────────────────────

  /** Connections of which at least one end exists, and listeners. */
  get liveHandles(): number {
    return this.connections.size + this.doors.size;
  }

  socketGone(socket: SimulatedSocket): void {
    const connection = this.connectionOf.get(socket);
    if (connection === undefined || connection.dialled.isLive || connection.accepted.isLive) return;
    this.connections.delete(connection);
    this.connectionOf.delete(connection.dialled);
    this.connectionOf.delete(connection.accepted);
  }

  // ── what interfaces ask for ──────────────────────────────────────────────────────────────────────────────────────

  /** Opens a port; the code of the system's error if that cannot be. Port 0 takes a free one. */
  openDoor(door: Door): string | null {
    if (door.port === 0) door.port = this.freePort(door.node);
    const key = doorKey(door.node, door.port);
    if (this.doors.has(key)) return 'EADDRINUSE';
    const isOwn = door.isOpenToAll || this.resolve(door.host, door.node) === door.node;
    if (!isOwn) return 'EADDRNOTAVAIL';
    this.doors.set(key, door);
    return null;
  }

  closeDoor(door: Door): void {
    const key = doorKey(door.node, door.port);
    if (this.doors.get(key) === door) this.doors.delete(key);
  }

  /** Dials; `socket` hears of the outcome. */
  connect(node: NetworkNode, owner: EventOwner, address: Address, handler: SocketHandler): SimulatedSocket {
    const target = this.resolve(address.host, node);
    const host = target === null ? address.host : canonical(address.host, target);
    const local = { host: LOOPBACK.includes(host) ? host : node.address, port: this.freePort(node) };
    const { dialled, accepted } = this.join(node, target ?? node, local, { host, port: address.port });
    dialled.own(owner);
    dialled.attach(handler);
    if (target === null) {
      accepted.refuse('reset');
      dialled.fail(new SystemError('ENOTFOUND', `getaddrinfo ${address.host}`));
      return dialled;
    }
    accepted.onOpened = () => this.dialArrived(accepted, target, address);
    dialled.dial();
    return dialled;
  }

  /** Sends a request to a monitoring port; `answer` hears the response, or `null` when nobody listens there. */
  httpRequest(from: NetworkNode, to: Address, request: HttpRequest, answer: (it: HttpResponse | null) => void): void {
    const target = this.resolve(to.host, from);
    if (target === null) {
      this.scheduler.after(0, null, 'http', () => answer(null));
      return;
    }
    this.travel(from, target, () => {
      const door = this.doors.get(doorKey(target, to.port));
      const http = door?.http ?? null;
      if (door === undefined || http === null) {
        this.travel(target, from, () => answer(null));
        return;
      }
      this.scheduler.after(0, door.owner, 'http', () => {
        http.request(request, (response) => this.travel(target, from, () => answer(response)));
      });
    });
  }

  private travel(from: NetworkNode, to: NetworkNode, arrived: () => void): void {
    const link = this.link(from, to);
    this.scheduler.at(link.arrivalUs(), null, 'http', () => {
      if (link.isCut) link.whenWhole(arrived);
      else arrived();
    });
  }

  private dialArrived(accepted: SimulatedSocket, target: NetworkNode, address: Address): void {
    const door = this.doors.get(doorKey(target, address.port));
    const isHeard = door !== undefined && (door.isOpenToAll || canonical(door.host, target) === accepted.local.host);
    if (!isHeard || door.stream === null) {
      accepted.refuse('refuse');
      return;
    }
    const { stream } = door;
    accepted.admit(door.owner);
    this.scheduler.after(0, door.owner, 'accept', () => {
      // Closed meanwhile: the kernel resets what the listener has not taken.
      if (this.doors.get(doorKey(target, address.port)) === door) accepted.attach(stream.accepted(accepted));
      else accepted.refuse('reset');
    });
  }

  private join(from: NetworkNode, to: NetworkNode, local: Address, remote: Address): Connection {
    const id = this.nextSocketId++;
    const random = this.random.fork(`connection ${id}`);
    const dialled = new SimulatedSocket(this, random.fork('dialled'), id, local, remote);
    const accepted = new SimulatedSocket(this, random.fork('accepted'), -id, remote, local);
    const there = this.link(from, to);
    const back = this.link(to, from);
    const { scheduler } = this;
    const up = new StreamPipe(scheduler, { there, back }, this.pickBuffers(random), dialled, accepted);
    const down = new StreamPipe(scheduler, { there: back, back: there }, this.pickBuffers(random), accepted, dialled);
    dialled.join(up, down);
    accepted.join(down, up);
    const connection = { dialled, accepted, from, to };
    this.connections.add(connection);
    this.connectionOf.set(dialled, connection);
    this.connectionOf.set(accepted, connection);
    return connection;
  }

  private pickBuffers(random: SeededRandom): BufferSizes {
    return this.buffers ?? { sendBytes: random.pick(SEND_BUFFERS), receiveBytes: random.pick(RECEIVE_BUFFERS) };
  }

  private closeDoors(which: (door: Door) => boolean): void {
    for (const [key, door] of this.doors) if (which(door)) this.doors.delete(key);
  }

  private resolve(host: string, from: NetworkNode): NetworkNode | null {
    if (LOOPBACK.includes(host)) return from;
    return this.nodes.find(({ name, address }) => name === host || address === host) ?? null;
  }

  private freePort(node: NetworkNode): number {
    let port = this.nextPorts.get(node.name) ?? FIRST_EPHEMERAL_PORT;
    while (this.doors.has(doorKey(node, port))) port++;
    this.nextPorts.set(node.name, port + 1 < PORTS_END ? port + 1 : FIRST_EPHEMERAL_PORT);
    return port;
  }
}

function doorKey(node: NetworkNode, port: number): string {
  return `${node.name}:${port}`;
}

/** How a connection shows a host of the machine: a loopback address, or the address others know it by. */
function canonical(host: string, node: NetworkNode): string {
  if (host === 'localhost') return '127.0.0.1';
  return LOOPBACK.includes(host) ? host : node.address;
}
