import { html, type SafeHtml } from '@remix-run/html-template';
import { type BuiltReport, driftedParts } from '../build-report.ts';
import { type Fact, grouped, simulatedClock } from '../facts.ts';
import type { Cause, ReasonGroup, Row, Rows } from '../groups.ts';
import type { GapResult } from '../report.ts';
import { kindCounts, ROW_KINDS, rowKind, VERDICT_KINDS, verdictSign } from '../row-kinds.ts';
import { clip } from '../visible-text.ts';
import { exchangeHtml } from './exchange.ts';
import { pageShell } from './page-shell.ts';
import { ratePictures } from './rates.ts';
import { tableHtml } from './table.ts';

/** This many failures are shown with their exchange; a server that breaks everything must not make a page of megabytes. */
const MOST_PROOFS = 60;
/** How many exchanges of a requirement are named. */
const MOST_EVIDENCE = 12;

/**
 * The report as one HTML file without network (its policy forbids it): light and dark, on paper and on a phone. The first
 * defect comes first. The page works without its script, which adds filter, search and copying.
 */
export function renderHtml(built: BuiltReport): string {
  const { report, causes, drifted, known } = built;
  const [first, ...others] = causes;
  const body = html`<a class="skip" href="#requirements">Skip to the requirements</a>
<main>
${verdictHeader(built)}
${first === undefined ? '' : defect(first, true, 0)}
${others.map((cause, index) => defect(cause, false, index + 1))}
${drifted.length === 0 ? '' : html`<section id="drifted"><h2>Drifted</h2><ul>${drifted.map(driftItem)}</ul></section>`}
${notVerified(built)}
${nextSteps(built)}
<section id="requirements"><h2>Requirements</h2>
${toolbar(built)}
${built.sections.map(
  ({ section, name, rows }) =>
    html`<details class="group" id="s-${section}"><summary>${name} ${tallyHtml(rows)}</summary>${rows.map((row) => requirement(row, causes, report.exchanges))}</details>`,
)}
<p class="nothing" hidden>Nothing matches. <button type="button" class="js" data-reset>Show all</button></p></section>
<section id="rates"><h2>Rate limits over time</h2>${ratePictures(report)}</section>
<section id="gaps"><h2>What the document leaves open, and this target’s answers</h2>${gapList(report.gaps)}</section>
${known.length === 0 ? '' : html`<section id="known"><h2>Known failures</h2><p>${idLinks(known)}</p></section>`}
<section id="run"><h2>The run</h2>${factList(built.facts)}</section>
</main>
<footer><p>Keys are shown by name only. Every exchange is in report.json and in the journal beside it.</p></footer>
<div id="said" class="sr" role="status"></div>`;
  return pageShell(`${built.headline} (${clip(report.run.target, 100)})`, body, true);
}

/** The verdict, what made it, and its numbers; the facts of the run are at the end. */
function verdictHeader({ report, headline, problems, notices }: BuiltReport): SafeHtml {
  const simulated = simulatedClock(report.run);
  const lines = [
    ...problems.filter((problem) => !headline.includes(problem)),
    ...notices.slice(0, 3),
    ...(simulated === undefined ? [] : [`The clock of this run was ${simulated}.`]),
  ];
  return html`<header class="k-${VERDICT_KINDS[report.verdict]}"><h1><span aria-hidden="true">${verdictSign(report.verdict)}</span> ${headline}</h1>
<p class="quiet"><code>${clip(report.run.target, 200)}</code> <a href="#run">about the run</a></p>
${lines.map((line) => html`<p class="notice">${clip(line, 300)}</p>`)}${proportions(report.requirements)}</header>`;
}

/** How the requirements stand, as a bar; the tally of every section counts alike. */
function proportions(rows: Rows): SafeHtml {
  const percent = (number: number) => `${((number / rows.length) * 100).toFixed(2)}%`;
  let before = 0;
  const bars = kindCounts(rows).map(({ kind, number }) => {
    const from = percent(before);
    before += number;
    return html`<rect class="k-${kind}" x="${from}" width="${percent(number)}" height="8" />`;
  });
  return html`<svg class="proportions" width="100%" height="8" aria-hidden="true">${bars}</svg><p class="tally">${tallyHtml(rows)}</p>`;
}

const tallyHtml = (rows: Rows): SafeHtml[] =>
  kindCounts(rows).map(
    ({ kind, words, number }) =>
      html`<span class="k-${kind}"><b>${number}</b> ${words.toLowerCase()}</span> `,
  );

/** A cause: what the document says, what came, the exchange that proves it, and how to repeat it. */
function defect({ row, follow, proof }: Cause, open: boolean, index: number): SafeHtml {
  const asked = row.expected ?? row.statement;
  return html`<details class="defect k-fail" id="d-${row.id}"${html.raw`${open ? ' open' : ''}`}><summary><span aria-hidden="true">✘</span> ${row.title} <code>${row.id}</code>${follow.length === 0 ? '' : html` <span class="quiet">and ${follow.length} that follow from it</span>`}</summary>
<dl class="asked"><dt>Came</dt><dd class="came">${clip(row.actual ?? row.reason, 600)}${oftenness(row)}</dd><dt>Asked</dt><dd>${clip(asked, 600)}</dd>${clause(row)}</dl>
${proof === undefined || index >= MOST_PROOFS ? '' : exchangeHtml(proof, row.at)}
${row.curl === undefined ? '' : command(row.curl, `c-${row.id}`)}
${follow.length === 0 ? '' : html`<p>Follow from it: ${idLinks(follow)}</p>`}</details>`;
}

/** How often it came, if nothing else says so. */
function oftenness({ actual, why }: Row): string {
  const times = why.find((reason) => reason.kind === 'broken')?.times ?? 1;
  return actual === undefined || times === 1 ? '' : ` (${grouped(times)} times)`;
}

function clause({ clause: words, reading, statement, section }: Row): SafeHtml {
  const said =
    words === undefined
      ? html`${statement} <span class="quiet">(section ${section})</span>`
      : html`“${words}” <span class="quiet">(section ${section})</span>`;
  return html`<dt>The document</dt><dd>${said}</dd>${reading === undefined ? '' : html`<dt>Our reading</dt><dd>${statement} ${reading}</dd>`}`;
}

/** A command with its button; half a command would be worse than none. */
function command(text: string, id: string): SafeHtml {
  if (text.length > 3_000)
    return html`<p class="quiet">The command that repeats it is too long for this page; report.json has it.</p>`;
  return html`<div class="curl"><pre tabindex="0" id="${id}">${text}</pre><button type="button" class="js" data-copy="${id}">Copy</button></div>`;
}

function driftItem(gap: GapResult): SafeHtml {
  const { added, removed } = driftedParts(gap);
  return html`<li id="d-${gap.id}">${gap.question} <code>${gap.id}</code><br>${removed.map((part) => html`<del>− ${clip(part, 80)}</del> `)}${added.map((part) => html`<ins>+ ${clip(part, 80)}</ins> `)}<span class="quiet">${clip(gap.detail, 240)}</span></li>`;
}

function notVerified({ notVerified: open, mayNotVerified, skipped }: BuiltReport): SafeHtml | string {
  const groups = [...open, ...mayNotVerified, ...skipped];
  if (groups.length === 0) return '';
  return html`<details id="not-verified"${html.raw`${open.length > 0 ? ' open' : ''}`}><summary>${open.length + mayNotVerified.length === 0 ? 'Skipped' : 'Not verified, or skipped'} <span class="quiet">${groups.reduce((sum, { rows }) => sum + rows.length, 0)}</span></summary><ul>${groups.slice(0, 30).map(reasonItem)}</ul></details>`;
}

function reasonItem({ reason, rows }: ReasonGroup): SafeHtml {
  const skipped = rows[0]?.verdict === 'skipped' ? 'skipped, ' : '';
  const ids =
    rows.length <= 6
      ? html`${idLinks(rows)}`
      : html`<details class="rest"><summary>which</summary>${idLinks(rows)}</details>`;
  return html`<li><b>${rows.length}</b> ${skipped}${clip(reason, 300)} <span class="ids">${ids}</span></li>`;
}

const idLinks = (rows: Rows): SafeHtml[] =>
  rows.map((row, index) => html`${index > 0 ? ', ' : ''}<a href="#r-${row.id}">${row.id}</a>`);

const nextSteps = ({ steps }: BuiltReport): SafeHtml => html`<section id="next"><h2>What to do next</h2>
<ol>${steps.map(({ what, command: text }, index) => html`<li>${clip(what, 400)}${text === undefined ? '' : command(text, `c--${index}`)}</li>`)}</ol></section>`;

function toolbar({ report }: BuiltReport): SafeHtml {
  const filters = kindCounts(report.requirements).map(
    ({ kind, words, number }) =>
      html`<button type="button" data-filter="${kind}" aria-pressed="false">${words} ${number}</button>`,
  );
  return html`<div class="toolbar js" role="search" aria-label="Requirements">${filters} <label for="find">Search</label> <input id="find" type="search" autocomplete="off" placeholder="id, words, status…"> <output id="matches" for="find"></output></div>`;
}

function requirement(
  row: Row,
  causes: readonly Cause[],
  exchanges: BuiltReport['report']['exchanges'],
): SafeHtml {
  const kind = rowKind(row);
  const isCause = causes.some((cause) => cause.row.id === row.id);
  const follows =
    row.consequenceOf === undefined
      ? ''
      : html` <span class="quiet">It follows from <a href="#r-${row.consequenceOf}">${row.consequenceOf}</a>.</span>`;
  const proof =
    row.verdict === 'fail' && !isCause ? exchanges.find(({ id }) => id === row.evidence[0]) : undefined;
  const evidence = row.evidence.slice(0, MOST_EVIDENCE).join(', ');
  return html`<details class="req k-${kind}" id="r-${row.id}" data-kind="${kind}"><summary><b class="chip">${ROW_KINDS[kind].words}</b> ${row.title} <code>${row.id}</code>${row.level === 'MAY' ? ' MAY' : ''}</summary>
<p class="reason">${clip(row.reason, 600)}${follows}${isCause ? html` <a href="#d-${row.id}">The failure</a>` : ''}</p><dl class="asked">${clause(row)}</dl>${proof === undefined ? '' : exchangeHtml(proof, row.at)}${evidence === '' ? '' : html`<p class="quiet">Exchanges in report.json: ${evidence}</p>`}</details>`;
}

/** What the document leaves open; all is folded but what the head of the page tells. */
function gapList(gaps: readonly GapResult[]): SafeHtml {
  const answered = gaps.filter(({ observed }) => observed !== null);
  const unseen = gaps.filter(({ observed }) => observed === null);
  const answers = tableHtml({
    title: 'Answers',
    head: ['Question', 'This target', 'Profile', 'How it was seen'],
    rows: answered.map(({ id, question, observed, pinned, detail, verdict }) => [
      html`${question} <code>${id}</code>`,
      clip(observed ?? '', 160),
      verdict === 'drifted' ? { wrong: `${clip(pinned ?? '', 120)}: drifted` } : clip(pinned ?? '', 120),
      clip(detail, 200),
    ]),
  });
  return html`<p class="quiet">The document does not say; any answer conforms. One that the profile pins is a promise of this target, and fails when it changes.</p>
<details class="fold"><summary>${answered.length} questions answered</summary>${answers}</details>
<details class="fold"><summary>${unseen.length} not seen</summary><ul>${unseen.map(({ id, question, detail }) => html`<li>${question} <code>${id}</code> <span class="quiet">${clip(detail, 200)}</span></li>`)}</ul></details>`;
}

/** The facts of a run as a list. */
export const factList = (facts: readonly Fact[]): SafeHtml =>
  html`<dl class="run">${facts.map(([label, text]) => html`<dt>${label}</dt><dd>${clip(text, 1_000)}</dd>`)}</dl>`;
