import { html } from '@remix-run/html-template';
import type { CapacityResult } from '../../scenarios/runner/capacity/capacity.ts';
import { duration, moment } from '../facts.ts';
import { milliseconds } from '../html/chart-frame.ts';
import { pageShell } from '../html/page-shell.ts';
import { shown } from '../html/visible-html.ts';
import { count } from '../outcome.ts';
import { shownLine } from '../visible-text.ts';
import { capacityCharts } from './capacity-chart.ts';
import { capacityHeadline, capacityOutcome } from './load-outcome.ts';
import { facts, rate, tableOf } from './load-parts.ts';

/** A search for a capacity as one HTML file: the number, its interval, every step. */
export function renderCapacityHtml(result: CapacityResult): string {
  const { run, failedStep: failed } = result;
  const found = capacityHeadline(result);
  const colour = capacityOutcome(result).verdict === 'held' ? 'conformant' : 'inconclusive';
  const body = html`<main>
<header class="verdict v-${colour}"><p class="eyebrow">Capacity under ${shownLine(run.slo, 200)}</p>
<h1>${found}</h1><p class="target">${shownLine(run.target, 200)}</p>${result.outcome === 'found' ? '' : html`<p class="notice">${shown(result.reason, 400)}</p>`}
${facts([
  ['When', `${moment(run.startedAt)}, for ${duration(run.durationSeconds)}`],
  ['Steps', count(result.steps.length, 'step')],
  ['Generator', `k6 ${shownLine(run.k6Version, 40)}`],
])}</header>
<section aria-labelledby="h-curve"><h2 id="h-curve">Rate against latency</h2>${capacityCharts(result)}</section>
<section aria-labelledby="h-steps"><h2 id="h-steps">Steps</h2>${tableOf(
    'Steps',
    ['Rate', 'Phase', 'Held', 'p50', 'p99', 'Errors', 'Why'],
    [
      ...result.steps.map((step) => [
        rate(step.rate),
        step.phase,
        step.held ? 'yes' : html`<b class="over">no</b>`,
        milliseconds(step.p50),
        milliseconds(step.p99),
        `${Number((step.errorPart * 100).toFixed(2))} %`,
        shown(step.reason, 200),
      ]),
      ...(failed === undefined
        ? []
        : [[rate(failed.rate), failed.phase, 'not made', '–', '–', '–', shown(failed.reason, 200)]]),
    ],
  )}</section>
</main>`;
  return pageShell(`Capacity: ${found}`, body, false);
}
