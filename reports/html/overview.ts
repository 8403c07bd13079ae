import { html, type SafeHtml } from '@remix-run/html-template';
import { runFacts } from '../facts.ts';
import { nextSteps } from '../next-steps.ts';
import { byReason, type Outcome, outcome } from '../outcome.ts';
import type { GapResult, Report, RequirementResult } from '../report.ts';
import { VERDICT_SIGNS as SIGNS } from '../row-kinds.ts';
import { shownLine } from '../visible-text.ts';
import { shown } from './visible-html.ts';

/** The head of the page: the verdict in one line, its numbers, and the facts of the run. */
export function verdictHeader(report: Report): SafeHtml {
  const result = outcome(report);
  const simulated =
    report.run.clockSpeed === 1
      ? ''
      : html`<p class="notice">The clock of this run was simulated: ${report.run.clockSpeed} times as fast as real time.</p>`;
  const early =
    report.run.interrupted === undefined
      ? ''
      : html`<p class="notice">The run ended before all checks had: ${shown(report.run.interrupted, 300)}</p>`;
  return html`
<header class="verdict v-${report.verdict}">
  <p class="eyebrow">Pet Store Service Interface, conformance</p>
  <h1><span class="sign" aria-hidden="true">${SIGNS[report.verdict]}</span> ${result.headline}</h1>
  <p class="target">${shownLine(report.run.target, 200)}</p>
  ${simulated}${early}
  ${proportions(result)}
  <dl class="run">${runFacts(report)
    .filter(([label]) => label !== 'Target' && label !== 'Ended early')
    .map(
      ([label, text]) =>
        html`<div${html.raw`${label === 'Keys' || label === 'Only' ? ' class="wide"' : ''}`}><dt>${label}</dt><dd>${text}</dd></div>`,
    )}</dl>
</header>`;
}

/** The counts as one bar of proportional parts, each a link into the list. */
function proportions(result: Outcome): SafeHtml {
  const parts = [
    ['fail', 'broken', result.broken.length],
    ['known', 'known failures', result.known.length],
    ['inconclusive', 'not verified', result.notVerified.length + result.mayNotVerified.length],
    ['pass', 'verified', result.passed.length],
    ['not-applicable', 'not applicable', result.notApplicable.length],
  ] as const;
  const present = parts.filter(([, , number]) => number > 0);
  return html`
<svg class="proportions" width="100%" height="10" aria-hidden="true">${present.map(
    ([kind, , number], index) => {
      const all = present.reduce((sum, [, , part]) => sum + part, 0);
      const before = present.slice(0, index).reduce((sum, [, , part]) => sum + part, 0);
      return html`<rect class="p-${kind}" x="${((before / all) * 100).toFixed(2)}%" width="${((number / all) * 100).toFixed(2)}%" height="10" />`;
    },
  )}</svg>
<ul class="tally">${parts.map(
    ([kind, word, number]) =>
      html`<li class="k-${kind}${number === 0 ? ' zero' : ''}"><b>${number}</b> ${word}</li>`,
  )}</ul>`;
}

/** What is wrong and what is not known, side by side and of the same weight; then what to do. */
export function findings(report: Report): SafeHtml {
  const { broken, drifted, notVerified, mayNotVerified } = outcome(report);
  const open = [...notVerified, ...mayNotVerified];
  return html`
<div class="findings">
  <section class="card${broken.length + drifted.length === 0 ? '' : ' k-fail'}" id="broken" aria-labelledby="h-broken">
    <h2 id="h-broken">Broken <span class="n">${broken.length + drifted.length}</span></h2>
    ${broken.length + drifted.length === 0 ? html`<p class="quiet">Nothing that was checked is broken.</p>` : html`<ul>${broken.map(brokenItem)}${drifted.map(driftItem)}</ul>`}
  </section>
  <section class="card${open.length === 0 ? '' : ' k-inconclusive'}" id="not-verified" aria-labelledby="h-open">
    <h2 id="h-open">Not verified <span class="n">${open.length}</span></h2>
    ${open.length === 0 ? html`<p class="quiet">Everything that can be checked was.</p>` : html`<ul>${byReason(open).slice(0, 30).map(reasonItem)}</ul>`}
  </section>
</div>
<section class="next" aria-labelledby="h-next">
  <h2 id="h-next">What to do next</h2>
  <ol>${nextSteps(report).map(({ what, command }, index) =>
    command === undefined
      ? html`<li>${shownLine(what, 400)}</li>`
      : html`<li>${shownLine(what, 400)}<div class="curl"><pre tabindex="0" id="c--${index}">${shownLine(command, 2_000)}</pre><button type="button" class="js copy" data-copy="c--${index}">Copy<span class="sr"> the command</span></button></div></li>`,
  )}</ol>
</section>`;
}

function brokenItem(row: RequirementResult): SafeHtml {
  const came = row.actual ?? row.reason;
  return html`<li><a href="#r-${row.id}">${shownLine(row.title, 200)}</a> <span class="quiet">section ${row.section}${row.level === 'MAY' ? ', MAY' : ''}</span>
<dl class="asked"><dt>asks</dt><dd>${shown(row.expected ?? row.statement, 240)}</dd><dt>came</dt><dd>${shown(came, 240)}${oftenness(row)}</dd></dl></li>`;
}

/** How often, where the reason says it and what came back does not. */
function oftenness({ actual, reason }: RequirementResult): string {
  const times = / \((\d+ times)\)$/.exec(reason)?.[1];
  return actual === undefined || times === undefined || actual.includes(times) ? '' : `, ${times}`;
}

function driftItem(gap: GapResult): SafeHtml {
  return html`<li><a href="#g-${gap.id}">Drifted: ${shownLine(gap.question, 200)}</a> <span class="quiet">section ${gap.section}</span>
<dl class="asked"><dt>pinned</dt><dd>${shown(gap.pinned ?? '', 120)}</dd><dt>came</dt><dd>${shown(gap.observed ?? 'no answer', 120)}: ${shown(gap.detail, 240)}</dd></dl></li>`;
}

function reasonItem({ reason, rows }: ReturnType<typeof byReason>[number]): SafeHtml {
  const links = rows
    .slice(0, 6)
    .map((row, index) => html`${index > 0 ? ', ' : ''}<a href="#r-${row.id}">${row.id}</a>`);
  const rest = rows.slice(6);
  return html`<li><b>${rows.length}</b>: ${shown(reason, 300)}<br /><span class="ids">${links}${
    rest.length === 0
      ? ''
      : html`<details class="rest"><summary>and ${rest.length} more</summary>${rest.map((row, index) => html`${index > 0 ? ', ' : ''}<a href="#r-${row.id}">${row.id}</a>`)}</details>`
  }</span></li>`;
}
