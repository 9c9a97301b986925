/** Paths of files as people write them: with variables of the environment, and `~` for the home directory. */

type Environment = Readonly<Record<string, string | undefined>>;

/** The path that is meant; variables without a value are empty. */
export function expandPath(path: string, environment: Environment): string {
  const expanded = path.replaceAll(/\$(?:\{(\w+)\}|(\w+))/g, (_, braced?: string, bare?: string) => {
    return environment[braced ?? bare ?? ''] ?? '';
  });
  if (!expanded.startsWith('~')) return expanded;
  return `${environment['HOME'] ?? ''}/${expanded.slice(1).replace(/^\/+/, '')}`;
}
