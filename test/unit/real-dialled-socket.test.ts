/** Dialled connections that are encrypted after something was said in clear, as the links of leaves are. */
import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket as PlainSocket } from 'node:net';
import { createSecureContext, TLSSocket } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { DialledPeer, IoError, Socket, TlsSettings } from '../../server/io/io.ts';
import { RealNetwork } from '../../server/io/real-network.ts';
import { type CertificateFiles, TestAuthority } from '../helpers/certificates.ts';
import { temporaryDirectory } from '../helpers/temporary-directory.ts';
import { until } from '../helpers/until.ts';
import { patterned, SocketRecorder } from './network-recorder.ts';

const GREETING = 'INFO {}\r\n';

interface Shaken {
  readonly near: SocketRecorder;
  readonly socket: Socket;
  readonly error: IoError | null;
  /** The name that was asked for. */
  readonly asked: string;
}

interface Dialled {
  readonly near: SocketRecorder;
  readonly socket: Socket;
  readonly network: RealNetwork;
}

function settingsOf(authority: TestAuthority | null): TlsSettings {
  return {
    certificates: [],
    authorities: authority?.certificate ?? null,
    verifiesClients: false,
    minVersion: 'TLSv1.2',
    ciphers: ['TLS_AES_128_GCM_SHA256'],
    curves: ['X25519'],
  };
}

async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await until(() => server.address() !== null, 'the port');
  return (server.address() as AddressInfo).port;
}

/** Dials, and waits for what is said in clear. */
async function dial(port: number): Promise<Dialled> {
  const network = new RealNetwork();
  const near = new SocketRecorder();
  const socket = network.connect({ host: '127.0.0.1', port }, near);
  onTestFinished(() => socket.destroy());
  await until(() => near.bytesRead >= GREETING.length, 'the greeting');
  return { near, socket, network };
}

/** Greets in clear, and then answers everything encrypted with the same. */
function hub({ certificate: cert, key }: CertificateFiles, asked: string[]): Server {
  return createServer((plain) => {
    plain.write(GREETING);
    plain.once('readable', () => {
      const encrypted = new TLSSocket(plain, {
        isServer: true,
        secureContext: createSecureContext({ cert, key }),
        SNICallback: (name, done) => {
          asked.push(name);
          done(null);
        },
      });
      encrypted.on('error', () => plain.destroy());
      encrypted.on('data', (bytes) => encrypted.write(bytes));
    });
    plain.on('error', () => undefined);
  });
}

async function shake(files: CertificateFiles, authority: TestAuthority, peer: DialledPeer): Promise<Shaken> {
  const asked: string[] = [];
  const { near, socket, network } = await dial(await listening(hub(files, asked)));
  let outcome: { error: IoError | null } | null = null;
  socket.encrypt?.(network.tls.context(settingsOf(authority)), peer, (error) => (outcome = { error }));
  const { error } = await until<{ error: IoError | null } | null>(() => outcome, 'the handshake');
  return { near, socket, error, asked: asked.join(' ') };
}

describe('a dialled connection', () => {
  it('is encrypted after a greeting in clear, and brings bytes both ways', async () => {
    const authority = new TestAuthority(temporaryDirectory());
    const { near, socket, error, asked } = await shake(authority.issueServer(), authority, {
      host: 'localhost',
      isVerified: true,
    });
    expect(error).toBe(null);
    expect(asked).toBe('localhost');
    expect(socket.tls).toMatchObject({ version: '1.3', cipher: 'TLS_AES_128_GCM_SHA256' });
    expect(socket.tls?.certificate).not.toBe(null);
    const bytes = patterned(300_000);
    socket.write([bytes.subarray(0, 10), bytes.subarray(10)]);
    await until(() => near.bytesRead >= GREETING.length + bytes.length, 'all bytes');
    expect(near.received.subarray(GREETING.length).equals(bytes)).toBe(true);
    expect(near.count('written')).toBe(1);
  });

  it.each<[string, string, string, boolean, string]>([
    ['an address that the certificate is for', 'IP:127.0.0.1', '127.0.0.1', true, ''],
    ['an address that it is not for', 'IP:127.0.0.2', '127.0.0.1', true, 'ERR_TLS_CERT_ALTNAME_INVALID'],
    ['another name', 'DNS:hub', 'localhost', true, 'ERR_TLS_CERT_ALTNAME_INVALID'],
    ['another name, when nobody looks', 'DNS:hub', 'localhost', false, ''],
  ])('expects %s', async (_, names, host, isVerified, code) => {
    const authority = new TestAuthority(temporaryDirectory());
    const { error, socket } = await shake(authority.issue('s', '/CN=localhost', names), authority, {
      host,
      isVerified,
    });
    expect(error?.code ?? '').toBe(code);
    // Whoever reports it can say which certificate it was.
    expect(socket.tls?.certificate).toBeInstanceOf(Uint8Array);
  });

  it('does not take a name for one that is only the common name', async () => {
    const authority = new TestAuthority(temporaryDirectory());
    const files = authority.issue('s', '/CN=localhost', 'email:hub@localhost');
    const { error } = await shake(files, authority, { host: 'localhost', isVerified: true });
    expect(error?.code).toBe('ERR_TLS_CERT_ALTNAME_INVALID');
  });

  it('does not take a certificate of somebody unknown', async () => {
    const [one, other] = [new TestAuthority(temporaryDirectory()), new TestAuthority(temporaryDirectory())];
    const { error } = await shake(one.issueServer(), other, { host: 'localhost', isVerified: true });
    expect(error?.code).toBe('UNABLE_TO_VERIFY_LEAF_SIGNATURE');
  });

  it.each<[string, (plain: PlainSocket) => void, readonly string[]]>([
    ['does not speak TLS', (plain) => plain.end("-ERR 'Parser Error'\r\n"), ['ERR_SSL_WRONG_VERSION_NUMBER']],
    ['goes away in the middle', (plain) => plain.destroy(), ['', 'ECONNRESET']],
  ])('tells of a peer that %s', async (_, answer, codes) => {
    const server = createServer((plain) => {
      plain.on('error', () => undefined);
      plain.once('data', () => answer(plain));
      plain.write(GREETING);
    });
    const { near, socket, network } = await dial(await listening(server));
    let outcome: { error: IoError | null } | null = null;
    const peer = { host: 'localhost', isVerified: true };
    socket.encrypt?.(network.tls.context(settingsOf(null)), peer, (error) => (outcome = { error }));
    const { error } = await until<{ error: IoError | null } | null>(() => outcome, 'the failure');
    expect(codes).toContain(error?.code ?? '');
    socket.destroy();
    await until(() => near.count('closed') === 1, 'the end');
  });
});
