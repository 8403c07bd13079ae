import { html, type SafeHtml } from '@remix-run/html-template';
import { type CompareFinding, compareBlocks } from '../../scenarios/runner/compare/compare-blocks.ts';
import type { LoadFigures, LoadResult } from '../../scenarios/runner/result/load-result.ts';
import { duration, moment } from '../facts.ts';
import { milliseconds } from '../html/chart-frame.ts';
import { pageShell } from '../html/page-shell.ts';
import { shown } from '../html/visible-html.ts';
import { count } from '../outcome.ts';
import { shownLine } from '../visible-text.ts';
import { inOrder, latencyChart, seriesNames } from './latency-chart.ts';
import { loadHeadline, loadOutcome } from './load-outcome.ts';
import { facts, number, rate, tableOf } from './load-parts.ts';
import { ratioMark } from './ratio-mark.ts';
import { timeChart } from './time-chart.ts';

const COLOURS = { held: 'conformant', broken: 'not-conformant', open: 'inconclusive' } as const;
const SIGNS = { conformant: '✔', 'not-conformant': '✘', inconclusive: '?' } as const;

/** A page on one load run: verdict, thresholds, latency by operation and plan, the run over time. */
export interface LoadPage {
  readonly result: LoadResult;
  /** An earlier result of the same scenario to compare with, and the slow-down that nobody minds (default 0.04). */
  readonly base?: { readonly result: LoadResult; readonly tolerated?: number };
}

/** A load result as one HTML file, without network and without script, like the report of a check. */
export function renderLoadHtml({ result: recorded, base }: LoadPage): string {
  const result = { ...recorded, series: inOrder(recorded.series) };
  const { run } = result;
  const colour = COLOURS[loadOutcome(result).verdict];
  const words = loadHeadline(result);
  const clock =
    run.clockSpeed === 1
      ? ''
      : html`<p class="notice">The target’s clock was simulated: ${run.clockSpeed} times as fast as real time.</p>`;
  const body = html`<main>
<header class="verdict v-${colour}"><p class="eyebrow">Load: ${shownLine(run.scenario, 60)}</p>
<h1><span class="sign" aria-hidden="true">${SIGNS[colour]}</span> ${words}</h1>
<p class="target">${shownLine(run.target, 200)}</p>${clock}
${result.notes.slice(0, 20).map((note) => html`<p class="notice">${shown(note, 300)}</p>`)}
${facts([
  ['Question', shownLine(run.answers, 300)],
  ['When', `${moment(run.startedAt)}, for ${duration(run.durationSeconds)}`],
  ['Requests', `${result.total.requests.toLocaleString('en')}, ${rate(result.total.perSecond)}`],
  ['Added', `${count(run.animalsAdded, 'animal')} (they stay)`],
  [
    'Generator',
    `k6 ${shownLine(run.k6Version, 40)}, ${run.shards === 1 ? 'one process' : `${run.shards} processes`}, ${generatorHealth(result)}`,
  ],
])}</header>
${thresholds(result)}
${measurements(result)}
${base === undefined ? '' : comparison(base.result, result, base.tolerated ?? 0.04)}
<section aria-labelledby="h-latency"><h2 id="h-latency">Latency by operation and plan</h2>${latencyChart(result.series)}${figures(result)}</section>
<section aria-labelledby="h-time"><h2 id="h-time">Over time</h2>${timeChart(result.series)}</section>
${violations(result)}${quota(result)}
</main>`;
  return pageShell(`${words} (${shownLine(run.scenario, 60)})`, body, false);
}

function thresholds({ thresholds: all }: LoadResult): SafeHtml | string {
  if (all.length === 0) return '';
  const sorted = [...all].sort((a, b) => Number(a.held) - Number(b.held)).slice(0, 200);
  return html`<section aria-labelledby="h-thresholds"><h2 id="h-thresholds">Thresholds</h2>${tableOf(
    'Thresholds',
    ['Threshold', 'Held', 'Actual', 'Expected', 'Key'],
    sorted.map(({ name, held, actual, expected, key }) => [
      shown(name, 120),
      held ? 'yes' : html`<b class="over">no</b>`,
      shown(actual, 200),
      shown(expected ?? '', 200),
      shownLine(key ?? '', 60),
    ]),
  )}</section>`;
}

function generatorHealth({ generator }: LoadResult): string {
  const {
    limit,
    cpuMeanPart,
    memoryPeakBytes,
    scheduleLagP95Ms: lag,
    droppedIterations: dropped,
  } = generator;
  return [
    limit === null ? 'not the limit' : shownLine(limit, 200),
    ...(cpuMeanPart === null ? [] : [`${Math.round(cpuMeanPart * 100)} % of the CPU`]),
    ...(memoryPeakBytes === null ? [] : [`${Math.round(memoryPeakBytes / 2 ** 20)} MB`]),
    ...(lag === null ? [] : [`95 % of the arrivals at most ${milliseconds(lag)} late`]),
    ...(dropped === 0 ? [] : [`${dropped.toLocaleString('en')} not sent`]),
  ].join(', ');
}

function measurements({ measurements: all }: LoadResult): SafeHtml | string {
  if (all.length === 0) return '';
  return html`<section aria-labelledby="h-measured"><h2 id="h-measured">Measured once</h2>${tableOf(
    'Measured once',
    ['What', 'Value', 'Key'],
    all
      .slice(0, 200)
      .map(({ name, value, unit, key }) => [
        shown(name, 120),
        `${number(value)} ${shownLine(unit, 20)}`,
        shownLine(key, 60),
      ]),
  )}</section>`;
}

function figures(result: LoadResult): SafeHtml {
  const names = seriesNames(result.series);
  const cells = (name: string, { requests, perSecond, latency, outcomes }: LoadFigures) => {
    const time = (value: number | undefined) => (value === undefined ? '' : milliseconds(value));
    const errors = outcomes.error + outcomes['unexpected-429'] + outcomes.unfinished;
    return [
      shownLine(name, 100),
      requests.toLocaleString('en'),
      rate(perSecond).replace(' requests', ''),
      ...[latency?.p50, latency?.p90, latency?.p99, latency?.p999, latency?.max].map(time),
      errors === 0 ? '0' : html`<b class="over">${errors.toLocaleString('en')}</b>`,
      outcomes.refused.toLocaleString('en'),
      outcomes.violation === 0 ? '0' : html`<b class="over">${outcomes.violation.toLocaleString('en')}</b>`,
    ];
  };
  return tableOf(
    'Figures by operation and plan',
    [
      'Series',
      'Requests',
      'Rate',
      'p50',
      'p90',
      'p99',
      'p99.9',
      'Slowest',
      'Errors',
      'Refused as expected',
      'Contract broken',
    ],
    [...result.series.map((one, index) => cells(names[index] ?? '', one)), cells('all', result.total)],
  );
}

function comparison(base: LoadResult, head: LoadResult, tolerated: number): SafeHtml {
  const { findings, notCompared } = compareBlocks(base.series, head.series, { toleratedSlowdown: tolerated });
  const verdict = (finding: CompareFinding) =>
    finding.alarm
      ? html`<b class="over">worse</b>`
      : finding.undecided
        ? 'cannot tell'
        : finding.better
          ? 'better'
          : 'no difference';
  return html`<section aria-labelledby="h-base"><h2 id="h-base">Compared with the base of ${moment(base.run.startedAt)}</h2>
${tableOf(
  'Comparison with the base',
  ['Metric', 'Verdict', '−50 % to ×2', 'Base to head'],
  findings.map((finding) => [
    shownLine(finding.metric, 80),
    verdict(finding),
    ratioMark(finding),
    shown([finding.actual, finding.spread].filter((words) => words !== undefined).join('; '), 400),
  ]),
)}
${notCompared.map((reason) => html`<p class="quiet">Not compared: ${shown(reason, 300)}</p>`)}</section>`;
}

function violations({ violations: all }: LoadResult): SafeHtml | string {
  if (all.length === 0) return '';
  return html`<section aria-labelledby="h-contract"><h2 id="h-contract">Contract broken under load</h2>${all
    .slice(0, 50)
    .map(
      ({
        requirement,
        reported,
        example,
      }) => html`<details class="req k-fail" open><summary><span class="chip">Broken</span> <span class="title">${shown(example.detail, 200)}</span> <code>${shownLine(requirement, 80)}</code></summary>
<div class="body"><p>At least ${count(reported, 'time')}; for example, with the key ${shownLine(example.key, 60)}:</p><pre tabindex="0">${shownLine(example.method, 20)} ${shown(example.path, 300)}
<b class="st st${Math.floor(example.status / 100)}">${example.status}</b>
${Object.entries(example.headers)
  .slice(0, 40)
  .map(
    ([name, value]) => html`<i class="h">${shown(name, 80)}</i>: ${shown(value, 300)}
`,
  )}
${shown(example.body, 1_500)}</pre></div></details>`,
    )}</section>`;
}

function quota({ bill }: LoadResult): SafeHtml {
  return html`<section aria-labelledby="h-quota"><h2 id="h-quota">What it cost</h2>${tableOf(
    'Requests by key',
    ['Key', 'Plan', 'Sent', 'Refused', 'At most, as planned', 'A day', 'Busiest minute', 'A minute'],
    bill.keys
      .slice(0, 300)
      .map((key) => [
        shownLine(key.key, 60),
        key.plan,
        (key.sent ?? 0).toLocaleString('en'),
        (key.refused ?? 0).toLocaleString('en'),
        key.requests.toLocaleString('en'),
        key.perDay.toLocaleString('en'),
        key.busiestMinute.toLocaleString('en'),
        key.perMinute.toLocaleString('en'),
      ]),
  )}</section>`;
}
