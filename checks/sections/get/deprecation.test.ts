/** Sections 4.3 and 9: an operation that is deprecated, works until 5 December 2030 and is gone afterwards. */
import t from 'tap';
import { NOON, type TestRun, testRun } from '../../run/testing/test-run.ts';
import { type AnswerParts, answered } from '../../wire/testing/answered.ts';
import { judged, observed, played, seen } from '../testing/judged.ts';
import { deprecationChecks, deprecationGaps } from './deprecation.ts';

const BEFORE = Date.UTC(2030, 11, 4, 9);
/** Somewhere on Earth it is the 5th. */
const ON_THE_DAY = Date.UTC(2030, 11, 4, 11);
const AFTER = Date.UTC(2030, 11, 6, 13);

const animal = (id: number, status?: string) => JSON.stringify({ id, name: 'Mia', categoryId: 1, status });
const ofGet = { operation: 'getPet', path: '/pets/7' } as const;

interface Retrieved extends AnswerParts {
  readonly own?: boolean;
}

/** A run that has retrieved animal 7 with these answers, by a target's clock; lists show what `listed` says. */
async function retrievedRun(
  retrieved: readonly Retrieved[],
  at: number = NOON,
  listed = '[]',
  ours: number = at,
): Promise<TestRun> {
  const test = testRun(() => ({ body: listed }), { permissions: new Set(['writes'] as const) });
  test.run.trace.targetClock.learn({ date: at, sentAt: ours, receivedAt: ours });
  const outcome = retrieved.map(({ own = true, ...parts }, index) => ({
    known: { id: 7n },
    own,
    exchange: answered({
      ...ofGet,
      id: `retrieved-${index}`,
      sentAt: ours,
      receivedAt: ours,
      body: animal(7, 'sold'),
      ...parts,
    }),
  }));
  await played(test.run, 'retrievals', { done: outcome, unsettled: [] });
  return test;
}
const said = async (
  id: string,
  retrieved: readonly Retrieved[],
  at?: number,
  listed?: string,
  ours?: number,
) => judged((await retrievedRun(retrieved, at, listed, ours)).run, deprecationChecks, id);

t.test('it works until its removal', async (t) => {
  const id = 'get-until-removal';
  t.match(await said(id, [{ status: 200 }]), { verdict: 'pass', evidence: 'retrieved-0' });
  t.match(await said(id, [{ status: 200 }], BEFORE), { verdict: 'pass' });
  for (const status of [301, 308, 405, 410, 501])
    t.match(
      await said(id, [{ status: 200 }, { status }], BEFORE),
      {
        verdict: 'fail',
        expected: /until 2030-12-05/,
        reason: new RegExp(`^${status}`),
        evidence: 'retrieved-1',
      },
      `${status}`,
    );
  for (const status of [404, 400, 500])
    t.match(await said(id, [{ status }]), { verdict: 'inconclusive' }, `${status} says nothing of a removal`);
  t.match(await said(id, [{ status: 410 }], ON_THE_DAY), { verdict: 'not-applicable' });
  t.match(await said(id, [{ status: 410 }], AFTER), { verdict: 'not-applicable' });
});

t.test('it is gone after its removal', async (t) => {
  const id = 'get-removed';
  for (const status of [400, 404, 405, 410, 499])
    t.match(await said(id, [{ status }], AFTER), { verdict: 'pass', evidence: 'retrieved-0' }, `${status}`);
  for (const status of [200, 301, 500])
    t.match(
      await said(id, [{ status: 410 }, { status }], AFTER),
      {
        verdict: 'fail',
        expected: /from 2030-12-05 on/,
        reason: new RegExp(`^${status}`),
        evidence: 'retrieved-1',
      },
      `${status}`,
    );
  t.match(await said(id, [{ status: 200 }], ON_THE_DAY), {
    verdict: 'not-applicable',
    reason: /not past 2030-12-05/,
  });
  t.match(await said(id, [{ status: 200 }]), { verdict: 'not-applicable' });
});

t.test('whether it was to be removed by now neither clock tells alone', async (t) => {
  for (const id of ['get-until-removal', 'get-removed', 'deprecation-successor'])
    for (const [theirs, ours] of [
      [AFTER, NOON],
      [NOON, AFTER],
    ] as const)
      for (const status of [200, 410])
        t.match(
          await said(id, [{ status }], theirs, `[${animal(7, 'sold')}]`, ours),
          { verdict: 'inconclusive', reason: /Date and our clock disagree/ },
          `${id}: ${status}`,
        );
});

/** What is said of one answer with a header, received at noon by the target's clock, which is ours up to 3 seconds. */
function announced(id: string, header: string | undefined, parts: AnswerParts = ofGet, clock = true) {
  const { run } = testRun();
  if (clock) run.trace.targetClock.learn({ date: NOON, sentAt: NOON, receivedAt: NOON });
  const name = id === 'sunset-header-agrees' ? 'Sunset' : 'Deprecation';
  const headers = header === undefined ? [] : [[name, header] as const];
  return seen(run, deprecationChecks, id, [
    answered({ id: 'answer', sentAt: NOON, receivedAt: NOON, headers, ...parts }),
  ]);
}

t.test('a Deprecation header says that the operation is deprecated already', async (t) => {
  const id = 'deprecation-header-agrees';
  const now = NOON / 1000;
  for (const [header, verdict] of [
    [undefined, 'not-applicable'],
    ['@1688169599', 'pass'],
    [' @-1 ', 'pass'],
    [`@${now + 3}`, 'pass'],
    [`@${now + 4}`, 'fail'],
    ['true', 'pass'],
    ['?1', 'pass'],
    ['false', 'fail'],
    ['?0', 'fail'],
    ['Sat, 21 Nov 2026 11:59:59 GMT', 'pass'],
    ['Sun, 22 Nov 2026 12:00:00 GMT', 'fail'],
    ['Xyz, 99 Abc 2026 12:00:00 GMT', 'fail'],
    ['2026-11-21', 'fail'],
    ['x Sat, 21 Nov 2026 11:59:59 GMT', 'fail'],
    ['Sat, 21 Nov 2026 11:59:59 GMT x', 'fail'],
    ['1688169599', 'fail'],
    ['x@1688169599', 'fail'],
    ['@1688169599x', 'fail'],
    ['soon', 'fail'],
  ] as const)
    t.equal(announced(id, header).verdict, verdict, `${header}`);
  t.match(announced(id, 'soon'), {
    expected: 'a date, as in Deprecation: @1688169599',
    reason: 'Deprecation: soon',
    evidence: 'answer',
  });
  t.match(announced(id, 'false'), { expected: 'a deprecated operation', reason: 'Deprecation: false' });
  t.match(announced(id, `@${now + 4}`), {
    expected: 'an operation that is already deprecated',
    reason: /, which lies ahead$/,
  });
  const unknown = (header: string) => announced(id, header, ofGet, false).verdict;
  t.equal(unknown(`@${now + 86_400}`), 'pass', 'without the target’s clock a day’s difference is granted');
  t.equal(unknown(`@${now + 86_401}`), 'fail');
});

t.test('a Sunset header names the day of the removal, wherever on Earth', async (t) => {
  const id = 'sunset-header-agrees';
  for (const [header, verdict] of [
    [undefined, 'not-applicable'],
    ['Thu, 05 Dec 2030 00:00:00 GMT', 'pass'],
    ['Wed, 04 Dec 2030 10:00:00 GMT', 'pass'],
    ['Wed, 04 Dec 2030 09:59:59 GMT', 'fail'],
    ['Fri, 06 Dec 2030 12:00:00 GMT', 'pass'],
    ['Fri, 06 Dec 2030 12:00:01 GMT', 'fail'],
    ['soon', 'fail'],
  ] as const)
    t.equal(announced(id, header).verdict, verdict, `${header}`);
  t.match(announced(id, 'soon'), {
    expected: 'Sunset on 2030-12-05',
    reason: 'Sunset: soon',
    evidence: 'answer',
  });
});

t.test('no other operation is deprecated', async (t) => {
  t.match(announced('deprecation-header-agrees', 'true', { operation: 'listPets' }), {
    verdict: 'fail',
    expected: 'a deprecation of GET /pets/{petId} only',
    reason: 'Deprecation: true on GET /pets',
  });
  const date = 'Thu, 05 Dec 2030 00:00:00 GMT';
  t.match(announced('sunset-header-agrees', date, { operation: 'createPet', method: 'POST' }), {
    verdict: 'fail',
    expected: 'a removal date for GET /pets/{petId} only',
    reason: `Sunset: ${date} on POST /pets`,
  });
});

t.test('what it serves the list with the animal’s status serves too', async (t) => {
  const id = 'deprecation-successor';
  const withIt = `[${animal(7, 'sold')}]`;
  const served = [{ status: 200 }];
  t.match(await said(id, served, NOON, withIt), { verdict: 'pass', evidence: /^retrieved-0,/ });
  t.match(await said(id, served, NOON, `[${animal(8, 'sold')}]`), {
    verdict: 'fail',
    expected: 'animal 7 in the list with status=sold',
    reason: '1 animal without it',
    evidence: /,retrieved-0$/,
  });
  const hundred = `[${Array.from({ length: 100 }, (_, index) => animal(100 + index, 'sold')).join()}]`;
  t.match(await said(id, served, NOON, hundred), { verdict: 'not-applicable', reason: /more animals/ });
  t.match(await said(id, served, NOON, '{}'), { verdict: 'inconclusive' }, 'no list came');
  t.match(
    await said(id, [{ status: 200, body: animal(7, 'lost') }], NOON, '[]'),
    { verdict: 'inconclusive' },
    'no list has such a status',
  );
  t.match(await said(id, [{ status: 200, body: animal(7) }], NOON, '[]'), { verdict: 'inconclusive' });
  t.match(await said(id, [{ status: 404 }], NOON, '[]'), { verdict: 'inconclusive' }, 'it served nothing');
  t.match(
    await said(id, [{ status: 200, own: false }], NOON, '[]'),
    { verdict: 'inconclusive' },
    'somebody else may have removed an animal of theirs',
  );
  t.match(await said(id, [{ status: 410 }], AFTER), {
    verdict: 'not-applicable',
    reason: /past its removal/,
  });
});

t.test('each status is listed once, as many as a list may hold', async (t) => {
  const statuses = ['sold', 'pending', 'sold'];
  const { run, sent } = await retrievedRun(statuses.map((status) => ({ body: animal(7, status) })));
  await judged(run, deprecationChecks, 'deprecation-successor');
  t.strictSame(
    sent.map(({ path }) => path),
    ['/pets?status=pending&limit=100', '/pets?status=sold&limit=100'],
  );
});

t.test('how the deprecation is announced is the target’s choice', async (t) => {
  const gap = async (headers: NonNullable<AnswerParts['headers']>, parts: AnswerParts = {}) => {
    const { run } = testRun(() => ({ status: 200, headers, body: animal(7), ...parts }));
    const probe = run.probe('get');
    const [key] = probe.keys;
    if (key === undefined) throw new Error('the run has no key');
    await probe.attempt({ operation: parts.operation ?? 'getPet', method: 'GET', path: '/pets/7' }, key);
    return observed(run, deprecationGaps, 'deprecation-announcement');
  };
  t.match(await gap([]), { answer: 'none', detail: 'no header announces it', evidence: 'get#1' });
  t.match(await gap([['Sunset', 'x']]), { answer: 'sunset', detail: 'sunset: x' });
  const both = [
    ['Sunset', 'x'],
    ['Deprecation', 'true'],
  ] as const;
  t.match(await gap(both), { answer: 'deprecation-and-sunset', detail: 'deprecation: true, sunset: x' });
  t.equal(await gap(both, { status: 404 }), undefined, 'an error may be somebody else’s word');
  t.equal(await gap(both, { operation: 'listPets' }), undefined);
});
