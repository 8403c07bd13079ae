/** Sections 5 and 8: whose quota a request takes from. */
import t from 'tap';
import { payer, testKey, testRun } from '../../run/testing/test-run.ts';
import type { ClientRequest } from '../../wire/client.ts';
import { listPets } from '../../wire/requests.ts';
import { telling } from '../minute/testing/measured.ts';
import { judged } from '../testing/judged.ts';
import { keysApartChecks } from './apart.ts';

const free = testKey({ value: 'Abcdefgh' });
const pro = testKey({
  name: 'pro-1',
  plan: 'pro',
  limits: { perMinute: 300, perDay: 10_000 },
  value: 'pqrstuvw',
});

/** A target that takes from each key in this list what the number says, whoever asks. */
function spending(
  takes: (request: ClientRequest, number: number) => Readonly<Record<string, number>>,
  keys = [free, pro],
  shown: (key: string, left: number, number: number) => Parameters<typeof telling>[0] = (key, remaining) => ({
    limit: key === 'free-1' ? 60 : 300,
    remaining,
  }),
) {
  const left: Record<string, number> = { 'free-1': 60, 'pro-1': 300 };
  return testRun(
    (request, number) => {
      for (const [key, took] of Object.entries(takes(request, number))) left[key] = (left[key] ?? 0) - took;
      const key = payer(request);
      return key === null || request.authorization.kind !== 'key'
        ? { status: 401 }
        : telling({ status: 200, ...shown(key, left[key] ?? 0, number) });
    },
    { keys },
  );
}
const own = (request: ClientRequest) => ({ [payer(request) ?? '']: 1 });

t.test('a key spends its own requests only', async (t) => {
  const { run, sent } = spending(own);
  t.match(await judged(run, keysApartChecks, 'rate-keys-apart'), {
    verdict: 'pass',
    reason: 'held in 2 observations',
    evidence: /^keys-in-turn#3,keys-in-turn#4$/,
  });
  t.strictSame(sent.map(payer), ['free-1', 'pro-1', 'free-1', 'pro-1'], 'each key in turn, and no more');
  t.strictSame(
    sent.map(({ path }) => path),
    ['/pets?limit=100', '/pets?limit=100', '/pets', '/pets'],
    'each key sees the largest page and the usual one',
  );
});

t.test('a key whose quota comes back meanwhile falls by less', async (t) => {
  const { run } = spending(() => ({}));
  t.match(await judged(run, keysApartChecks, 'rate-keys-apart'), { verdict: 'pass' });
});

t.test('a key that pays for the requests of others as well', async (t) => {
  const { run, sent } = spending(() => ({ 'free-1': 1, 'pro-1': 1 }));
  t.match(await judged(run, keysApartChecks, 'rate-keys-apart'), {
    verdict: 'fail',
    expected: /^key free-1 pays only for its own requests$/,
    reason: /fell by 3, 1, 6, 2 where it sent one request and other keys 2, 0, 5, 1$/,
    evidence: /^keys-in-turn#17,keys-in-turn#15$/,
  });
  t.strictSame(
    sent.map(payer).slice(4, 9),
    ['free-1', 'pro-1', 'pro-1', 'free-1', 'free-1'],
    'two in between, and none',
  );
  t.equal(sent.length, 4 + 5 + 8);
});

t.test('a key that pays twice for the requests of another one', async (t) => {
  const { run } = spending((request) => ({
    'pro-1': 1,
    ...(payer(request) === 'pro-1' ? { 'free-1': 2 } : own(request)),
  }));
  t.match(await judged(run, keysApartChecks, 'rate-keys-apart'), {
    verdict: 'fail',
    expected: /^key free-1/,
    reason: /fell by 5, 1, 11, 3 /,
  });
});

t.test('one key that pays for the other', async (t) => {
  for (const key of ['free-1', 'pro-1']) {
    const { run } = spending((request) => ({ ...own(request), [key]: 1 }));
    t.match(await judged(run, keysApartChecks, 'rate-keys-apart'), {
      verdict: 'fail',
      expected: `key ${key} pays only for its own requests`,
      reason: /fell by 3, 1, 6, 2 /,
    });
  }
});

t.test('somebody else on a key does not come in proportion to our requests', async (t) => {
  for (const [name, disturbed] of [
    ['once', [3]],
    ['twice', [3, 8, 8]],
    ['all the time', [3, 8, 8, 9, 15, 15, 15, 15, 15, 17]],
    ['as it would follow, but for the last time', [3, 8, 8, 15, 15, 15, 15, 15]],
  ] as const) {
    const { run } = spending((request, number) => ({
      ...own(request),
      ...(payer(request) === 'free-1'
        ? { 'free-1': 1 + disturbed.filter((at) => at === number).length }
        : {}),
    }));
    t.match(
      await judged(run, keysApartChecks, 'rate-keys-apart'),
      { verdict: 'inconclusive', reason: /key free-1 fell by more .* as if another client were using it/ },
      name,
    );
  }
});

t.test('a quota that does not suffice is waited for', async (t) => {
  const { run, sent, waits } = spending(
    () => ({ 'free-1': 1, 'pro-1': 1 }),
    [free, pro],
    (key, left, number) => ({
      limit: key === 'free-1' ? 60 : 300,
      remaining: left - (number > 4 || key === 'pro-1' ? 0 : 50),
    }),
  );
  t.match(await judged(run, keysApartChecks, 'rate-keys-apart'), { verdict: 'fail' });
  t.match(waits().at(-1), /: key free-1 to be at rest for a minute$/);
  t.equal(sent.length, 4 + 5 + 8);
});

t.test('headers that do not tell what a key spent', async (t) => {
  const undecided = { verdict: 'inconclusive', reason: /does not show what a key spent/ };
  const { run } = spending(own, [free, pro], () => ({ remaining: undefined }));
  t.match(await judged(run, keysApartChecks, 'rate-keys-apart'), undecided);
  const windows = spending(own, [free, pro], (_key, remaining, number) => ({ limit: number, remaining }));
  t.match(
    await judged(windows.run, keysApartChecks, 'rate-keys-apart'),
    undecided,
    'now the minute’s, now the day’s',
  );
  const appearing = spending(own, [free, pro], (_key, remaining, number) => ({
    remaining: number > 2 ? remaining : undefined,
  }));
  t.match(await judged(appearing.run, keysApartChecks, 'rate-keys-apart'), undecided);
  const vanishing = spending(own, [free, pro], (_key, remaining, number) => ({
    remaining: number > 2 ? undefined : remaining,
  }));
  t.match(await judged(vanishing.run, keysApartChecks, 'rate-keys-apart'), undecided);
  const one = spending(own, [free, pro], (key, remaining) => ({
    remaining: key === 'free-1' ? undefined : remaining,
  }));
  t.match(await judged(one.run, keysApartChecks, 'rate-keys-apart'), {
    verdict: 'pass',
    reason: 'held in one observation',
  });
});

t.test('one key has no neighbours', async (t) => {
  const { run, sent } = spending(own, [free]);
  t.match(await judged(run, keysApartChecks, 'rate-keys-apart'), {
    verdict: 'skipped',
    reason: /no second key/,
  });
  t.equal(sent.length, 0);
});

/** Requests that carry no valid key. */
const isInvalid = ({ authorization }: ClientRequest) => authorization.kind !== 'key';

t.test('a request without a valid key takes from nobody’s quota', async (t) => {
  const keys = [free, testKey({ ...pro, roles: ['exhaust'] })];
  const { run, sent } = spending((request) => (isInvalid(request) ? {} : own(request)), keys);
  t.match(await judged(run, keysApartChecks, 'rate-invalid-key-free'), {
    verdict: 'pass',
    evidence: /^rate-invalid-key-free#8,rate-invalid-key-free#1$/,
  });
  t.strictSame(
    sent.map(({ authorization }) => {
      if (authorization.kind === 'none') return 'none';
      return authorization.kind === 'raw' ? authorization.header : authorization.name;
    }),
    [
      'pro-1',
      'Bearer pqrstuvwx',
      'Bearer pqrstuv',
      'Bearer pqrstuvW',
      `Basic ${Buffer.from('pqrstuvw:').toString('base64')}`,
      'Bearer undefined',
      'none',
      'pro-1',
    ],
    'everything that resembles the key of the largest plan',
  );
});

t.test('what a key has left is not asked for where its last answer has just said it', async (t) => {
  const counted = async (path: string, together: number, pause = 0) => {
    const { run, sent, clock } = spending((request) => (isInvalid(request) ? {} : own(request)));
    const probe = run.probe('earlier');
    await Promise.all(
      Array.from({ length: together }, () => probe.send({ ...listPets(), path }, { key: pro })),
    );
    clock.pass(pause);
    const { evidence } = await judged(run, keysApartChecks, 'rate-invalid-key-free');
    return [evidence, sent.length - together];
  };
  t.strictSame(await counted('/pets', 1), ['rate-invalid-key-free#7,earlier#1', 7]);
  t.strictSame(
    await counted('/pets', 1, 1001),
    ['rate-invalid-key-free#8,rate-invalid-key-free#1', 8],
    'long ago',
  );
  t.equal((await counted('/pets', 2))[1], 8, 'another one was under way with it');
});

t.test('a request with almost a key that is taken from the key’s quota', async (t) => {
  const almost = ({ authorization }: ClientRequest) =>
    authorization.kind === 'raw' && authorization.header === 'Bearer pqrstuv';
  const { run, sent } = spending((request) =>
    isInvalid(request) ? { 'pro-1': almost(request) ? 1 : 0 } : own(request),
  );
  t.match(await judged(run, keysApartChecks, 'rate-invalid-key-free'), {
    verdict: 'fail',
    reason: /fell by 2 when .* once, and by 4 when it was sent three times/,
    evidence: /^rate-invalid-key-free#40,rate-invalid-key-free#21$/,
  });
  t.equal(sent.length, 1 + 3 + 6 * (1 + 2 + 3), 'a round goes on from the one before it');
});

t.test('requests with several resemblances of a key that are taken from its quota', async (t) => {
  const { run } = spending((request) =>
    isInvalid(request)
      ? {
          'pro-1':
            request.authorization.kind === 'raw' && request.authorization.header.startsWith('Bearer p')
              ? 1
              : 0,
        }
      : own(request),
  );
  t.match(await judged(run, keysApartChecks, 'rate-invalid-key-free'), {
    verdict: 'fail',
    reason: /fell by 4 when .* once, and by 10 when it was sent three times/,
  });
});

t.test('somebody else on the key of the largest plan', async (t) => {
  for (const [name, disturbed] of [
    ['once', [2]],
    ['in the first two rounds', [2, 11, 12]],
    ['in the first and the third', [2, 30, 31, 32]],
    ['one too many in the third', [2, 11, 12, 30, 31, 32, 33]],
    ['one too few in the second', [2, 11, 30, 31, 32]],
  ] as const) {
    const { run } = spending((request, number) => ({
      ...(isInvalid(request) ? {} : own(request)),
      ...(disturbed.some((at) => at === number) ? { 'pro-1': 1 } : {}),
    }));
    t.match(
      await judged(run, keysApartChecks, 'rate-invalid-key-free'),
      { verdict: 'inconclusive', reason: /key pro-1 fell by more .* as if another client were using it/ },
      name,
    );
  }
});

t.test('requests without a valid key that were served explain what a key lost', async (t) => {
  let asked = 0;
  const { run } = testRun(
    (request) => {
      const isServed = request.authorization.kind === 'raw' && request.authorization.header.endsWith('x');
      asked += isServed || !isInvalid(request) ? 1 : 0;
      return isServed || !isInvalid(request)
        ? telling({ status: 200, limit: 300, remaining: 300 - asked ** 2 })
        : { status: 401 };
    },
    { keys: [pro] },
  );
  t.match(await judged(run, keysApartChecks, 'rate-invalid-key-free'), {
    verdict: 'inconclusive',
    reason:
      '6 of the requests without a valid key were served, and may have been counted (see auth-unknown-key)',
  });
});

t.test('a key that does not show what it spent, or none at all', async (t) => {
  for (const hidden of [1, 8]) {
    const { run } = spending(own, [free, pro], (_key, remaining, number) => ({
      remaining: number === hidden ? undefined : remaining,
    }));
    t.match(await judged(run, keysApartChecks, 'rate-invalid-key-free'), {
      verdict: 'inconclusive',
      reason: /does not show what a key spent/,
    });
  }
  const { run } = spending(own, []);
  t.match(await judged(run, keysApartChecks, 'rate-invalid-key-free'), {
    verdict: 'inconclusive',
    reason: /no key can be used/,
  });
});
