/**
 * nats-server#8388, #8308: /varz went on showing limits of JetStream, and remotes of leaf links, that a reload had
 * changed.
 */
import { expect, test } from 'vitest';
import { reload } from '../helpers/config-reload.ts';
import { describeTargets, page, serve } from '../helpers/describe-targets.ts';

interface Varz {
  readonly max_payload: number;
  readonly jetstream: { readonly config: { readonly max_memory: number; readonly max_storage: number } };
  readonly leaf: { readonly remotes?: readonly { readonly urls: readonly string[] }[] };
}

function config(more: string): string {
  return `http: "127.0.0.1:-1"\n${more}`;
}

function jetstream(memory: string, file: string): string {
  return `jetstream { store_dir: "./store", max_mem: ${memory}, max_file: ${file} }\n`;
}

function remotes(...ports: readonly number[]): string {
  const entries = ports.map((port) => `{ url: "nats://127.0.0.1:${port}" }`);
  return `leafnodes { reconnect: "1m", remotes: [ ${entries.join(', ')} ] }\n`;
}

describeTargets('/varz after a reload', (target) => {
  test('shows the limits of JetStream that hold now', async () => {
    const server = await serve(target, config(jetstream('5MB', '10MB')));
    expect(await reload(server, config(jetstream('6MB', '20MB')))).toMatch(/^Reloaded/);
    const { jetstream: shown } = (await page(server, '/varz')).body as Varz;
    expect(shown.config.max_memory).toBe(6 * 1024 * 1024);
    expect(shown.config.max_storage).toBe(20 * 1024 * 1024);
  });

  test('shows the remotes that there are now', async () => {
    const server = await serve(target, config(remotes(1, 2)));
    const shown = async (): Promise<string[]> => {
      const { leaf } = (await page(server, '/varz')).body as Varz;
      return (leaf.remotes ?? []).map(({ urls }) => urls.join());
    };
    expect(await shown()).toEqual(['127.0.0.1:1', '127.0.0.1:2']);
    expect(await reload(server, config(remotes(2, 3)))).toMatch(/^Reloaded/);
    expect((await shown()).toSorted()).toEqual(['127.0.0.1:2', '127.0.0.1:3']);
    expect(await reload(server, config(remotes()))).toMatch(/^Reloaded/);
    expect(await shown()).toEqual([]);
  });
});
