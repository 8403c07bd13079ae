import { once } from 'node:events';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { run, testTarget } from './command-for-tests.ts';

function everyFile(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? everyFile(path) : [path];
  });
}

/** The forms in which a key could be recognised. */
const formsOf = (key: string) => [
  key,
  Buffer.from(key).toString('base64').replace(/=+$/, ''),
  Buffer.from(key).toString('hex'),
  encodeURIComponent(key),
];

t.test('no byte of any output holds a key, whatever the target echoes', async (t) => {
  const { address, env, secrets } = await testTarget(t, { fault: 'filter-ignored' });
  // In front of the target: says back what it was told, in headers, bodies and errors.
  const echo = createServer(async (request, response) => {
    const body: Buffer[] = [];
    for await (const chunk of request) body.push(chunk);
    const key = request.headers.authorization ?? '';
    const answer = await fetch(address.replace('/v1', '') + (request.url ?? ''), {
      method: request.method ?? 'GET',
      headers: { authorization: key, 'content-type': request.headers['content-type'] ?? '' },
      ...(body.length === 0 ? {} : { body: Buffer.concat(body) }),
    });
    for (const [name, value] of answer.headers)
      if (name.startsWith('x-') || name === 'content-type') response.setHeader(name, value);
    response.setHeader('x-told', [key, Buffer.from(key).toString('base64'), encodeURIComponent(key)]);
    const text = await answer.text();
    response
      .writeHead(answer.status)
      .end(answer.ok ? text : JSON.stringify({ code: key, message: `not ${key}`, status: answer.status }));
  }).listen(0, '127.0.0.1');
  await once(echo, 'listening');
  t.teardown(() => echo.close());
  const { port } = echo.address() as AddressInfo;

  const folder = t.testdir({});
  const keys = Object.fromEntries(
    Object.values(env).map((value, index) => [['PETSTORE_FREE_KEY', 'PETSTORE_PRO_KEY'][index], value]),
  );
  for (const format of ['human', 'tap']) {
    const args = [
      'check',
      '--target',
      `http://127.0.0.1:${port}/v1`,
      '--permit',
      'writes',
      '--format',
      format,
    ];
    const { code, stdout, stderr } = await run(folder, args, keys);
    t.equal(code, 1, 'the fault was found through the echo');
    for (const form of secrets.flatMap(formsOf))
      t.notOk(`${stdout}${stderr}`.includes(form), `${format} output`);
  }
  const files = everyFile(join(folder, 'petstore-results'));
  t.ok(files.length >= 18, `${files.length} files`);
  for (const file of files) {
    const text = readFileSync(file, 'latin1');
    t.ok(text.length > 0);
    t.same(
      secrets.flatMap(formsOf).filter((form) => text.includes(form)),
      [],
      file,
    );
  }
});

t.test('nor does a usage error that was given a key', async (t) => {
  const folder = t.testdir({});
  const key = 'sk-canary-0123456789';
  for (const args of [
    ['--target', `http://${key}@127.0.0.1/v1`],
    ['--target', `http://127.0.0.1/v1?key=${key}`],
  ]) {
    const { code, stdout, stderr } = await run(folder, ['check', ...args], { PETSTORE_FREE_KEY: key });
    t.equal(code, 2);
    t.notOk(`${stdout}${stderr}`.includes(key));
  }
});
