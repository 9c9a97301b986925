/** Each request of a long conversation with the JetStream API is answered by petiole as by nats-server. */
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ABSURDITIES, CHANGES, LENIENT, QUESTIONS, type Request, SNAPSHOTS, UNANSWERED } from './api-requests.ts';
import { describeBoth } from './monitor-scenario.ts';

const ANSWER_MS = 5000;
const SILENCE_MS = 400;
/** More than one page of a list. */
const STREAMS = 260;

const ON = 'store_dir: "store"';
const OFF = 'enabled: false';

const CONVERSATIONS: readonly (readonly [title: string, options: string, requests: readonly Request[]])[] = [
  ['questions', ON, QUESTIONS],
  ['changes', ON, CHANGES],
  ['absurdities', ON, ABSURDITIES],
  ['snapshots', ON, SNAPSHOTS],
  ['a server that is not strict', `${ON}, strict: false`, LENIENT],
  ['a server without JetStream', OFF, QUESTIONS.slice(0, 20)],
];

for (const [title, options, requests] of CONVERSATIONS) {
  describeConversation(title, options, (ask) => {
    it.each(requests.map(([subject, body], position) => ({ subject, body, position })))(
      '$position: $subject',
      async ({ subject, body }) => {
        const { theirs, ours } = await ask(subject, body, ANSWER_MS);
        expect(ours).toBe(theirs);
      },
    );
  });
}

describeConversation('nobody', ON, (ask) => {
  it.each(UNANSWERED)('answers %s', async (subject) => {
    const { theirs, ours } = await ask(subject, '', SILENCE_MS);
    expect(theirs).toMatch(/timeout|no responders/);
    expect(ours).toBe(theirs);
  });
});

describeConversation('lists of several pages', ON, (ask) => {
  it('are cut at the same places', async () => {
    for (let count = 0; count < STREAMS; count++) {
      const name = `S${count}`;
      await ask(`STREAM.CREATE.${name}`, `{"name":"${name}","storage":"memory"}`, ANSWER_MS);
    }
    for (const [subject, body] of [
      ['STREAM.LIST', ''],
      ['STREAM.LIST', '{"offset":256}'],
      ['STREAM.LIST', '{"offset":250,"subject":"S1"}'],
      ['STREAM.NAMES', ''],
      ['STREAM.NAMES', '{"offset":256}'],
    ] as const) {
      const { theirs, ours } = await ask(subject, body, ANSWER_MS);
      expect(ours).toBe(theirs);
    }
  });
});

type Ask = (subject: string, body: string, waitMs: number) => Promise<{ theirs: string; ours: string }>;

function describeConversation(title: string, options: string, tests: (ask: Ask) => void): void {
  const config = `http: "127.0.0.1:-1"\nserver_name: observed\njetstream { ${options} }`;
  describeBoth(
    title,
    (both) => {
      let theirs: NatsConnection;
      let ours: NatsConnection;

      beforeAll(async () => {
        [theirs, ours] = (await Promise.all(
          [both.natsServer(), both.petiole()].map(({ server }) => {
            const { host, port } = server.address();
            return connect({ servers: `${host}:${port}` });
          }),
        )) as [NatsConnection, NatsConnection];
      });

      afterAll(async () => {
        await Promise.all([theirs.close(), ours.close()]);
      });

      describe('answers', () => {
        tests(async (subject, body, waitMs) => {
          const [their, our] = await Promise.all([
            answerOf(theirs, subject, body, waitMs),
            answerOf(ours, subject, body, waitMs),
          ]);
          return { theirs: their, ours: our };
        });
      });
    },
    { config },
  );
}

/** The answer with its headers, or why there is none; what differs between any two servers is replaced by its kind. */
async function answerOf(client: NatsConnection, subject: string, body: string, timeout: number): Promise<string> {
  const destination = subject.startsWith('=') ? subject.slice(1) : `$JS.API.${subject}`;
  try {
    const message = await client.request(destination, body, { timeout, noMux: true });
    const status = message.headers === undefined ? '' : `${message.headers.code} ${message.headers.description} `;
    const headers = [...(message.headers ?? [])].map(([name, values]) => `${name}: ${values.join()} `);
    return normalized([status, ...headers, message.string()].join(''));
  } catch (error) {
    return String(error);
  }
}

function normalized(text: string): string {
  return text
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replaceAll(/"_nats\.level":"\d+"/g, '"_nats.level":"<level>"')
    .replaceAll(/"pause_remaining":\d+/g, '"pause_remaining":<time>')
    .replaceAll(/"level":\d+/g, '"level":"<level>"');
}
