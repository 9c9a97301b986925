/**
 * Modules of the runtime that the built binary loads when something of theirs is first asked for. A start needs none of
 * them, and together they take as long as everything else that petiole does until its ports are open (node:crypto brings
 * streams and ciphers along, node:child_process brings sockets).
 *
 * In the bundle each is replaced by an object of getters; the bundler reads an imported name where it is used, so the
 * code that imports need not know. What a start hashes, names and its config file, it hashes with @noble/hashes.
 */

const lazyModules = ['node:crypto', 'node:child_process', 'node:worker_threads'];

const namespace = 'lazy-builtin';

/** @type {import('esbuild').Plugin} */
export const lazyBuiltins = {
  name: 'lazy-builtins',
  setup(build) {
    const filter = new RegExp(`^(${lazyModules.join('|')})$`);
    build.onResolve({ filter }, ({ path, namespace: importer }) =>
      importer === namespace ? { path, external: true } : { path, namespace },
    );
    build.onLoad({ filter: /^/, namespace }, async ({ path }) => {
      const names = Object.keys(await import(path)).filter((name) => name !== 'default');
      const getters = names.map((name) => `get ${name}() { return load().${name}; }`);
      return {
        contents: `const load = () => require(${JSON.stringify(path)});
          module.exports = { ${getters.join(',\n')} };`,
        loader: 'js',
      };
    });
  },
};
