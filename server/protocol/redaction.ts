/** What a trace does not show: passwords, tokens and signatures, wherever they stand in a line. */

const SECRETS: readonly RegExp[] = [
  /"?[\t\n\f\r ]*(?:auth_token|pass)[^\t\n\f\r ]*?"?[\t\n\f\r ]*[:=][\t\n\f\r ]*"?([^",\r\n}]*)/g,
  /(?:^|[^A-Za-z0-9_])"?[\t\n\f\r ]*(?:proxy_sig|nkey|sig)"?[\t\n\f\r ]*[:=][\t\n\f\r ]*"?([^",\r\n}]*)/g,
];

/** The line with `[REDACTED]` in the place of each secret, as nats-server shows it. */
export function redact(line: string): string {
  let shown = line;
  for (const secret of SECRETS) {
    shown = shown.replace(secret, (found: string, value: string) => {
      return `${found.slice(0, found.length - value.length)}[REDACTED]`;
    });
  }
  return shown;
}
