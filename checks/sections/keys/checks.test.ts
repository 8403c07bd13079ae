/** Section 5: every operation requires a valid key, sent as a bearer token; whoever has none gets 401. */
import { execFileSync } from 'node:child_process';
import t from 'tap';
import type { Key } from '../../profile/key.ts';
import { testKey, testRun } from '../../run/testing/test-run.ts';
import type { ClientRequest } from '../../wire/client.ts';
import { curl } from '../../wire/curl.ts';
import type { Exchange } from '../../wire/exchange.ts';
import { listPets } from '../../wire/requests.ts';
import { type AnswerParts, answered } from '../../wire/testing/answered.ts';
import { concluded, judged, observed, played, seen } from '../testing/judged.ts';
import { authenticationChecks } from './checks.ts';
import { authenticationGaps } from './gaps.ts';

const VALUE = 'secret-12';
const key = testKey({ value: VALUE });

/** The Authorization of a request without a valid key; a dash where there is none. */
const credentials = ({ authorization }: ClientRequest) =>
  authorization.kind === 'raw' ? authorization.header : '-';

interface Target {
  /** What the target answers without a valid key; 401 by default. */
  readonly answers?: (request: ClientRequest) => AnswerParts | undefined;
  readonly writes?: boolean;
  readonly keys?: readonly Key[];
  /** Animal 7 was retrieved before, with this status. */
  readonly retrieved?: number;
}

/** What a check says of such a target, and what it sent without a valid key: method, path and credentials. */
async function tried(id: string, { answers, writes = true, keys = [key], retrieved = 200 }: Target = {}) {
  const { run, sent } = testRun(
    (request) => (request.authorization.kind === 'key' ? {} : (answers?.(request) ?? { status: 401 })),
    { keys, permissions: new Set(writes ? (['writes'] as const) : []), sampleCategoryId: 3n },
  );
  const exchange = answered({ id: 'retrieved', status: retrieved });
  await played(run, 'store-sample', { exchange, pets: [] });
  await played(run, 'retrievals', { done: [{ known: { id: 7n }, exchange }], unsettled: [] });
  const said = await judged(run, authenticationChecks, id);
  const { exchanges } = run.trace;
  return {
    ...said,
    sent,
    exchanges,
    requests: sent.map((one) => `${one.method} ${one.path} ${credentials(one)}`),
  };
}

/** Which of the requests let an animal out, or in, that were sent. */
const openTo = (door: (request: ClientRequest) => boolean, status = 200): Target => ({
  answers: (request) => (door(request) ? { status } : undefined),
});

const CHECKS = [
  'auth-missing-key',
  'auth-empty-key',
  'auth-unknown-key',
  'auth-near-miss-key',
  'auth-other-scheme',
] as const;

t.test('a target that answers 401 to everything without a valid key', async (t) => {
  for (const id of CHECKS) {
    const { verdict, sent } = await tried(id);
    t.equal(verdict, 'pass', id);
    const needs = Object.values(authenticationChecks.find((check) => check.id === id)?.needs ?? {});
    const billed = needs.flatMap((need) => (need.kind === 'scene' ? (need.anonymous ?? 0) : []));
    t.ok(sent.length <= Math.max(...billed), `${id}: and the bill said so`);
  }
});

/** What a shell sends for the command that repeats an exchange: the headers that curl is given. */
function repeated(exchange: Exchange): readonly string[] {
  const script = `curl() { for word; do printf '%s\\0' "$word"; done; }\n${curl(exchange, 'http://x', undefined, 'PETSTORE_FREE_KEY')}`;
  const env = { ...process.env, PETSTORE_FREE_KEY: VALUE };
  const words = execFileSync('/bin/sh', ['-c', script], { env, encoding: 'utf8' }).split('\0');
  return words.filter((_, index) => words[index - 1] === '-H');
}

t.test('the command that repeats such a request carries what it carried, or what is as wrong', async (t) => {
  for (const id of CHECKS) {
    const { sent, exchanges } = await tried(id);
    t.equal(exchanges.length, sent.length);
    for (const [index, request] of sent.entries()) {
      const exchange = exchanges[index];
      if (exchange === undefined) continue;
      const header = credentials(request);
      const said = repeated(exchange).find((one) => one.startsWith('Authorization'));
      if (header === '-') t.equal(said, undefined, 'no key');
      else if (header === '') t.equal(said, 'Authorization;', 'an empty header');
      // A character that is no other's, and unknown keys, are made up anew.
      else if (/xecret|secrxt|secret-1x|unknown/.test(header))
        t.match(said, /^Authorization: Bearer (~ecret-12|secr~t-12|secret-1~|unknown-key.?)$/, header);
      else t.equal(said, `Authorization: ${header}`, header);
    }
  }
});

t.test('a door that is open to one request is found, whichever it is', async (t) => {
  for (const id of CHECKS) {
    const { requests } = await tried(id);
    for (const [index, request] of requests.entries()) {
      let number = 0;
      const said = await tried(
        id,
        openTo(() => {
          number += 1;
          return number === index + 1;
        }),
      );
      t.match(said, { verdict: 'fail', evidence: `${id}#${index + 1}`, reason: /^200/ }, `${id}: ${request}`);
      const [method, path] = request.split(' ');
      t.ok(said.expected?.startsWith(`401 for ${method} ${path} with `), request);
    }
  }
});

t.test('without a key: each operation, and an animal that there is not', async (t) => {
  const { requests, sent } = await tried('auth-missing-key');
  t.match(requests, [
    'GET /pets?status=sold&limit=1 -',
    'POST /pets -',
    'GET /pets/7 -',
    /^GET \/pets\/[2-4]\d{18} -$/,
    'POST /pets -',
  ]);
  const { name, ...rest } = JSON.parse(sent[4]?.body ?? '');
  t.match(name, / refused without a key$/);
  t.strictSame(rest, { status: 'sold' }, 'an addition that is invalid too is no 400');
  t.match(JSON.parse(sent[1]?.body ?? ''), {
    name: / refused without a key$/,
    categoryId: 3,
    status: 'sold',
  });
  t.match(
    await tried(
      'auth-missing-key',
      openTo(({ path }) => path === '/pets/7', 404),
    ),
    {
      verdict: 'fail',
      expected: '401 for GET /pets/7 with no Authorization header',
      reason: /^404/,
    },
  );
});

t.test('an animal is asked for that was retrieved before, where one was', async (t) => {
  const { requests, verdict } = await tried('auth-missing-key', { retrieved: 404 });
  t.equal(requests.length, 4);
  t.notOk(requests.includes('GET /pets/7 -'));
  t.equal(verdict, 'pass');
});

t.test('without the permission to write an addition is not tried, and the rest is no pass', async (t) => {
  for (const id of CHECKS) {
    const { verdict, reason, requests } = await tried(id, { writes: false });
    t.notOk(
      requests.some((request) => request.startsWith('POST')),
      id,
    );
    t.strictSame([verdict, reason], ['skipped', 'needs the permission writes'], id);
    t.equal((await tried(id, { writes: false, ...openTo(() => true) })).verdict, 'fail', id);
  }
});

t.test('an empty key: Bearer with nothing after it, and a header with nothing at all', async (t) => {
  const id = 'auth-empty-key';
  const { requests, sent } = await tried(id);
  t.strictSame(requests, ['POST /pets Bearer ', 'GET /pets/7 Bearer ', 'GET /pets ']);
  const { name, ...rest } = JSON.parse(sent[0]?.body ?? '');
  t.match(name, / refused with an empty key$/);
  t.strictSame(rest, { status: 'sold' }, 'the addition is invalid too: that is no 400');
  t.match(
    await tried(
      id,
      openTo((request) => credentials(request) === 'Bearer ', 400),
    ),
    {
      verdict: 'fail',
      expected: '401 for POST /pets with Bearer and no key',
      evidence: /^auth-empty-key#1,auth-empty-key#2$/,
    },
  );
  const empty = (status: number) =>
    tried(
      id,
      openTo((request) => credentials(request) === '', status),
    );
  for (const status of [400, 403, 499])
    t.equal((await empty(status)).verdict, 'pass', `${status}: HTTP has no such header`);
  for (const status of [200, 399, 500])
    t.match(await empty(status), {
      verdict: 'fail',
      expected: '401 for GET /pets with an empty Authorization header',
    });
});

t.test('an unknown key: of letters beyond ASCII, the word null, and one by chance', async (t) => {
  const id = 'auth-unknown-key';
  const { requests } = await tried(id);
  t.match(requests, [
    'GET /pets?status=available Bearer unknown-é',
    'POST /pets Bearer null',
    /^GET \/pets\/7 Bearer unknown-[0-9a-z]+$/,
  ]);
  t.equal('unknown-é'.length, VALUE.length, 'as long as a key');
  const accented = (status: number) =>
    tried(
      id,
      openTo((request) => credentials(request).endsWith('é'), status),
    );
  t.equal((await accented(400)).verdict, 'pass', 'HTTP has no such credentials');
  t.match(await accented(500), { verdict: 'fail', expected: /an unknown key with a letter beyond ASCII$/ });
  t.match(
    await tried(
      id,
      openTo((request) => credentials(request) === 'Bearer null', 400),
    ),
    {
      verdict: 'fail',
      expected: '401 for POST /pets with Bearer and the word null',
    },
  );
  t.match(
    await tried(
      id,
      openTo(({ path }) => path === '/pets/7', 404),
    ),
    {
      verdict: 'fail',
      expected: '401 for GET /pets/7 with Bearer and an unknown key',
    },
  );
});

t.test('a key that is almost right, each operation in turn', async (t) => {
  const { requests } = await tried('auth-near-miss-key');
  t.strictSame(requests, [
    'GET /pets?limit=1 Bearer secret-12=',
    'POST /pets Bearer secret-1',
    'GET /pets/7 Bearer secreT-12',
    'GET /pets?limit=1 Bearer xecret-12',
    'POST /pets Bearer secrxt-12',
    'GET /pets/7 Bearer secret-1x',
    'GET /pets?limit=1 Bearer ecret-12',
    'GET /pets?limit=1 Bearer "secret-12"',
    'GET /pets?limit=1 Bearer secret-12 x',
  ]);
  t.match(
    await tried(
      'auth-near-miss-key',
      openTo((request) => credentials(request).endsWith('=')),
    ),
    {
      expected: '401 for GET /pets?limit=1 with Bearer and a key with an extra equals sign',
    },
  );
});

t.test('a valid key in another scheme, in none, or elsewhere', async (t) => {
  const { requests, sent } = await tried('auth-other-scheme');
  const basic = Buffer.from(`${VALUE}:`).toString('base64');
  const list = 'GET /pets?limit=1&status=pending';
  t.strictSame(requests, [
    `${list} Basic ${basic}`,
    'POST /pets ApiKey secret-12',
    'GET /pets/7 BearerToken secret-12',
    `${list} Basic secret-12`,
    `${list} Token secret-12`,
    `${list} secret-12`,
    `${list} Bearersecret-12`,
    'GET /pets?limit=1 -',
  ]);
  t.strictSame(sent.at(-1)?.headers, [
    ['x-api-key', VALUE],
    ['api-key', VALUE],
    ['cookie', `api_key=${VALUE}; token=${VALUE}`],
  ]);
  for (const [header, described] of [
    [`Basic ${basic}`, 'Basic and a valid key'],
    ['ApiKey secret-12', 'ApiKey and a valid key'],
    ['BearerToken secret-12', 'BearerToken and a valid key'],
    ['Basic secret-12', 'Basic and a valid key, not encoded'],
    ['Token secret-12', 'Token and a valid key'],
    ['secret-12', 'a valid key without a scheme'],
    ['Bearersecret-12', 'Bearer and a valid key, with no space between'],
    ['-', 'a valid key only in X-Api-Key and a cookie'],
  ] as const) {
    const { expected } = await tried(
      'auth-other-scheme',
      openTo((request) => credentials(request) === header),
    );
    t.ok(expected?.endsWith(` with ${described}`), described);
    t.notOk(expected?.includes(VALUE), 'a message holds no key');
  }
});

t.test('without a key that can be used there is none to vary', async (t) => {
  for (const id of ['auth-unknown-key', 'auth-near-miss-key', 'auth-other-scheme'])
    t.match(await tried(id, { keys: [] }), { verdict: 'inconclusive', reason: 'no key can be used' }, id);
});

/** What is said of a run whose requests were answered so, in order: by whom, with which key, with which status. */
async function valid(...answers: readonly (readonly [status: number, sentBy?: string, key?: Key])[]) {
  const keys = [...new Set(answers.map(([, , payer = key]) => payer))];
  const { run } = testRun((_request, number) => ({ status: answers[number - 1]?.[0] ?? 200 }), { keys });
  for (const [index, [, sentBy = 'list', payer = key]] of answers.entries())
    await run.probe(`${sentBy}-${index}`).attempt(listPets(), payer);
  return judged(run, authenticationChecks, 'auth-valid-key');
}

t.test('a valid key is let in', async (t) => {
  const other = testKey({ name: 'free-2' });
  t.equal((await valid([200])).verdict, 'pass');
  t.equal((await valid([404], [429])).verdict, 'pass', 'whatever else is answered');
  t.match(await valid([401], [200]), {
    verdict: 'fail',
    expected: 'no 401 for a valid key',
    reason: /^401/,
    evidence: 'list-0#1,list-1#1',
  });
  t.equal((await valid([200], [401], [200])).verdict, 'fail');
  t.equal((await valid([200], [401], [404])).verdict, 'fail');
  t.equal((await valid([401], [401])).verdict, 'inconclusive', 'it may be banned for what somebody else did');
  t.equal((await valid([401])).verdict, 'inconclusive');
  t.equal((await valid([429], [401], [200])).verdict, 'pass', 'a ban follows a 429');
  t.equal((await valid([401], [200], [429])).verdict, 'fail', 'and comes after it');
  t.equal((await valid([401], [200, 'list', other])).verdict, 'pass', 'another key’s answer tells nothing');
  for (const sentBy of ['ban:free-1', 'preflight'])
    t.equal((await valid([401, sentBy], [200, sentBy])).verdict, 'inconclusive', sentBy);
  t.equal((await valid([401, 'urban'], [200, 'urban'])).verdict, 'fail');
  const { run } = testRun();
  const refused = answered({ id: 'list#1', status: 401, sentAt: 0, receivedAt: 20 });
  const concludedWith = (sentAt: number) =>
    concluded(run, authenticationChecks, 'auth-valid-key', [
      refused,
      answered({ id: 'list#2', sentAt, receivedAt: 30 }),
    ]).verdict;
  t.equal(concludedWith(19), 'pass', 'one that was under way with it may have come before the ban');
  t.equal(concludedWith(20), 'fail');
});

t.test('keys that are sent to see whether they are counted are no more let in', async (t) => {
  const { run } = testRun();
  const said = (parts: AnswerParts) =>
    seen(run, authenticationChecks, 'auth-unknown-key', [
      answered({
        id: 'rate-invalid-key-free#1',
        key: null,
        requestHeaders: [['authorization', 'Bearer [an unknown key]']],
        ...parts,
      }),
    ]);
  t.equal(said({ status: 401 }).verdict, 'pass');
  for (const status of [200, 399, 500])
    t.match(said({ status }), {
      verdict: 'fail',
      expected: '401 with Bearer [an unknown key]',
      reason: /^\d{3} /,
    });
  t.match(said({ status: 200, requestHeaders: [] }), { expected: '401 with no Authorization header' });
  for (const status of [400, 403, 404, 429, 503])
    t.equal(said({ status }).verdict, 'inconclusive', `${status}: refused, if not as it should be`);
  t.equal(said({ status: 200, key: 'free-1' }).verdict, 'inconclusive', 'a valid key');
  t.equal(said({ status: 200, id: 'list#1' }).verdict, 'inconclusive', 'another check judges it');
});

t.test('an addition that was refused with 401 is in no list afterwards', async (t) => {
  const stored = async (name: string) => {
    const { run, sent } = testRun(
      ({ operation, body, authorization }) =>
        authorization.kind === 'key' && operation === 'listPets'
          ? { body: JSON.stringify([{ id: 1, name, categoryId: 1 }]) }
          : { status: 401, body: body ?? '' },
      { permissions: new Set(['writes'] as const), sampleCategoryId: 3n },
    );
    await played(run, 'store-sample', undefined);
    await played(run, 'retrievals', { done: [], unsettled: [] });
    await judged(run, authenticationChecks, 'auth-missing-key');
    const { name: refused = '' } = JSON.parse(
      sent.find(({ operation }) => operation === 'createPet')?.body ?? '{}',
    );
    const said = await judged(run, authenticationChecks, 'auth-refused-adds-nothing');
    return { ...said, refused, last: sent.at(-1)?.path };
  };
  const another = await stored('another');
  t.match(another, { verdict: 'pass', last: '/pets?limit=100' });
  t.match(await stored(another.refused), { verdict: 'fail', reason: /is listed/ });
  const { run } = testRun(undefined, { permissions: new Set(['writes'] as const) });
  t.match(await judged(run, authenticationChecks, 'auth-refused-adds-nothing'), {
    verdict: 'not-applicable',
    reason: 'no addition was refused with 401',
  });
});

t.test('which challenge a 401 has is the target’s choice', async (t) => {
  const challenged = async (header: string | undefined, parts: AnswerParts = {}) => {
    const { run } = testRun(() => ({
      status: 401,
      headers: header === undefined ? [] : [['WWW-Authenticate', header]],
      ...parts,
    }));
    await run.probe('list').sendWithoutKey(listPets(), 'none');
    return observed(run, authenticationGaps, 'authentication-challenge');
  };
  t.match(await challenged('Bearer realm="pets"'), {
    answer: 'bearer',
    detail: 'WWW-Authenticate: Bearer realm="pets"',
    evidence: 'list#1',
  });
  t.match(await challenged('Basic, Bearer'), { answer: 'basic' });
  t.match(await challenged(undefined), { answer: 'none', detail: 'a 401 has no WWW-Authenticate' });
  t.equal(await challenged('Bearer', { status: 200 }), undefined);
  const { run } = testRun(() => ({ status: 401, headers: [['WWW-Authenticate', 'Bearer']] }));
  await run.probe('list').attempt(listPets(), key);
  t.equal(
    await observed(run, authenticationGaps, 'authentication-challenge'),
    undefined,
    'that of a valid key',
  );
});
