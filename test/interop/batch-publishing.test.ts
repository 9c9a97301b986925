/** Batches are taken, refused and acknowledged by petiole as by nats-server: every conversation of the text, to both. */
/* oxlint-disable vitest/no-conditional-tests, vitest/no-disabled-tests -- a missing server must show as skipped */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  absenceIsFailure,
  isAbsent,
  natsServer,
  petiole,
  type RunningServer,
  startServer,
} from '../helpers/targets.ts';
import { dial, type WireClient } from '../helpers/wire-client.ts';
import { conversationsIn, play, withLines } from './batch-conversation.ts';

const PATH = join(import.meta.dirname, 'batch-conversations.txt');
const isUpdate = process.env['UPDATE'] === '1';
const text = readFileSync(PATH, 'utf8');
const conversations = conversationsIn(text);

for (const target of isUpdate ? [natsServer()] : [natsServer(), petiole()]) {
  const absence = isAbsent(target) ? target.absent : null;
  describe.skipIf(absence !== null && !absenceIsFailure())(`${target.name} (${absence ?? 'present'})`, () => {
    let server: RunningServer;
    let client: WireClient;
    const played = new Map<string, readonly string[]>();

    beforeAll(async () => {
      if (isAbsent(target)) throw new Error(target.absent);
      server = await startServer(target, { config: 'jetstream { store_dir: "store" }' });
      client = await dial(server.address());
      await client.line();
      client.send('CONNECT {"verbose":false,"headers":true,"no_responders":true}\r\n');
      await client.quiet();
    });

    afterAll(async () => {
      await client.close();
      await server.stop();
      if (isUpdate) writeFileSync(PATH, withLines(text, played));
    });

    it.each(conversations)('$title', async (conversation) => {
      const lines = await play(client, conversation, isUpdate);
      played.set(conversation.title, lines);
      expect(lines).toEqual(isUpdate ? lines : conversation.lines);
    });
  });
}
