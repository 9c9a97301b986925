/**
 * An authority made for one test, and certificates that it vouches for, as files in PEM. Made with the `openssl` program,
 * which every machine of ours has.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const CURVE: readonly string[] = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

export interface CertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
  readonly certificate: string;
  readonly key: string;
}

export class TestAuthority {
  readonly file: string;
  readonly certificate: string;
  readonly #directory: string;

  constructor(directory: string, name = 'ca') {
    this.#directory = directory;
    this.file = join(directory, `${name}.pem`);
    const key = join(directory, `${name}.key`);
    openssl(['req', '-x509', ...CURVE, '-keyout', key, '-out', this.file, '-days', '30', '-subj', `/CN=${name}`]);
    this.certificate = readFileSync(this.file, 'utf8');
  }

  /** `subject` as in `/O=petiole/CN=joe`, `names` as in `DNS:localhost,IP:127.0.0.1`. */
  issue(name: string, subject: string, names: string): CertificateFiles {
    const path = (ending: string): string => join(this.#directory, `${name}.${ending}`);
    const [certFile, keyFile] = [path('pem'), path('key')];
    openssl(['req', ...CURVE, '-keyout', keyFile, '-out', path('csr'), '-subj', subject]);
    writeFileSync(path('ext'), `subjectAltName=${names}\n`);
    const signer = ['-CA', this.file, '-CAkey', this.file.replace(/pem$/, 'key'), '-CAcreateserial'];
    openssl(['x509', '-req', '-in', path('csr'), ...signer, '-days', '30', '-out', certFile, '-extfile', path('ext')]);
    return { certFile, keyFile, certificate: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') };
  }

  /** The usual one of a server on this machine. */
  issueServer(name = 'server'): CertificateFiles {
    return this.issue(name, '/CN=localhost', 'DNS:localhost,IP:127.0.0.1');
  }
}

function openssl(args: readonly string[]): void {
  execFileSync('openssl', args, { stdio: 'pipe' });
}
