/** A load result for a person at a terminal. */
import { median } from 'simple-statistics';
import { groupBy } from '../../../spec/group-by.ts';
import { textTable } from '../../../spec/text-table.ts';
import { round } from '../../lib/slo.ts';
import { errorsIn } from './figures.ts';
import type { LoadFigures, LoadResult } from './load-result.ts';

const VERDICTS: Readonly<Record<LoadResult['verdict'], string>> = {
  held: 'HELD: every threshold',
  broken: 'BROKEN: at least one threshold',
  'generator-limited': 'NO VERDICT: the generator was the limit',
  interrupted: 'INTERRUPTED: partial figures',
  'failed-to-run': 'DID NOT RUN as it should',
};

const figure = (value: number | undefined) => (value === undefined ? '–' : String(round(value)));

function row(name: string, { requests, perSecond, latency, outcomes }: LoadFigures): string[] {
  return [
    name,
    String(requests),
    figure(perSecond),
    ...[latency?.p50, latency?.p95, latency?.p99, latency?.max].map(figure),
    String(errorsIn(outcomes)),
    String(outcomes.refused),
  ];
}

/** One row for each series, below the name of its stream if there are several. 80 columns hold a million requests. */
function table({ series, total }: LoadResult): string[] {
  const streams = [...new Set(series.map(({ stream }) => stream))];
  const rows = streams.flatMap((stream) => [
    ...(streams.length > 1 ? [[stream]] : []),
    ...series
      .filter((each) => each.stream === stream)
      .map((each) => row(`${streams.length > 1 ? '  ' : ''}${each.operation} ${each.plan}`, each)),
  ]);
  const head = ['ms', 'sent', 'per s', 'p50', 'p95', 'p99', 'max', 'errors', '429'];
  return textTable([head, ...rows, ...(series.length > 1 ? [row('all', total)] : [])], 1);
}

function statuses({ total }: LoadResult): string {
  const named = Object.entries(total.statuses).map(([status, count]) => {
    const number = Number(status);
    if (number === 0) return `unfinished × ${count}`;
    return `${number >= 1000 ? `no response (k6 error ${number})` : status} × ${count}`;
  });
  return named.join(', ');
}

/** Several lines, without a colour. */
export function renderLoadResult(result: LoadResult): string {
  const { run, generator } = result;
  const lines = [
    `${run.scenario}: ${run.answers}`,
    `${run.target}, ${round(run.durationSeconds)} s, k6 ${run.k6Version}${run.shards > 1 ? `, ${run.shards} shards` : ''}`,
    '',
    ...table(result),
    `  statuses: ${statuses(result)}`,
    '',
    ...result.thresholds.map(
      ({ name, held, actual, expected, key }) =>
        `  ${held ? '✓' : '✗'} ${name}${key === undefined ? '' : ` [${key}]`}: ${actual}` +
        `${held || expected === undefined ? '' : `, expected ${expected}`}`,
    ),
    ...measurementLines(result),
    ...result.violations.map(
      ({ requirement, example }) =>
        `  contract broken, ${requirement}: ${example.method} ${example.path} → ${example.status}: ${example.detail}`,
    ),
    ...result.notes.map((note) => `  note: ${note}`),
    ...generator.errorLines.map((line) => `  k6 error: ${line}`),
    `  generator: ${generatorLine(result)}`,
    ...result.bill.keys.map(({ key, sent = 0, perDay }) => `  quota: ${key} ${sent} of ${perDay} a day`),
    '',
    VERDICTS[result.verdict],
  ];
  return `${lines.join('\n')}\n`;
}

function measurementLines({ measurements }: LoadResult): string[] {
  return [...groupBy(measurements, ({ name, key }) => `${name} [${key}]`)].map(
    ([name, all]) => `  · ${name}: ${round(median(all.map(({ value }) => value)))} ${all[0].unit}`,
  );
}

function generatorLine({ generator }: LoadResult): string {
  const part = (value: number | null) => (value === null ? 'unknown' : `${Math.round(value * 100)} %`);
  const lag = generator.scheduleLagP95Ms;
  const memory = generator.memoryPeakBytes;
  return [
    `CPU ${part(generator.cpuMeanPart)} (peak ${part(generator.cpuPeakPart)})`,
    ...(memory === null ? [] : [`memory ${Math.round(memory / 2 ** 20)} MB`]),
    ...(lag === null ? [] : [`arrivals late by ${round(lag)} ms (p95)`]),
    `${generator.droppedIterations} arrivals not sent`,
  ].join(', ');
}
