/** The project's own source files as the structure tests see them: path from the root, with slashes, and text. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';

const root = join(import.meta.dirname, '../..');

export type Sources = ReadonlyMap<string, string>;

/** What runs in production: the folders that the daemon is made of. */
export const productFolders: readonly string[] = ['server', 'leafnode', 'jetstream'];

/** All source files below these folders of the project. A folder that does not exist has none. */
export function readSources(folders: readonly string[]): Sources {
  const paths = folders.flatMap((folder) => filesBelow(join(root, folder)));
  const sources = paths.filter((path) => /\.(?:ts|mjs)$/.test(path));
  return new Map(sources.map((path) => [relative(root, path).split(sep).join('/'), readFileSync(path, 'utf8')]));
}

function filesBelow(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}
