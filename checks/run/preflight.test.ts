import t from 'tap';
import type { FailureReason } from '../wire/exchange.ts';
import type { AnswerParts } from '../wire/testing/answered.ts';
import { preflight } from './preflight.ts';
import { reasonOf } from './reason.ts';
import { type Answers, payer, testKey, testRun } from './testing/test-run.ts';

const RESET = { kind: 'failure', reason: 'reset', message: 'the connection was reset' } as const;
const LIMIT: AnswerParts = { headers: [['X-RateLimit-Limit', '60']] };
const PRO = { plan: 'pro', limits: { perMinute: 300, perDay: 10_000 } } as const;
const ERROR = '{"code":"unauthorized","message":"No such key.","status":401}';

/** The result for two keys, and the run that it was had with. */
async function before(answers: Answers, names: readonly string[] = ['free-1', 'pro-1'], baseUrl?: string) {
  const keys = names.map((name) =>
    testKey({
      name,
      env: `KEY_${name.toUpperCase().replace('-', '_')}`,
      ...(name.startsWith('pro') ? PRO : {}),
    }),
  );
  const target = testRun(answers, { keys, ...(baseUrl === undefined ? {} : { baseUrl }) });
  return { ready: await preflight(target.run), ...target };
}

t.test('one request a key, and the run may begin', async (t) => {
  const { ready, sent } = await before(() => LIMIT);
  t.strictSame(ready, { kind: 'ready', unusable: new Map() });
  t.strictSame(
    sent.map((request) => `${payer(request)} ${request.path}`),
    ['free-1 /pets?limit=1', 'pro-1 /pets?limit=1'],
  );
});

t.test('any trace of the service will do', async (t) => {
  const traces: readonly AnswerParts[] = [
    LIMIT,
    { headers: [['x-ratelimit-remaining', 'broken']] },
    { headers: [['x-ratelimit-reset', '']] },
    { body: '[]' },
    { body: '["not animals"]' },
    { status: 500, body: ERROR },
  ];
  for (const trace of traces)
    t.equal((await before(() => ({ body: '', ...trace }))).ready.kind, 'ready', JSON.stringify(trace));
});

t.test('something else at the address', async (t) => {
  const others: readonly (readonly [AnswerParts, string])[] = [
    [{ body: '' }, '200 with an empty body'],
    [{ body: '<html>', headers: [['Content-Type', 'text/html; charset=utf-8']] }, '200 text/html, 6 bytes'],
    [{ status: 404, body: '{"message":"gone"}' }, '404 without a media type, 18 bytes'],
    [{ body: 'null' }, '200 without a media type, 4 bytes'],
    [{ body: '7' }, '200 without a media type, 1 bytes'],
  ];
  for (const [answer, described] of others) {
    const { ready, sent } = await before(() => answer);
    t.strictSame(ready, {
      kind: 'not-ready',
      message: `https://staging.example.com/v1 is not the Pet Store Service: GET /pets answers ${described}`,
    });
    t.equal(sent.length, 1, 'nobody else is asked');
  }
});

t.test(
  'another service at an address that ends in /v1 as well, which refuses everything alike',
  async (t) => {
    for (const status of [404, 400, 405, 410]) {
      const { ready, sent } = await before(() => ({
        status,
        body: `{"code":"x","message":"no route","status":${status}}`,
      }));
      t.match(ready, {
        kind: 'not-ready',
        message: new RegExp(
          `is not the Pet Store Service: GET /pets answers ${status} .*, and every other request in the same way`,
        ),
      });
      t.strictSame(
        sent.map((request) => `${payer(request)} ${request.path}`),
        ['free-1 /pets?limit=1', 'free-1 /pets/1', 'null /pets?limit=1', 'null /pets/1'],
      );
      t.strictSame(
        sent.map(({ authorization }) => authorization.kind),
        ['key', 'key', 'none', 'none'],
        'without a key no Authorization is sent',
      );
    }
  },
);

t.test('a service one of whose operations is not found, or all, is judged for it', async (t) => {
  const NOT_FOUND = { status: 404, body: '{"code":"x","message":"no","status":404}' };
  const faulty: Readonly<Record<string, Answers>> = {
    'lists are not found': (request) => (payer(request) === null ? { status: 401, body: ERROR } : NOT_FOUND),
    'lists are not found, with a key or without': (request) =>
      payer(request) === null && request.operation !== 'listPets' ? { status: 401, body: ERROR } : NOT_FOUND,
    'lists are not found, and no key is asked for': ({ operation }) =>
      operation === 'listPets' ? NOT_FOUND : { body: '{"id":1,"name":"Rex","categoryId":1}' },
    'nothing is found, but the rate is told': () => ({ ...NOT_FOUND, ...LIMIT }),
    'nothing is found, and the rate is told to whoever has no key': (request) =>
      payer(request) === null ? { ...NOT_FOUND, ...LIMIT } : NOT_FOUND,
    'everything fails': () => ({ status: 500, body: ERROR }),
    'one key is known, and nothing else found': (request) =>
      payer(request) === 'free-1' ? LIMIT : NOT_FOUND,
    'all else breaks off': ({ operation }) => (operation === 'listPets' ? NOT_FOUND : RESET),
  };
  for (const [name, answers] of Object.entries(faulty))
    for (const keys of [['free-1'], ['free-1', 'pro-1']])
      t.equal((await before(answers, keys)).ready.kind, 'ready', `${name}, ${keys}`);
});

t.test('an address without the version segment', async (t) => {
  const elsewhere = (baseUrl: string) => before(() => ({ body: '' }), ['free-1'], baseUrl);
  const hint = /; is \/v1 missing from the address\?$/;
  t.match((await elsewhere('https://staging.example.com')).ready, { message: hint });
  t.match((await elsewhere('https://staging.example.com/v10')).ready, { message: hint });
  t.notMatch((await elsewhere('https://staging.example.com/api/v1')).ready, { message: hint });

  const answers = async (answer: AnswerParts) =>
    (await before(() => answer, ['free-1'], 'https://staging.example.com')).ready;
  t.match(
    await answers({ ...LIMIT, status: 404, body: '{"code":"x","message":"no route","status":404}' }),
    { kind: 'not-ready', message: hint },
    'the service itself says so of what is beside its address',
  );
  t.strictSame(await answers(LIMIT), { kind: 'ready', unusable: new Map() }, 'whose version is elsewhere');
});

t.test('nothing at the address', async (t) => {
  const { ready, sent } = await before(() => RESET);
  t.strictSame(ready, {
    kind: 'not-ready',
    message:
      'https://staging.example.com/v1 gives no usable answer to GET /pets: the connection was reset; check the port, and whether the service speaks http:// or https://',
  });
  t.equal(sent.length, 2, 'tried twice');
});

t.test(
  'a key that the target does not know is left out, with a warning that names its variable',
  async (t) => {
    for (const status of [401, 403])
      for (const unknown of ['free-1', 'pro-1']) {
        const { ready, run } = await before((request) =>
          payer(request) === unknown ? { status, body: ERROR } : LIMIT,
        );
        const variable = unknown === 'free-1' ? 'KEY_FREE_1' : 'KEY_PRO_1';
        const warning = reasonOf(
          `the target answers ${status} to key ${unknown} (is the value of ${variable} right?)`,
        );
        t.strictSame(ready, { kind: 'ready', unusable: new Map([[unknown, warning]]) });
        t.strictSame(
          run.sender.lanes.map(({ key, unusable }) => [key.name, unusable]),
          ['free-1', 'pro-1'].map((name) => [name, name === unknown ? warning : undefined]),
        );
      }
  },
);

t.test(
  'where one key has found the service, a gateway’s answer to another is no other service',
  async (t) => {
    const refused = { status: 403, body: '{"message":"Forbidden"}' };
    const second = await before((request) => (payer(request) === 'free-1' ? LIMIT : refused));
    t.strictSame(second.ready, {
      kind: 'ready',
      unusable: new Map([
        ['pro-1', reasonOf('the target answers 403 to key pro-1 (is the value of KEY_PRO_1 right?)')],
      ]),
    });
    const first = await before((request) => (payer(request) === 'free-1' ? refused : LIMIT));
    t.match(first.ready, {
      kind: 'not-ready',
      message: /is not the Pet Store Service: GET \/pets answers 403 /,
    });
  },
);

t.test('a target that refuses lists alone is to be judged for it', async (t) => {
  const { ready, sent } = await before(
    ({ operation }) =>
      operation === 'listPets' ? { status: 401, body: ERROR } : { status: 404, body: ERROR },
    ['free-1'],
  );
  t.strictSame(ready, { kind: 'ready', unusable: new Map() });
  t.strictSame(
    sent.map(({ path }) => path),
    ['/pets?limit=1', '/pets/1'],
  );
});

t.test('where no key works there is nothing to judge', async (t) => {
  for (const status of [401, 403]) {
    const { ready } = await before(() => ({ ...LIMIT, status, body: ERROR }));
    t.strictSame(ready, {
      kind: 'not-ready',
      message: `the target answers ${status} to key free-1 (is the value of KEY_FREE_1 right?); the target answers ${status} to key pro-1 (is the value of KEY_PRO_1 right?)`,
    });
  }
  t.strictSame((await before(() => LIMIT, [])).ready, {
    kind: 'not-ready',
    message: 'the profile names no key',
  });
});

t.test('what answers in front of the target is named by what it may want', async (t) => {
  const header = /; does a gateway in front of it want a header\? Add it with --header NAME=VARIABLE/;
  const login = [['location', 'https://login.example.com/']] as const;
  for (const [answer, wanted] of [
    [{ status: 401, body: ERROR }, header],
    [{ status: 403, body: 'no' }, header],
    [{ status: 302, body: '', headers: login }, header],
    [{ status: 400, body: 'No required SSL certificate was sent' }, /want a client certificate\? .*tls: /],
    [{ status: 404, body: 'no' }, /answers 404 [^;]*$/],
  ] as const)
    t.match(
      (await before(() => answer)).ready,
      { kind: 'not-ready', message: wanted },
      String(answer.status),
    );
});

t.test(
  'a key that somebody else has used up is left out; it does not keep the others from running',
  async (t) => {
    const { ready, run } = await before((request) =>
      payer(request) === 'free-1'
        ? {
            status: 429,
            headers: [
              ['Retry-After', '40000'],
              ['X-RateLimit-Limit', '60'],
            ],
          }
        : LIMIT,
    );
    const warning =
      /429 for key free-1 of 60 a minute although the check had quota left, and Retry-After says 40000/;
    t.match(ready, { kind: /^ready$/ });
    t.match(run.sender.lanes[0]?.unusable, { what: warning });
  },
);

t.test('an interruption is no broken target', async (t) => {
  const stopping = new AbortController();
  stopping.abort(new Error('SIGINT'));
  const { run } = testRun(undefined, {
    signal: stopping.signal,
  });
  t.match(await preflight(run), { kind: 'not-ready', message: /interrupted$/ });

  const { ready } = await before(() => ({
    kind: 'failure',
    reason: 'interrupted',
    message: 'the time was over',
  }));
  t.strictSame(ready, { kind: 'not-ready', message: 'the time was over before anything was judged' });
});

t.test('what to do depends on why there is no answer', async (t) => {
  const cases: readonly (readonly [FailureReason, RegExp])[] = [
    ['refused', /v1 cannot be reached: why; start the service, or correct the port of the address$/],
    [
      'unresolved',
      /v1 cannot be reached: why; correct the host name, or connect to the network that knows it$/,
    ],
    [
      'unreachable',
      /cannot be reached: why; connect to the target’s network, and check the firewalls in between$/,
    ],
    [
      'connect-timeout',
      /cannot be reached: why; connect to the target’s network, and check the firewalls in/,
    ],
    ['tls', /v1 cannot be reached: why$/],
    ['headers-timeout', /v1 gives no usable answer to GET \/pets: why$/],
    ['body-timeout', /gives no usable answer to GET \/pets: why$/],
    ['malformed-response', /gives no usable answer to GET \/pets: why$/],
    ['too-large', /gives no usable answer to GET \/pets: why$/],
    ['unavailable', /gives no usable answer to GET \/pets: why$/],
  ];
  for (const [reason, message] of cases) {
    const { ready } = await before(() => ({ kind: 'failure', reason, message: 'why' }), ['free-1']);
    t.match(ready, { kind: 'not-ready', message }, reason);
  }
});

t.test('a fault of the harness is none of the target’s', async (t) => {
  const NOT_FOUND = { status: 404, body: '{"code":"x","message":"no","status":404}' };
  for (const first of [1, 2, 3, 4])
    await t.rejects(
      before(
        (_request, number) => {
          if (number === first) throw new TypeError('a bug');
          return NOT_FOUND;
        },
        ['free-1'],
      ),
      { name: 'TypeError', message: 'a bug' },
      `at request ${first}`,
    );
});
