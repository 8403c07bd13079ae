import { html, type SafeHtml } from '@remix-run/html-template';
import type { Exchange } from '../../checks/wire/exchange.ts';
import type { Report, RequirementResult } from '../report.ts';
import { kindCounts, ROW_KINDS, rowKind } from '../row-kinds.ts';
import { bySection } from '../sections.ts';
import { clip, shownLine, visibleLines } from '../visible-text.ts';
import { comparison, marksOf } from './differences.ts';
import { exchangeHtml, MOST_EVIDENCE, type PlacedExchanges } from './exchanges.ts';
import { shown } from './visible-html.ts';

/** What the list needs in addition to its rows. */
export interface RequirementListContext {
  readonly exchanges: ReadonlyMap<string, Exchange>;
  readonly placed: PlacedExchanges;
  /** Where the page shows the rate limits of each key, by its name. */
  readonly panels: ReadonlyMap<string | null, string>;
  /** Earlier runs, the oldest first. */
  readonly history: readonly Report[];
}

/** How many bytes the proofs may have that are shown a second time, with the marks of another failure. */
const PROOF_BUDGET = 150_000;

/** How many characters the texts of all failures may have: a page must be enough for a server that breaks everything. */
const TEXT_BUDGET = 40_000;

/** The room for each failure's texts, and for proofs, which decreases as they are shown. */
interface Room {
  readonly text: number;
  left: number;
}

/** Every requirement, folded by section of the document. What is broken is open, with its proof. */
export function requirementList(
  rows: readonly RequirementResult[],
  context: RequirementListContext,
): SafeHtml {
  const failures = rows.filter(({ verdict }) => verdict === 'fail').length;
  const room = {
    text: Math.min(1_000, Math.max(300, Math.floor(TEXT_BUDGET / Math.max(1, failures)))),
    left: PROOF_BUDGET,
  };
  return html`${bySection(rows).map(({ section, name, rows: group }) => {
    const open = html.raw`${group.some(({ verdict }) => verdict === 'fail') ? ' open' : ''}`;
    return html`
<details class="group" data-group id="s-${section}"${open}>
  <summary><h3>${name}</h3> ${countsOf(group)}</summary>
  ${group.map((row) => requirement(row, context, room))}
</details>`;
  })}`;
}

const countsOf = (rows: readonly RequirementResult[]): SafeHtml[] =>
  kindCounts(rows).map(
    ({ kind, words, number }) => html`<span class="k-${kind}">${number} ${words.toLowerCase()}</span> `,
  );

function requirement(row: RequirementResult, context: RequirementListContext, room: Room): SafeHtml {
  const kind = rowKind(row);
  const open = html.raw`${kind === 'fail' ? ' open' : ''}`;
  return html`
<details class="req k-${kind}" id="r-${row.id}" data-kind="${kind}"${open}>
  <summary><span class="chip">${ROW_KINDS[kind].words}</span> <span class="title">${shownLine(row.title, 200)}</span> <code>${row.id}</code>${row.level === 'MAY' ? html` <span class="level">MAY</span>` : ''}</summary>
  <div class="body">${body(row, context, room)}${evidence(row, context)}${history(row.id, context.history)}</div>
</details>`;
}

/** What the document says; then what a failure asked for and got, or the reason for another verdict. */
function body(row: RequirementResult, context: RequirementListContext, room: Room): SafeHtml {
  const says = html`<dt>The document says</dt><dd>${shown(row.statement, 600)} <span class="quiet">section ${row.section}</span></dd>`;
  if (row.verdict !== 'fail')
    return html`
<dl class="facts">${says}<dt>${row.verdict === 'pass' ? 'Verdict' : 'Why'}</dt><dd>${shown(row.reason, 600)}${causeLink(row)}</dd></dl>`;
  const { expected, actual } = comparison(
    clip(row.expected ?? row.statement, room.text),
    clip(row.actual ?? row.reason, room.text),
  );
  return html`
<p class="reason">${shown(row.reason, 300)}${causeLink(row)}</p>
<dl class="facts">${says}
  ${row.expected === undefined ? '' : html`<dt>It asks here</dt><dd class="expected">${expected}</dd>`}
  ${row.actual === undefined ? '' : html`<dt>What came back</dt><dd class="actual">${actual}</dd>`}
</dl>
${row.curl === undefined ? '' : curlBlock(row.curl, row.id, room.text)}
${sharedProof(row, context, room)}${ratePictureLink(row, context)}`;
}

function causeLink({ consequenceOf }: RequirementResult): SafeHtml | string {
  if (consequenceOf === undefined) return '';
  return html` <span class="quiet">It follows from <a href="#r-${consequenceOf}">${consequenceOf}</a>.</span>`;
}

/** A link to the picture of the whole window, since one exchange proves little about a limit. */
function ratePictureLink(row: RequirementResult, { exchanges, panels }: RequirementListContext) {
  const key = exchanges.get(row.evidence[0] ?? '')?.key;
  const anchor = key === undefined || key === null ? undefined : panels.get(key);
  if (row.section !== '8' || anchor === undefined) return '';
  return html`<p class="evidence">Over time: <a href="#${anchor}">rate limits of ${shownLine(key ?? '', 40)}</a></p>`;
}

/** Repeats a proof that is shown beneath another failure, with the marks of this one. */
function sharedProof(
  row: RequirementResult,
  { exchanges, placed }: RequirementListContext,
  room: Room,
): SafeHtml | string {
  const decisive = exchanges.get(row.evidence[0] ?? '');
  if (decisive === undefined || placed.beneath.get(row.id)?.some(({ id }) => id === decisive.id)) return '';
  const proof = exchangeHtml(decisive, marksOf(row, decisive));
  room.left -= Buffer.byteLength(String(proof));
  return room.left >= 0 ? proof : '';
}

function curlBlock(curl: string, id: string, most: number): SafeHtml {
  // Half a command would be worse than none.
  if (curl.length > most)
    return html`<p class="quiet">The command that repeats it is too long for this page; report.json has it.</p>`;
  return html`<div class="curl"><pre tabindex="0" id="c-${id}">${visibleLines(curl)}</pre><button type="button" class="js copy" data-copy="c-${id}">Copy<span class="sr"> the command that repeats ${id}</span></button></div>`;
}

/** The exchanges that are shown here, and links to those that are shown beneath another requirement. */
function evidence(
  { id: row, evidence: ids }: RequirementResult,
  { placed }: RequirementListContext,
): SafeHtml {
  const own = placed.beneath.get(row) ?? [];
  const elsewhere = ids.slice(0, MOST_EVIDENCE).flatMap((id) => {
    const anchor = placed.anchors.get(id);
    return anchor === undefined || own.some((one) => one.id === id) ? [] : [{ id, anchor }];
  });
  const links = elsewhere.map(
    ({ id, anchor }, index) => html`${index > 0 ? ', ' : ''}<a href="#${anchor}">${shownLine(id, 80)}</a>`,
  );
  return html`${own.map(({ entry }) => entry)}${links.length === 0 ? '' : html`<p class="evidence">Shown elsewhere: ${links}</p>`}`;
}

function history(id: string, reports: readonly Report[]): SafeHtml | string {
  const seen = reports.slice(-20).flatMap((report) => {
    const row = report.requirements.find((candidate) => candidate.id === id);
    return row === undefined ? [] : [{ run: report.run, kind: rowKind(row) }];
  });
  if (seen.length === 0) return '';
  return html`<p class="history">Earlier runs: ${seen.map(
    ({ run, kind }) =>
      html`<span class="k-${kind}" title="${shownLine(run.startedAt, 40)}"><span class="chip">${ROW_KINDS[kind].words}</span> <span class="quiet">${shownLine(run.startedAt.slice(0, 10), 10)}</span></span> `,
  )}</p>`;
}
