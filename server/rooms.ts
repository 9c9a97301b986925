/**
 * The rooms of the house that not every configuration uses. They are loaded when one does: a server without JetStream
 * does not carry the code of streams in its memory, which on a small machine counts.
 */

import type { ServerOptions } from './config/options.ts';
import type { makeJetStream, startJetStream, viewOf } from './jetstream-start.ts';
import type { makeLeafListener } from './leaf-door.ts';
import type { makeWebSocketDoor } from './websocket-door.ts';
import type { Monitor } from './monitor/monitor.ts';

export interface JetStreamRoom {
  readonly makeJetStream: typeof makeJetStream;
  readonly startJetStream: typeof startJetStream;
  readonly viewOf: typeof viewOf;
}

export interface LeafDoorRoom {
  readonly makeLeafListener: typeof makeLeafListener;
}

export interface WebSocketRoom {
  readonly makeWebSocketDoor: typeof makeWebSocketDoor;
}

export interface MonitorRoom {
  readonly Monitor: typeof Monitor;
}

export interface Rooms {
  readonly jetstream: JetStreamRoom | null;
  readonly monitor: MonitorRoom | null;
  readonly leafDoor: LeafDoorRoom | null;
  readonly webSocketDoor: WebSocketRoom | null;
}

export const NO_ROOMS: Rooms = { jetstream: null, monitor: null, leafDoor: null, webSocketDoor: null };

/** For a server that comes to have it later. */
export function loadJetStream(): Promise<JetStreamRoom> {
  return import('./jetstream-start.ts');
}

/** Loads what a server with these options needs. */
export async function loadRooms(options: ServerOptions): Promise<Rooms> {
  return {
    jetstream: options.jetstream.isEnabled ? await loadJetStream() : null,
    monitor: options.monitorPort === null && options.httpsPort === null ? null : await import('./monitor/monitor.ts'),
    leafDoor: options.leafnodes.listener.port === null ? null : await import('./leaf-door.ts'),
    webSocketDoor: options.websocket.port === null ? null : await import('./websocket-door.ts'),
  };
}
