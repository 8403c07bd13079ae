import { html, type SafeHtml } from '@remix-run/html-template';
import { driftedParts } from '../outcome.ts';
import type { GapResult } from '../report.ts';
import type { RowKind } from '../row-kinds.ts';
import { shownLine } from '../visible-text.ts';
import { shown } from './visible-html.ts';

/** The words for an answer, and the kind of row whose colour it has; in the order of the page. */
const VERDICTS = {
  drifted: ['Drifted', 'fail'],
  kept: ['Pinned, kept', 'pass'],
  observed: ['Observed', 'skipped'],
  'not-observed': ['Not seen', 'skipped'],
  unobservable: ['Cannot be seen', 'skipped'],
} as const satisfies Record<GapResult['verdict'], readonly [words: string, kind: RowKind]>;

const ORDER = Object.keys(VERDICTS);

/** What the document leaves open, and this target's answers. All but those that drifted are folded. */
export function gapList(gaps: readonly GapResult[], anchors: ReadonlyMap<string, string>): SafeHtml {
  const sorted = [...gaps].sort((a, b) => ORDER.indexOf(a.verdict) - ORDER.indexOf(b.verdict));
  const drifted = sorted.filter(({ verdict }) => verdict === 'drifted');
  const unseen = sorted.filter(({ verdict }) => verdict === 'unobservable');
  const others = sorted.slice(drifted.length, sorted.length - unseen.length);
  const answered = others.filter(({ observed }) => observed !== null).length;
  const fold = (rows: readonly GapResult[], summary: string, content: SafeHtml) =>
    rows.length === 0 ? '' : html`<details class="fold"><summary>${summary}</summary>${content}</details>`;
  const reasons = unseen.map(
    (gap) =>
      html`<li id="g-${gap.id}"><b>${shownLine(gap.question, 200)}</b> <span class="quiet">section ${gap.section}</span><br />${shown(gap.detail, 300)}</li>`,
  );
  return html`${drifted.length === 0 ? '' : table('Answers that drifted', drifted, anchors)}
${fold(others, `${answered} of ${others.length} questions answered`, table('Answers', others, anchors))}
${fold(unseen, `${unseen.length} that no run can see`, html`<ul>${reasons}</ul>`)}`;
}

function table(label: string, rows: readonly GapResult[], anchors: ReadonlyMap<string, string>): SafeHtml {
  return html`<div class="scroll" tabindex="0" role="group" aria-label="${label}"><table class="gaps">
<thead><tr><th scope="col">Question</th><th scope="col">This target</th><th scope="col">Profile</th><th scope="col">How it was seen</th></tr></thead>
<tbody>${rows.map((gap) => gapRow(gap, anchors))}</tbody></table></div>`;
}

/** An answer that drifted: what was added to a list and removed from it, else both answers. */
export function driftHtml(gap: GapResult): SafeHtml {
  const { added, removed } = driftedParts(gap);
  return html`${removed.map((part) => html`<del>− ${shown(part, 80)}</del> `)}${added.map((part) => html`<ins>+ ${shown(part, 80)}</ins> `)}`;
}

function gapRow(gap: GapResult, anchors: ReadonlyMap<string, string>): SafeHtml {
  const anchor = anchors.get(gap.evidence[0] ?? '');
  const link =
    anchor === undefined
      ? ''
      : html` <a href="#${anchor}">exchange<span class="sr"> for ${gap.id}</span></a>`;
  const [words, kind] = VERDICTS[gap.verdict];
  const pinned =
    gap.pinned === null
      ? html`<span class="quiet">${gap.verdict === 'observed' ? 'not pinned' : words}</span>`
      : html`<code>${shownLine(gap.pinned, 120)}</code> <span class="chip k-${kind}">${words}</span>`;
  const answer =
    gap.verdict === 'drifted'
      ? driftHtml(gap)
      : gap.observed === null
        ? html`<span class="quiet">no answer seen</span>`
        : html`<code>${shown(gap.observed, 160)}</code>`;
  return html`<tr id="g-${gap.id}" class="k-${kind}">
<th scope="row">${shownLine(gap.question, 200)}<br /><code class="quiet">${gap.id}</code> <span class="quiet nowrap">section ${gap.section}</span></th>
<td data-label="This target">${answer}</td>
<td data-label="Profile">${pinned}</td>
<td data-label="How it was seen">${shown(gap.detail, 300)}${link}</td></tr>`;
}
