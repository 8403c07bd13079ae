/** A load result or a search for a capacity, as test cases, tables and pictures: what every format renders. */
import { html } from '@remix-run/html-template';
import type { Mix } from '../../scenarios/lib/scenario.ts';
import { LOAD_OPERATIONS } from '../../scenarios/lib/scenario.ts';
import type { CapacityResult, CapacityStep } from '../../scenarios/runner/capacity/result.ts';
import { errorsIn } from '../../scenarios/runner/result/figures.ts';
import type { LoadFigures, LoadResult, LoadSeries } from '../../scenarios/runner/result/load-result.ts';
import { ADDED_ANIMALS } from '../../spec/operations.ts';
import { PLAN_NAMES } from '../../spec/plans.ts';
import { count, grouped, howRun, milliseconds, wayNotices } from '../facts.ts';
import type { Cell, Table } from '../html/table.ts';
import type { Sheet } from '../sheet.ts';
import type { TestCase, TestRun } from '../test-run.ts';
import { clip, harmless, shownLine } from '../visible-text.ts';
import { capacityChart, latencyChart, timeChart } from './load-charts.ts';

/** What every format renders. */
export type LoadReport = TestRun & Sheet;

/** All but the series, whose histograms are no texts. */
type Told = Omit<LoadResult, 'series'>;

const WITHOUT_VERDICT = {
  'generator-limited': 'No verdict: the generator was the limit',
  interrupted: 'Interrupted: the figures are partial',
  'failed-to-run': 'Did not run as it should',
} as const satisfies Partial<Record<LoadResult['verdict'], string>>;

function loadHeadline({ verdict, thresholds }: Told): string {
  const broken = thresholds.filter(({ held }) => held === false).length;
  if (verdict === 'held') return `Held: ${count(thresholds.length, 'threshold')}`;
  if (verdict === 'broken') return `Broken: ${broken} of ${count(thresholds.length, 'threshold')}`;
  return WITHOUT_VERDICT[verdict];
}

/** What was sent, in parts of 100: `80 % listPets, 5 % createPet, 15 % getPet`. */
export function mixText(mix: Mix): string {
  const parts = LOAD_OPERATIONS.reduce((sum, operation) => sum + mix[operation], 0);
  const named = LOAD_OPERATIONS.filter((operation) => mix[operation] > 0).map(
    (operation) => `${Number(((100 * mix[operation]) / Math.max(parts, 1)).toFixed(1))} % ${operation}`,
  );
  return `${named.join(', ')}${onlyReads(mix) ? '; nothing is written' : ''}`;
}

const onlyReads = (mix: Mix) => mix.createPet === 0;

/** What a load run judged and measured. */
export function loadReport({ series: recorded, ...rest }: LoadResult): LoadReport {
  const series = inOrder(recorded);
  const result = harmless(rest);
  const { run, verdict, thresholds, violations, total } = result;
  // A broken contract fails the run only if the objective bounds violations.
  const isCounted = thresholds.some(({ metric, held }) => metric === 'violations' && held === false);
  const broken = violations.map((violation) => contractCase(violation, isCounted));
  return {
    name: `load ${run.scenario}`,
    headline: loadHeadline(result),
    verdict: verdict === 'held' ? 'pass' : verdict === 'broken' ? 'fail' : 'inconclusive',
    problems: problems(result),
    cases: [...thresholds.map(thresholdCase), ...broken],
    facts: {
      Target: run.target,
      Question: run.answers,
      Mix: mixText(run.mix),
      ...howRun(run),
      Requests: `${grouped(total.requests)}, ${rate(total.perSecond)} requests/s`,
      Statuses: statuses(total),
      Added: run.animalsAdded === 0 ? undefined : `${count(run.animalsAdded, 'animal')} (${ADDED_ANIMALS})`,
      Generator: generatorText(result),
      'k6 errors': result.generator.errorLines.join('; ') || undefined,
    },
    notices: [...wayNotices(run.way), ...result.notes],
    tables: [
      thresholdTable(result),
      measurementTable(result),
      figureTable(series, total),
      costTable(result),
    ].filter(({ rows }) => rows.length > 0),
    onPage:
      () => html`${broken.length === 0 ? '' : html`<h2>Contract broken under load</h2>`}${broken.map(({ id, reason, facts: { Exchange: example = '' } }) => html`<details class="defect" open><summary>${id}</summary><p>${reason}</p><pre tabindex="0">${example}</pre></details>`)}
<h2>Latency by operation and plan</h2>${latencyChart(series, seriesNames(series))}
<h2>Over time</h2>${timeChart(series)}`,
    run,
  };
}

function statuses({ statuses }: LoadFigures): string {
  const named = Object.entries(statuses).map(([status, times]) => {
    const number = Number(status);
    const what = number === 0 ? 'unfinished' : number >= 1000 ? `no response (k6 error ${number})` : status;
    return `${what} × ${grouped(times)}`;
  });
  return named.join(', ');
}

function thresholdCase({ name, held, actual, expected, key }: LoadResult['thresholds'][number]): TestCase {
  const title = key === undefined ? name : `${name} [${key}]`;
  return {
    id: title,
    suite: 'Thresholds',
    name: `threshold ${title}`,
    standing: held === null ? 'inconclusive' : held ? 'pass' : 'fail',
    reason: expected === undefined ? actual : `${actual}, expected ${expected}`,
    facts: { 'What came': actual, Expected: expected },
  };
}

function contractCase(
  { requirement: id, reported, example }: LoadResult['violations'][number],
  isCounted: boolean,
): TestCase {
  const reason = `at least ${count(reported, 'time')}: ${example.detail}`;
  const exchange = [
    `${example.method} ${example.path} with key ${example.key}`,
    `HTTP ${example.status}`,
    ...Object.entries(example.headers).map(([name, value]) => `${name}: ${value}`),
    '',
    clip(example.body, 1_500),
  ];
  return {
    id,
    suite: 'Contract under load',
    name: `contract ${id} under load`,
    standing: isCounted ? 'fail' : 'noted',
    reason,
    facts: { 'What came': reason, Exchange: exchange.join('\n') },
  };
}

function problems({ verdict, thresholds, generator }: Told): string[] {
  if (verdict === 'held' || verdict === 'broken') return [];
  const open = thresholds.find(({ held }) => held === null);
  const why = generator.limit ?? generator.errorLines[0] ?? (open && `${open.name}: ${open.actual}`);
  return [`${WITHOUT_VERDICT[verdict]}${why === undefined ? '' : `: ${why}`}`];
}

function generatorText({ run, generator }: Told): string {
  const { limit, cpuMeanPart, memoryPeakBytes, scheduleLagP95Ms: lag, droppedIterations } = generator;
  return [
    `k6 ${run.k6Version}`,
    run.shards === 1 ? 'one process' : `${run.shards} processes`,
    limit ?? 'not the limit',
    ...(cpuMeanPart === null ? [] : [`${Math.round(cpuMeanPart * 100)} % of the CPU`]),
    ...(memoryPeakBytes === null ? [] : [`${Math.round(memoryPeakBytes / 2 ** 20)} MB`]),
    ...(lag === null ? [] : [`95 % of the arrivals at most ${milliseconds(lag)} late`]),
    ...(droppedIterations === 0 ? [] : [`${grouped(droppedIterations)} not sent`]),
  ].join(', ');
}

/** At most four significant digits. */
const rate = (perSecond: number) => Number(perSecond.toPrecision(4)).toLocaleString('en');

const yesOrNo = (held: boolean | null): Cell =>
  held === null ? 'cannot tell' : held ? 'yes' : { wrong: 'no' };
const unwanted = (number: number): Cell => (number === 0 ? '0' : { wrong: grouped(number) });

const thresholdTable = ({ thresholds }: Told): Table => ({
  title: 'Thresholds',
  head: ['Threshold', 'Held', 'Actual', 'Expected', 'Key'],
  rows: [...thresholds]
    .sort((a, b) => Number(a.held ?? 0) - Number(b.held ?? 0))
    .map(({ name, held, actual, expected = '', key = '' }) => [name, yesOrNo(held), actual, expected, key]),
});

const measurementTable = ({ measurements }: Told): Table => ({
  title: 'Measured once',
  head: ['What', 'Value', 'Key'],
  rows: measurements.map(({ name, value, unit, key }) => [name, `${rate(value)} ${unit}`, key]),
});

/** Series in the order of stream, operation and plan. A run records them in the order of their first request. */
function inOrder(series: readonly LoadSeries[]): LoadSeries[] {
  const place = ({ operation, plan }: LoadSeries) =>
    LOAD_OPERATIONS.indexOf(operation) * PLAN_NAMES.length + PLAN_NAMES.indexOf(plan);
  return [...series].sort((a, b) => a.stream.localeCompare(b.stream) || place(a) - place(b));
}

/** The names of series: operation and plan, and the stream if there are several. */
function seriesNames(series: readonly LoadSeries[]): string[] {
  const streams = new Set(series.map(({ stream }) => stream));
  return series.map(({ stream, operation, plan }) =>
    shownLine([...(streams.size > 1 ? [stream] : []), operation, plan].join(' '), 100),
  );
}

function figureTable(series: readonly LoadSeries[], total: LoadFigures): Table {
  const times = ['p50', 'p95', 'p99', 'max'] as const;
  const figures = ({ requests, perSecond, latency, outcomes }: LoadFigures): Cell[] => [
    grouped(requests),
    `${rate(perSecond)}/s`,
    ...times.map((time) => (latency === null ? '–' : milliseconds(latency[time]))),
    unwanted(errorsIn(outcomes)),
    // Columns without any number are left out.
    outcomes.refused === 0 ? '' : grouped(outcomes.refused),
    outcomes.violation === 0 ? '' : unwanted(outcomes.violation),
  ];
  return {
    title: 'Figures by operation and plan',
    head: ['Series', 'Requests', 'Rate', 'p50', 'p95', 'p99', 'Max', 'Errors', 'Refused', 'Broken'],
    rows: [...seriesNames(series), 'all'].map((name, index) => [name, ...figures(series[index] ?? total)]),
  };
}

const costTable = ({ keys }: Told): Table => ({
  title: 'Requests by key',
  head: ['Key', 'Plan', 'Sent', 'Refused', 'At most, as planned', 'Busiest minute'],
  rows: keys.map(({ name, plan, sent = 0, refused = 0, requests, perDay, busiestMinute, perMinute }) => {
    const [planned, day, busiest, minute] = [requests, perDay, busiestMinute, perMinute].map(grouped);
    const of = [`${planned} of ${day} a day`, `${busiest} of ${minute}`];
    return [name, plan, grouped(sent), grouped(refused), ...of];
  }),
});

const WITHOUT_NUMBER = {
  found: 'No capacity',
  'at-least': 'More than the highest rate tried',
  below: 'Less than one request/s',
  'generator-limited': 'No verdict: the generator was the limit',
  'quota-limited': 'No verdict: the keys’ quotas are used up',
  interrupted: 'Interrupted: no capacity yet',
} as const satisfies Record<CapacityResult['outcome'], string>;

/** `410 requests/s (95 %: 398 to 421)`, `At least 320 requests/s: …`, or why there is no number. */
function capacityHeadline(result: CapacityResult): string {
  const { outcome, reason, capacity, interval, atLeast } = result;
  const reading = onlyReads(result.run.mix) ? ', reading only' : '';
  if (atLeast !== undefined) return `At least ${rate(atLeast)} requests/s${reading}: ${reason}`;
  if (capacity === null || interval === null) return WITHOUT_NUMBER[outcome];
  return `${rate(capacity)} requests/s${reading} (95 %: ${rate(interval[0])} to ${rate(interval[1])})`;
}

/** The outcome of a search for a capacity. A number judges nothing; without a number there is no verdict. */
export function capacityReport(found: CapacityResult): LoadReport {
  const result = harmless(found);
  const { run, outcome, reason, steps } = result;
  const isBound = result.atLeast !== undefined && outcome !== 'generator-limited';
  const answered = result.interval !== null || isBound;
  return {
    name: 'load capacity',
    headline: capacityHeadline(result),
    verdict: answered ? 'pass' : 'inconclusive',
    problems: answered ? [] : [reason],
    cases: [],
    facts: {
      Target: run.target,
      Objective: run.slo,
      Mix: mixText(run.mix),
      ...howRun(run),
      Result: reason,
      Generator: `k6 ${run.k6Version}`,
    },
    notices: wayNotices(run.way),
    tables: steps.length === 0 ? [] : [stepTable(result)],
    onPage: () => html`<h2>Rate against latency</h2>${capacityChart(found)}`,
    run,
  };
}

const stepTable = ({ steps }: CapacityResult): Table => ({
  title: 'Steps',
  head: ['Rate', 'Held', 'p50', 'p99', 'Errors', 'Why'],
  rows: steps.map(({ rate: perSecond, held, p50, p99, errorPart, reason }) => [
    `${rate(perSecond)}/s`,
    yesOrNo(held),
    milliseconds(p50),
    milliseconds(p99),
    `${Number((errorPart * 100).toFixed(2))} %`,
    held ? '' : reason,
  ]),
});

/** One line for a step, as it is taken. */
export const stepLine = ({ rate: perSecond, held, p50, p99, reason }: CapacityStep): string =>
  `  ${perSecond.toFixed(1).padStart(9)}/s  ${held ? '✓' : '✗'} p50 ${milliseconds(p50)}, p99 ${milliseconds(p99)}${held ? '' : `  ${shownLine(reason, 200)}`}`;
