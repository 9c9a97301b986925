/** How long the certificate is good that the server shows. */

import { X509Certificate } from 'node:crypto';
import type { TlsOptions } from '../config/transport-options.ts';
import { momentText } from './time-text.ts';

/** The moment, as text, of the first of several; undefined where nothing is encrypted. */
export function validUntil(tls: TlsOptions | null): string | undefined {
  const [first] = tls?.certificates ?? [];
  return first === undefined ? undefined : momentText(new X509Certificate(first.certificate).validToDate.getTime());
}
