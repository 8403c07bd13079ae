import t from 'tap';
import { parseSlo } from '../../lib/slo.ts';
import { resultOf, series } from '../testing/made-results.ts';
import { judgeStep } from './judge-step.ts';

const SLO = parseSlo('p99<100ms,errors<1%');

/** A step of ten requests in each of these seconds, which take so many milliseconds. */
const step = (seconds: number, milliseconds: (second: number) => number, dropped = 0, outcome = '200 ok') => {
  const { generator, ...result } = resultOf('k', [1000]);
  const made = series(seconds, (second) =>
    Array.from({ length: 10 }, (_, place) => [place * 100, milliseconds(second) * 1000, outcome] as const),
  );
  return { ...result, series: made, generator: { ...generator, droppedIterations: dropped } };
};

t.test('what a step shows', async (t) => {
  for (const [what, made, expected] of [
    ['it holds', step(8, () => 20), { held: true, reason: 'held', p50: 20, errorPart: 0 }],
    ['a slow warm-up is no part', step(8, (second) => (second < 2 ? 500 : 20)), { held: true }],
    ['a bound is broken', step(8, () => 150), { held: false, reason: /^p99<100ms: 15\d(\.\d)? ms/ }],
    ['errors', step(8, () => 20, 0, '500 error'), { held: false, reason: /^errors<1%: /, errorPart: 1 }],
    ['one arrival in 200 may be dropped', step(22, () => 20, 1), { held: true }],
    ['more may not', step(22, () => 20, 2), { held: false, reason: /^2 of 202 arrivals found/ }],
    [
      'a queue that grows breaks it within a minute',
      step(10, (second) => 20 + 2 * second),
      { held: false, reason: /^latency grows by 2(\.\d+)? ms a second: 1[45]\d(\.\d)? ms after 60 s$/ },
    ],
    ['one that grows more slowly does not', step(10, (second) => 20 + second / 2), { held: true }],
    ['noise does not', step(10, (second) => (second % 2 === 0 ? 20 : 60)), { held: true }],
    ['three blocks tell no growth', step(6, (second) => 20 + 15 * second), { held: true }],
  ] as const)
    t.match(judgeStep(made, SLO), expected, what);
});
