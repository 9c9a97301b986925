/** Sizes as the log shows them to people. */

/** `17.66 GB`, in powers of 1024 as nats-server shows them. */
export function friendlyBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  let value = bytes;
  let unit = -1;
  while (value >= 1024 && unit < 5) {
    value /= 1024;
    unit++;
  }
  return `${value.toFixed(2)} ${'KMGTPE'[unit]}B`;
}
