/** Versions as nats-server compares them. */

/** Major, minor and patch. */
export type VersionParts = readonly [number, number, number];

const NUMBER = '(0|[1-9]\\d*)';
const PRE = '(?:0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*)';
const VERSION = new RegExp(
  `^${NUMBER}\\.${NUMBER}\\.${NUMBER}(?:-${PRE}(?:\\.${PRE})*)?(?:\\+[0-9a-zA-Z-]+(?:\\.[0-9a-zA-Z-]+)*)?$`,
);
/** What a version says in earnest is shorter. */
const TEXT_CHARS_MAX = 256;

/** The numbers of a version; null if it is none. */
export function versionParts(version: string): VersionParts | null {
  if (version.length > TEXT_CHARS_MAX) return null;
  const [, major, minor, patch] = VERSION.exec(version) ?? [];
  return major === undefined ? null : [Number(major), Number(minor), Number(patch)];
}

/** Whether `version` is one, and not below `least`. */
export function isVersionAtLeast(version: string, least: VersionParts): boolean {
  const parts = versionParts(version);
  if (parts === null) return false;
  const [major, minor, patch] = parts;
  if (major !== least[0]) return major > least[0];
  return minor === least[1] ? patch >= least[2] : minor > least[1];
}
