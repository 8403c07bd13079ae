import { html, type SafeHtml } from '@remix-run/html-template';
import type { Exchange } from '../../checks/wire/exchange.ts';
import type { Report, RequirementResult } from '../report.ts';
import { ROW_KINDS, rowKind } from '../row-kinds.ts';
import { bySection } from '../sections.ts';
import { clip, shownLine, visibleLines } from '../visible-text.ts';
import { comparison, marksOf } from './differences.ts';
import { exchangeHtml } from './exchange-viewer.ts';
import { shown } from './visible-html.ts';

/** What the list needs beside the report. */
export interface RequirementListContext {
  readonly exchanges: ReadonlyMap<string, Exchange>;
  /** The page's own ids of exchanges that it shows. */
  readonly anchors: ReadonlyMap<string, string>;
  /** Where the page shows a key's rate limits, by the key's name. */
  readonly panels: ReadonlyMap<string | null, string>;
  /** Earlier runs, the oldest first. */
  readonly history: readonly Report[];
}

/** Characters of each body of a proof that stands open in the list. */
const MOST_OF_BODY = 3_000;

/** Bytes of all proofs that stand open in the list; the rest are a copy of the list of exchanges, made when opened. */
const PROOF_BUDGET = 250_000;

/** Characters of the texts of all failures together, so that a server that breaks everything still fits a page. */
const TEXT_BUDGET = 40_000;

/** How much room a failure's texts and proof have; `left` falls as proofs are shown. */
interface Room {
  readonly text: number;
  left: number;
}

/** Every requirement, by section of the document; what is broken stands open with its proof. */
export function requirementList(
  rows: readonly RequirementResult[],
  context: RequirementListContext,
): SafeHtml {
  const failures = rows.filter(({ verdict }) => verdict === 'fail').length;
  const room = {
    text: Math.min(1_000, Math.max(300, Math.floor(TEXT_BUDGET / Math.max(1, failures)))),
    left: PROOF_BUDGET,
  };
  return html`${bySection(rows).map(
    ({ section, name, rows: group }) => html`
<section class="group" data-group aria-labelledby="s-${section}">
  <h3 id="s-${section}">${name} <span class="quiet">${group.length}</span></h3>
  ${group.map((row) => requirement(row, context, room))}
</section>`,
  )}`;
}

function requirement(row: RequirementResult, context: RequirementListContext, room: Room): SafeHtml {
  const kind = rowKind(row);
  const open = html.raw`${kind === 'fail' ? ' open' : ''}`;
  return html`
<details class="req k-${kind}" id="r-${row.id}" data-kind="${kind}"${open}>
  <summary><span class="chip">${ROW_KINDS[kind].words}</span> <span class="title">${shownLine(row.title, 200)}</span> <code>${row.id}</code>${row.level === 'MAY' ? html` <span class="level">MAY</span>` : ''}</summary>
  <div class="body">${kind === 'fail' || kind === 'known' ? failure(row, context, room) : other(row, context)}${history(row.id, context.history)}</div>
</details>`;
}

function failure(row: RequirementResult, context: RequirementListContext, room: Room): SafeHtml {
  const compared = comparison(
    clip(row.expected ?? row.statement, room.text),
    clip(row.actual ?? row.reason, room.text),
  );
  const proof = inlineProof(row, context, room);
  return html`
<p class="reason">${shown(row.reason, 300)}</p>
<dl class="facts">
  <dt>The document says</dt><dd>${shown(row.statement, 600)} <span class="quiet">section ${row.section}</span></dd>
  ${row.expected === undefined ? '' : html`<dt>It asks here</dt><dd class="expected">${compared.expected}</dd>`}
  ${row.actual === undefined ? '' : html`<dt>What came back</dt><dd class="actual">${compared.actual}</dd>`}
</dl>
${row.curl === undefined ? '' : curlBlock(row.curl, row.id, room.text)}
${proof ?? ''}
${evidence(row.evidence, context, proof === undefined)}${ratePictureLink(row, context)}`;
}

/** One exchange proves little of a limit: the picture shows the whole window. */
function ratePictureLink(row: RequirementResult, { exchanges, panels }: RequirementListContext) {
  const key = exchanges.get(row.evidence[0] ?? '')?.key;
  const anchor = key === undefined || key === null ? undefined : panels.get(key);
  if (row.section !== '8' || anchor === undefined) return '';
  return html`<p class="evidence">Over time: <a href="#${anchor}">rate limits of ${shownLine(key ?? '', 40)}</a></p>`;
}

function inlineProof(
  row: RequirementResult,
  context: RequirementListContext,
  room: Room,
): SafeHtml | undefined {
  const decisive = context.exchanges.get(row.evidence[0] ?? '');
  if (decisive === undefined) return undefined;
  const proof = exchangeHtml(decisive, marksOf(row, decisive), MOST_OF_BODY);
  room.left -= Buffer.byteLength(String(proof));
  return room.left >= 0 ? proof : undefined;
}

function other(row: RequirementResult, context: RequirementListContext): SafeHtml {
  return html`
<dl class="facts">
  <dt>The document says</dt><dd>${shown(row.statement, 600)} <span class="quiet">section ${row.section}</span></dd>
  <dt>${row.verdict === 'pass' ? 'Verdict' : 'Why'}</dt><dd>${shown(row.reason, 600)}</dd>
</dl>
${evidence(row.evidence, context, true)}`;
}

function curlBlock(curl: string, id: string, most: number): SafeHtml {
  // Half a command would be worse than none.
  if (curl.length > most)
    return html`<p class="quiet">The command that repeats it is too long for this page; report.json has it.</p>`;
  return html`<div class="curl"><pre tabindex="0" id="c-${id}">${visibleLines(curl)}</pre><button type="button" class="js copy" data-copy="c-${id}">Copy<span class="sr"> the command that repeats ${id}</span></button></div>`;
}

/** Links to the exchanges; where nothing is shown inline the script puts a copy of the first beneath. */
function evidence(
  ids: readonly string[],
  context: RequirementListContext,
  inline = false,
): SafeHtml | string {
  const known = ids.filter((id) => context.anchors.has(id));
  if (known.length === 0) return '';
  const links = known
    .slice(0, 12)
    .map(
      (id, index) =>
        html`${index > 0 ? ', ' : ''}<a href="#${context.anchors.get(id) ?? ''}">${shownLine(id, 80)}</a>`,
    );
  const more = known.length > 12 ? ` and ${known.length - 12} more` : '';
  const slot = inline ? html`<div data-exchange="${context.anchors.get(known[0] ?? '') ?? ''}"></div>` : '';
  return html`<p class="evidence">${known.length === 1 ? 'Exchange' : 'Exchanges'}: ${links}${more}</p>${slot}`;
}

/** The same requirement in earlier runs, the latest last. */
function history(id: string, reports: readonly Report[]): SafeHtml | string {
  const seen = reports.slice(-20).flatMap((report) => {
    const row = report.requirements.find((candidate) => candidate.id === id);
    return row === undefined ? [] : [{ run: report.run, kind: rowKind(row) }];
  });
  if (seen.length === 0) return '';
  return html`<p class="history">Earlier runs: ${seen.map(
    ({ run, kind }) =>
      html`<span class="dot k-${kind}" title="${shownLine(run.startedAt, 40)}"><span class="chip">${ROW_KINDS[kind].words}</span> <span class="quiet">${shownLine(run.startedAt.slice(0, 10), 10)}</span></span> `,
  )}</p>`;
}
