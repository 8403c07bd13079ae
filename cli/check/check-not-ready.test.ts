import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { join } from 'node:path';
import { generate } from 'selfsigned';
import t, { type Test } from 'tap';
import { readReport } from '../../reports/read-report.ts';
import { run, testTarget } from '../testing/command.ts';

const KEYS = { PETSTORE_FREE_KEY: 'not-a-key-of-anybody' };

async function listening(t: { teardown(callback: () => unknown): void }, server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  return port;
}

/** One line that says what is the matter, exit code 4, and no requirement blamed, in either format. */
async function isNotReady(t: Test, address: string, message: RegExp, env: Record<string, string> = KEYS) {
  const folder = t.testdir({});
  const human = await run(folder, ['check', '--target', address, '--format', 'human'], env);
  t.equal(human.code, 4);
  t.equal(human.stdout, '');
  t.match(human.stderr, message);
  t.match(human.stderr, /^error: .+\n$/);
  const tap = await run(folder, ['check', '--target', address, '--out', 'out'], env);
  const read = readReport(join(folder, 'out'));
  t.match(read, { ok: true, report: { verdict: 'inconclusive', complete: false, problems: [String] } });
  t.match(
    readFileSync(join(folder, 'out', 'junit.xml'), 'utf8'),
    /<(error|failure) /,
    'and every format says so',
  );
  t.equal(tap.code, 4);
  t.match(tap.stdout, /^TAP version 14\nBail out! .+\n$/);
}

async function web(
  t: { teardown(callback: () => unknown): void },
  listener: RequestListener,
): Promise<string> {
  return `http://127.0.0.1:${await listening(t, createServer(listener))}/v1`;
}

t.test('nothing listens', async (t) => {
  const server = createServer();
  const port = await listening(t, server);
  server.close();
  await isNotReady(
    t,
    `http://127.0.0.1:${port}/v1`,
    /cannot be reached: the connection was refused: nothing listens at this address; start the service, or correct the port of the address$/m,
  );
});

t.test('a page that is not the service at all', async (t) => {
  const address = await web(t, (_request, response) => {
    response.setHeader('content-type', 'text/html').end('<!doctype html><title>Welcome</title>');
  });
  await isNotReady(t, address, /is not the Pet Store Service: GET \/pets answers/);
});

t.test('a key that the target does not know', async (t) => {
  const { address } = await testTarget(t);
  await isNotReady(
    t,
    address,
    /the target answers 401 to key free-1: is the value of PETSTORE_FREE_KEY right\?/,
  );
});

t.test('a certificate that nobody vouches for', async (t) => {
  const { private: key, cert } = await generate([{ name: 'commonName', value: 'petstore' }], {
    keyType: 'ec',
    algorithm: 'sha256',
  });
  const port = await listening(
    t,
    createTlsServer({ key, cert }, (_request, response) => response.end('[]')),
  );
  await isNotReady(t, `https://127.0.0.1:${port}/v1`, /cannot be reached: .*certificate/i);
});
