/**
 * Everything impure that petiole needs, as one injected object: clock, timers, randomness, disk, network and facts
 * about the host. The production form is `real-io.ts`; the simulated form under `simulated/` runs the same server on a
 * clock, a network and a disk that one seed determines.
 *
 * Core code awaits nothing: run-time operations take callbacks. Callbacks never run inside the call that was given
 * them, except where a comment says so.
 */

export interface Io {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  readonly disk: Disk;
  readonly network: Network;
  readonly host: Host;
  readonly passwords: Passwords;
  /** Absent where nothing can be inflated. */
  readonly inflater?: (handler: InflaterHandler) => Inflater;
}

/** Undoes raw deflate (RFC 1951) beside the main thread, for messages of which each stands for itself (RFC 7692). */
export interface Inflater {
  /** Takes the next bytes of a message, its last if `isLast`. Not to be called again before the handler's `taken`. */
  write(bytes: Uint8Array, isLast: boolean): void;
  resume(): void;
  /** Nothing is called after it. */
  close(): void;
}

/** What an inflater tells its owner, never from inside a call on it. */
export interface InflaterHandler {
  /** As `data` of a socket. After false nothing is called until `resume()`. */
  inflated(buffer: Buffer, start: number, end: number): boolean;
  /** All that came of what was written has been handed over. */
  taken(): void;
  /** The bytes are not what they should be, and no more can be made of them. */
  failed(error: IoError): void;
}

/** Passwords against their bcrypt hashes, which takes too long for the main thread. */
export interface Passwords {
  /** Tells whether the password is the one of the hash; false when too many wait already, and `done` is not called. */
  compare(hash: string, password: string, done: (matches: boolean) => void): boolean;
}

export interface Clock {
  /** Wall time in milliseconds since 1970 with a fraction (about a microsecond). It may jump, also backwards. */
  wallMs(): number;
  /** Milliseconds since some fixed moment, with a fraction. Never runs backwards. */
  monotonicMs(): number;
}

export interface Timer {
  /** The callback will not run any more. Harmless when it already has. */
  cancel(): void;
}

export interface Timers {
  /** Runs `callback` once, `delayMs` from now or a little later. */
  after(delayMs: number, callback: () => void): Timer;
  /** Runs `callback` when all reads of this turn of the event loop have been handled. */
  afterTurn(callback: () => void): void;
}

export interface Random {
  /** Unpredictable bytes, for identities, nonces and inbox names. */
  bytes(count: number): Buffer;
  /** A fast number in [0, 1), for choices that nobody attacks: queue members, jitter. Needs no `this`. */
  readonly fraction: () => number;
}

/** An operating error with the system's code (`ENOSPC`, `EADDRINUSE`, …). */
export interface IoError extends Error {
  readonly code?: string | undefined;
}

export type Done = (error: IoError | null) => void;

/**
 * `read`: must exist. `create`: must not exist, opened for reading and writing. `write`: exists or is made. `replace`: as
 * `write`, and is empty then.
 * `write-synced`: as `write`, and each write returns only when its data is on the device (O_DSYNC).
 */
export type OpenMode = 'read' | 'create' | 'write' | 'replace' | 'write-synced';

export interface FileHandle {
  /** Writes `length` bytes from `buffer[offset]` at `position` of the file; a short write is reported as it is. */
  write(
    buffer: Uint8Array,
    offset: number,
    length: number,
    position: number,
    done: (error: IoError | null, written: number) => void,
  ): void;
  /** The blocking form, only for stores whose sync mode does not wait for the device. */
  writeNow(buffer: Uint8Array, offset: number, length: number, position: number): number;
  /** Reads up to `length` bytes at `position` into `buffer[offset]`; fewer only at the end of the file. */
  read(
    buffer: Uint8Array,
    offset: number,
    length: number,
    position: number,
    done: (error: IoError | null, read: number) => void,
  ): void;
  /** The bytes the file has now. */
  size(done: (error: IoError | null, bytes: number) => void): void;
  /** The blocking form of `read`, for start-up; the bytes read. */
  readNow(buffer: Uint8Array, offset: number, length: number, position: number): number;
  /** The data written so far is on the device when `done` runs without an error. */
  sync(done: Done): void;
  close(done: Done): void;
  closeNow(): void;
}

export interface FileStatus {
  readonly bytes: number;
  readonly isDirectory: boolean;
}

export interface FileLock {
  release(): void;
}

/** Files and folders. The methods ending in `Now` block and belong to start-up, before anything is served. */
export interface Disk {
  readFileNow(path: string): Buffer;
  readDirectoryNow(path: string): string[];
  /** Makes the directory and those above it, durably under their names. */
  makeDirectoryNow(path: string): void;
  /** Writes a small file that is whole on the device, and under its name, when this returns. */
  writeFileNow(path: string, bytes: Uint8Array): void;
  /** `null` when nothing is there. */
  statusNow(path: string): FileStatus | null;
  openNow(path: string, mode: OpenMode): FileHandle;
  /** Takes the file for this server alone until `release` or the end of the process; `null` when another has it. */
  lockNow(path: string): FileLock | null;
  /** Bytes that an unprivileged process may still write on the file system of `path`. */
  freeBytesNow(path: string): number;

  open(path: string, mode: OpenMode, done: (error: IoError | null, file: FileHandle | null) => void): void;
  rename(from: string, to: string, done: Done): void;
  remove(path: string, done: Done): void;
  removeDirectory(path: string, done: Done): void;
  makeDirectory(path: string, done: Done): void;
  /** Makes creations, renames and removals in the folder durable. */
  syncDirectory(path: string, done: Done): void;
}

export interface Address {
  readonly host: string;
  readonly port: number;
}

/** What a socket tells its owner. All calls come from the event loop, never from inside a call on the socket. */
export interface SocketHandler {
  /** A dialled socket is connected. Not called for accepted ones. */
  connected(): void;
  /**
   * Bytes `[start, end)` of `buffer` were read. They die when this returns. `buffer[start - HEADROOM_BYTES, start)` is
   * scratch space the callee may overwrite, so that it can put the unread end of an earlier read in front.
   * Returning false stops reading until `resume()`.
   */
  data(buffer: Buffer, start: number, end: number): boolean;
  /** The pieces of the last `write` were taken by the system; their memory is free again. May run inside `write`. */
  written(): void;
  /** The peer will send nothing more. */
  ended(): void;
  /** The socket is gone. Called exactly once; nothing is called after it. */
  closed(error: IoError | null): void;
}

export const HEADROOM_BYTES = 65_536;

/** What somebody said who asked for WebSocket. */
export interface WebSocketPeer {
  /** Address that a proxy says it speaks for; '' for none. */
  readonly forwardedFor: string;
  /** What cookies hold in place of what CONNECT leaves out; null: nothing. */
  readonly cookies: {
    readonly jwt: string;
    readonly user: string;
    readonly pass: string;
    readonly token: string;
  } | null;
}

export interface Socket {
  readonly remote: Address;
  readonly local: Address;
  /** What the handshake came to; absent where nothing is encrypted. */
  readonly tls?: TlsPeer | null;
  /** What the peer said that asked for WebSocket; absent where that is not spoken. */
  readonly webSocket?: WebSocketPeer | null;
  /**
   * Shakes hands with whom was dialled, and reads what is decrypted if that succeeds; `done` hears of either, once, unless
   * the socket closes first. Only where this side has dialled, and absent where nothing can be encrypted.
   */
  readonly encrypt?: (context: TlsContext, peer: DialledPeer, done: (error: IoError | null) => void) => void;
  /** Sends the pieces in order. Not to be called again before the handler's `written`. */
  write(pieces: readonly Uint8Array[]): void;
  resume(): void;
  /** Closes after what was handed to `write` has gone out. */
  end(): void;
  /** Closes at once; unsent bytes are dropped. */
  destroy(): void;
}

export interface ListenHandler {
  listening(address: Address): void;
  /** A connection came in; the answer hears everything about it. */
  accepted(socket: Socket): SocketHandler;
  /** Listening failed, or accepting failed for lack of a resource. */
  failed(error: IoError): void;
}

export interface Listener {
  /** Stops listening; accepted sockets live on. */
  close(done: () => void): void;
}

/** A connection that came in and is not read yet: whether it is encrypted is still to be decided. */
export interface UndecidedSocket extends Socket {
  /** Tells the first byte that the peer sends, and leaves it to be read. */
  peek(done: (firstByte: number) => void): void;
  /** Reads from now on, in clear. */
  readInClear(): void;
  /**
   * Shakes hands, and reads what is decrypted if that succeeds; `done` hears of either, once, unless it closes first. Once
   * the peer's hello has come whole `leave` gets what goes on with it, inside the call: so the costly part waits for leave.
   */
  shakeHands(context: TlsContext, leave: (goOn: () => void) => void, done: (error: IoError | null) => void): void;
}

export interface TlsSettings {
  /** In PEM; the first is shown where the peer asks for no name. */
  readonly certificates: readonly { readonly certificate: string; readonly key: string }[];
  /** In PEM; null: those the host trusts. */
  readonly authorities: string | null;
  /** Whether the peer has to show a certificate that these vouch for. */
  readonly verifiesClients: boolean;
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3';
  /** In OpenSSL's names. */
  readonly ciphers: readonly string[];
  readonly curves: readonly string[];
}

/** Settings made ready for handshakes; of use only to the network that made it. */
export interface TlsContext {
  readonly settings: TlsSettings;
}

/** Whom a dialled socket expects at the other end. */
export interface DialledPeer {
  /** Name or address that the certificate has to be for; a name is told in the handshake. */
  readonly host: string;
  /** Takes any certificate when false. */
  readonly isVerified: boolean;
}

export interface TlsPeer {
  /** `1.3` */
  readonly version: string;
  /** In the standard's name, as `TLS_AES_128_GCM_SHA256`. */
  readonly cipher: string;
  /** DER of the certificate that the peer showed; null: none. */
  readonly certificate: Uint8Array | null;
}

export interface UndecidedListenHandler extends Omit<ListenHandler, 'accepted'> {
  accepted(socket: UndecidedSocket): SocketHandler;
  /** For times in which nothing is encrypted: connections are then taken as `Network.listen` takes them. */
  readonly inClear?: {
    /** Asked for each connection. */
    isOn(): boolean;
    accepted(socket: Socket): SocketHandler;
  };
}

/** The part of a network that can encrypt. */
export interface SecuringNetwork {
  /** Throws when the settings cannot be used. */
  context(settings: TlsSettings): TlsContext;
  listen(address: Address, handler: UndecidedListenHandler): Listener;
  /** `context` is asked for each connection, so that certificates can change. Peers need no certificate. */
  serveHttps(address: Address, context: () => TlsContext, handler: HttpHandler): Listener;
}

export interface HttpRequest {
  readonly method: string;
  /** Path and query as they came. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

export interface HttpHandler {
  listening(address: Address): void;
  request(request: HttpRequest, respond: (response: HttpResponse) => void): void;
  failed(error: IoError): void;
}

export interface Network {
  listen(address: Address, handler: ListenHandler): Listener;
  /** Dials; the outcome reaches the handler as `connected` or `closed`. */
  connect(address: Address, handler: SocketHandler): Socket;
  serveHttp(address: Address, handler: HttpHandler): Listener;
  /** Absent where nothing can be encrypted. */
  readonly tls?: SecuringNetwork;
  /** Listens on a socket of the file system with these permission bits; absent where there are no such sockets. */
  readonly listenOnPath?: (path: string, mode: number, handler: ListenHandler) => Listener;
}

export interface Host {
  readonly name: string;
  readonly processId: number;
  readonly cores: number;
  /** Where files go that nobody gave another place. */
  readonly temporaryDirectory: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** All addresses of this host, by interface; loopback's, where it is up, among them. */
  addresses(): string[];
  /** Bytes of memory this process may use: the machine's, or the control group's when that is less. */
  memoryLimitBytes(): number;
  residentBytes(): number;
  /** User and system CPU seconds this process has used. */
  cpuSeconds(): number;
  /** The loaded SQLite addon; it may be unpacked below `storeDirectory`. Throws when it can't be loaded. */
  sqliteAddon(storeDirectory: string): object;
  /** Collects garbage now if the runtime lets us; the milliseconds it took, or `null` if it does not. */
  collectGarbage(): number | null;
  /** The same with all that the runtime can do to need less memory, which takes several times as long. */
  shrinkHeap(): void;
}
