/** What the monitoring port says to requests that are not quite right, and how it starts, as nats-server does. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { isAbsent, natsServer, petiole, startRefused, startServer } from '../helpers/targets.ts';
import type { Target } from '../helpers/targets.ts';
import { until } from '../helpers/until.ts';
import { describeBoth, observe, type Page, settled } from './monitor-scenario.ts';

describeBoth('requests to the monitoring port', ({ natsServer, petiole }) => {
  it.each([
    '/nothing',
    '/varz/',
    '/VARZ',
    '//varz',
    '/./connz?limit=1',
    '/x/../healthz',
    '/connz?sort=x',
    '/connz?sort=CID',
    '/connz?sort=stop',
    '/connz?sort=reason&state=any',
    '/connz?sort=%22%0A%C3%BC',
    '/connz?auth=yes',
    '/connz?auth=+1',
    '/connz?subs=2',
    '/connz?subs=x&auth=x',
    '/connz?limit=1.5',
    '/connz?limit=9223372036854775808',
    '/connz?offset=-9223372036854775809',
    '/connz?offset=%C3%BC%01',
    '/connz?cid=-1',
    '/connz?cid=%2B1',
    '/connz?cid=18446744073709551616',
    '/connz?cid=1e3',
    '/connz?state=gone',
    '/connz?state=gone&sort=x',
    '/connz?state=%3Cb%3E',
    '/subsz?test=a.*',
    '/subsz?test=a..b',
    '/subsz?test=%3E&subs=1',
    '/subsz?subs=maybe',
    '/subsz?limit=ten',
    '/jsz?accounts=x',
    '/jsz?streams=x',
    '/jsz?consumers=x&accounts=1',
    '/jsz?direct-consumers=x',
    '/jsz?config=x&offset=x',
    '/jsz?offset=x&limit=x',
    '/jsz?limit=1.5&leader-only=x',
    '/jsz?leader-only=x&raft=x',
    '/jsz?raft=x&stream-leader-only=x',
    '/jsz?stream-leader-only=x',
    '/jsz?leader-only=1',
    '/routez?subs=x',
    '/routez?subs=DETAILS',
    '/gatewayz?subs=x',
    '/gatewayz?accs=2',
    '/gatewayz?subs=x&accs=x',
    '/leafz?subs=detail',
    '/leafz?subs=yes&acc=NONE',
    '/accountz?acc=NONE',
    '/accountz?acc=%3Cb%3E',
    '/accountz?acc=%C3%BC%01',
    '/accstatz?unused=x',
    '/accstatz?unused=%00',
    '/ipqueuesz?all=maybe',
    '/raftz',
    '/raftz?acc=$G&group=none',
    '/debug',
    '/debug/vars/',
    '/stacksz/',
    '/healthz?details=x',
    '/healthz?js-enabled=x',
    '/healthz?js-enabled-only=x',
    '/healthz?js-server-only=x',
    '/healthz?js-meta-only=x',
  ])('are refused alike: %s', async (path) => {
    const [theirs, ours] = await Promise.all([natsServer().page(path), petiole().page(path)]);
    expect(ours).toEqual(theirs);
    expect(ours.status).not.toBe(200);
  });

  it.each([
    '/healthz',
    '/healthz?details=1',
    '/healthz?js-enabled=1',
    '/healthz?js-enabled-only=true&details=1',
    '/healthz?js-server-only=1&js-meta-only=1',
    '/healthz?account=A&stream=S&consumer=C',
    '/healthz?stream=S',
    '/healthz?stream=S&details=1',
    '/healthz?consumer=C&account=A',
    '/healthz?consumer=C&details=true',
    '/healthz?stream=S&consumer=C',
  ])('are answered alike: %s', async (path) => {
    const [theirs, ours] = await Promise.all([natsServer().page(path), petiole().page(path)]);
    expect(ours).toEqual(theirs);
    expect(ours.type).toBe('application/json');
  });

  it.each([
    '/jsz',
    '/jsz?acc=$G&consumers=1&config=1&raft=1&offset=-1&limit=-1&stream-leader-only=1',
    '/routez',
    '/routez?subs=detail',
    '/routez?subs=1',
    '/gatewayz',
    '/gatewayz?accs=1&gw_name=x&acc_name=y&subs=detail',
    '/leafz',
    '/leafz?subs=1&acc=$G',
    '/leafz?acc=NONE',
    '/accstatz?unused=0',
    '/ipqueuesz',
  ])('are told alike that there is nothing: %s', async (path) => {
    const [theirs, ours] = await Promise.all([natsServer().page(path), petiole().page(path)]);
    expect({ ...ours, text: settled(ours.text) }).toEqual({ ...theirs, text: settled(theirs.text) });
    expect(ours.status).toBe(200);
  });

  it('are shown what the process is doing, each as it can', async () => {
    for (const path of ['/stacksz', '/debug/vars']) {
      const [theirs, ours] = await Promise.all([natsServer().page(path), petiole().page(path)]);
      expect({ ...ours, text: '' }).toEqual({ ...theirs, text: '' });
    }
    expect((await petiole().page('/stacksz')).text).toMatch(/^main thread \[running\]\n +at stacksz /);
    const [theirs, ours] = await Promise.all([natsServer().json('/debug/vars'), petiole().json('/debug/vars')]);
    expect(Object.keys(ours)).toEqual(Object.keys(theirs));
    expect(ours).toEqual({ cmdline: [], memstats: { Sys: expect.any(Number) } });
  });

  it.each(['HEAD', 'POST', 'OPTIONS', 'DELETE'])('are answered alike whatever their method: %s', async (method) => {
    const init = method === 'POST' ? { method, body: 'x' } : { method };
    const [theirs, ours] = await Promise.all([natsServer().page('/healthz', init), petiole().page('/healthz', init)]);
    expect(ours).toEqual(theirs);
    expect(ours.text).toBe(method === 'HEAD' ? '' : '{"status":"ok"}');
  });

  it('are shown their way by an index', async () => {
    const [theirs, ours] = await Promise.all([natsServer().page('/'), petiole().page('/')]);
    expect({ ...ours, text: '' }).toEqual({ ...theirs, text: '' });
    const links = linksOf(ours);
    expect(linksOf(theirs)).toEqual(expect.arrayContaining(links));
    expect(links).toHaveLength(linksOf(theirs).length);
    for (const link of links) {
      expect((await petiole().page(link.slice(1))).status).toBe((await natsServer().page(link.slice(1))).status);
    }
  });

  it('are told when the server takes no more clients', async () => {
    const config = 'http: "127.0.0.1:-1", lame_duck_grace_period: 20s, lame_duck_duration: 60s';
    const answers = await Promise.all(
      [natsServer(), petiole()].map(async ({ server: { target } }) => {
        const observed = await observe(target, { config });
        const client = await observed.client('', { user: '', pass: '' });
        observed.server.signal('SIGUSR2');
        await until(() => observed.server.log.includes('Entering lame duck mode'), 'lame duck mode');
        const plain = await observed.page('/healthz');
        const detailed = await observed.page('/healthz?details=1');
        const logged = (): string[] | null => observed.server.log.match(/\[WRN\] Healthcheck.*/g);
        await until(() => logged()?.length === 2, 'both answers in the log');
        await client.close();
        observed.server.signal('SIGKILL');
        await observed.stop();
        return { plain, detailed, logged: logged() };
      }),
    );
    const [theirs, ours] = answers;
    expect(ours).toEqual(theirs);
    expect(ours?.plain.status).toBe(500);
  });
});

describeBoth('the monitoring port', ({ natsServer: theirServer, petiole: ourServer }) => {
  it('is opened before that for clients, and closed with the server', async () => {
    for (const { server } of [theirServer(), ourServer()]) {
      const lines = server.log.split('\n');
      const at = (text: string): number => lines.findIndex((line) => line.includes(text));
      expect(at('[INF] Starting http monitor on 127.0.0.1:')).toBeGreaterThan(0);
      expect(at('Starting http monitor')).toBeLessThan(at('Listening for client connections'));
    }
    const observed = await observe(ourServer().server.target, { config: 'http: "127.0.0.1:-1"' });
    await observed.stop();
    await expect(observed.page('/healthz')).rejects.toThrow('ECONNREFUSED');
  });

  it('keeps a server from starting when another has it', async () => {
    const { port } = await theirServer().server.listening('monitor');
    const refusals = await Promise.all(
      [theirServer(), ourServer()].map(({ server: { target } }) =>
        startRefused(target, { config: `http: "127.0.0.1:${port}"` }),
      ),
    );
    const [theirs, ours] = refusals.map(({ code, log }) => ({ code, line: /\[FTL\].*/.exec(log)?.[0] }));
    expect(ours).toEqual(theirs);
    expect(ours?.line).toContain("Can't start monitoring: can't listen to the monitor port: listen tcp 127.0.0.1:");
  });

  it('serves under a base path alone', async () => {
    const config = 'http: "127.0.0.1:-1", http_base_path: "ops/nats/"';
    const pages = await Promise.all(
      [theirServer(), ourServer()].map(async ({ server: { target } }) => {
        const observed = await observe(target, { config });
        const paths = ['/', '/varz', '/ops/nats/', '/ops/nats', '/ops/nats/healthz', '/ops//nats/healthz', '/ops'];
        paths.push('/ops/nats/raftz', '/ops/nats/ipqueuesz?all=x', '/ops/nats/jsz?limit=x', '/jsz', '/ops/nats/debug');
        const found = [];
        for (const path of paths) found.push(await observed.page(path));
        await observed.stop();
        return found;
      }),
    );
    const [theirs = [], ours = []] = pages;
    const index = 3;
    const withoutIndex = (all: Page[]): Page[] => all.filter((_, i) => i !== index);
    expect(withoutIndex(ours)).toEqual(withoutIndex(theirs));
    expect(linksOf(theirs[index] as Page)).toEqual(expect.arrayContaining(linksOf(ours[index] as Page)));
  });

  it('stands in the ports file', async () => {
    for (const { server } of [theirServer(), ourServer()]) {
      const observed = await observe(server.target, {
        config: 'http: "127.0.0.1:-1"\nports_file_dir: "."',
      });
      const { directory } = observed.server;
      const file = await until(() => readdirSync(directory).find((name) => name.endsWith('.ports')), 'the ports file');
      const ports = await until(() => jsonOf(join(directory, file)), 'its content');
      const { port } = await observed.server.listening('monitor');
      expect(Object.keys(ports)).toEqual(['nats', 'monitoring']);
      expect(ports['monitoring']).toEqual([`http://127.0.0.1:${port}`]);
      await observed.stop();
    }
  });
});

const targets = [natsServer(), petiole()].filter((target): target is Target => !isAbsent(target));

it.each(targets)('monitoring is served only where it is configured: $name', async (target) => {
  const server = await startServer(target, { config: 'server_name: "x"' });
  onTestFinished(() => server.stop());
  expect(server.log).toContain('Server is ready');
  expect(server.log).not.toContain('monitor');
});

function linksOf({ text }: Page): string[] {
  return Array.from(text.matchAll(/href="?(\.[^\s">]+)/g), ([, link = '']) => link);
}

function jsonOf(path: string): Record<string, unknown> | null {
  const text = readFileSync(path, 'utf8');
  return text.endsWith('}') ? (JSON.parse(text) as Record<string, unknown>) : null;
}
