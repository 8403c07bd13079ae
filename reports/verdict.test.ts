import t from 'tap';
import type { Reason } from '../checks/run/reason.ts';
import type { RequirementResult } from './report.ts';
import { broken, row, unpermitted, untold } from './testing/sample-reports.ts';
import { gated, isComplete, staleEntries, verdictOf } from './verdict.ts';

const gate = { required: [], baseline: [] };
const skipped = (id: string, why: Reason, more = {}) => row(id, { verdict: 'skipped', why: [why], ...more });

t.test('what is required cannot be evaded: no permission, no key, or --only', async (t) => {
  const wanting = (wanted: object): Reason => ({ kind: 'no-key', wanted });
  const cases: readonly (readonly [name: string, asked: RequirementResult, concerns: readonly string[]])[] = [
    ['permission', unpermitted('one', 'ban'), ['all', 'ban', 'one']],
    ['key for it', skipped('one', wanting({ role: 'ban' }), { permit: 'ban' }), ['all', 'ban', 'one']],
    ['role alone', skipped('one', wanting({ role: 'exhaust' })), ['all', 'exhaust', 'one']],
    ['key of a plan', skipped('one', wanting({ plan: 'pro' })), ['all', 'pro', 'one']],
    [
      'left out',
      skipped('one', { kind: 'left-out' }, { permit: 'exhaust', plan: 'pro' }),
      ['all', 'exhaust', 'pro', 'one'],
    ],
    ['custom plan', row('one', { verdict: 'not-applicable', permit: 'ban', plan: 'pro' }), ['pro', 'one']],
  ];
  for (const [name, asked, concerns] of cases) {
    for (const required of ['all', 'ban', 'exhaust', 'pro', 'one', 'two', 'b', 'wri']) {
      const [judged] = gated([asked], { ...gate, required: [required] });
      const is = concerns.includes(required) ? 'inconclusive' : asked.verdict;
      t.equal(judged?.verdict, is, `${name}, --require ${required}`);
    }
    if (concerns.includes('all'))
      t.equal(verdictOf(gated([row('two'), asked], { ...gate, required: ['all'] }), [], []), 'inconclusive');
  }
});

t.test('a row follows from the failure that explains it, and from no other', async (t) => {
  const rows = gated(
    [
      broken('cause'),
      untold('between', 'not counted', ['cause']),
      untold('end', 'not counted', ['between', 'passed']),
      untold('of-nothing', 'not counted', ['passed']),
      untold('circle', 'not counted', ['circle']),
      row('other-client', {
        verdict: 'inconclusive',
        why: [
          { kind: 'interference', what: 'a stranger' },
          { kind: 'not-told', what: 'not counted', blames: ['cause'] },
        ],
      }),
      row('passed', { why: [{ kind: 'not-told', what: '', blames: ['cause'] }] }),
    ],
    gate,
  );
  t.strictSame(
    rows.flatMap(({ id, consequenceOf }) => (consequenceOf === undefined ? [] : [[id, consequenceOf]])),
    [
      ['between', 'cause'],
      ['end', 'cause'],
    ],
  );
  t.equal(rows[2]?.reason, 'not counted (see between)', 'what passed explains nothing');
  t.equal(rows[3]?.reason, 'not counted');
});

t.test('a baseline covers what it lists and what follows; an entry that passes is stale', async (t) => {
  const baseline = [
    { id: 'known', place: 'known.yaml:1' },
    { id: 'fixed', place: 'known.yaml:2' },
  ];
  const rows = gated([broken('known'), untold('follows', 'x', ['known']), broken('new'), row('fixed')], {
    ...gate,
    baseline,
  });
  t.strictSame(
    rows.map(({ baselined = false }) => baselined),
    [true, true, false, false],
  );
  t.strictSame(staleEntries(rows, baseline), [
    'delete fixed from the baseline (known.yaml:2), it passes now',
  ]);
});

t.test('the verdict of a run', async (t) => {
  const may = { level: 'MAY' } as const;
  const unbound = row('u', { verdict: 'not-applicable', why: [{ kind: 'unbound', what: 'not yet' }] });
  const leftOut = skipped('l', { kind: 'left-out' });
  const drift = {
    id: 'g',
    section: '1',
    question: 'q',
    observed: 'a',
    pinned: 'b',
    verdict: 'drifted',
    detail: '',
    evidence: [],
  } as const;
  for (const [rows, gaps, problems, verdict] of [
    [[row('a')], [], [], 'conformant'],
    [[row('a'), unpermitted('b', 'day')], [], [], 'nothing-broken'],
    [[row('a'), broken('b', { baselined: true })], [], [], 'nothing-broken'],
    [[row('a'), broken('b')], [], [], 'not-conformant'],
    [[row('a')], [drift], [], 'not-conformant'],
    [[row('a')], [], ['stale'], 'inconclusive'],
    [[row('a'), untold('b', 'x')], [], [], 'inconclusive'],
    [[row('a'), row('b', { ...may, verdict: 'inconclusive' })], [], [], 'conformant'],
    [[row('a'), row('b', { ...may, verdict: 'inconclusive', required: true })], [], [], 'inconclusive'],
    [[unpermitted('b', 'day')], [], [], 'inconclusive'],
    [[unbound, leftOut], [], [], 'nothing-broken'],
    [[unbound], [], [], 'nothing-broken'],
    [[unbound, unpermitted('b', 'day')], [], [], 'inconclusive'],
    [[leftOut], [], [], 'inconclusive'],
    [[], [], [], 'inconclusive'],
  ] as const)
    t.equal(verdictOf(rows, gaps, problems), verdict);
  t.notOk(isComplete([row('a'), unpermitted('b', 'day')]));
  t.notOk(isComplete([row('a', { required: true, verdict: 'inconclusive' })]));
});
