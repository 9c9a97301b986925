/** Push consumers of a site whose listeners are on its hub: they count as any other, and go as any other. */
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { expect, onTestFinished, test } from 'vitest';
import { describeTargets, serve } from '../helpers/describe-targets.ts';
import { isAbsent, natsServer, type RunningServer } from '../helpers/targets.ts';
import { until } from '../helpers/until.ts';

const hubTarget = natsServer();

async function connectTo(server: RunningServer): Promise<NatsConnection> {
  const { host, port } = server.address();
  const client = await connect({ servers: `${host}:${port}` });
  onTestFinished(() => client.close());
  return client;
}

describeTargets('a push consumer of a leaf', (target) => {
  test.skipIf(isAbsent(hubTarget)).each(['', 'g'])(
    'delivers to listeners on the hub (deliver group %j)',
    async (group) => {
      if (isAbsent(hubTarget)) throw new Error(hubTarget.absent);
      const hub = await serve(hubTarget, 'leafnodes { listen: "127.0.0.1:-1" }');
      const { port } = await hub.listening('leafnode');
      const site = await serve(
        target,
        `jetstream { store_dir: "store", domain: site }\nleafnodes { remotes: [ { url: "nats://127.0.0.1:${port}" } ] }`,
      );
      const [near, far] = [await connectTo(site), await connectTo(hub)];
      const ask = async (request: string, body: object | string = ''): Promise<Record<string, unknown>> => {
        const text = typeof body === 'string' ? body : JSON.stringify(body);
        return (await near.request(`$JS.API.${request}`, text)).json();
      };
      const isBound = async (): Promise<boolean> => (await ask('CONSUMER.INFO.S.C'))['push_bound'] === true;
      await ask('STREAM.CREATE.S', { name: 'S', subjects: ['s.*'] });
      const config = { durable_name: 'C', ack_policy: 'explicit', deliver_subject: 'd', deliver_group: group };
      await ask('CONSUMER.CREATE.S.C', { stream_name: 'S', config });
      await near.request('s.1', '');
      expect(await isBound()).toBe(false);

      const heard: string[] = [];
      const callback = (_error: Error | null, message: { subject: string; respond: () => boolean }): void => {
        heard.push(message.subject);
        message.respond();
      };
      const listener = far.subscribe('d', group === '' ? { callback } : { callback, queue: group });
      await until(() => heard.length === 1, 'a message on the hub');
      expect(await isBound()).toBe(true);
      await until(async () => (await ask('CONSUMER.INFO.S.C'))['num_ack_pending'] === 0, 'its acknowledgement');
      listener.unsubscribe();
      await until(async () => !(await isBound()), 'the interest to go');
      await near.request('s.2', '');
      expect(heard).toEqual(['s.1']);
      far.subscribe('d', group === '' ? { callback } : { callback, queue: group });
      await until(() => heard.length === 2, 'another message on the hub');
    },
  );
});
