import t from 'tap';
import type { RequirementResult } from './report.ts';
import { conformantReport } from './testing/sample-reports.ts';
import {
  isComplete,
  requireRows,
  staleEntries,
  verdictOf,
  withBaseline,
  withConsequences,
} from './verdict.ts';

const row = (
  id: string,
  verdict: RequirementResult['verdict'],
  more: Partial<RequirementResult> = {},
): RequirementResult => ({
  id,
  section: '8',
  level: 'MUST',
  title: id,
  statement: id,
  verdict,
  reason: verdict,
  evidence: [],
  ...more,
});

const skipped = (id: string, reason: string, level: 'MUST' | 'MAY' = 'MUST') =>
  row(id, 'skipped', { reason, level });

const verdict = (...rows: RequirementResult[]) => verdictOf(rows, [], []);

t.test('conformant: nothing failed, nothing asked for is inconclusive, something passed', async (t) => {
  t.equal(verdict(row('a', 'pass'), skipped('b', 'needs the permission ban')), 'conformant');
  t.equal(verdict(row('a', 'pass'), row('b', 'inconclusive')), 'inconclusive');
  t.equal(verdict(row('a', 'pass'), row('b', 'inconclusive', { level: 'MAY' })), 'conformant');
  t.equal(verdict(row('a', 'inconclusive'), row('b', 'fail')), 'not-conformant');
  t.equal(verdict(skipped('a', 'left out by --only'), row('b', 'not-applicable')), 'inconclusive');
  t.equal(verdict(), 'inconclusive', 'a run in which nothing was judged');
  const [gap] = conformantReport().gaps;
  if (gap === undefined) throw new Error('no gap');
  t.equal(verdictOf([row('a', 'pass')], [{ ...gap, verdict: 'drifted' }], []), 'not-conformant');
});

t.test('complete: nothing was skipped, whatever was required afterwards', async (t) => {
  const rows = [row('a', 'pass'), row('b', 'not-applicable'), row('c', 'inconclusive')];
  t.equal(isComplete(rows), true);
  const partial = [...rows, skipped('d', 'needs the permission day')];
  t.equal(isComplete(partial), false);
  t.equal(isComplete(requireRows(partial, 'all')), false);
});

t.test(
  'what is required is inconclusive where it was skipped, also where the document says MAY',
  async (t) => {
    const rows = [
      row('list-answers-200', 'pass'),
      skipped('ban-provoked', 'needs the permission ban', 'MAY'),
      skipped('rate-day-free', 'needs the permission day'),
      skipped('rate-minute-pro', 'the profile has no key of plan pro with the role exhaust'),
      skipped('get-unknown-404', 'left out by --only'),
    ];
    const open = (required: 'all' | readonly string[]) =>
      requireRows(rows, required)
        .filter(({ verdict }) => verdict === 'inconclusive')
        .map(({ id }) => id);
    t.strictSame(open([]), []);
    t.strictSame(open('all'), ['ban-provoked', 'rate-day-free', 'rate-minute-pro', 'get-unknown-404']);
    t.strictSame(open(['all']), open('all'));
    t.strictSame(open(['ban']), ['ban-provoked']);
    t.strictSame(open(['pro', 'day']), ['rate-day-free', 'rate-minute-pro']);
    t.strictSame(open(['get-unknown-404', 'list-answers-200']), ['get-unknown-404']);
    t.equal(verdictOf(rows, [], []), 'conformant');
    t.equal(
      verdictOf(requireRows(rows, ['ban']), [], []),
      'inconclusive',
      'a MAY row gates once it is required',
    );
  },
);

t.test('a row that another explains names the first cause that failed', async (t) => {
  const causes = (...rows: RequirementResult[]) =>
    withConsequences(rows).map(({ consequenceOf }) => consequenceOf);
  const open = (id: string, cause: string) =>
    row(id, 'inconclusive', { reason: `no animal could be added (see ${cause})` });
  t.strictSame(causes(row('add', 'fail'), open('b', 'add')), [undefined, 'add']);
  t.strictSame(causes(row('add', 'fail'), row('b', 'fail', { reason: '400 (see add)' })), [undefined, 'add']);
  t.strictSame(causes(row('add', 'fail'), open('b', 'add'), open('c', 'b')), [undefined, 'add', 'add']);
  t.strictSame(
    causes(row('add', 'pass'), open('b', 'add')),
    [undefined, undefined],
    'what passed explains nothing',
  );
  t.strictSame(causes(row('add', 'inconclusive'), open('b', 'add')), [undefined, undefined]);
  t.strictSame(causes(open('a', 'a'), open('b', 'c'), open('c', 'b')), [undefined, undefined, undefined]);
});

t.test('a baseline covers what its entries explain, and nothing else', async (t) => {
  const rows = withConsequences([
    row('add', 'fail'),
    row('b', 'inconclusive', { reason: 'no animal (see add)' }),
    row('c', 'fail', { reason: '400 (see add)' }),
    row('d', 'pass'),
  ]);
  t.equal(verdictOf(rows, [], []), 'not-conformant');
  const covered = withBaseline(rows, [{ id: 'add', place: 'known.yaml:1' }]);
  t.equal(verdictOf(covered, [], []), 'conformant');
  t.equal(verdictOf(withBaseline(rows, [{ id: 'c', place: 'known.yaml:1' }]), [], []), 'not-conformant');
  t.equal(verdictOf([...covered, row('e', 'inconclusive')], [], []), 'inconclusive');
});

t.test('an entry that passes is stale: it makes the run red and says where it stands', async (t) => {
  const rows = [row('a', 'pass'), row('b', 'fail'), skipped('c', 'needs the permission day')];
  const baseline = ['a', 'b', 'c'].map((id, index) => ({ id, place: `known.yaml:${index + 1}` }));
  const problems = staleEntries(rows, baseline);
  t.strictSame(problems, ['a passes now: remove it from the baseline (known.yaml:1)']);
  t.equal(verdictOf(withBaseline(rows, baseline), [], problems), 'not-conformant');
});
