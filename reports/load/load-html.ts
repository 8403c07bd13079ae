import { html, type SafeHtml } from '@remix-run/html-template';
import type { CapacityResult } from '../../scenarios/runner/capacity/capacity.ts';
import { type CompareFinding, compareBlocks } from '../../scenarios/runner/compare/compare-blocks.ts';
import type { LoadResult } from '../../scenarios/runner/result/load-result.ts';
import { moment } from '../facts.ts';
import { logarithmic, percent } from '../html/chart-frame.ts';
import { statusHtml } from '../html/exchanges.ts';
import { factList } from '../html/overview.ts';
import { pageShell } from '../html/page-shell.ts';
import { type Table, tableHtml } from '../html/table.ts';
import { markUnseen, shown } from '../html/visible-html.ts';
import { count } from '../outcome.ts';
import { ROW_KINDS } from '../row-kinds.ts';
import { shownLine } from '../visible-text.ts';
import { capacityCharts } from './capacity-chart.ts';
import { latencyChart } from './latency-chart.ts';
import { capacityOutcome, inOrder, type LoadOutcome, loadOutcome, seriesNames } from './load-outcome.ts';
import { timeChart } from './time-chart.ts';

/** The tolerated slow-down, as in `compare`. */
const TOLERATED = 0.04;

/**
 * A load run as one HTML file without network and script: verdict, thresholds, latency by operation and plan, the run over
 * time.
 *
 * @param base an earlier result of the same scenario to compare with
 */
export function renderLoadHtml(result: LoadResult, base?: LoadResult): string {
  const outcome = loadOutcome(result);
  const { thresholds, measurements, figures, cost } = outcome.tables;
  const series = inOrder(result.series);
  return page(
    outcome,
    html`${section('thresholds', 'Thresholds', thresholds)}${section('measured', 'Measured once', measurements)}
${base === undefined ? '' : comparison(base, result)}
${section('latency', 'Latency by operation and plan', figures, latencyChart(series, seriesNames(series)))}
<section aria-labelledby="h-time"><h2 id="h-time">Over time</h2>${timeChart(series)}</section>
${violations(result)}${section('cost', 'What it cost', cost)}`,
  );
}

/** A search for a capacity as one HTML file: the number, its interval, every step. */
export function renderCapacityHtml(result: CapacityResult): string {
  const outcome = capacityOutcome(result);
  return page(
    outcome,
    html`<section aria-labelledby="h-curve"><h2 id="h-curve">Rate against latency</h2>${capacityCharts(result)}</section>
${section('steps', 'Steps', outcome.tables.steps)}`,
  );
}

const KINDS = { held: 'pass', broken: 'fail', open: 'inconclusive' } as const;
/** Facts that a reader must not miss. */
const NOTICES = new Set(['Clock', 'Note']);

function page({ name, headline, verdict, problems, facts }: LoadOutcome, sections: SafeHtml): string {
  const kind = KINDS[verdict];
  const told = facts.flatMap(([label, text]) => {
    if (!NOTICES.has(label)) return [];
    return label === 'Clock' ? `The target’s clock was ${text}.` : text;
  });
  const target = facts.find(([label]) => label === 'Target')?.[1];
  const body = html`<main>
<header class="verdict k-${kind}"><p class="quiet">${name}</p>
<h1><span aria-hidden="true">${ROW_KINDS[kind].sign}</span> ${headline}</h1>
<p><code>${target}</code></p>${[...problems, ...told].map((line) => html`<p class="notice">${markUnseen(line)}</p>`)}
${factList(facts.filter(([label]) => label !== 'Target' && !NOTICES.has(label)))}</header>
${sections}
</main>`;
  return pageShell(`${headline} (${name})`, body, false);
}

/** A heading, what belongs before the table, and the table; nothing if the table has no row. */
function section(
  id: string,
  heading: string,
  table: Table,
  before: SafeHtml | string = '',
): SafeHtml | string {
  if (table.rows.length === 0) return '';
  return html`<section aria-labelledby="h-${id}"><h2 id="h-${id}">${heading}</h2>${before}${tableHtml(table)}</section>`;
}

function comparison(base: LoadResult, head: LoadResult): SafeHtml {
  const { findings, notCompared } = compareBlocks(base.series, head.series, { toleratedSlowdown: TOLERATED });
  const verdict = ({ alarm, undecided, better }: CompareFinding) => {
    if (alarm) return { wrong: 'worse' };
    if (undecided) return 'cannot tell';
    return better ? 'better' : 'no difference';
  };
  return html`<section aria-labelledby="h-base"><h2 id="h-base">Compared with the base of ${moment(base.run.startedAt)}</h2>
${tableHtml({
  title: 'Comparison with the base',
  head: ['Metric', 'Verdict', '−50 % to ×2', 'Base to head'],
  rows: findings.map((finding) => [
    shownLine(finding.metric, 80),
    verdict(finding),
    ratioMark(finding),
    shownLine([finding.actual, finding.spread].filter((words) => words !== undefined).join('; '), 400),
  ]),
})}
${notCompared.map((reason) => html`<p class="quiet">Not compared: ${shown(reason, 300)}</p>`)}</section>`;
}

/** Head over base with its interval, on a scale from half to double. Beyond the scale there is an arrow. */
function ratioMark({ ratio, interval, alarm, better }: CompareFinding): SafeHtml | string {
  if (ratio === null || interval === null) return '';
  const scale = logarithmic(0.5, 2);
  // With a margin on both sides, so that no mark is cut off.
  const x = (value: number) => percent(0.04 + 0.92 * scale(value));
  const kind = alarm ? 'k-fail' : better ? 'k-pass' : '';
  const mark =
    ratio > 2
      ? html`<text class="mark" x="96%" y="14" text-anchor="middle">▸</text>`
      : ratio < 0.5
        ? html`<text class="mark" x="4%" y="14" text-anchor="middle">◂</text>`
        : html`<circle class="mark" cx="${x(ratio)}" cy="9" r="4" />`;
  return html`<svg class="ratio ${kind}" width="160" height="18" aria-hidden="true"><line class="l-base" x1="50%" x2="50%" y1="0" y2="18" /><line class="mark" x1="${x(interval[0])}" x2="${x(interval[1])}" y1="9" y2="9" />${mark}</svg>`;
}

function violations({ violations: all }: LoadResult): SafeHtml | string {
  if (all.length === 0) return '';
  const parts = all.slice(0, 50).map(({ requirement, reported, example }) => {
    const { detail, key, method, path, status, headers, body } = example;
    const lines = Object.entries(headers)
      .slice(0, 40)
      .map(([name, value]) => html`<i class="h">${shown(name, 80)}</i>: ${shown(value, 300)}\n`);
    return html`<details class="req k-fail" open><summary><span class="chip">Broken</span> <span class="title">${shown(detail, 200)}</span> <code>${shownLine(requirement, 80)}</code></summary>
<div class="body"><p>At least ${count(reported, 'time')}; for example, with the key ${shownLine(key, 60)}:</p><pre tabindex="0">${shownLine(method, 20)} ${shown(path, 300)}
${statusHtml(status)}
${lines}
${shown(body, 1_500)}</pre></div></details>`;
  });
  return html`<section aria-labelledby="h-contract"><h2 id="h-contract">Contract broken under load</h2>${parts}</section>`;
}
