/** nats-server#6248: /healthz with details answered 200 while it listed errors. */
import { expect, test } from 'vitest';
import { describeTargets, page, serve } from '../helpers/describe-targets.ts';

const UNHEALTHY = [
  'account=$G&stream=MISSING',
  'account=MISSING',
  'stream=S',
  'account=$G&stream=MISSING&consumer=C',
  'account=$G&consumer=C',
];

describeTargets('/healthz', (target) => {
  test('has the same status with details as without', async () => {
    const server = await serve(target, 'http: "127.0.0.1:-1"\njetstream { store_dir: "store" }');
    expect(await page(server, '/healthz?details=true')).toEqual({ status: 200, body: { status: 'ok' } });
    for (const query of UNHEALTHY) {
      const short = await page(server, `/healthz?${query}`);
      const detailed = await page(server, `/healthz?${query}&details=true`);
      expect([query, detailed.status]).toEqual([query, short.status]);
      expect(detailed.status).toBeGreaterThanOrEqual(400);
      expect(detailed.body).toMatchObject({ status: 'error', errors: [{ error: expect.any(String) }] });
    }
  });
});
