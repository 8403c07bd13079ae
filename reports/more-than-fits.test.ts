/** Of more than there is room for, a part is shown: how much, and what is said of the rest. */
import { join } from 'node:path';
import t from 'tap';
import { assertAsStored } from '../checks/testing/as-stored.ts';
import { HARNESS_VERSION } from '../spec/harness-version.ts';
import { FORMATS } from './formats.ts';
import { loadReport } from './load/load-report.ts';
import type { Report } from './report.ts';
import { loadResult } from './testing/sample-load.ts';
import { broken, exchange, petList, render, reportWith, row, untold } from './testing/sample-reports.ts';

const times = <T>(number: number, one: (index: number) => T): T[] =>
  Array.from({ length: number }, (_, index) => one(index));
/** A text of this length, in words where they may break. */
const long = (length: number) => 'x'.repeat(length);

/** Its longest texts are as long as may be; those of every second row are longer by one. */
function check(number = 12): Report {
  const rows = times(number, (index) => {
    const more = index % 2;
    return broken(`broken-${index}`, {
      evidence: [`lists#${index}`, ...times(20, (other) => `others#${other}`)],
      curl: long(1_000 + more),
      expected: long(600 + more),
      at: [index < 2 ? 'header:x-3' : `body/${index < 10 ? 9 : 0}/status`],
    });
  });
  const proofs = rows.map((_, index) => {
    const body = index < 10 ? petList(9 + index * 6) : `[{"status":"${long(1_585 + index - 10)}"}]`;
    const headers = times(index === 0 ? 35 : 0, (number) => [`x-${number}`, long(199 + number)] as const);
    const { request, ...sent } = exchange(`lists#${index}`, body, headers);
    return { ...sent, request: { ...request, body: long(1_600 + (index % 2)) } };
  });
  const interference = { kind: 'interference', what: 'one more was missing' } as const;
  return reportWith(
    [
      ...rows,
      ...times(33, (index) => untold(`open-${index}`, `reason ${index} is another`)),
      ...times(5, (index) =>
        row(`shared-${index}`, { verdict: 'inconclusive', why: [{ ...interference, key: `k-${index}` }] }),
      ),
    ],
    {
      exchanges: proofs,
      timeline: times(15, (index) => ({ at: index, key: `k-${index}`, operation: 'listPets', status: 200 })),
    },
  );
}

/** The same of a load. */
function load() {
  const result = loadResult();
  const [key, threshold, measurement, violation] = [
    result.keys[0],
    result.thresholds[0],
    result.measurements[0],
    result.violations[0],
  ];
  if (!key || !threshold || !measurement || !violation) throw new Error('the sample has one of each');
  return loadReport({
    ...result,
    keys: times(310, (index) => ({ ...key, name: `key-${index}` })),
    thresholds: times(210, (index) => ({ ...threshold, name: `threshold-${index}`, held: false })),
    measurements: times(210, (index) => ({ ...measurement, name: `measured-${index}` })),
    violations: times(60, (index) => ({
      ...violation,
      example: { ...violation.example, body: long(1_500 + (index % 2)) },
    })),
    notes: times(30, (index) => `note ${index}`),
    series: result.series.map((series, index) => ({ ...series, stream: `${long(90 + index)} ${index}` })),
  });
}

/** A text in which what is repeated stands once, with how often. */
function folded(text: string): string {
  const lines = text
    .replace(/<head>.*?<\/head>|<svg.*?<\/svg>/gs, '')
    .replace(HARNESS_VERSION, 'V')
    .replaceAll(/(.)\1{19,}/g, (run, one) => `${one}{${run.length}}`)
    .replaceAll(/(?=<(details|li|p|tr)\b)/g, '\n')
    .split('\n');
  const alike = (line: string | undefined) => line?.replaceAll(/\d+/g, '#');
  const runs: { line: string; number: number }[] = [];
  for (const line of lines) {
    const last = runs.at(-1);
    if (last !== undefined && alike(last.line) === alike(line)) last.number += 1;
    else runs.push({ line, number: 1 });
  }
  return runs.map(({ line, number }) => (number === 1 ? line : `${line}   × ${number}`)).join('\n');
}

t.test('so much is shown as is stored', async (t) => {
  const texts: Record<string, string> = {};
  for (const format of ['terminal', 'markdown', 'html'] as const) {
    texts[`a check in ${format}`] = folded(render(check(), format));
    texts[`a load in ${format}`] = folded(FORMATS[format].render(load()));
  }
  texts['a row in junit'] = folded(render(check(1), 'junit'));
  assertAsStored(t, join(import.meta.dirname, 'testing', 'more-than-fits.txt'), texts);
});
