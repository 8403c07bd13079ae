/** Section 8: going on after a 429, as no client should, until a ban shows. */
import t from 'tap';
import { MINUTE, SECOND } from '../../limits/time.ts';
import type { Key } from '../../profile/key.ts';
import type { Permission } from '../../profile/permissions.ts';
import { NOON, payer, testKey } from '../../run/testing/test-run.ts';
import { listPets } from '../../wire/requests.ts';
import type { LimitedTarget } from '../minute/testing/limited-target.ts';
import { outcomeOf, played } from '../testing/judged.ts';
import { readBan } from './reading.ts';
import {
  banKeyForTests,
  banningRun,
  banScene,
  forbidden,
  proKey,
  provoked,
} from './testing/banning-target.ts';

const PERMISSION = ['ban', 'writes'] as const;

t.test('the quota and six more go at once, and the rest when the window is about to end', async (t) => {
  const { provocation, run, waits, own } = await provoked();
  const times = run.trace.readings.filter(({ key }) => key === 'free-ban').map(({ sentAt }) => sentAt);
  t.equal(times.filter((time) => time === NOON).length, 12);
  t.ok((times[12] ?? 0) > NOON + 40 * SECOND && (times[12] ?? 0) < NOON + MINUTE);
  t.match(waits[0], /: the window of key free-ban to be about to end$/);
  t.equal(own.length, 12 + 60);
  t.match(provocation, {
    count: { verdict: { kind: 'exact' } },
    refusals: { length: 66 },
    bans: { length: 0 },
    ban: undefined,
    served: { length: 0 },
    first: { outcome: { status: 429 } },
  });
});

t.test('two more are enough where every other key is at its limit too', async (t) => {
  const pro = { ...proKey, roles: ['functional', 'exhaust'] as const };
  const keys = [banKeyForTests, pro];
  const atOnce = async (permissions: readonly Permission[], among: readonly Key[]) => {
    const { run } = await provoked({}, { keys: among }, permissions);
    return run.trace.readings.filter(({ key, sentAt }) => key === 'free-ban' && sentAt === NOON).length;
  };
  t.equal(await atOnce(['ban', 'exhaust'], keys), 8);
  t.equal(await atOnce(['ban'], keys), 12, 'none is driven there');
  t.equal(await atOnce(['ban', 'exhaust'], [...keys, testKey({ name: 'free-2' })]), 12, 'one is not');
  t.equal(await atOnce(['ban', 'exhaust'], [banKeyForTests]), 12, 'there is none');
});

t.test('over the limit every operation has its turn', async (t) => {
  const turns = async (permissions: typeof PERMISSION | readonly ['ban']) =>
    (await provoked({}, {}, permissions)).own.slice(12, 21).map(({ method, path }) => `${method} ${path}`);
  t.strictSame((await turns(['ban'])).slice(0, 8), [
    'GET /pets/7',
    'GET /pets?limit=100&status=sold',
    'GET /pets/7',
    'GET /pets',
    'GET /pets/7',
    'GET /pets?limit=100',
    'GET /pets/7',
    'GET /pets?status=pending',
  ]);
  t.strictSame((await turns(PERMISSION)).slice(0, 4), [
    'GET /pets/7',
    'POST /pets',
    'GET /pets?limit=100&status=sold',
    'GET /pets/7',
  ]);
  const { own } = await provoked({}, {}, PERMISSION);
  const added = own.flatMap(({ body }) => body ?? []);
  t.match(added[0], /"harness-abcd2345 xa","categoryId":1,"status":"sold"/);
  t.equal(new Set(added).size, added.length, 'no two of them alike');
});

t.test('a ban shows by another status, another code or a longer wait', async (t) => {
  for (const [name, tells] of [
    ['403', forbidden],
    ['401', (wait: number) => ({ ...forbidden(wait), status: 401 })],
    ['another code', () => ({ status: 429, code: 'banned' })],
    ['a longer wait', (wait: number) => ({ status: 429, retryAfter: Math.ceil(wait) })],
  ] as const) {
    const { provocation, own } = await provoked({ after: 10, tells });
    t.match(provocation, { ban: { after: 10 }, refusals: { length: 9 }, bans: { length: 1 } }, name);
    t.equal(own.length, 6 + 10, `${name}: nothing more is sent`);
  }
  const { provocation } = await provoked({ after: 10, tells: () => ({ status: 500 }) });
  t.match(provocation, { bans: { length: 0 } }, 'a server error is no ban');
});

t.test('a ban that begins while the burst is in flight', async (t) => {
  const { provocation, own, waits } = await provoked({ after: 3 });
  t.match(provocation, {
    ban: { after: 3 },
    refusals: { length: 2 },
    bans: { length: 4 },
    first: { outcome: { status: 429 } },
  });
  t.equal(own.length, 12, 'nothing more is sent');
  t.notOk(waits.some((wait) => wait.endsWith('to be about to end')));
  const overtaken = await provoked({
    otherwise: ({ number }) => (number === 7 ? forbidden(20) : undefined),
  });
  t.match(overtaken.provocation, {
    first: { outcome: { status: 429 } },
    bans: { length: 1 },
    refusals: { length: 5 },
  });
});

t.test(
  'a ban whose answer overtakes the first refusal, where the limit is reached by a few at a time',
  async (t) => {
    // A limit that a window’s edge has moved, and an answer slow enough that four go together at the next ones.
    const target: LimitedTarget = { admits: 15, takes: (number) => (number === 13 ? 300 : 0) };
    const { provocation } = await provoked(
      { otherwise: ({ number }) => (number === 16 ? forbidden(20) : undefined) },
      target,
    );
    t.match(provocation, {
      first: { id: 'ban:free-ban#17', outcome: { status: 429 } },
      bans: { 0: { id: 'ban:free-ban#16' }, length: 1 },
      refusals: { length: 1 },
    });
  },
);

t.test('a refusal that does not last to the end of a minute is not waited out', async (t) => {
  const waited = async (retryAfter: number | undefined) =>
    (await provoked({ otherwise: ({ admitted }) => (admitted ? undefined : { retryAfter }) })).waits.filter(
      (wait) => wait.endsWith('to be about to end'),
    ).length;
  t.equal(await waited(10), 0, 'a bucket’s');
  t.equal(await waited(11), 1);
  t.equal(await waited(119), 1);
  t.equal(await waited(120), 0);
  t.equal(await waited(undefined), 0);
});

t.test('so late that a ban outlasts the window, and not too late for a slow target', async (t) => {
  const lead = async (milliseconds: number) => {
    const { run } = await provoked(
      { otherwise: ({ admitted }) => (admitted ? undefined : { retryAfter: 60 }) },
      { takes: (number) => (number === 1 ? milliseconds : 0) },
    );
    const own = run.trace.readings.filter(({ key }) => key === 'free-ban');
    const first = own.find(({ status }) => status === 429);
    return Math.round(((first?.receivedAt ?? 0) + MINUTE - (own[12]?.sentAt ?? 0)) / SECOND);
  };
  t.equal(await lead(0), 7, 'sixty round trips of the burst');
  t.equal(await lead(1000), 10, 'several at a time');
  t.equal(await lead(2500), 16, 'six of them');
  t.equal(await lead(5000), 20, 'a third of a minute at most');
});

t.test('a request over the limit that is served', async (t) => {
  const serving = (told: object) =>
    provoked({
      otherwise: ({ number, admitted }) =>
        !admitted && (number === 16 || number === 17) ? { status: 200, ...told } : undefined,
    });
  const { provocation, own } = await serving({});
  t.strictSame(
    provocation.served.map(({ id }) => id),
    ['ban:free-ban#16', 'ban:free-ban#17'],
    'its Reset stands still',
  );
  t.equal(provocation.refusals.length, 66);
  t.notOk(
    own.slice(12).some(({ path }) => path === '/pets?limit=1'),
    'the turns go on',
  );
  const moved = await serving({ reset: 100 });
  t.strictSame(moved.provocation.served, [], 'paid from quota that was given back');
  t.strictSame(
    moved.own.slice(16, 18).map(({ path }) => path),
    ['/pets?limit=1', '/pets?limit=1'],
    'which is spent with lists',
  );
  t.strictSame((await serving({ limit: 1000 })).provocation.served, [], 'the day’s figures');
  const hidden = await serving({ reset: undefined });
  t.strictSame(hidden.provocation.served, []);
  t.equal(hidden.own[16]?.path, '/pets?limit=1');
});

t.test('of what was served over the limit, what no refill explains', async (t) => {
  const beyond = async (numbers: readonly number[], pause = 0) => {
    const { provocation } = await provoked(
      {
        otherwise: ({ number, admitted }) =>
          !admitted && numbers.includes(number) ? { status: 200 } : undefined,
      },
      // A slow burst, so that there is time enough before the window ends.
      { takes: (number) => (number === 1 ? 3000 : number === 17 ? pause : 0) },
    );
    t.equal(provocation.served.length, numbers.length);
    return provocation.servedBeyondRefill.map(({ id }) => id);
  };
  t.strictSame(await beyond([16]), [], 'one may have been given back at once');
  t.strictSame(await beyond([16, 17]), ['ban:free-ban#17']);
  t.strictSame(await beyond([16, 17], 9 * SECOND), ['ban:free-ban#17']);
  t.strictSame(await beyond([16, 17], 10 * SECOND), [], 'a token in ten seconds');
  t.strictSame(await beyond([16, 18]), ['ban:free-ban#18'], 'since any refusal before');
});

t.test('a target that refuses nothing cannot be provoked', async (t) => {
  const test = await banningRun({}, { admits: 1000 });
  await t.rejects(outcomeOf(test.run, banScene()), {
    name: 'Unsettled',
    message: /no request of key free-ban was refused/,
    evidence: [{ id: 'ban:free-ban#12' }],
  });
  t.equal(test.sent.length, 12 + 6);
});

t.test('where a window ends before anything is over the limit, it is reached once more', async (t) => {
  const takes = (number: number) => (number === 7 ? MINUTE : 0);
  const { provocation, own, waits } = await provoked({ after: 10 }, { takes });
  t.match(provocation, { ban: { after: 10 }, count: { verdict: { kind: 'exact' }, all: { length: 6 } } });
  t.equal(own.length, 12 + 12 + 4);
  t.match(waits[0], /^121.*: key free-ban to be at rest for a minute$/);
  const slow = (number: number) => (number === 7 || number === 19 ? MINUTE : 0);
  const again = await provoked({ after: 10 }, { takes: slow });
  t.match(again.provocation, { ban: { after: 10 }, first: { id: 'ban:free-ban#25' } }, 'goes on one by one');
});

t.test('what an edge of the window gave back is spent before anything is over the limit', async (t) => {
  const { provocation } = await provoked({ after: 5 }, { admits: 15 });
  t.match(provocation, {
    count: { verdict: { kind: 'more' } },
    first: { id: 'ban:free-ban#16' },
    ban: { after: 5 },
  });
  t.strictSame(provocation.served, [], 'none of them is over the limit');
});

t.test(
  'of a larger plan all but the last requests go before, what was sent already is left out',
  async (t) => {
    const large = { ...banKeyForTests, limits: { perMinute: 30, perDay: 1000 } };
    const test = await banningRun({ after: 3 }, { keys: [large, proKey] });
    await test.run.play(banScene(large));
    // The last request asks whether the window is over.
    const own = test.run.trace.readings.filter(({ key }) => key === 'free-ban').slice(0, -1);
    const burst = own.at(-1)?.sentAt;
    t.strictSame(
      [
        own.length,
        own.filter(({ sentAt }) => sentAt === NOON).length,
        own.filter(({ sentAt }) => sentAt === burst).length,
      ],
      [36, 10, 26],
    );
    const used = await banningRun({ after: 3 });
    for (let sent = 0; sent < 2; sent += 1)
      await used.run.probe('earlier').attempt(listPets(), banKeyForTests);
    const measurement = await outcomeOf(used.run, banScene());
    t.match(readBan(measurement, used.run.trace).count, { verdict: { kind: 'exact' } });
    t.equal(used.sent.filter((request) => payer(request) === 'free-ban').length, 12 + 1);
  },
);

t.test('a refusal after quota was given back is the limit’s again', async (t) => {
  const { provocation } = await provoked({
    otherwise: ({ number, admitted }) => {
      if (number === 16) return { status: 200, reset: 100 };
      return admitted || number < 16 ? undefined : { retryAfter: 40, reset: 100 };
    },
  });
  t.match(provocation, { bans: { length: 0 }, first: { id: 'ban:free-ban#17' } });
  const longer = await provoked({
    otherwise: ({ number, admitted }) => {
      if (number === 16) return { status: 200, reset: 100 };
      return admitted || number < 16 ? undefined : { retryAfter: 80, reset: 100 };
    },
  });
  t.match(
    longer.provocation,
    { bans: { length: 1 }, first: { outcome: { status: 429 } } },
    'no minute is as long',
  );
});

t.test('a target that serves all that comes after its first refusals', async (t) => {
  const { own, provocation } = await provoked({
    otherwise: ({ number }) => (number > 14 ? { status: 200 } : undefined),
  });
  t.equal(own.length, 12 + 72, 'two windows more, and as many as may be needed for a ban');
  t.strictSame(provocation.served, [], 'no refusal after them shows that the window still went on');
});

t.test('a key whose minute was measured before is left at rest first', async (t) => {
  const key = { ...banKeyForTests, roles: ['exhaust', 'ban'] as const };
  const test = await banningRun({}, { keys: [key, proKey] }, ['ban', 'exhaust']);
  await played(test.run, 'minute:free-ban', undefined);
  await test.run.probe('earlier').attempt(listPets(), key);
  await test.run.play(banScene(key));
  t.match(test.waits()[0], /^61\.\d+: key free-ban to be at rest for a minute$/);
});

t.test('a key whose minute is not measured by this run does not wait', async (t) => {
  const pro = { ...proKey, roles: ['functional', 'exhaust'] as const };
  const both = { ...banKeyForTests, roles: ['exhaust', 'ban'] as const };
  for (const [keys, permissions] of [
    [
      [banKeyForTests, pro],
      ['ban', 'exhaust'],
    ],
    [[both, proKey], ['ban']],
  ] as const) {
    const test = await banningRun({ after: 3 }, { keys }, permissions);
    await played(test.run, 'minute:pro-1', undefined);
    await test.run.probe('earlier').attempt(listPets(), keys[0]);
    await test.run.play(banScene(keys[0]));
    t.notOk(test.waits().some((wait) => wait.endsWith('to be at rest for a minute')));
  }
});

t.test('no answer is no provocation', async (t) => {
  const broken = { kind: 'failure', reason: 'reset', message: 'connection reset' } as const;
  const once = await banningRun({ otherwise: ({ number }) => (number === 14 ? broken : undefined) });
  await t.resolves(outcomeOf(once.run, banScene()), 'a request over the limit is sent again');
  const test = await banningRun({ otherwise: ({ number }) => (number >= 14 ? broken : undefined) });
  await t.rejects(outcomeOf(test.run, banScene()), {
    name: 'Unsettled',
    message: /connection reset/,
  });
});
