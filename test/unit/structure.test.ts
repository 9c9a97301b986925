/**
 * Imports go downward only. The table below is the house: a room may import from rows below its own and from itself.
 * Whatever two rooms of one row, or a lower and a higher one, need from each other stands in server/ports.ts.
 */
import { dirname, posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { productFolders, readSources, type Sources } from './structure-sources.ts';

interface Row {
  /** Folders, or single files that are a room of their own; the longest name that fits a file is its room. */
  readonly rooms: readonly string[];
  /** Pure rooms may import each other, and of Node only what computes. */
  readonly pure?: true;
}

/** How records and frames are written and checked; the log of the store and that of Raft both need it. */
const recordCodec: readonly string[] = ['frame', 'record', 'integers', 'crc32'].map(
  (file) => `jetstream/store/${file}.ts`,
);

/** From the top down. */
const rows: readonly Row[] = [
  { rooms: ['server/entry.mjs', 'server/main.ts'] },
  { rooms: ['server/index.ts'] },
  { rooms: ['server/embedding.ts'] },
  { rooms: ['server/server.ts'] },
  { rooms: ['server/jetstream-slot.ts'] },
  { rooms: ['server/rooms.ts'] },
  { rooms: ['server/jetstream-start.ts', 'server/leaf-door.ts', 'server/websocket-door.ts'] },
  { rooms: ['server/reload.ts'] },
  { rooms: ['server/announcement.ts'] },
  { rooms: ['server/start-error.ts'] },
  { rooms: ['server/lame-duck.ts', 'server/start-lines.ts', 'server/leaf-site-of.ts'] },
  { rooms: ['server/system'] },
  { rooms: ['server/monitor'] },
  { rooms: ['jetstream/cluster', 'jetstream/spool'] },
  { rooms: ['jetstream/api'] },
  { rooms: ['jetstream/mirror'] },
  { rooms: ['jetstream/stream', 'jetstream/consumer', 'jetstream/raft/host.ts'] },
  {
    rooms: ['server/auth', 'server/route', 'leafnode', 'jetstream/store', 'jetstream/advisories.ts'],
  },
  { rooms: ['server/websocket'] },
  { rooms: ['server/connection'] },
  { rooms: ['server/account'] },
  { rooms: ['server/config'] },
  { rooms: ['server/io'] },
  { rooms: ['jetstream/raft', 'jetstream/errors.ts', 'leafnode/s2', ...recordCodec], pure: true },
  { rooms: ['server/subject', 'server/protocol', 'server/ports.ts'], pure: true },
];

/** What pure rooms may take from Node: modules, with the names for which alone they are allowed. */
const pureBuiltins: ReadonlyMap<string, readonly string[] | 'everything'> = new Map<string, string[] | 'everything'>([
  ['node:buffer', 'everything'],
  ['node:assert', 'everything'],
  ['node:zlib', ['crc32']],
]);

/** Packages of others that the product is built from, and the only rooms that know of each. */
const packages: ReadonlyMap<string, readonly string[]> = new Map([
  ['better-sqlite3', ['jetstream/store', 'server/io']],
  ['bcryptjs', ['server/io']],
  ['@noble/hashes/sha2.js', ['jetstream/stream', 'server/auth', 'server/config']],
]);

interface Import {
  readonly specifier: string;
  readonly names: readonly string[];
  /** Gone when the program runs. */
  readonly isType: boolean;
}

interface Room {
  readonly name: string;
  readonly row: number;
  readonly isPure: boolean;
}

describe('imports between the rooms of the product', () => {
  const sources = readSources(productFolders);

  it('go downward only', () => {
    expect(sources.size).toBeGreaterThan(0);
    expect(layerViolations(sources)).toEqual([]);
  });

  it('form no cycle', () => {
    expect(cycles(sources)).toEqual([]);
  });
});

describe('the rule of the layers', () => {
  it.each<[string, string, string, RegExp]>([
    ['an import upward', 'server/subject/sublist.ts', "import { a } from '../io/io.ts';", /server\/io is above/],
    ['an import sideways', 'server/auth/user.ts', "import { a } from '../route/link.ts';", /beside/],
    ['a type upward', 'server/io/io.ts', "import type { A } from '../config/tree.ts';", /server\/config is above/],
    ['a re-export upward', 'server/io/io.ts', "export * from '../config/tree.ts';", /server\/config is above/],
    ['a dynamic import upward', 'server/io/io.ts', "await import('../config/tree.ts');", /server\/config is above/],
    ['many names upward', 'server/io/io.ts', "import {\n  a,\n  b,\n} from '../config/tree.ts';", /is above/],
    ['a file that is its own room', 'jetstream/raft/log.ts', "import { a } from './host.ts';", /host\.ts is above/],
    ['leafnode and jetstream', 'jetstream/api/list.ts', "import { a } from '../../leafnode/link.ts';", /never import/],
    ['a folder without a room', 'server/telemetry/push.ts', '', /no room of the table/],
    ['an import of a file without a room', 'server/io/io.ts', "import { a } from '../x/y.ts';", /no room of the table/],
    ['an import from the tests', 'server/io/io.ts', "import { a } from '../../test/helpers/until.ts';", /no room/],
    ['a module of Node in a pure room', 'server/subject/a.ts', "import { join } from 'node:path';", /pure/],
    ['too much of node:zlib', 'jetstream/raft/log.ts', "import { crc32, gzipSync } from 'node:zlib';", /pure/],
    ['all of node:zlib', 'jetstream/raft/log.ts', "import zlib from 'node:zlib';", /pure/],
    ['a package nobody agreed to', 'server/io/io.ts', "import a from 'left-pad';", /left-pad/],
    ['a package in the wrong room', 'server/auth/a.ts', "import a from 'better-sqlite3';", /jetstream\/store/],
  ])('forbids %s', (_, path, source, rule) => {
    const found = layerViolations(new Map([[path, source]]));
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(rule);
    expect(found[0]).toContain(path);
  });

  it.each([
    ['downward', 'server/connection/client.ts', "import { a } from '../account/account.ts';"],
    ['within a room', 'server/connection/client.ts', "import { a } from './kinds/leaf.ts';"],
    ['between pure rooms', 'server/protocol/parser.ts', "import { a } from '../subject/subject.ts';"],
    ['from a pure room of jetstream', 'jetstream/raft/host.ts', "import { a } from './log.ts';"],
    ['crc32 in a pure room', 'jetstream/raft/log.ts', "import { crc32 } from 'node:zlib';"],
    ['the agreed package', 'jetstream/store/catalog.ts', "import Database from 'better-sqlite3';"],
    ['words in a comment', 'server/io/io.ts', "/** see import('../config/tree.ts') */\n// import '../config/tree.ts';"],
  ])('allows imports %s', (_, path, source) => {
    expect(layerViolations(new Map([[path, source]]))).toEqual([]);
  });
});

describe('the rule against cycles', () => {
  const file = (name: string): string => `server/io/${name}.ts`;

  it('names the files of a cycle in order', () => {
    const sources = new Map([
      [file('a'), "import { b } from './b.ts';"],
      [file('b'), "import { c, type T } from './c.ts';"],
      [file('c'), "import { a } from './a.ts';"],
    ]);
    expect(cycles(sources)).toEqual([`${file('a')} → ${file('b')} → ${file('c')} → ${file('a')}`]);
  });

  it('does not count types, which are gone at run time', () => {
    const sources = new Map([
      [file('a'), "import { b } from './b.ts';"],
      [file('b'), "import type { A } from './a.ts';"],
    ]);
    expect(cycles(sources)).toEqual([]);
  });
});

/** One line per import that the table forbids: where it is, and by which rule. */
function layerViolations(sources: Sources): string[] {
  return [...sources].flatMap(([path, source]) => {
    const room = roomOf(path);
    if (room === undefined) return [`${path} is in no room of the table in test/unit/structure.test.ts`];
    return importsOf(source).flatMap((item) => {
      const reason = isRelative(item) ? forbiddenFile(room, targetOf(path, item)) : forbiddenModule(room, item);
      return reason === null ? [] : [`${path} imports '${item.specifier}': ${reason}`];
    });
  });
}

function forbiddenFile(room: Room, target: string): string | null {
  const other = roomOf(target);
  if (other === undefined) return `${target} is in no room of the table in test/unit/structure.test.ts`;
  const houses = [houseOf(room.name), houseOf(other.name)];
  if (houses.includes('leafnode') && houses.includes('jetstream'))
    return 'leafnode and jetstream never import each other';
  if (other.row > room.row || other.name === room.name) return null;
  if (other.row < room.row) return `${other.name} is above ${room.name}`;
  return other.isPure && room.isPure ? null : `${other.name} is beside ${room.name}`;
}

function forbiddenModule(room: Room, { specifier, names }: Import): string | null {
  if (!specifier.startsWith('node:')) {
    const owners = packages.get(specifier);
    if (owners === undefined) return `${specifier} is not among the packages the product is built from`;
    return owners.includes(room.name) ? null : `only ${owners.join(' and ')} know of ${specifier}`;
  }
  if (!room.isPure) return null;
  const allowed = pureBuiltins.get(specifier) ?? [];
  if (allowed === 'everything') return null;
  const isAllowed = names.length > 0 && names.every((name) => allowed.includes(name));
  return isAllowed
    ? null
    : `${room.name} is pure: of Node it takes only ${[...pureBuiltins.keys()].join(', ')} (crc32)`;
}

function roomOf(path: string): Room | undefined {
  const fitting = rows.flatMap(({ rooms, pure }, row) =>
    rooms
      .filter((name) => path === name || path.startsWith(`${name}/`))
      .map((name) => ({ name, row, isPure: pure === true })),
  );
  return fitting.sort((a, b) => b.name.length - a.name.length)[0];
}

function houseOf(room: string): string {
  return room.split('/')[0] ?? room;
}

/** The imports of a file that oxfmt has formatted. */
function importsOf(source: string): Import[] {
  const code = source.replaceAll(/\/\*.*?\*\//gs, '').replaceAll(/^\s*\/\/.*$/gm, '');
  const statements = /^(?:import|export)\s+(type\s+)?([\w$*{},\s]+?)\s+from\s+'([^']+)'/gm;
  const bare = /^import\s+'([^']+)'|\bimport\(\s*'([^']+)'/gm;
  return [
    ...Array.from(code.matchAll(statements), ([, type, names = '', specifier = '']) => ({
      specifier,
      isType: type !== undefined,
      names: namesIn(names),
    })),
    ...Array.from(code.matchAll(bare), ([, statement, call]) => ({
      specifier: statement ?? call ?? '',
      isType: false,
      names: [],
    })),
  ];
}

/** The names in `{ a, b as c }`; none for a default or a whole module. */
function namesIn(clause: string): string[] {
  const list = /^\{(.*)\}$/s.exec(clause)?.[1] ?? '';
  const parts = list.split(',').map((part) => part.trim());
  return parts.filter((part) => part !== '').map((part) => part.replace(/^type\s+/, '').split(/\s/)[0] ?? '');
}

function isRelative({ specifier }: Import): boolean {
  return specifier.startsWith('.');
}

function targetOf(path: string, { specifier }: Import): string {
  return posix.join(dirname(path), specifier);
}

/** Each cycle of imports that exist at run time, as the files along it. */
function cycles(sources: Sources): string[] {
  const found: string[] = [];
  const finished = new Set<string>();
  const visit = (path: string, trail: readonly string[]): void => {
    const at = trail.indexOf(path);
    if (at >= 0) found.push([...trail.slice(at), path].join(' → '));
    if (at >= 0 || finished.has(path)) return;
    const imports = importsOf(sources.get(path) ?? '').filter((item) => isRelative(item) && !item.isType);
    for (const item of imports) visit(targetOf(path, item), [...trail, path]);
    finished.add(path);
  };
  for (const path of sources.keys()) visit(path, []);
  return found;
}
