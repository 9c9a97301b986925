/**
 * Origins of web pages, `https://host:port`, as Go's parser of URLs takes them apart: what `allowed_origins` lists, and
 * what browsers send. The port is that of the scheme where none is given.
 */

import { goQuote } from '../protocol/go-quote.ts';

export interface Origin {
  /** In lower case, as the host. */
  readonly scheme: string;
  readonly host: string;
  readonly port: string;
}

/** The parts of an origin; a string says why it is none. */
export function parseOrigin(text: string): Origin | string {
  const url = partsOf(text);
  return 'fault' in url ? `parse ${goQuote(text)}: ${url.fault}` : { scheme: url.scheme, ...hostOf(url) };
}

/** Why `text` can't be listed as an allowed origin; null if it can. */
export function allowedOriginFault(text: string): string | null {
  const url = partsOf(text);
  if ('fault' in url) return `unable to parse allowed origin: parse ${goQuote(text)}: ${url.fault}`;
  const refused = `unable to parse allowed origin ${goQuote(text)}`;
  if (url.scheme !== 'http' && url.scheme !== 'https') {
    return `${refused}: allowed origins must be absolute URLs with http or https scheme`;
  }
  return url.authority === '' ? `${refused}: host is required` : null;
}

/** Host and port of an address, the port being that of the scheme where there is none. */
export function hostOf({ scheme, authority }: Pick<UrlParts, 'scheme' | 'authority'>): Omit<Origin, 'scheme'> {
  const [, bracketed, name, port] = /^(?:\[([^\]]*)\]|([^:]*)):([^:]*)$/.exec(authority) ?? [];
  const host = (bracketed ?? name ?? authority).toLowerCase();
  return { host, port: port ?? (scheme === 'https' ? '443' : '80') };
}

interface UrlParts {
  readonly scheme: string;
  /** Host and port as they were written. */
  readonly authority: string;
}

interface UrlFault {
  readonly fault: string;
}

function partsOf(text: string): UrlParts | UrlFault {
  // oxlint-disable-next-line no-control-regex -- those are what is looked for
  if (/[\0-\x1f\x7f]/.test(text)) return { fault: 'net/url: invalid control character in URL' };
  if (text === '') return { fault: 'empty url' };
  if (text.startsWith(':')) return { fault: 'missing protocol scheme' };
  const [, scheme = '', rest = text] = /^([A-Za-z][A-Za-z0-9+.-]*):(.*)$/.exec(text) ?? [];
  if (!rest.startsWith('/')) {
    return scheme === '' ? { fault: 'invalid URI for request' } : { scheme: scheme.toLowerCase(), authority: '' };
  }
  const [, authority = ''] = scheme === '' ? [] : (/^\/\/([^/?]*)/.exec(rest) ?? []);
  const address = authority.slice(authority.lastIndexOf('@') + 1);
  const fault = addressFault(address);
  return fault === null ? { scheme: scheme.toLowerCase(), authority: address } : { fault };
}

function addressFault(address: string): string | null {
  const colon = address.startsWith('[') ? address.indexOf(']') + 1 : address.indexOf(':');
  if (address.startsWith('[') && colon === 0) return `missing ']' in host`;
  const port = colon === -1 ? '' : address.slice(colon);
  if (!/^(?::\d*)?$/.test(port)) return `invalid port ${goQuote(port)} after host`;
  const [wrong] = /[ #\\^`{|}]/.exec(address) ?? [];
  return wrong === undefined ? null : `invalid character ${goQuote(wrong)} in host name`;
}
