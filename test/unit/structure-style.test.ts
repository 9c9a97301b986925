/** How files are named, how long they may grow, and that each says at its top what it owns. */
import { describe, expect, it } from 'vitest';
import { productFolders, readSources, type Sources } from './structure-sources.ts';

/** Above this a file is asked which second noun is hiding in it. */
const LINES_MAX = 400;

/** Files that have an answer, each with it. */
const longFiles: ReadonlyMap<string, string> = new Map<string, string>();

/** Words that say nothing about what a file owns. */
const emptyWords = ['util', 'utils', 'helper', 'helpers', 'common', 'manager', 'misc'];

/** A sentence; less than that says nothing that the name did not. */
const HEAD_CHARACTERS_MIN = 25;

describe('the files of the product', () => {
  const sources = readSources(productFolders);

  it('are named after a noun', () => {
    expect(sources.size).toBeGreaterThan(0);
    expect(emptyNames(sources)).toEqual([]);
  });

  it(`have at most ${LINES_MAX} lines, or are listed with the reason`, () => {
    expect(lengthViolations(sources, longFiles)).toEqual([]);
  });

  it('say at their top what they own', () => {
    expect(headless(sources)).toEqual([]);
  });
});

describe('all source files', () => {
  it('have names in kebab case', () => {
    expect(unkebab(readSources([...productFolders, 'test', 'tools']))).toEqual([]);
  });
});

describe('the rules of style', () => {
  it.each(['server/io/disk-utils.ts', 'server/common/clock.ts', 'server/helpers.ts', 'jetstream/stream/manager.ts'])(
    'find the empty name %s',
    (path) => {
      expect(emptyNames(new Map([[path, '']]))).toHaveLength(1);
    },
  );

  it('do not find an empty word inside another', () => {
    expect(emptyNames(new Map([['server/io/utility-meter.ts', '']]))).toEqual([]);
  });

  it.each(['server/io/realDisk.ts', 'server/io/real_disk.ts', 'server/IO/disk.ts', 'test/unit/Sublist.test.ts'])(
    'find that %s is not in kebab case',
    (path) => {
      expect(unkebab(new Map([[path, '']]))).toHaveLength(1);
    },
  );

  it('find a long file, and a reason that is no longer needed', () => {
    const sources = new Map([
      ['server/io/long.ts', 'line\n'.repeat(401)],
      ['server/io/just.ts', 'line\n'.repeat(400)],
      ['server/io/known.ts', 'line\n'.repeat(500)],
    ]);
    const reasons = new Map([
      ['server/io/known.ts', 'a state switch'],
      ['server/io/just.ts', 'it was long once'],
    ]);
    expect(lengthViolations(sources, reasons)).toEqual([
      'server/io/long.ts has 401 lines: which second noun is hiding in it?',
      'server/io/just.ts is listed as long and is not',
    ]);
  });

  it.each([
    ['no comment', "import { a } from './a.ts';\n/** A long comment, but about something further down. */"],
    ['a mere title', '/** The clock. */\nexport const a = 1;'],
    ['decoration', `/* ${'*'.repeat(80)} */\nexport const a = 1;`],
  ])('find a head that is %s', (_, source) => {
    expect(headless(new Map([['server/io/a.ts', source]]))).toHaveLength(1);
  });

  it.each([
    ['a block', '/**\n * The clock of the host: wall time and monotonic time.\n */\nexport const a = 1;'],
    ['lines', '// The clock of the host:\n// wall time and monotonic time.\nexport const a = 1;'],
  ])('accept a head written as %s', (_, source) => {
    expect(headless(new Map([['server/io/a.ts', source]]))).toEqual([]);
  });
});

function emptyNames(sources: Sources): string[] {
  return [...sources.keys()]
    .filter((path) => path.split(/[/.-]/).some((word) => emptyWords.includes(word)))
    .map((path) => `${path}: a file or folder is named after what it owns, not ${emptyWords.join(', ')}`);
}

function unkebab(sources: Sources): string[] {
  const kebab = /^(?:[a-z0-9]+(?:-[a-z0-9]+)*\/)*[a-z0-9]+(?:-[a-z0-9]+)*(?:\.test|\.d)?\.(?:ts|mjs)$/;
  return [...sources.keys()].filter((path) => !kebab.test(path)).map((path) => `${path} is not in kebab case`);
}

function lengthViolations(sources: Sources, reasons: ReadonlyMap<string, string>): string[] {
  const linesOf = (path: string): number => (sources.get(path) ?? '').split('\n').length - 1;
  const long = [...sources.keys()].filter((path) => linesOf(path) > LINES_MAX);
  return [
    ...long
      .filter((path) => !reasons.has(path))
      .map((path) => `${path} has ${linesOf(path)} lines: which second noun is hiding in it?`),
    ...[...reasons.keys()].filter((path) => !long.includes(path)).map((path) => `${path} is listed as long and is not`),
  ];
}

function headless(sources: Sources): string[] {
  return [...sources]
    .filter(([, source]) => headOf(source).length < HEAD_CHARACTERS_MIN)
    .map(([path]) => `${path} does not begin with a comment that says what it owns`);
}

/** The words of the comment that a file begins with. */
function headOf(source: string): string {
  const comment = /^\s*(?:\/\*.*?\*\/|(?:\/\/[^\n]*\n)+)/s.exec(source)?.[0] ?? '';
  return comment.replaceAll(/[^\p{L}\p{N} ]/gu, '').trim();
}
