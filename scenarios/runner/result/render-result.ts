/** A load result for a person at a terminal. */
import { median } from 'simple-statistics';
import { round } from '../../lib/slo.ts';
import type { LoadFigures, LoadResult } from './load-result.ts';

const VERDICTS: Readonly<Record<LoadResult['verdict'], string>> = {
  held: 'HELD: every threshold',
  broken: 'BROKEN: at least one threshold',
  'generator-limited': 'NO VERDICT: the generator was the limit',
  interrupted: 'INTERRUPTED: partial figures',
  'failed-to-run': 'DID NOT RUN as it should',
};

const ms = (value: number | undefined) => (value === undefined ? '–' : `${round(value)} ms`);

function row(name: string, { requests, perSecond, latency, outcomes }: LoadFigures): string[] {
  const errors = outcomes.error + outcomes['unexpected-429'] + outcomes.unfinished;
  return [
    name,
    String(requests),
    `${round(perSecond)}/s`,
    ms(latency?.p50),
    ms(latency?.p95),
    ms(latency?.p99),
    ms(latency?.max),
    String(errors),
    String(outcomes.refused),
  ];
}

function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((cells) => (cells[column] ?? '').length)),
  );
  const line = (cells: readonly string[]) =>
    cells.map((cell, column) =>
      column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
    );
  return rows.map((cells) => `  ${line(cells).join('  ')}`.trimEnd()).join('\n');
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
  const head = ['', 'requests', 'rate', 'p50', 'p95', 'p99', 'max', 'errors', 'refused'];
  const rows = result.series.map((series) =>
    row(`${series.stream} · ${series.operation} · ${series.plan}`, series),
  );
  const lines = [
    `${run.scenario}: ${run.answers}`,
    `${run.target}, ${round(run.durationSeconds)} s, k6 ${run.k6Version}${run.shards > 1 ? `, ${run.shards} shards` : ''}`,
    '',
    table([head, ...rows, ...(rows.length > 1 ? [row('all', result.total)] : [])]),
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
    `  quota: ${result.bill.keys.map(({ key, sent = 0, perDay }) => `${key} ${sent} of ${perDay} a day`).join(', ')}`,
    '',
    VERDICTS[result.verdict],
  ];
  return `${lines.join('\n')}\n`;
}

function measurementLines({ measurements }: LoadResult): string[] {
  const byName = new Map<string, typeof measurements>();
  for (const each of measurements) {
    const name = `${each.name} [${each.key}]`;
    byName.set(name, [...(byName.get(name) ?? []), each]);
  }
  return [...byName].map(
    ([name, all]) => `  · ${name}: ${round(median(all.map(({ value }) => value)))} ${all[0]?.unit ?? ''}`,
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
