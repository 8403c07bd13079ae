import type { CapacityResult } from '../scenarios/runner/capacity/capacity.ts';
import { lowerBound } from '../scenarios/runner/capacity/render-capacity.ts';
import { type LoadFigures, type LoadResult, NOT_JUDGED } from '../scenarios/runner/result/load-result.ts';
import { duration, moment } from './facts.ts';
import { milliseconds } from './html/chart-frame.ts';
import { inOrder, seriesNames } from './html/latency-chart.ts';
import { number, rate } from './html/load-parts.ts';
import { count } from './outcome.ts';
import { shownLine, shownLines } from './visible-text.ts';

/** Something that a load run judged: a threshold, what a client asserts, a clause of the contract under load. */
export interface LoadCase {
  /** Stable for the same scenario and objective. */
  readonly id: string;
  readonly kind: 'threshold' | 'contract';
  /** `noted`: seen, and outside of what the run was to judge. */
  readonly standing: 'held' | 'broken' | 'noted';
  readonly title: string;
  readonly actual: string;
  readonly expected?: string;
  /** The exchange that shows it. */
  readonly example?: string;
}

/** A load result, or a search for a capacity, as every format but the page and the terminal shows it. */
export interface LoadOutcome {
  readonly name: string;
  readonly headline: string;
  readonly verdict: 'held' | 'broken' | 'open';
  /** Why there is no verdict, or why it does not follow from the cases alone. */
  readonly problem?: string;
  readonly cases: readonly LoadCase[];
  readonly facts: readonly (readonly [label: string, text: string])[];
  readonly figures: { readonly head: readonly string[]; readonly rows: readonly (readonly string[])[] };
  readonly run: {
    readonly startedAt: string;
    readonly durationSeconds: number;
    readonly harnessVersion: string;
  };
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
    verdict: verdict === 'held' || verdict === 'broken' ? verdict : 'open',
    ...problem(result),
    cases: [
      ...thresholds.map(({ name, held, actual, expected, key }): LoadCase => {
        const title =
          key === undefined ? shownLine(name, 160) : `${shownLine(name, 160)} [${shownLine(key, 60)}]`;
        return {
          id: title,
          kind: 'threshold',
          standing: held ? 'held' : 'broken',
          title,
          actual: shownLine(actual, 300),
          ...(expected === undefined ? {} : { expected: shownLine(expected, 300) }),
        };
      }),
      ...violations.map(
        ({ requirement, reported, example }): LoadCase => ({
          id: shownLine(requirement, 80),
          kind: 'contract',
          standing: contractCounts ? 'broken' : 'noted',
          title: `${shownLine(requirement, 80)} under load`,
          actual: `at least ${count(reported, 'time')}: ${shownLine(example.detail, 300)}`,
          example: shownLines(
            [
              `${example.method} ${example.path} with key ${example.key}`,
              `HTTP ${example.status}`,
              ...Object.entries(example.headers).map(([name, value]) => `${name}: ${value}`),
              '',
              example.body,
            ].join('\n'),
            2_000,
          ),
        }),
      ),
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

function problem({ verdict, thresholds, generator, notes }: LoadResult): { problem?: string } {
  if (verdict === 'held') return {};
  if (verdict === 'broken') {
    return thresholds.some(({ held }) => !held)
      ? {}
      : { problem: 'Broken for a reason that no threshold shows' };
  }
  const why = generator.limit ?? generator.errorLines[0] ?? notes.find((note) => note.startsWith(NOT_JUDGED));
  return { problem: `${WITHOUT_VERDICT[verdict]}${why === undefined ? '' : `: ${shownLine(why, 300)}`}` };
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
    verdict: answered ? 'held' : 'open',
    ...(answered ? {} : { problem: shownLine(reason, 300) }),
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
