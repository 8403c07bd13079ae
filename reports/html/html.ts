import { html, type SafeHtml } from '@remix-run/html-template';
import type { Exchange } from '../../checks/wire/exchange.ts';
import { type BuiltReport, driftLine } from '../build-report.ts';
import { exchangeParts } from '../exchange-parts.ts';
import { simulatedClock } from '../facts.ts';
import type { GapResult } from '../report.ts';
import { bySection, type Cause, type ReasonGroup, ROW_KINDS, type Row, type Rows, rowKind } from '../rows.ts';
import { factList, folded, markdownPage, pageShell } from './page-shell.ts';
import { ratePictures } from './rates.ts';
import { tableHtml } from './table.ts';

/** So many come before the other parts of the Markdown. */
const FIRST_DEFECTS = 10;

/**
 * The report as one HTML file without network and script (its policy forbids both): light and dark, on paper and on a
 * phone. The first defect comes first.
 */
export function renderHtml(built: BuiltReport): string {
  const { report, verdict, headline } = built;
  const { notes, defects, drifted, notVerified, next, gaps, known, run } = partsOf(built);
  const body = html`<header><h1 class="${verdict}"><span aria-hidden="true">${ROW_KINDS[verdict].sign}</span> ${headline}</h1>
<p class="quiet"><code>${report.run.target}</code> <a href="#run">about the run</a></p>
${notes}<p>${tally(report.requirements)}</p></header>
<main>
${defects}
${drifted}
${notVerified}
${next}
<h2>Requirements</h2>
${bySection(report.requirements).map(([name, rows]) => folded(html`${name} ${tally(rows)}`, html`${rows.map((row) => requirement(row, built))}`))}
<h2>Rate limits over time</h2>
${ratePictures(report)}
${gaps}
${known}
${run}
</main>
<footer><p>Keys are shown by name only. The exchanges that rows name are in report.json, those of the whole run in its journal.</p></footer>`;
  return pageShell(`${headline} (${report.run.target})`, body);
}

/** For a pull request: the parts of the page that tell what is wrong, and what to do. */
export function renderMarkdown(built: BuiltReport): string {
  const { notes, defects, drifted, notVerified, next, gaps, known, run } = partsOf(built);
  const [first, others] = [defects.slice(0, FIRST_DEFECTS), defects.slice(FIRST_DEFECTS)];
  const blocks = [...notes, ...first, drifted, notVerified, next, run, ...others, known, gaps];
  return markdownPage(built.verdict, built.headline, blocks);
}

/** What page and Markdown have in common. A part that says nothing is empty. */
function partsOf(built: BuiltReport) {
  const { report, problems, headline, notices, drifted, known } = built;
  const simulated = simulatedClock(report.run);
  const notes = [
    ...problems.filter((problem) => !headline.includes(problem)),
    ...notices,
    ...(simulated === undefined ? [] : [`The clock of this run was ${simulated}.`]),
  ];
  const part = (heading: string, isThere: boolean, body: SafeHtml): SafeHtml | '' =>
    isThere ? html`<h2>${heading}</h2>${body}` : '';
  return {
    notes: notes.map((line) => html`<p class="inconclusive">${line}</p>`),
    defects: built.causes.map((cause, index) => defect(cause, index, built)),
    drifted: part(
      'Drifted',
      drifted.length > 0,
      html`<ul>${drifted.map((gap) => html`<li>${gap.question} <code>${gap.id}</code> <code>${driftLine(gap)}</code></li>`)}</ul>`,
    ),
    notVerified: notVerifiedHtml(built),
    next: html`<h2>What to do next</h2><ol>${built.steps.map(({ what, command }) => html`<li>${what}${commandHtml(command)}</li>`)}</ol>`,
    gaps: html`<h2>What the document leaves open, and this target’s answers</h2>${gapList(report.gaps)}`,
    known: part('Covered by the baseline', known.length > 0, html`<p>${idLinks(known)}</p>`),
    run: html`<h2 id="run">The run</h2>${factList(built.facts)}`,
  };
}

/** How many rows there are of each kind that there is. */
const tally = (rows: Rows): (SafeHtml | '')[] =>
  Object.entries(ROW_KINDS).map(([kind, { words }]) => {
    const number = rows.filter((row) => rowKind(row) === kind).length;
    return number === 0
      ? ''
      : html`<span class="tally ${kind}"><b>${number}</b> ${words.toLowerCase()}</span> `;
  });

/** A cause: what the document says, what came, the exchange that proves it, and how to repeat it. The first one is open. */
function defect({ row, follow }: Cause, index: number, { proofOf }: BuiltReport): SafeHtml {
  return html`<details class="defect"${index === 0 ? html.raw` open` : ''}><summary><span class="fail" aria-hidden="true">✘</span> ${row.title} <code>${row.id}</code>${follow.length === 0 ? '' : html` <span class="quiet">and ${follow.length} that follow from it</span>`}</summary>
<dl id="d-${row.id}"><dt>Came</dt><dd class="fail"><code>${row.reason}</code></dd><dt>Asked</dt><dd><code>${row.expected ?? row.statement}</code></dd>${clause(row)}</dl>
${exchangeHtml(proofOf(row), row.at)}
${commandHtml(row.curl)}
${follow.length > 0 ? html`<p>Follow from it: ${idLinks(follow)}</p>` : ''}</details>`;
}

function clause({ clause: words, reading, statement, section }: Row): SafeHtml {
  return html`<dt>The document</dt><dd>${words === undefined ? statement : `“${words}”`} <span class="quiet">(section ${section})</span></dd>${reading && html`<dt>Our reading</dt><dd>${statement} ${reading}</dd>`}`;
}

/** Request and response, with what is wrong marked. */
function exchangeHtml(exchange: Exchange | undefined, at?: readonly string[]): SafeHtml | '' {
  if (exchange === undefined) return '';
  const parts = exchangeParts(exchange, at);
  const why = 'bodyProblem' in exchange.outcome ? exchange.outcome.bodyProblem : undefined;
  const problem = why && html`<p class="quiet">The body is not faithful: ${why}.</p>`;
  return html`<pre tabindex="0">${parts.map(({ text, wrong }) => (wrong === true ? html`<mark>${text}</mark>` : text))}</pre>${problem}`;
}

const commandHtml = (text: string | undefined) => text && html`<pre tabindex="0">${text}</pre>`;

function notVerifiedHtml({ notVerified: open, mayNotVerified, skipped }: BuiltReport): SafeHtml | '' {
  const groups = [...open, ...mayNotVerified, ...skipped];
  if (groups.length === 0) return '';
  const rows = groups.reduce((sum, group) => sum + group.rows.length, 0);
  const summary = open.length + mayNotVerified.length === 0 ? 'Skipped' : 'Not verified, or skipped';
  return folded(
    html`${summary} <span class="quiet">${rows}</span>`,
    html`<ul>${groups.map(reasonItem)}</ul>`,
    open.length > 0,
  );
}

function reasonItem({ reason, rows }: ReasonGroup): SafeHtml {
  const skipped = rows[0]?.verdict === 'skipped' ? 'skipped, ' : '';
  return html`<li><b>${rows.length}</b> ${skipped}<code>${reason}</code>: ${idLinks(rows)}</li>`;
}

const idLinks = (rows: Rows): SafeHtml[] =>
  rows.map((row, index) => html`${index > 0 ? ', ' : ''}<a href="#r-${row.id}">${row.id}</a>`);

/** The id is inside, so that a link to it opens it. */
function requirement(row: Row, { causes, proofOf }: BuiltReport): SafeHtml {
  const kind = rowKind(row);
  const isCause = causes.some((cause) => cause.row.id === row.id);
  const { consequenceOf: cause } = row;
  const follows =
    cause && html` <span class="quiet">It follows from <a href="#r-${cause}">${cause}</a>.</span>`;
  const proof = row.verdict === 'fail' && !isCause ? proofOf(row) : undefined;
  const evidence = row.evidence.join(', ');
  return folded(
    html`<b class="${kind}">${ROW_KINDS[kind].words}</b> ${row.title} <code>${row.id}</code>${row.level === 'MAY' ? ' MAY' : ''}`,
    html`<p id="r-${row.id}">${row.reason}${follows}${isCause ? html` <a href="#d-${row.id}">The failure</a>` : ''}</p><dl>${clause(row)}</dl>${exchangeHtml(proof, row.at)}${evidence && html`<p class="quiet">Exchanges in report.json: ${evidence}</p>`}`,
  );
}

/** What the document leaves open; all is folded but what the head of the page tells. */
function gapList(gaps: readonly GapResult[]): SafeHtml {
  const answered = gaps.filter(({ observed }) => observed !== null);
  const unseen = gaps.filter(({ observed }) => observed === null);
  const answers = tableHtml({
    title: 'Answers',
    head: ['Question', 'This target', 'Profile', 'How it was seen'],
    rows: answered.map(({ id, question, observed, pinned, detail, verdict }) => [
      `${question} (${id})`,
      observed ?? '',
      verdict === 'drifted' ? { wrong: `${pinned ?? ''}: drifted` } : (pinned ?? ''),
      detail,
    ]),
  });
  return html`<p class="quiet">The document does not say; any answer conforms. One that the profile pins is a promise of this target, and fails when it changes.</p>
${folded(html`${answered.length} questions answered`, answers)}
${folded(html`${unseen.length} not seen`, html`<ul>${unseen.map(({ id, question, detail }) => html`<li>${question} <code>${id}</code> <span class="quiet">${detail}</span></li>`)}</ul>`)}`;
}
