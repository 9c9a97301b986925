/** A client of a server with JetStream, for tests that look at single answers. Both go with the running test. */
import { connect, headers as newHeaders, type NatsConnection } from '@nats-io/transport-node';
import { onTestFinished } from 'vitest';
import { serve } from './describe-targets.ts';
import { startServer, type Target } from './targets.ts';

const TIMEOUT_MS = 10_000;

export interface Acknowledgement {
  readonly seq: number;
  readonly duplicate?: boolean;
  readonly error?: { readonly err_code: number; readonly description: string };
}

export interface StreamState {
  readonly messages: number;
  readonly first_seq: number;
  readonly last_seq: number;
}

export class JetStreamClient {
  readonly connection: NatsConnection;

  constructor(connection: NatsConnection) {
    this.connection = connection;
  }

  /** What the API answers. */
  async ask<T = Record<string, unknown>>(request: string, body: unknown = ''): Promise<T> {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    return (await this.connection.request(`$JS.API.${request}`, text, { timeout: TIMEOUT_MS })).json<T>();
  }

  async publish(subject: string, payload = '', lines: Record<string, string> = {}): Promise<Acknowledgement> {
    const headers = newHeaders();
    for (const [name, value] of Object.entries(lines)) headers.set(name, value);
    return (await this.connection.request(subject, payload, { headers, timeout: TIMEOUT_MS })).json();
  }

  async state(stream: string): Promise<StreamState> {
    return (await this.ask<{ state: StreamState }>(`STREAM.INFO.${stream}`)).state;
  }

  /** The message with its headers and payload as text; `null`: there is none. */
  async message(stream: string, wanted: object): Promise<StoredText | null> {
    const { message } = await this.ask<{ message?: StoredBase64 }>(`STREAM.MSG.GET.${stream}`, wanted);
    if (message === undefined) return null;
    const { subject, seq, hdrs = '', data = '' } = message;
    return { subject, seq, headers: textOf(hdrs), payload: textOf(data) };
  }
}

interface StoredBase64 {
  readonly subject: string;
  readonly seq: number;
  readonly hdrs?: string;
  readonly data?: string;
}

export interface StoredText {
  readonly subject: string;
  readonly seq: number;
  readonly headers: string;
  readonly payload: string;
}

function textOf(base64: string): string {
  return Buffer.from(base64, 'base64').toString();
}

/** Starts a server with JetStream for the running test. */
export async function jetStreamOf(target: Target): Promise<JetStreamClient> {
  const server = await serve(target, 'jetstream { store_dir: "store" }');
  const { host, port } = server.address();
  const connection = await connect({ servers: `${host}:${port}` });
  onTestFinished(() => connection.close());
  return new JetStreamClient(connection);
}

/** A server on what is stored in the folder, as long as it is used. */
export async function inLife<T>(
  target: Target,
  folder: string,
  use: (client: JetStreamClient) => Promise<T>,
): Promise<T> {
  const server = await startServer(target, { config: `jetstream { store_dir: "${folder}" }` });
  try {
    const { host, port } = server.address();
    const connection = await connect({ servers: `${host}:${port}` });
    const result = await use(new JetStreamClient(connection));
    await connection.close();
    return result;
  } finally {
    await server.stop();
  }
}
