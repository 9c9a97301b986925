/** Passwords and tokens, and hashes in their place. */

/** Whether it is a bcrypt hash and not a password. */
export function isPasswordHash(text: string): boolean {
  return /^\$2[abxy]\$\d{2}\$/.test(text);
}
