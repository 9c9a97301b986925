/**
 * How better-sqlite3 finds its addon inside the bundle: it does not. Its own way looks for a file beside itself in
 * node_modules, which a single executable does not have and must not touch; in the bundle that module is replaced by
 * one that only takes an addon already loaded (`nativeBinding`, from server/io/native-addon.ts).
 */

const replacement = `
exports.getBinding = (nativeBinding) => {
  if (typeof nativeBinding === 'object' && nativeBinding !== null) return nativeBinding;
  throw new TypeError('better-sqlite3 needs its loaded addon as the option "nativeBinding" here');
};
`;

/** @type {import('esbuild').Plugin} */
export const embeddedBinding = {
  name: 'embedded-binding',
  setup(build) {
    build.onLoad({ filter: /[\\/]better-sqlite3[\\/]lib[\\/]binding\.js$/ }, () => ({
      contents: replacement,
      loader: 'js',
    }));
  },
};
