/**
 * The JSON that a client sends with CONNECT, read as nats-server's decoder reads it: keys in any case, unknown keys
 * ignored, a value of the wrong type refuses the whole. Absent booleans `verbose`, `pedantic` and `echo` are true.
 */

export interface ConnectOptions {
  verbose: boolean;
  pedantic: boolean;
  echo: boolean;
  headers: boolean;
  noResponders: boolean;
  tlsRequired: boolean;
  protocol: number;
  user: string;
  pass: string;
  authToken: string;
  nkey: string;
  jwt: string;
  sig: string;
  name: string;
  lang: string;
  version: string;
  account: string;
  newAccount: boolean;
}

type Kind = 'boolean' | 'string' | 'integer';

const FIELDS: ReadonlyMap<string, { readonly to: keyof ConnectOptions; readonly kind: Kind }> = new Map([
  ['verbose', { to: 'verbose', kind: 'boolean' }],
  ['pedantic', { to: 'pedantic', kind: 'boolean' }],
  ['echo', { to: 'echo', kind: 'boolean' }],
  ['headers', { to: 'headers', kind: 'boolean' }],
  ['no_responders', { to: 'noResponders', kind: 'boolean' }],
  ['tls_required', { to: 'tlsRequired', kind: 'boolean' }],
  ['protocol', { to: 'protocol', kind: 'integer' }],
  ['user', { to: 'user', kind: 'string' }],
  ['pass', { to: 'pass', kind: 'string' }],
  ['auth_token', { to: 'authToken', kind: 'string' }],
  ['nkey', { to: 'nkey', kind: 'string' }],
  ['jwt', { to: 'jwt', kind: 'string' }],
  ['sig', { to: 'sig', kind: 'string' }],
  ['name', { to: 'name', kind: 'string' }],
  ['lang', { to: 'lang', kind: 'string' }],
  ['version', { to: 'version', kind: 'string' }],
  ['account', { to: 'account', kind: 'string' }],
  ['new_account', { to: 'newAccount', kind: 'boolean' }],
]);

export function defaultConnectOptions(): ConnectOptions {
  return {
    verbose: true,
    pedantic: true,
    echo: true,
    headers: false,
    noResponders: false,
    tlsRequired: false,
    protocol: 0,
    user: '',
    pass: '',
    authToken: '',
    nkey: '',
    jwt: '',
    sig: '',
    name: '',
    lang: '',
    version: '',
    account: '',
    newAccount: false,
  };
}

/** Takes the values of `json` over into `options`; a string says what is wrong with it. */
export function readConnect(json: string, options: ConnectOptions): string | null {
  let parsed: unknown;
  try {
    parsed = JSON.parse(json);
  } catch {
    // What the error says may quote the text, and that holds passwords.
    return 'CONNECT is no JSON';
  }
  if (parsed === null) return null;
  if (typeof parsed !== 'object' || Array.isArray(parsed)) return 'CONNECT takes a JSON object';
  for (const [key, value] of Object.entries(parsed)) {
    const field = FIELDS.get(key) ?? FIELDS.get(key.toLowerCase());
    if (field === undefined || value === null) continue;
    if (!isOfKind(value, field.kind)) return `CONNECT field ${key} is not a ${field.kind}`;
    Object.assign(options, { [field.to]: value });
  }
  return null;
}

function isOfKind(value: unknown, kind: Kind): boolean {
  return kind === 'integer' ? Number.isSafeInteger(value) : typeof value === kind;
}
