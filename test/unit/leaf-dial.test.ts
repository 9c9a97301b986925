/** How a remote dials: what becomes of each attempt, and what the log says about it. */
import { type AddressInfo, createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Dial } from '../../leafnode/dial.ts';
import type { DialOutcome } from '../../leafnode/dial.ts';
import type { LeafProxyOptions } from '../../server/config/options.ts';
import type { Io, IoError, Socket, SocketHandler } from '../../server/io/io.ts';
import { realIo } from '../../server/io/real-io.ts';
import { freePort } from '../helpers/free-port.ts';
import { startLeafPetiole } from '../helpers/leaf-petiole.ts';
import { startScriptedHub } from '../helpers/scripted-hub.ts';
import { until } from '../helpers/until.ts';
import { SocketRecorder } from './network-recorder.ts';

/** A network on which dialling does what the test says. */
class StagedDial {
  destroyed = 0;
  failed: string[] = [];
  reached = 0;
  readonly dial: Dial;
  #handler: SocketHandler | null = null;
  #expire: () => void = () => {};
  #cancelled = false;

  /** Written to the proxy. */
  written = '';
  /** Ends the handshake with the proxy. */
  shaken: (error: IoError | null) => void = () => {};

  constructor(host: string, proxy: LeafProxyOptions | null = null, { encrypts = true, throws = false } = {}) {
    const socket = {
      destroy: () => this.destroyed++,
      write: ([piece]: Buffer[]) => (this.written += String(piece)),
      ...(encrypts && { encrypt: (_c: unknown, _p: unknown, done: () => void) => (this.shaken = done) }),
      tls: { version: '1.3', cipher: '', certificate: null },
    } as unknown as Socket;
    const context = (): object => {
      if (throws) throw new Error('no such curve');
      return {};
    };
    const io = {
      ...realIo(),
      network: {
        connect: (_: unknown, handler: SocketHandler) => ((this.#handler = handler), socket),
        tls: { context },
      },
      timers: {
        after: (_: number, callback: () => void) => {
          this.#expire = callback;
          return { cancel: () => (this.#cancelled = true) };
        },
      },
    } as unknown as Io;
    const outcome: DialOutcome = {
      reached: () => {
        this.reached++;
        return this.handler;
      },
      failed: (text) => this.failed.push(text),
    };
    this.dial = new Dial(io, { hub: { host, port: 7422 }, proxy }, 1000, outcome);
  }

  get handler(): SocketHandler {
    if (this.#handler === null) throw new Error('not dialled');
    return this.#handler;
  }

  get timerCancelled(): boolean {
    return this.#cancelled;
  }

  expire(): void {
    this.#expire();
  }
}

function errorWith(code: string): IoError {
  return Object.assign(new Error(`it says ${code}`), { code });
}

describe('an attempt to reach a hub', () => {
  it.each([
    ['h', 'ECONNREFUSED', 'dial tcp h:7422: connect: connection refused'],
    ['::1', 'ENETUNREACH', 'dial tcp [::1]:7422: connect: network is unreachable'],
    ['h', 'EHOSTUNREACH', 'dial tcp h:7422: connect: no route to host'],
    ['h', 'ETIMEDOUT', 'dial tcp h:7422: i/o timeout'],
    ['h', 'ENOTFOUND', 'lookup for host "h": lookup h: no such host'],
    ['h', 'EWHATEVER', 'dial tcp h:7422: it says EWHATEVER'],
  ])('to %s that fails with %s says: %s', (host, code, text) => {
    const staged = new StagedDial(host);
    staged.handler.closed(errorWith(code));
    expect(staged.failed).toEqual([text]);
    expect(staged.timerCancelled).toBe(true);
    staged.handler.closed(null);
    staged.expire();
    expect(staged.failed).toHaveLength(1);
  });

  it('ends in time', () => {
    const staged = new StagedDial('h');
    staged.expire();
    expect(staged.failed).toEqual(['dial tcp h:7422: i/o timeout']);
    expect(staged.destroyed).toBe(1);
    staged.handler.connected();
    expect(staged.reached).toBe(0);
  });

  it('says nothing when it is given up', () => {
    const staged = new StagedDial('h');
    staged.dial.cancel();
    staged.handler.closed(errorWith('ECONNABORTED'));
    expect(staged).toMatchObject({ failed: [], destroyed: 1, reached: 0 });
  });

  it('is over when the socket stands', () => {
    const staged = new StagedDial('h');
    staged.handler.connected();
    staged.dial.cancel();
    expect(staged).toMatchObject({ failed: [], destroyed: 0, reached: 1, timerCancelled: true });
  });

  it('tells that bytes were taken which were written while the socket was handed over', async () => {
    const server = createServer((peer) => void peer.pipe(peer));
    server.listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await until(() => server.address() !== null, 'the port');
    const owner = new SocketRecorder();
    const hub = { host: '127.0.0.1', port: (server.address() as AddressInfo).port };
    const reached = (socket: Socket): SocketHandler => {
      socket.write([Buffer.from('first')]);
      owner.socket = socket;
      return owner;
    };
    const outcome = { reached, failed: () => undefined };
    const dial = new Dial(realIo(), { hub, proxy: null }, 1000, outcome);
    onTestFinished(() => owner.socket?.destroy());
    await until(() => owner.bytesRead === 5, 'the echo');
    expect(owner.count('written')).toBe(1);
    owner.socket?.write([Buffer.from('second')]);
    await until(() => owner.count('written') === 2, 'the next write to be taken');
    dial.cancel();
  });
});

describe('an attempt to reach a hub through a proxy', () => {
  const proxy = { host: 'p', port: 3128, username: '', password: '', timeoutMs: 0, isEncrypted: false, tls: null };
  const say = ({ handler }: StagedDial, text: string): boolean => {
    const bytes = Buffer.from(text);
    return handler.data(bytes, 0, bytes.length);
  };

  it('asks for an address of IPv6 in brackets', () => {
    const staged = new StagedDial('::1', proxy);
    staged.handler.connected();
    expect(staged.written).toMatch(/^CONNECT \[::1\]:7422 HTTP\/1\.1\r\nHost: \[::1\]:7422\r\n/);
    expect(staged.reached).toBe(0);
  });

  it.each<[string, (staged: StagedDial) => void, string]>([
    ['is lost', ({ handler }) => handler.closed(errorWith('ECONNRESET')), 'read: connection reset by peer'],
    ['is closed', ({ handler }) => handler.closed(null), 'unexpected EOF'],
    ['fails somehow', ({ handler }) => handler.closed(errorWith('EODD')), 'it says EODD'],
    ['takes too long', (staged) => staged.expire(), 'i/o timeout'],
  ])('that %s before it answers is over', (_, happen, text) => {
    const staged = new StagedDial('h', proxy);
    staged.handler.connected();
    happen(staged);
    expect(staged).toMatchObject({ failed: [`failed to read proxy response: ${text}`], destroyed: 1 });
    // Whatever it still says.
    expect(say(staged, 'HTTP/1.1 200 OK\r\n\r\n')).toBe(false);
    expect(staged.reached).toBe(0);
  });

  it.each<[string, object, string]>([
    ['cannot encrypt', { encrypts: false }, 'this network has no TLS'],
    ['cannot use the settings', { throws: true }, 'the settings cannot be used: no such curve'],
  ])('over TLS that %s fails', (_, able, text) => {
    const staged = new StagedDial('h', { ...proxy, isEncrypted: true }, able);
    staged.handler.connected();
    expect(staged.failed).toEqual([`proxy TLS handshake failed: ${text}`]);
  });

  it('over TLS asks when hands are shaken, and not before', () => {
    const staged = new StagedDial('h', { ...proxy, isEncrypted: true });
    staged.handler.connected();
    expect(staged.written).toBe('');
    staged.shaken(null);
    expect(staged.written).toMatch(/^CONNECT h:7422 /);
    const late = new StagedDial('h', { ...proxy, isEncrypted: true });
    late.handler.connected();
    late.dial.cancel();
    late.shaken(null);
    expect(late).toMatchObject({ written: '', failed: [] });
  });
});

describe('a remote', () => {
  it('tells each failed attempt to the log, before the first connection only the first', async () => {
    const port = await freePort();
    const edge = await startLeafPetiole({ urls: [`nats://127.0.0.1:${port}`] });
    const where = `to remote server "127.0.0.1:${port}"`;
    const line = (attempt: number, level: string): string =>
      `[${level}] Error trying to connect as leafnode ${where} (attempt ${attempt}): dial tcp 127.0.0.1:${port}: connect: connection refused`;
    await until(() => edge.logged(line(2, 'DBG')), 'a second attempt');
    expect(edge.logged(line(1, 'ERR'))).toBe(true);
    expect(edge.leafNodes.remoteSnapshots()[0]).toMatchObject({ opens: 0, state: 'waiting' });
  });

  it('tells every attempt to the log once it has been connected', async () => {
    const hub = await startScriptedHub();
    const closed = await freePort();
    const edge = await startLeafPetiole({ urls: [hub.url, `nats://127.0.0.1:${closed}`] });
    const { link } = await hub.open();
    await link.close();
    await until(() => edge.logged(/\[ERR\] Error trying to connect as leafnode .*\(attempt 1\)/), 'the attempt');
    await (await hub.accept()).close();
    expect(edge.leafNodes.remoteSnapshots()[0]?.opens).toBe(1);
  });

  it('goes from one address to the next', async () => {
    const hubs = [await startScriptedHub(), await startScriptedHub()] as const;
    await startLeafPetiole({
      urls: hubs.map(({ url }) => url),
      remote: { followsDiscoveredServers: false },
    });
    for (let round = 0; round < 2; round++) {
      for (const hub of hubs) {
        const { link } = await hub.open();
        await link.close();
      }
    }
    expect((await hubs[0].open()).loop).toMatch(/^\$LDS\./);
  });

  it('dials no more once it is closed, in whichever state', async () => {
    const hub = await startScriptedHub();
    const edge = await startLeafPetiole({ urls: [hub.url] });
    const { link } = await hub.open();
    edge.leafNodes.close();
    await link.closed();
    expect(edge.logged('Leafnode connection closed: Server Shutdown - Remote: hub')).toBe(true);
    expect(edge.leafNodes.remoteSnapshots()[0]?.state).toBe('closed');
    const unreachable = await startLeafPetiole({ urls: [`nats://127.0.0.1:${await freePort()}`] });
    await until(() => unreachable.logged('attempt 1'), 'an attempt');
    unreachable.leafNodes.close();
    const lines = unreachable.log.length;
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(unreachable.log).toHaveLength(lines);
  });

  it('is left alone when it is disabled', async () => {
    const edge = await startLeafPetiole({ urls: ['nats://127.0.0.1:1'], remote: { isDisabled: true } });
    expect(edge.leafNodes.remoteSnapshots()).toEqual([]);
  });

  it('needs its account', async () => {
    await expect(startLeafPetiole({ urls: ['nats://127.0.0.1:1'], remote: { account: 'NONE' } })).rejects.toThrow(
      'cannot find local account "NONE"',
    );
  });
});
