import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import { start as startCommand } from '../testing/command.ts';
import { runHere } from '../testing/in-process.ts';

const start = (args: readonly string[], environment: Readonly<Record<string, string>> = {}): ChildProcess =>
  startCommand(process.cwd(), ['serve', ...args], environment).child;

function collect(stream: NodeJS.ReadableStream | null): { text: string } {
  const collected = { text: '' };
  stream?.on('data', (chunk: Buffer) => {
    collected.text += chunk.toString();
  });
  return collected;
}

const run = (args: readonly string[]) => runHere(process.cwd(), ['serve', ...args]);

async function firstLine(child: ChildProcess): Promise<string> {
  const [chunk] = await once(child.stdout ?? child, 'data');
  return String(chunk);
}

t.test('prints its address, writes a profile without and a private file with the keys', async (t) => {
  const file = join(t.testdir(), 'local.yaml');
  const child = start(['--profile-out', file, '--clock-speed', '100.2']);
  const address = (await firstLine(child)).trim();
  t.match(address, /^http:\/\/127\.0\.0\.1:\d+\/v1$/);

  const text = readFileSync(file, 'utf8');
  const [, schema = 'none'] = /\$schema=(.*)/.exec(text) ?? [];
  t.ok(existsSync(resolve(dirname(file), schema)), schema);
  const profile: { keys: { name: string; env: string; plan: string; roles: string[] }[] } = parse(text);
  t.match(profile, {
    target: address,
    permit: ['writes', 'exhaust', 'ban'],
    load: { allowed: true },
    plans: { enterprise: { perMinute: 5000, perDay: 1_000_000 } },
    clock: { speed: 100.2 },
  });
  const { keys } = profile;
  for (const [name, roles] of [
    ['free-1', 'functional,exhaust'],
    ['free-2', 'functional,exhaust'],
    ['free-ban', 'ban'],
    ['business-load', 'load'],
    ['enterprise-load', 'load'],
    // A minute is 0.6 s: nothing sends the three hundred requests of its minute within that for sure.
    ['pro-1', 'functional'],
  ] as const)
    t.equal(keys.find((key) => key.name === name)?.roles.join(), roles, name);

  t.equal(statSync(`${file}.env`).mode & 0o777, 0o600);
  const values = [...readFileSync(`${file}.env`, 'utf8').matchAll(/^export (\w+)='([^']+)'$/gm)];
  t.same(
    values.map(([, name]) => name),
    keys.map(({ env }) => env),
  );
  for (const [, , value = ''] of values) t.notOk(text.includes(value));
  const authorization = `Bearer ${values[0]?.[2]}`;
  t.equal((await fetch(`${address}/pets`, { headers: { authorization } })).status, 200);

  child.kill('SIGINT');
  t.same(await once(child, 'exit'), [130, null]);
});

t.test('SIGTERM ends it with 0, once the request under way is answered', async (t) => {
  const file = join(t.testdir(), 'p.yaml');
  const child = start(['--profile-out', file]);
  const { hostname, port } = new URL(await firstLine(child));
  const [, value = ''] = /='([^']+)'/.exec(readFileSync(`${file}.env`, 'utf8')) ?? [];
  const body = '{"name":"Rex","categoryId":1}';
  const socket = connect(Number(port), hostname);
  socket.write(
    `POST /v1/pets HTTP/1.1\r\nHost: pets\r\nAuthorization: Bearer ${value}\r\nExpect: 100-continue\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`,
  );
  const [goOn] = await once(socket, 'data');
  t.match(String(goOn), /^HTTP\/1\.1 100 Continue/);
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  // Nothing listens any more: now the request is what the server waits for.
  for (let refused = false; !refused; ) {
    const probe = connect(Number(port), hostname);
    refused = await once(probe, 'connect').then(
      () => false,
      () => true,
    );
    probe.destroy();
  }
  const answered = collect(socket);
  const read = once(socket, 'close');
  socket.write(body);
  t.same(await exit, [0, null]);
  await read;
  t.match(answered.text, /^HTTP\/1\.1 201 Created[\s\S]*\r\nConnection: close\r\n[\s\S]*"name":"Rex"/);
});

t.test('a port that is taken', async (t) => {
  const { port } = await occupied(t);
  t.match(await run(['--port', String(port)]), {
    code: 2,
    stdout: '',
    stderr: /^error: .* in use 127\.0\.0\.1:\d+; --port 0 takes a free one\n$/,
  });
});

async function occupied(t: { teardown(callback: () => unknown): void }): Promise<{ port: number }> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const address = server.address();
  return { port: typeof address === 'object' && address !== null ? address.port : 0 };
}

t.test('lists have a line for each', async (t) => {
  const faults = await run(['--list-faults']);
  t.match(faults.stdout, /^filter-ignored +list-status-filter$/m);
  const variants = await run(['--list-variants']);
  t.match(variants.stdout, /^token-bucket +rate-window-kind: refilling, ban-answer: no-ban-seen, /m);
  t.equal(faults.code, 0);
});
