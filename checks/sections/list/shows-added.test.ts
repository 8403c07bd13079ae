/** Sections 1 and 4.1: an animal that was added is listed as it was created. */
import t from 'tap';
import { testRun } from '../../run/testing/test-run.ts';
import { judged, played } from '../testing/judged.ts';
import { listAnimalChecks } from './checks.ts';
import { type Animal, animals, listsOf, type Own } from './testing/listed.ts';

/** What is said of lists that were taken of a store after these animals were added. */
async function said(
  store: readonly Animal[],
  own: readonly Own[],
  otherwise: Parameters<typeof listsOf>[2] = {},
) {
  const { run, sent } = testRun(undefined, { permissions: new Set(['writes'] as const) });
  await played(run, 'lists', listsOf(store, own, otherwise));
  const judgement = await judged(run, listAnimalChecks, 'list-shows-added');
  return { ...judgement, requests: sent.length };
}

const STORE: readonly Animal[] = [[1, 'available'], [2, 'pending'], [3, 'sold'], [4]];
const SOLD: Own = { id: 3, sent: 'sold' };

t.test('what was added is listed', async (t) => {
  t.match(await said(STORE, [SOLD]), {
    verdict: 'pass',
    evidence: 'list-all,added-3,list-sold',
    requests: 0,
  });
  t.match(await said(STORE, [{ id: 4 }]), { verdict: 'pass', evidence: 'list-all,added-4' });
  t.match(await said([...STORE, [5, 'sold']], [{ id: 6, sent: 'sold' }]), {
    verdict: 'fail',
    expected: /^animal 6 in the list$/,
    reason: '5 animals without it',
    evidence: 'list-all,added-6',
  });
  t.match(
    await said(STORE, [SOLD], { all: STORE.slice(0, 2) }),
    { verdict: 'pass' },
    'be it by a filter only',
  );
  t.match(await said(STORE, []), {
    verdict: 'inconclusive',
    reason: 'no addition was answered with the id of an animal (see add-answers-201)',
  });
});

t.test('each list shows it as it was created', async (t) => {
  t.match(await said(STORE, [{ id: 3, sent: 'pending' }]), {
    verdict: 'fail',
    expected: 'animal 3 as it was created',
    reason: 'status "pending" became "sold" (2 times)',
    evidence: 'list-all,added-3,list-sold',
  });
  t.match(await said(STORE, [SOLD], { sold: [[3]] }), {
    verdict: 'fail',
    reason: 'status "sold" became (none)',
    evidence: 'list-sold,added-3',
  });
});

t.test('a store may hold more animals than a list shows', async (t) => {
  const many = animals(150);
  const added: Own = { id: 999, sent: 'sold' };
  t.match(
    await said(many, [added]),
    {
      verdict: 'fail',
      expected: 'animal 999 in the list with status=sold',
      reason: '50 animals without it',
      evidence: 'list-sold,added-999',
    },
    'but not more with this status',
  );
  for (const [why, own, sold] of [
    ['nor does its filter have room', added, animals(100)],
    ['that its filter lists nothing is another check’s subject', added, []],
    ['its filter is refused', added, 500],
    ['it has no status', { id: 999 }, undefined],
  ] as const)
    t.match(
      await said(many, [own], sold === undefined ? {} : { sold }),
      { verdict: 'not-applicable', reason: 'the store holds more animals than a list shows' },
      why,
    );
  t.match(await said(many, [{ id: 999, created: 'sold' }]), {
    verdict: 'fail',
    evidence: 'list-sold,added-999',
  });
});

t.test('where the list is refused, its filter shows whether it is missing', async (t) => {
  const added: Own = { id: 9, sent: 'sold' };
  t.match(await said(STORE, [added], { all: 500 }), {
    verdict: 'fail',
    expected: 'animal 9 in the list with status=sold',
    reason: '1 animal without it',
    evidence: 'list-sold,added-9',
  });
  t.match(await said(STORE, [added], { all: 500, sold: 500 }), {
    verdict: 'inconclusive',
    reason: /^the list was answered 500/,
    evidence: 'list-all',
  });
});

t.test('that animals without a status alone are left out is another check’s subject', async (t) => {
  t.match(await said(STORE, [SOLD, { id: 9 }]), { verdict: 'pass' });
  t.match(await said(STORE, [{ id: 9 }, { id: 8, sent: 'sold' }]), {
    verdict: 'fail',
    reason: /\(2 times\)$/,
  });
});
