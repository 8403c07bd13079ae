import type { CapacityResult } from '../../scenarios/runner/capacity/capacity.ts';
import { lowerBound } from '../../scenarios/runner/capacity/render-capacity.ts';
import { type LoadFigures, type LoadResult, NOT_JUDGED } from '../../scenarios/runner/result/load-result.ts';
import { duration, moment } from '../facts.ts';
import { milliseconds } from '../html/chart-frame.ts';
import { count } from '../outcome.ts';
import type { TestCase, TestRun } from '../test-run.ts';
import { shownLine, shownLines } from '../visible-text.ts';
import { inOrder, seriesNames } from './latency-chart.ts';
import { number, rate } from './load-parts.ts';

/** A load result, or a search for a capacity, as test cases, with the figures that a table shows. */
export interface LoadOutcome extends TestRun {
  readonly figures: { readonly head: readonly string[]; readonly rows: readonly (readonly string[])[] };
}

const WITHOUT_VERDICT = {
  'generator-limited': 'No verdict: the generator was the limit',
  interrupted: 'Interrupted: the figures are partial',
  'failed-to-run': 'Did not run as it should',
} as const satisfies Partial<Record<LoadResult['verdict'], string>>;

/** The verdict of a load run in a line, with the number of thresholds that it is about. */
export function loadHeadline({ verdict, thresholds }: LoadResult): string {
  const broken = thresholds.filter(({ held }) => !held).length;
  if (verdict === 'held') return `Held: ${count(thresholds.length, 'threshold')}`;
  if (verdict === 'broken') return `Broken: ${broken} of ${count(thresholds.length, 'threshold')}`;
  return WITHOUT_VERDICT[verdict];
}

/** What a load run judged and measured. */
export function loadOutcome(result: LoadResult): LoadOutcome {
  const { run, verdict, thresholds, violations, total } = result;
  const series = inOrder(result.series);
  const contractCounts = thresholds.some(({ name, held }) => name.startsWith('violations') && !held);
  const names = seriesNames(series);
  return {
    name: `load ${shownLine(run.scenario, 60)}`,
    headline: loadHeadline(result),
    short: loadHeadline(result),
    verdict: verdict === 'held' || verdict === 'broken' ? verdict : 'open',
    problems: problems(result),
    cases: [
      ...thresholds.map(thresholdCase),
      ...violations.map((violation) => contractCase(violation, contractCounts)),
    ],
    facts: [
      ['Target', shownLine(run.target, 200)],
      ['Question', shownLine(run.answers, 300)],
      ['When', `${moment(run.startedAt)}, for ${duration(run.durationSeconds)}`],
      ['Requests', `${total.requests.toLocaleString('en')}, ${rate(total.perSecond)}`],
      ['Added', `${count(run.animalsAdded, 'animal')} (they stay)`],
      ['Generator', generatorText(result)],
      ...result.notes.slice(0, 5).map((note) => ['Note', shownLine(note, 300)] as const),
    ],
    figures: {
      head: ['Series', 'Requests', 'Rate', 'p50', 'p95', 'p99', 'Slowest', 'Errors', 'Refused'],
      rows: [...series.map((one, index) => figures(names[index] ?? '', one)), figures('all', total)],
    },
    run,
  };
}

function thresholdCase({ name, held, actual, expected, key }: LoadResult['thresholds'][number]): TestCase {
  const title = key === undefined ? shownLine(name, 160) : `${shownLine(name, 160)} [${shownLine(key, 60)}]`;
  const [came, asked] = [
    shownLine(actual, 300),
    expected === undefined ? undefined : shownLine(expected, 300),
  ];
  return {
    id: title,
    suite: 'Thresholds',
    classname: 'petstore-harness.load.threshold',
    name: `threshold ${title}`,
    title,
    standing: held ? 'passed' : 'failed',
    kind: 'threshold',
    reason: asked === undefined ? came : `${came}, expected ${asked}`,
    facts: { actual: came, expected: asked },
  };
}

/** A clause of the contract that was broken under load: noted where the run was not to judge it. */
function contractCase(
  { requirement, reported, example }: LoadResult['violations'][number],
  counts: boolean,
): TestCase {
  const id = shownLine(requirement, 80);
  const reason = `at least ${count(reported, 'time')}: ${shownLine(example.detail, 300)}`;
  const exchange = [
    `${example.method} ${example.path} with key ${example.key}`,
    `HTTP ${example.status}`,
    ...Object.entries(example.headers).map(([name, value]) => `${name}: ${value}`),
    '',
    example.body,
  ];
  return {
    id,
    suite: 'Contract under load',
    classname: 'petstore-harness.load.contract',
    name: `contract ${id} under load`,
    title: `${id} under load`,
    standing: counts ? 'failed' : 'noted',
    kind: 'contract',
    reason,
    facts: { actual: reason, example: shownLines(exchange.join('\n'), 2_000) },
  };
}

function problems({ verdict, thresholds, generator, notes }: LoadResult): string[] {
  if (verdict === 'held') return [];
  if (verdict === 'broken')
    return thresholds.some(({ held }) => !held) ? [] : ['Broken for a reason that no threshold shows'];
  const why = generator.limit ?? generator.errorLines[0] ?? notes.find((note) => note.startsWith(NOT_JUDGED));
  return [`${WITHOUT_VERDICT[verdict]}${why === undefined ? '' : `: ${shownLine(why, 300)}`}`];
}

function generatorText({ run, generator }: LoadResult): string {
  const processes = run.shards === 1 ? 'one process' : `${run.shards} processes`;
  return `k6 ${shownLine(run.k6Version, 40)}, ${processes}, ${generator.limit === null ? 'not the limit' : shownLine(generator.limit, 200)}`;
}

function figures(name: string, { requests, perSecond, latency, outcomes }: LoadFigures): string[] {
  const time = (value: number | undefined) => (value === undefined ? '' : milliseconds(value));
  return [
    shownLine(name, 100),
    requests.toLocaleString('en'),
    rate(perSecond).replace(' requests', ''),
    ...[latency?.p50, latency?.p95, latency?.p99, latency?.max].map(time),
    (outcomes.error + outcomes['unexpected-429'] + outcomes.unfinished).toLocaleString('en'),
    outcomes.refused.toLocaleString('en'),
  ];
}

const WITHOUT_NUMBER = {
  found: 'No capacity',
  'at-least': 'More than the highest rate tried',
  below: 'Less than one request/s',
  'generator-limited': 'No verdict: the generator was the limit',
  'quota-limited': 'No verdict: the keys’ quotas are used up',
  interrupted: 'Interrupted: no capacity yet',
} as const satisfies Record<CapacityResult['outcome'], string>;

/** `410 requests/s (95 %: 398 to 421)`, `At least 320 requests/s (…)`, or why there is no number. */
export function capacityHeadline(result: CapacityResult): string {
  const { outcome, capacity, interval } = result;
  const bound = lowerBound(result);
  if (bound !== undefined) return `At least ${rate(bound.rate)} (${bound.why})`;
  if (capacity === null || interval === null) return WITHOUT_NUMBER[outcome];
  return `${rate(capacity)} (95 %: ${number(interval[0])} to ${number(interval[1])})`;
}

/** What a search for a capacity found; a number judges nothing, its absence is no verdict. */
export function capacityOutcome(result: CapacityResult): LoadOutcome {
  const { run, reason, steps } = result;
  const isBounded = lowerBound(result) !== undefined && result.outcome !== 'generator-limited';
  const answered = result.interval !== null || isBounded;
  return {
    name: 'load capacity',
    headline: `Capacity: ${capacityHeadline(result)}`,
    short: `Capacity: ${capacityHeadline(result)}`,
    verdict: answered ? 'held' : 'open',
    problems: answered ? [] : [shownLine(reason, 300)],
    cases: [],
    facts: [
      ['Target', shownLine(run.target, 200)],
      ['Objective', shownLine(run.slo, 200)],
      ['When', `${moment(run.startedAt)}, for ${duration(run.durationSeconds)}`],
      ['Result', shownLine(reason, 300)],
      ['Generator', `k6 ${shownLine(run.k6Version, 40)}`],
    ],
    figures: {
      head: ['Rate', 'Held', 'p50', 'p99', 'Why'],
      rows: steps.map((step) => [
        rate(step.rate).replace(' requests', ''),
        step.held ? 'yes' : 'no',
        milliseconds(step.p50),
        milliseconds(step.p99),
        shownLine(step.reason, 200),
      ]),
    },
    run,
  };
}
