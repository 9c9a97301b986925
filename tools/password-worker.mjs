/**
 * How the built binary starts the thread that compares passwords: a thread starts from a file or from text, and beside a
 * single executable there is no file. So the module that starts it is replaced by one that holds the thread's program.
 */

/** @type {import('esbuild').Plugin} */
export const embeddedWorker = {
  name: 'embedded-worker',
  setup(build) {
    build.onLoad({ filter: /[\\/]io[\\/]password-worker-start\.ts$/ }, async ({ path }) => {
      const program = await build.esbuild.build({
        entryPoints: [path.replace('-start.ts', '.mjs')],
        bundle: true,
        write: false,
        platform: 'node',
        format: 'cjs',
        target: 'node24',
        minify: true,
        legalComments: 'none',
        logLevel: 'warning',
      });
      const text = JSON.stringify(program.outputFiles[0].text);
      return {
        contents: `import { Worker } from 'node:worker_threads';
          export const startPasswordWorker = () => new Worker(${text}, { eval: true });`,
        loader: 'js',
      };
    });
  },
};
