import t from 'tap';
import { UsageError } from '../../checks/profile/usage-error.ts';
import { judgeClause, parseSlo } from './slo.ts';

const figures = { requests: 1000, errors: 1, violations: 0, latency: (percentile: number) => percentile * 2 };

t.test('an objective is read clause by clause', async (t) => {
  const [latency, errors, violations] = parseSlo('p99.9<200ms, errors<0.1%,violations==0');
  t.match(latency, { metric: 'latency', percentile: 99.9, bound: 200, inclusive: false });
  t.match(errors, { metric: 'errors', bound: 0.001 });
  t.match(violations, { metric: 'violations', bound: 0, inclusive: true });
  t.match(parseSlo('p50<1.5s'), [{ bound: 1500 }]);
  t.match(parseSlo('p95<=800us'), [{ bound: 0.8, inclusive: true }]);
});

t.test('what is no objective is refused with the clause', async (t) => {
  for (const text of [
    '',
    'p99<200',
    'p99>200ms',
    'p0<1s',
    'latency<1s',
    'errors<5ms',
    'violations<1%',
    'p99==1s',
    'p99(listPets)<1s',
  ]) {
    t.throws(() => parseSlo(text), UsageError, text);
  }
  t.throws(() => parseSlo('errors<1%,p99<fast'), /p99<fast/);
});

t.test('a bound is exclusive unless it says otherwise', async (t) => {
  const held = (text: string) => parseSlo(text).map((clause) => judgeClause(clause, figures).held);
  t.same(held('p99<198ms,p99<=198ms,p99<199ms'), [false, true, true]);
  t.same(held('errors<0.1%,errors<=0.1%,errors==0'), [false, true, false]);
  t.same(held('violations==0'), [true]);
});

t.test('without a request nothing is held', async (t) => {
  const [clause] = parseSlo('errors==0');
  if (clause === undefined) throw new Error('no clause');
  t.match(judgeClause(clause, { ...figures, requests: 0 }), { held: false, actual: 'no request was made' });
});
