import type { Test } from 'tap';
import { type Behaviour, type RawServer, startRawServer } from '../../accuracy/hostile/testing/raw-server.ts';
import { type ClientOptions, type ClientRequest, createClient, type HttpClient } from '../client.ts';

/** The value of the key in {@link LIST}. */
export const KEY = 'sk_live_4f9Zq7TrXyAbC';
export const RECORD = { id: 'check#1', sentBy: 'check', intent: 'ordinary' } as const;

export const LIST: ClientRequest = {
  operation: 'listPets',
  method: 'GET',
  path: '/pets?limit=1',
  authorization: { kind: 'key', name: 'free-1', value: KEY },
};

/** A 200 on the wire, with a correct Content-Length. */
export const ok = (body = '[]', headers = '') =>
  `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n${headers}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

export const answersWith = (answer: string | Uint8Array): Behaviour => ({
  request: (connection) => connection.write(answer),
});

/** A server on loopback until the test is over. */
export async function serve(t: Test, behaviour: Behaviour, host?: string): Promise<RawServer> {
  const server = await startRawServer(behaviour, host);
  t.teardown(() => server.close());
  return server;
}

/** A client of this server until the test is over. */
export function clientOf(t: Test, server: RawServer, options: Partial<ClientOptions> = {}): HttpClient {
  const client = createClient({
    baseUrl: `http://127.0.0.1:${server.port}/v1`,
    now: Date.now,
    secrets: [KEY],
    ...options,
  });
  t.teardown(() => client.close());
  return client;
}
