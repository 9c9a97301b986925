/**
 * `npm run build`: makes the one file that petiole is distributed as.
 *
 *     server/main.ts … ──esbuild──► petiole.cjs ──┐
 *     better-sqlite3's addon for this platform ───┴─► blob ──┐
 *     Node 24 ──strip──────────────────────────────────────── ┴─► dist/petiole ◄── dist/nats-server (link)
 *
 * The bundle keeps the names of functions and is broken into short lines, so that a stack trace can be read. The blob
 * is made by the very Node it is put into; another version would refuse it.
 *
 * The same inputs give the same bytes. Bundling takes a moment and happens each time; the rest is skipped when the
 * bundle, the addon, the runtime and the tools are those of the binary that is there. A new binary replaces the old
 * one by a rename: one that is running, or a build beside this one, is not disturbed.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';

import { stripElf } from './elf-strip.mjs';
import { describe, install, root, runtime } from './workspace.mjs';

const usage = `Usage: npm run build -- [options]
    --out DIR        Folder for the result (default: dist)
    --entry FILE     What to bundle (default: server/main.ts)
    --define K=V     Replace the global name K by the expression V; may be repeated
    --bundle-only    Write petiole.cjs and stop
`;

/**
 * Flags of the runtime inside the binary. A small young generation keeps the resident set down under load, and so does a
 * middle compiler (Maglev) that copies little of what a function calls into it: 8 to 20 MB less with the same CPU time.
 * The best compiler (TurboFan) takes long, on processors that clients want too: it waits for functions that are called very
 * often. Publishing 20,000 messages one after the other costs a tenth to a quarter less CPU time with that.
 * One V8 helper thread is enough for a program whose work is I/O; the collector is exposed so that the pages of a burst can be
 * given back. Not `--disable-sigusr1`: it blocks the signal, and with it the reopening of the log.
 */
const runtimeFlags = [
  '--max-semi-space-size=1',
  '--max-maglev-inlined-bytecode-size=60',
  '--max-maglev-inlined-bytecode-size-cumulative=60',
  '--invocation-count-for-turbofan=20000',
  '--v8-pool-size=1',
  '--expose-gc',
];

/** Where Node looks for the blob; its own name for it. */
const blobName = 'NODE_SEA_BLOB';
const blobFuse = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';

const postject = join(root, 'node_modules', 'postject', 'dist', 'cli.js');

const toolFiles = ['build.mjs', 'elf-strip.mjs', 'lazy-builtins.mjs', 'password-worker.mjs', 'sqlite-binding.mjs'].map(
  (name) => join(root, 'tools', name),
);

try {
  await main();
} catch (error) {
  process.stderr.write(`Build failed: ${describe(error)}\n`);
  process.exitCode = 1;
}

async function main() {
  const options = readOptions();
  install();
  mkdirSync(options.out, { recursive: true });
  const bundlePath = join(options.out, 'petiole.cjs');
  const binaryPath = join(options.out, 'petiole');

  const bundle = await bundleFrom(options);
  const changed = replaceIfDifferent(bundlePath, bundle);
  report(bundlePath, changed ? '' : ' (unchanged)');
  if (options.bundleOnly) return;

  const base = runtime();
  const addon = addonOf(base);
  const inputs = digestOf([
    bundle,
    readFileSync(addon),
    identityOf(base),
    ...toolFiles.map((file) => readFileSync(file)),
  ]);
  if (isBuiltFrom(inputs, options.out)) {
    report(binaryPath, ' (unchanged)');
    return;
  }
  assemble({ bundle, binaryPath, base, addon, inputs, out: options.out });
  report(binaryPath, '');
}

function readOptions() {
  const { values } = parseArgs({
    options: {
      out: { type: 'string', default: join(root, 'dist') },
      entry: { type: 'string', default: join(root, 'server', 'main.ts') },
      define: { type: 'string', multiple: true, default: [] },
      'bundle-only': { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(usage);
    process.exit(0);
  }
  const defines = values.define.map((text) => {
    const at = text.indexOf('=');
    if (at < 1) throw new Error(`--define wants NAME=VALUE, not "${text}"`);
    return [text.slice(0, at), text.slice(at + 1)];
  });
  return {
    out: resolve(values.out),
    entry: resolve(values.entry),
    defines: Object.fromEntries(defines),
    bundleOnly: values['bundle-only'],
  };
}

/** The bytes of the bundle. Any warning of the bundler fails the build. */
async function bundleFrom({ entry, defines }) {
  const { build } = await import('esbuild');
  const { embeddedBinding } = await import('./sqlite-binding.mjs');
  const { embeddedWorker } = await import('./password-worker.mjs');
  const { lazyBuiltins } = await import('./lazy-builtins.mjs');
  const result = await build({
    absWorkingDir: root,
    entryPoints: [entry],
    bundle: true,
    write: false,
    outfile: 'petiole.cjs',
    platform: 'node',
    format: 'cjs',
    target: 'node24',
    minifyWhitespace: true,
    minifySyntax: true,
    lineLimit: 120,
    legalComments: 'none',
    // A bundle in the older module format has no import.meta; these are the same things in its terms.
    banner: { js: 'const bundleUrl=require("node:url").pathToFileURL(__filename).href;' },
    define: {
      'import.meta.url': 'bundleUrl',
      'import.meta.filename': '__filename',
      'import.meta.dirname': '__dirname',
      // Whether the commit log waits for the device. Only a test builds one that does not, and expects it to be caught.
      __PETIOLE_SYNC__: 'true',
      ...defines,
    },
    plugins: [embeddedBinding, embeddedWorker, lazyBuiltins],
    logLevel: 'warning',
  });
  if (result.warnings.length > 0) throw new Error(`the bundler gave ${result.warnings.length} warnings`);
  return Buffer.from(result.outputFiles[0].contents);
}

/** The file of better-sqlite3's addon that fits the runtime; better-sqlite3 itself knows which. */
function addonOf(base) {
  const binding = join(root, 'node_modules', 'better-sqlite3', 'lib', 'binding.js');
  const path = run(base, ['-p', `require(${JSON.stringify(binding)}).getPrebuildPath()`]).trim();
  if (path === 'null') throw new Error(`better-sqlite3 has no addon for ${process.platform} on ${process.arch}`);
  return path;
}

/** Blob and runtime become one executable, under a temporary name until it is whole. */
function assemble({ bundle, binaryPath, base, addon, inputs, out }) {
  const folder = mkdtempSync(join(out, '.build-'));
  try {
    const blob = makeBlob({ bundle, base, addon, folder });
    const executable = join(folder, 'petiole');
    const node = readFileSync(base);
    writeFileSync(executable, process.platform === 'linux' ? stripElf(node) : node, { mode: 0o755 });
    // As a process of its own: it remarks on section names that an executable need not have.
    run(base, [postject, executable, blobName, blob, '--sentinel-fuse', blobFuse]);

    const finished = copyInPieces(executable, join(folder, 'finished'));
    const { ino, mtimeMs, size } = statSync(finished);
    renameSync(finished, binaryPath);
    writeFileSync(join(folder, 'stamp'), JSON.stringify({ inputs, ino, mtimeMs, size }));
    renameSync(join(folder, 'stamp'), stampPath(out));
    link(binaryPath, join(out, 'nats-server'), folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Copies a program as a download or an archive would write it. Written in one piece it would lie in the page cache in
 * pieces of megabytes, and a process that runs it would be charged for whole ones where it touches a page.
 */
function copyInPieces(from, to) {
  const source = openSync(from, 'r');
  const target = openSync(to, 'w', 0o755);
  const piece = Buffer.alloc(64 * 1024);
  for (let read = readSync(source, piece); read > 0; read = readSync(source, piece)) writeSync(target, piece, 0, read);
  closeSync(source);
  closeSync(target);
  return to;
}

/** The path of the blob: the bundle, its compiled form, the addon with its digest, and the flags. */
function makeBlob({ bundle, base, addon, folder }) {
  const config = {
    // Relative, because stack traces show this name and the blob keeps it: it must not depend on the folder.
    main: 'petiole.cjs',
    output: 'blob',
    disableExperimentalSEAWarning: true,
    // Start-up is a few milliseconds shorter with it; on other processors it was not measured.
    useCodeCache: process.arch === 'x64',
    execArgv: runtimeFlags,
    // A daemon's flags are its own: NODE_OPTIONS is for whoever starts Node by that name.
    execArgvExtension: 'none',
    assets: { 'better-sqlite3.node': addon, 'better-sqlite3.sha256': 'addon.sha256' },
  };
  writeFileSync(join(folder, config.main), bundle);
  writeFileSync(join(folder, 'addon.sha256'), createHash('sha256').update(readFileSync(addon)).digest('hex'));
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
  // V8 rejects a code cache made under other flags than it runs with. The seed makes the cache the same each time.
  run(base, [...runtimeFlags, '--random-seed=1', '--experimental-sea-config', 'config.json'], folder);
  return join(folder, config.output);
}

/** `path` leads to the binary, replacing what was there. */
function link(binaryPath, path, folder) {
  const temporary = join(folder, 'link');
  symlinkSync(relative(join(path, '..'), binaryPath), temporary);
  renameSync(temporary, path);
}

/** True when the binary in `out` was made from these inputs and is still the file that was made. */
function isBuiltFrom(inputs, out) {
  try {
    const stamp = JSON.parse(readFileSync(stampPath(out), 'utf8'));
    const { ino, mtimeMs, size } = statSync(join(out, 'nats-server'));
    return stamp.inputs === inputs && stamp.ino === ino && stamp.mtimeMs === mtimeMs && stamp.size === size;
  } catch (error) {
    if (error.code === 'ENOENT') return false;
    throw error;
  }
}

function stampPath(out) {
  return join(out, '.petiole-build.json');
}

/** Hashing 120 MB on each start would cost more than it is worth: npm has checked the runtime when it installed it. */
function identityOf(base) {
  const { mtimeMs, size } = statSync(base);
  return `${base} ${mtimeMs} ${size}`;
}

function digestOf(parts) {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${part.length}:`).update(part);
  return hash.digest('hex');
}

/** Writes the file unless it has these bytes already; true when it wrote. */
function replaceIfDifferent(path, bytes) {
  try {
    if (readFileSync(path).equals(bytes)) return false;
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
  const temporary = `${path}.${process.pid}`;
  writeFileSync(temporary, bytes);
  renameSync(temporary, path);
  return true;
}

function run(command, args, cwd = root) {
  // Not the caller's NODE_OPTIONS: they could change what is made.
  const env = { ...process.env, NODE_OPTIONS: '' };
  const result = spawnSync(command, args, { cwd, env, encoding: 'utf8' });
  if (result.error) throw new Error(`${command} could not be started`, { cause: result.error });
  if (result.status !== 0) throw new Error(`${command} ${args.join(' ')} failed:\n${result.stdout}${result.stderr}`);
  return result.stdout;
}

function report(path, remark) {
  const { size } = statSync(path);
  const text = size < 1e6 ? `${(size / 1e3).toFixed(1)} kB` : `${(size / 1e6).toFixed(1)} MB`;
  process.stdout.write(`${relative(process.cwd(), path)}: ${text}${remark}\n`);
}
