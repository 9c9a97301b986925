/**
 * What a link logs in with besides a name and a password: a key, or a file with a JWT and a key, each with a signature
 * of the hub's nonce.
 *
 *     -----BEGIN NATS USER JWT-----        the JWT is passed on as it is: whether it is right is for the hub to say
 *     eyJ0eXAi…
 *     ------END NATS USER JWT------
 *     -----BEGIN USER NKEY SEED-----
 *     SUAK…
 *     ------END USER NKEY SEED------
 *
 * The file is read for each login, so that it can be replaced at any time, and once before the first dial, so that a
 * mistake is told while no hub can be reached. Bounds: FILE_BYTES_MAX of it. What it holds
 * is kept no longer than the signature takes, and never told to the log.
 */

import { Buffer } from 'node:buffer';
import { createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { fileErrorText } from '../server/config/file-error.ts';
import type { Disk, FileHandle, IoError } from '../server/io/io.ts';
import { goQuote } from '../server/protocol/go-quote.ts';
import { decodeSeed, encodeNkey } from '../server/protocol/nkey.ts';

const FILE_BYTES_MAX = 65_536;
/** What stands before the 32 bytes of an Ed25519 seed in DER. */
const ED25519_DER = Buffer.from('302e020100300506032b657004220420', 'hex');
const KEY_BYTES = 32;
/** A text between two lines of dashes. */
const SECTION = /-{3,}[^\n]*-{3,}\r?\n([\w\-.=]+)\r?\n-{3,}[^\n]*-{3,}(?:\r?\n|$)/g;

/** What CONNECT tells of it. */
export interface SignedLogin {
  readonly nkey?: string;
  readonly jwt?: string;
  /** Base 64 for URLs. */
  readonly sig: string;
}

/** The login with the user's key. `seed` has been checked. */
export function keyLogin(seed: string, nonce: string): SignedLogin | string {
  const bytes = decodeSeed(seed)?.bytes;
  if (bytes === undefined) return 'Remote nkey has malformed seed';
  const publicKey = createPublicKey(privateKeyOf(bytes)).export({ type: 'spki', format: 'der' });
  return { nkey: encodeNkey('user', publicKey.subarray(-KEY_BYTES)), sig: signature(bytes, nonce) };
}

/** The login with what a file holds; `done` hears of it, or in words why there is none. */
export function fileLogin(disk: Disk, path: string, nonce: string, done: (login: SignedLogin | string) => void): void {
  readCredentials(disk, path, (found) => {
    done(typeof found === 'string' ? found : { jwt: found.jwt, sig: signature(found.seed, nonce) });
  });
}

/** `done` hears in words why nobody can log in with the file; `null`: somebody may. */
export function checkCredentials(disk: Disk, path: string, done: (fault: string | null) => void): void {
  readCredentials(disk, path, (found) => done(typeof found === 'string' ? found : null));
}

interface Credentials {
  readonly jwt: string;
  readonly seed: Buffer;
}

function readCredentials(disk: Disk, path: string, done: (found: Credentials | string) => void): void {
  const what = `LeafNode Remote Credentials file ${goQuote(path)}`;
  readFile(disk, path, (error, content) => {
    if (error !== null) {
      done(`Error reading ${what}: ${fileErrorText(path, error)}`);
      return;
    }
    const [jwt, seedText] = Array.from(content.toString('latin1').matchAll(SECTION), ([, text = '']) => text);
    content.fill(0);
    const seed = seedText === undefined ? null : decodeSeed(seedText);
    if (jwt === undefined || seedText === undefined) done(`${what} malformed`);
    else done(seed === null ? `${what} has malformed seed` : { jwt, seed: seed.bytes });
  });
}

function privateKeyOf(seed: Buffer): ReturnType<typeof createPrivateKey> {
  return createPrivateKey({ key: Buffer.concat([ED25519_DER, seed]), format: 'der', type: 'pkcs8' });
}

function signature(seed: Buffer, nonce: string): string {
  return sign(null, Buffer.from(nonce, 'utf8'), privateKeyOf(seed)).toString('base64url');
}

function readFile(disk: Disk, path: string, done: (error: IoError | null, content: Buffer) => void): void {
  const content = Buffer.alloc(FILE_BYTES_MAX);
  disk.open(path, 'read', (error, file) => {
    if (error !== null || file === null) done(error, content);
    else readAll(file, content, 0, (failure, bytes) => file.close(() => done(failure, content.subarray(0, bytes))));
  });
}

function readAll(
  file: FileHandle,
  into: Buffer,
  at: number,
  done: (error: IoError | null, bytes: number) => void,
): void {
  file.read(into, at, into.length - at, at, (error, bytes) => {
    if (error !== null || bytes === 0 || at + bytes === into.length) done(error, at + bytes);
    else readAll(file, into, at + bytes, done);
  });
}
