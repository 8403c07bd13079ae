/** Lists that are right for a while and then are not: whatever a script remembers of an answer, it sees each of them. */
import { createServer, type RequestListener } from 'node:http';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { scenarioNamed } from '../lib/catalogue.ts';
import { runLoad } from './load-run.ts';
import type { LoadTarget } from './quota/load-target.ts';
import { k6, skip } from './testing/brief-runs.ts';

const LIMIT = 1_000_000;
/** A few for each virtual user, so that it has something to remember. */
const RIGHT_AT_FIRST = 120;
const RIGHT_BODY = '[{"id":1,"name":"Rex","categoryId":1}]';

interface Wrong {
  readonly requirement: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly without?: string;
  readonly body?: string;
}

/** What one run can tell apart: each of these breaks a requirement of its own. */
const RUNS: readonly (readonly Wrong[])[] = [
  [
    { requirement: 'rate-limit-value', headers: { 'x-ratelimit-limit': String(LIMIT - 1) } },
    { requirement: 'rate-remaining-value', headers: { 'x-ratelimit-remaining': String(LIMIT + 1) } },
    { requirement: 'rate-reset-value', headers: { 'x-ratelimit-reset': '1000000000' } },
    { requirement: 'rate-headers-on-200', without: 'x-ratelimit-remaining' },
  ],
  [
    { requirement: 'rate-remaining-value', headers: { 'x-ratelimit-remaining': '5.5' } },
    { requirement: 'rate-headers-on-200', without: 'x-ratelimit-limit' },
  ],
  [
    { requirement: 'rate-remaining-value', headers: { 'x-ratelimit-remaining': '-1' } },
    { requirement: 'rate-headers-on-200', without: 'x-ratelimit-reset' },
  ],
  // Apart from the others, after which the next body is looked at: these must be seen where only some are.
  [
    { requirement: 'media-type-json', headers: { 'content-type': 'text/plain' } },
    { requirement: 'list-pet-schema', body: '[{"id":1,"categoryId":1}]' },
  ],
];

function turningWrong(ways: readonly Wrong[]): RequestListener {
  const reset = Math.ceil(Date.now() / 1000) + 60;
  let count = 0;
  return (request, response) => {
    request.resume();
    count += 1;
    const wrong = count > RIGHT_AT_FIRST ? ways[count % (ways.length + 1)] : undefined;
    const headers = new Map<string, string>(
      Object.entries({
        'content-type': 'application/json',
        'x-ratelimit-limit': String(LIMIT),
        'x-ratelimit-remaining': String(LIMIT - count),
        'x-ratelimit-reset': String(reset),
        ...wrong?.headers,
      }),
    );
    headers.delete(wrong?.without ?? '');
    response.writeHead(200, Object.fromEntries(headers)).end(wrong?.body ?? RIGHT_BODY);
  };
}

async function targetOf(t: Test, listener: RequestListener): Promise<LoadTarget> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no server');
  const key = { name: 'load', plan: 'enterprise', env: 'PETSTORE_TEST_KEY', roles: ['load'] } as const;
  return {
    address: `http://127.0.0.1:${address.port}/v1`,
    keys: [{ ...key, roles: [...key.roles], perMinute: LIMIT, perDay: 1e9 }],
    secrets: { PETSTORE_TEST_KEY: 'a-key-for-the-test' },
    permit: [],
    clockSpeed: 1,
    categoryId: undefined,
  };
}

const smoke = scenarioNamed('smoke');
if (smoke === undefined) throw new Error('no smoke');
const facts = { ...smoke, mix: { listPets: 1, createPet: 0, getPet: 0 }, thresholds: 'p99<50ms' };

for (const validateEvery of [1, 5])
  for (const [number, ways] of RUNS.entries())
    t.test(`one body in ${validateEvery} looked at, run ${number + 1}`, { skip }, async (t) => {
      const target = await targetOf(t, turningWrong(ways));
      const out = join(t.testdir({}), 'out');
      const timing = { rate: 200, seconds: 2, graceSeconds: 0.5, lists: 'plain' } as const;
      const { violations } = await runLoad({ facts, target, k6, out, validateEvery, ...timing });
      t.strictSame(
        violations.map(({ requirement }) => requirement).toSorted(),
        ways.map(({ requirement }) => requirement).toSorted(),
      );
    });
