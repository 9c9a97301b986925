/**
 * Links of leaves to a hub, whichever of the two servers is at which end: what clients on both sides see of each other,
 * and what both servers say of links that are refused.
 */
import { connect, errors, headers, type NatsConnection } from '@nats-io/transport-node';
import { expect, it, onTestFinished } from 'vitest';
import { describePairs, serve } from '../helpers/describe-targets.ts';
import type { RunningServer, Target } from '../helpers/targets.ts';
import { until } from '../helpers/until.ts';

interface LeafSettings {
  readonly name?: string;
  /** `user:password`. */
  readonly login?: string;
  /** More of the remote. */
  readonly remote?: string;
  /** More of `leafnodes`. */
  readonly leafnodes?: string;
  /** Beside it. */
  readonly config?: string;
}

async function hubOf(target: Target, leafnodes = '', config = ''): Promise<RunningServer> {
  const text = `server_name: hub\nleafnodes { listen: "127.0.0.1:-1"\n${leafnodes} }\n${config}`;
  return serve(target, text, { flags: ['-D'] });
}

async function leafOf(target: Target, hub: RunningServer, settings: LeafSettings = {}): Promise<RunningServer> {
  const { host, port } = await hub.listening('leafnode');
  const { name = 'edge', login, remote = '', leafnodes = '', config = '' } = settings;
  const url = `nats://${login === undefined ? '' : `${login}@`}${host}:${port}`;
  const links = `reconnect: "100ms"\nremotes: [ { url: "${url}"\n${remote} } ]\n${leafnodes}`;
  return serve(target, `server_name: ${name}\nleafnodes { ${links} }\n${config}`, { flags: ['-D'] });
}

async function clientOf(server: RunningServer, options: object = {}): Promise<NatsConnection> {
  const { host, port } = server.address();
  const connection = await connect({ servers: `${host}:${port}`, reconnect: false, ...options });
  onTestFinished(() => connection.close());
  return connection;
}

/** Answers requests to the subject with `answer` and what was asked. */
function answer(connection: NatsConnection, subject: string, text: string, queue?: string): void {
  connection.subscribe(subject, {
    ...(queue !== undefined && { queue }),
    callback: (error, message) => {
      if (error === null) message.respond(`${text} ${message.string()}`, { headers: message.headers ?? headers() });
    },
  });
}

/** What is answered to `hi`, once anything is. */
async function answered(connection: NatsConnection, subject: string): Promise<string> {
  return until(
    () =>
      connection.request(subject, 'hi', { timeout: 1000 }).then(
        (message) => message.string(),
        () => null,
      ),
    `an answer from ${subject}`,
  );
}

/** Waits until nobody answers any more, which is told at once. */
async function unanswered(connection: NatsConnection, subject: string): Promise<void> {
  const isUnanswered = async (): Promise<boolean> =>
    connection.request(subject, 'hi', { timeout: 1000 }).then(
      () => false,
      (error: unknown) => error instanceof errors.RequestError && error.isNoResponders(),
    );
  await until(isUnanswered, `no responders of ${subject}`);
}

/** How often the log says this. */
function times(server: RunningServer, text: string): number {
  return server.log.split(text).length - 1;
}

const ACCOUNTS = `accounts {
  A: { users: [ { user: a, password: a } ] }
  B: { users: [
    { user: b, password: b }
    { user: p, password: p, permissions: { publish: { allow: ["up.>", "_INBOX.>"] }, subscribe: { allow: ["down.>", "_INBOX.>"] } } }
  ] }
}`;

describePairs('a leaf and its hub', (leaf, hub) => {
  it('carry requests, answers and headers both ways, and say at once that nobody answers', async () => {
    const up = await hubOf(hub);
    const down = await leafOf(leaf, up);
    const [above, below] = [await clientOf(up), await clientOf(down)];
    answer(above, 'above', 'from above');
    answer(below, 'below', 'from below');
    expect(await answered(below, 'above')).toBe('from above hi');
    expect(await answered(above, 'below')).toBe('from below hi');
    const given = headers();
    given.append('K', 'v');
    expect((await above.request('below', 'x', { headers: given, timeout: 1000 })).headers?.get('K')).toBe('v');
    expect((await below.request('above', 'x', { headers: given, timeout: 1000 })).headers?.get('K')).toBe('v');
    await unanswered(above, 'nobody');
    await unanswered(below, 'nobody');
  });

  it('take one member of a queue group, wherever it is, and all plain subscriptions', async () => {
    const up = await hubOf(hub);
    const down = await leafOf(leaf, up);
    const [above, below] = [await clientOf(up), await clientOf(down)];
    const counts = { queued: 0, plain: 0 };
    for (const each of [above, below, below]) {
      each.subscribe('work', { queue: 'q', callback: () => void counts.queued++ });
      each.subscribe('work', { callback: () => void counts.plain++ });
    }
    answer(below, 'ready', 'ready');
    await answered(above, 'ready');
    for (let i = 0; i < 200; i++) above.publish('work');
    await until(() => counts.plain === 600, 'all plain subscriptions to hear');
    expect(counts.queued).toBe(200);
  });

  it('come back with all interest when the hub was away', async () => {
    const up = await hubOf(hub);
    const down = await leafOf(leaf, up);
    const below = await clientOf(down);
    answer(below, 'below', 'from below');
    const { port } = await up.listening('leafnode');
    await answered(await clientOf(up), 'below');
    await up.stop();
    const again = await serve(hub, `server_name: hub\nleafnodes { listen: "127.0.0.1:${port}" }`);
    expect(await answered(await clientOf(again), 'below')).toBe('from below hi');
    expect(down.log).not.toContain('Loop detected');
  });

  it('reach through a hub to another leaf, and not where interest is isolated', async () => {
    const up = await hubOf(hub);
    const [west, east] = [await leafOf(leaf, up, { name: 'west' }), await leafOf(leaf, up, { name: 'east' })];
    const [one, other] = [await clientOf(west), await clientOf(east)];
    answer(one, 'west', 'from the west');
    expect(await answered(other, 'west')).toBe('from the west hi');
    const alone = await hubOf(hub, 'isolate_leafnode_interest: true');
    const [left, right] = [await leafOf(leaf, alone, { name: 'left' }), await leafOf(leaf, alone, { name: 'right' })];
    const [here, there, above] = [await clientOf(left), await clientOf(right), await clientOf(alone)];
    answer(here, 'left', 'from the left');
    expect(await answered(above, 'left')).toBe('from the left hi');
    answer(there, 'right', 'from the right');
    expect(await answered(above, 'right')).toBe('from the right hi');
    await unanswered(there, 'left');
  });

  it('reach through a chain of hubs, without taking it for a loop', async () => {
    const top = await hubOf(hub);
    const middle = await leafOf(leaf, top, { name: 'middle', leafnodes: 'listen: "127.0.0.1:-1"' });
    const bottom = await leafOf(leaf, middle, { name: 'bottom' });
    const [above, below] = [await clientOf(top), await clientOf(bottom)];
    answer(above, 'above', 'from above');
    answer(below, 'below', 'from below');
    expect(await answered(below, 'above')).toBe('from above hi');
    expect(await answered(above, 'below')).toBe('from below hi');
    for (const each of [top, middle, bottom]) expect(each.log).not.toContain('Loop detected');
  });

  it('find a loop, and wait before they try again', async () => {
    const top = await hubOf(hub);
    const { port } = await top.listening('leafnode');
    const middle = await leafOf(leaf, top, { name: 'middle', leafnodes: 'listen: "127.0.0.1:-1"' });
    const inner = await middle.listening('leafnode');
    const both = await serve(
      leaf,
      `server_name: both\nleafnodes { reconnect: "100ms"\nremotes: [ { url: "nats://127.0.0.1:${port}" }, { url: "nats://127.0.0.1:${inner.port}" } ] }`,
      { flags: ['-D'] },
    );
    // Whichever link is last to be up closes the ring: which of the servers sees it, and which is told, is chance.
    const loop = 'Loop detected for leafnode account="$G". Delaying attempt to reconnect for 30s';
    const found = (): boolean => [top, middle, both].some(({ log }) => log.includes(loop));
    await until(found, 'the loop to be found');
    expect(found()).toBe(true);
  });

  it('bind each login to its account', async () => {
    const up = await hubOf(hub, '', ACCOUNTS);
    const down = await leafOf(leaf, up, { login: 'a:a' });
    const [inA, inB, below] = [
      await clientOf(up, { user: 'a', pass: 'a' }),
      await clientOf(up, { user: 'b', pass: 'b' }),
      await clientOf(down),
    ];
    answer(below, 'below', 'from below');
    expect(await answered(inA, 'below')).toBe('from below hi');
    await unanswered(inB, 'below');
  });

  it('bind logins of leafnodes alone to the accounts they name', async () => {
    const users =
      'authorization { users: [ { user: x, password: x, account: A }, { user: y, password: y, account: B } ] }';
    const up = await hubOf(hub, users, ACCOUNTS);
    const down = await leafOf(leaf, up, { login: 'y:y' });
    const [inB, below] = [await clientOf(up, { user: 'b', pass: 'b' }), await clientOf(down)];
    answer(below, 'below', 'from below');
    expect(await answered(inB, 'below')).toBe('from below hi');
    await leafOf(leaf, up, { login: 'a:a', name: 'stranger' });
    await until(
      () => times(up, 'Leafnode connection closed: Authentication Failure') > 0,
      'the stranger to be refused',
    );
  });

  it('keep to the permissions of the user', async () => {
    const up = await hubOf(hub, '', ACCOUNTS);
    const down = await leafOf(leaf, up, { login: 'p:p' });
    const [above, below] = [await clientOf(up, { user: 'b', pass: 'b' }), await clientOf(down)];
    answer(above, 'up.a', 'from above');
    answer(above, 'elsewhere', 'from above');
    answer(below, 'down.b', 'from below');
    answer(below, 'secret', 'from below');
    expect(await answered(below, 'up.a')).toBe('from above hi');
    expect(await answered(above, 'down.b')).toBe('from below hi');
    await unanswered(below, 'elsewhere');
    await unanswered(above, 'secret');
    expect(times(up, 'Leafnode connection closed')).toBe(0);
  });

  it('do not send what either side denies', async () => {
    const up = await hubOf(hub);
    const remote = 'deny_imports: ["no.in"]\ndeny_exports: ["no.out"]';
    const down = await leafOf(leaf, up, { remote });
    const [above, below] = [await clientOf(up), await clientOf(down)];
    for (const subject of ['no.in', 'yes.in']) answer(below, subject, 'from below');
    for (const subject of ['no.out', 'yes.out']) answer(above, subject, 'from above');
    expect(await answered(above, 'yes.in')).toBe('from below hi');
    expect(await answered(below, 'yes.out')).toBe('from above hi');
    await unanswered(above, 'no.in');
    await unanswered(below, 'no.out');
  });

  it('refuse wrong passwords, other ports and leaves that are too old', async () => {
    const up = await hubOf(hub, 'min_version: "2.99.0"\nauthorization { user: u, password: p }');
    await leafOf(leaf, up, { login: 'u:wrong', name: 'wrong' });
    await until(() => times(up, 'Leafnode connection closed: Authentication Failure') > 0, 'the wrong password');
    const old = await leafOf(leaf, up, { login: 'u:p', name: 'old' });
    const text = `connection rejected since minimum version required is "2.99.0"`;
    await until(() => old.log.includes(text), 'the old leaf to hear of it');
    expect(up.log).toContain('Leafnode connection closed: Minimum Version Required');
    const { host, port } = up.address();
    const lost = await serve(leaf, `leafnodes { remotes: [ { url: "nats://${host}:${port}" } ] }`, { flags: ['-D'] });
    await until(() => lost.log.includes('attempted to connect to wrong port'), 'the wrong port');
  });

  it.each(['SYS', '$SYS'])('link system accounts of the name %s', async (name) => {
    const chosen = name === '$SYS' ? '' : `system_account: ${name}`;
    const system = `accounts { "${name}": { users: [ { user: s, password: s } ] }, X: {} }\n${chosen}`;
    const up = await hubOf(hub, '', system);
    const down = await leafOf(leaf, up, { login: 's:s', remote: `account: "${name}"`, config: system });
    await until(() => up.log.includes('System account connected from edge'), 'the system account');
    const above = await clientOf(up, { user: 's', pass: 's' });
    const below = await clientOf(down, { user: 's', pass: 's' });
    answer(below, 'below', 'from below');
    expect(await answered(above, 'below')).toBe('from below hi');
    const pings = await above.requestMany('$SYS.REQ.SERVER.PING', '', { maxMessages: 2, maxWait: 2000 });
    const names: string[] = [];
    for await (const each of pings) names.push(each.json<{ server: { name: string } }>().server.name);
    expect(names.toSorted()).toEqual(['edge', 'hub']);
  });
});
