import { html, type SafeHtml } from '@remix-run/html-template';
import { diffReports } from '../compare/diff.ts';
import { diffSummary } from '../compare/diff-renderers.ts';
import { moment, runFacts, simulatedClock } from '../facts.ts';
import { nextSteps } from '../next-steps.ts';
import { byReason, count, type Outcome, outcome, runProblems, verdictWords } from '../outcome.ts';
import type { GapResult, Report, RequirementResult } from '../report.ts';
import { kindCounts, VERDICT_KINDS, verdictSign } from '../row-kinds.ts';
import { shownLine } from '../visible-text.ts';
import { driftHtml } from './gap-list.ts';
import { markUnseen, shown } from './visible-html.ts';

/** Facts with a place of their own in the page's head. */
const SAID_ELSEWHERE = new Set(['Target', 'Ended early', 'Clock']);

/** The head of the page: verdict, what made it, its numbers, earlier runs, and the facts of the run. */
export function verdictHeader(report: Report, earlier: readonly Report[]): SafeHtml {
  const result = outcome(report);
  const simulated = simulatedClock(report.run);
  const notices = [
    ...runProblems(report).map((problem) => shown(problem, 300)),
    ...(simulated === undefined ? [] : [html`The clock of this run was ${simulated}.`]),
  ];
  return html`
<header class="verdict k-${VERDICT_KINDS[report.verdict]}">
  <p class="quiet">Pet Store Service Interface, conformance</p>
  <h1><span aria-hidden="true">${verdictSign(report.verdict)}</span> ${shownLine(result.headline)}</h1>
  <p><code>${shownLine(report.run.target, 200)}</code></p>
  ${notices.map((notice) => html`<p class="notice">${notice}</p>`)}
  ${proportions(report.requirements)}
  ${runHistory(report, earlier)}
  ${factList(runFacts(report).filter(([label]) => !SAID_ELSEWHERE.has(label)))}
</header>`;
}

/** The facts of a run as a list. */
export function factList(facts: readonly (readonly [label: string, text: string])[]): SafeHtml {
  const wide = (label: string) => html.raw`${label === 'Keys' || label === 'Only' ? ' class="wide"' : ''}`;
  return html`<dl class="run">${facts.map(([label, text]) => html`<div${wide(label)}><dt>${label}</dt><dd>${markUnseen(text)}</dd></div>`)}</dl>`;
}

function proportions(rows: readonly RequirementResult[]): SafeHtml {
  const counts = kindCounts(rows);
  const percent = (number: number) => `${((number / rows.length) * 100).toFixed(2)}%`;
  let before = 0;
  const bars = counts.map(({ kind, number }) => {
    const from = percent(before);
    before += number;
    return html`<rect class="k-${kind}" x="${from}" width="${percent(number)}" height="10" />`;
  });
  return html`
<svg class="proportions" width="100%" height="10" aria-hidden="true">${bars}</svg>
<ul class="tally">${counts.map(
    ({ kind, words, number }) => html`<li class="k-${kind}"><b>${number}</b> ${words.toLowerCase()}</li>`,
  )}</ul>`;
}

const MOST_RUNS = 5;

/** This run and earlier ones of the same target, the latest first, each with what it changed. */
function runHistory(report: Report, earlier: readonly Report[]): SafeHtml | string {
  if (earlier.length === 0) return '';
  const runs = [...earlier, report];
  const lines = runs
    .map((run, index) => ({ run, before: runs[index - 1] }))
    .slice(-MOST_RUNS - 1)
    .reverse()
    .map(({ run, before }) => {
      const { passed, skipped } = outcome(run);
      const skips = skipped.length === 0 ? '' : `, ${skipped.length} skipped`;
      const change = before === undefined ? '' : diffSummary(diffReports(before, run));
      return html`<li><span class="nowrap">${run === report ? 'This run' : moment(run.run.startedAt)}</span> <span class="chip k-${VERDICT_KINDS[run.verdict]}">${verdictSign(run.verdict)} ${verdictWords(run)}</span> ${passed.length} verified${skips} <span class="quiet">${change}</span></li>`;
    });
  const more = runs.length - lines.length;
  return html`<ul class="runs" id="history" aria-label="Runs of this target">${lines}${more > 0 ? html`<li class="quiet">and ${count(more, 'earlier run')}</li>` : ''}</ul>`;
}

/** What is broken and what was not verified, side by side, and what to do next. */
export function findings(report: Report): SafeHtml {
  const { broken, consequences, drifted, notVerified, mayNotVerified, skipped } = outcome(report);
  const open = [...notVerified, ...mayNotVerified, ...skipped];
  const wrong = broken.length + drifted.length;
  const tone = open.length === skipped.length ? 'skipped' : 'inconclusive';
  return html`
<div class="findings">
  <section class="card k-${wrong === 0 ? 'skipped' : 'fail'}" id="broken" aria-labelledby="h-broken">
    <h2 id="h-broken">Broken <span class="quiet">${wrong}</span></h2>
    ${wrong === 0 ? html`<p class="quiet">Nothing that was checked is broken.</p>` : html`<ul>${broken.map((row) => brokenItem(row, consequences))}${drifted.map(driftItem)}</ul>`}
  </section>
  <section class="card k-${tone}" id="not-verified" aria-labelledby="h-open">
    <h2 id="h-open">Not verified <span class="quiet">${open.length}</span></h2>
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

function brokenItem(row: RequirementResult, consequences: Outcome['consequences']): SafeHtml {
  const came = row.actual ?? row.reason;
  const follow = consequences.get(row.id) ?? [];
  return html`<li><a href="#r-${row.id}">${shownLine(row.title, 200)}</a> <span class="quiet">section ${row.section}${row.level === 'MAY' ? ', MAY' : ''}</span>
<dl class="asked"><dt>asks</dt><dd>${shown(row.expected ?? row.statement, 240)}</dd><dt>came</dt><dd>${shown(came, 240)}${oftenness(row)}</dd></dl>${follow.length === 0 ? '' : html`<span class="ids">${follow.length} more follow from it: ${idLinks(follow)}</span>`}</li>`;
}

/** How often it came, if only the reason says so. */
function oftenness({ actual, reason }: RequirementResult): string {
  const times = / \((\d+ times)\)$/.exec(reason)?.[1];
  return actual === undefined || times === undefined || actual.includes(times) ? '' : `, ${times}`;
}

function driftItem(gap: GapResult): SafeHtml {
  return html`<li><a href="#g-${gap.id}">Drifted: ${shownLine(gap.question, 200)}</a> <span class="quiet">section ${gap.section}</span>
<div>${driftHtml(gap)} <span class="quiet">${shown(gap.detail, 240)}</span></div></li>`;
}

function reasonItem({ reason, rows }: ReturnType<typeof byReason>[number]): SafeHtml {
  const rest = rows.slice(6);
  const skipped = rows[0]?.verdict === 'skipped' ? 'skipped, ' : '';
  return html`<li><b>${rows.length}</b> ${skipped}${shown(reason, 300)}<br /><span class="ids">${idLinks(rows.slice(0, 6))}${
    rest.length === 0
      ? ''
      : html`<details class="rest"><summary>and ${rest.length} more</summary>${idLinks(rest)}</details>`
  }</span></li>`;
}

function idLinks(rows: readonly RequirementResult[]): SafeHtml[] {
  return rows.map((row, index) => html`${index > 0 ? ', ' : ''}<a href="#r-${row.id}">${row.id}</a>`);
}
