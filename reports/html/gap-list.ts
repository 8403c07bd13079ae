import { html, type SafeHtml } from '@remix-run/html-template';
import type { GapResult } from '../report.ts';
import { shownLine } from '../visible-text.ts';
import { shown } from './visible-html.ts';

const WORDS = {
  drifted: 'Drifted',
  kept: 'Pinned, kept',
  observed: 'Observed',
  'not-observed': 'Not seen',
  unobservable: 'Cannot be seen',
} as const satisfies Record<GapResult['verdict'], string>;

const ORDER = Object.keys(WORDS);

/** What the document leaves open and how this target answers, drift first. */
export function gapList(gaps: readonly GapResult[], anchors: ReadonlyMap<string, string>): SafeHtml {
  const sorted = [...gaps].sort((a, b) => ORDER.indexOf(a.verdict) - ORDER.indexOf(b.verdict));
  const seen = sorted.filter(({ verdict }) => verdict !== 'unobservable');
  const unseen = sorted.filter(({ verdict }) => verdict === 'unobservable');
  return html`
<div class="scroll" tabindex="0" role="group" aria-label="Answers to what the document leaves open"><table class="gaps">
<thead><tr><th scope="col">Question</th><th scope="col">This target</th><th scope="col">Profile</th><th scope="col">How it was seen</th></tr></thead>
<tbody>${seen.map((gap) => gapRow(gap, anchors))}</tbody></table></div>
${
  unseen.length === 0
    ? ''
    : html`<details class="numbers"><summary>${unseen.length} that no run can see</summary><ul>${unseen.map(
        (gap) =>
          html`<li id="g-${gap.id}"><b>${shownLine(gap.question, 200)}</b> <span class="quiet">section ${gap.section}</span><br />${shown(gap.detail, 300)}</li>`,
      )}</ul></details>`
}`;
}

function gapRow(gap: GapResult, anchors: ReadonlyMap<string, string>): SafeHtml {
  const anchor = anchors.get(gap.evidence[0] ?? '');
  const link =
    anchor === undefined
      ? ''
      : html` <a href="#${anchor}">exchange<span class="sr"> for ${gap.id}</span></a>`;
  const chip = html`<span class="chip g-${gap.verdict}">${WORDS[gap.verdict]}</span>`;
  const pinned =
    gap.pinned === null
      ? html`<span class="quiet">${gap.verdict === 'observed' ? 'not pinned' : WORDS[gap.verdict]}</span>`
      : html`<code>${shownLine(gap.pinned, 120)}</code> ${chip}`;
  return html`<tr id="g-${gap.id}" class="gap-${gap.verdict}">
<th scope="row">${shownLine(gap.question, 200)}<br /><code class="quiet">${gap.id}</code> <span class="quiet nowrap">section ${gap.section}</span></th>
<td data-label="This target">${gap.observed === null ? html`<span class="quiet">no answer seen</span>` : html`<code>${shown(gap.observed, 160)}</code>`}</td>
<td data-label="Profile">${pinned}</td>
<td data-label="How it was seen">${shown(gap.detail, 300)}${link}</td></tr>`;
}
