import { html, type SafeHtml } from '@remix-run/html-template';
import { duration } from '../facts.ts';
import { count } from '../outcome.ts';
import { shownLine } from '../visible-text.ts';
import type { KeySeries, RateWindow } from './rate-series.ts';

const MOST_WINDOWS_LISTED = 60;

/** The name under which a key's requests are shown. */
export function keyName(key: string | null): string {
  return key === null ? 'no valid key' : shownLine(key, 40);
}

/** Requests without a valid key are answered, with 401; nothing admits them. */
export function answeredWord({ key }: KeySeries): string {
  return key === null ? 'answered' : 'admitted';
}

/** More admitted than X-RateLimit-Limit allows; requests without a valid key are refused by 401, not by it. */
export function isOver({ key }: KeySeries, { limit, admitted }: RateWindow): boolean {
  return key !== null && limit !== undefined && admitted > limit;
}

/** Windows that admitted too many, in words: their labels in the plot are left out where it is narrow. */
export function overText(series: KeySeries): string | undefined {
  const [worst, ...others] = series.windows
    .filter((window) => isOver(series, window))
    .sort((a, b) => b.admitted - a.admitted);
  if (worst === undefined) return undefined;
  const more = others.length === 0 ? '' : `, and too many in ${count(others.length, 'other')}`;
  return `${worst.admitted.toLocaleString('en')} of ${worst.limit?.toLocaleString('en')} admitted in one window${more}`;
}

/** The same as a table, for whoever wants the numbers. */
export function windowTable(all: readonly KeySeries[]): SafeHtml | string {
  const rows = all.flatMap((series) => series.windows.map((window) => ({ series, window })));
  if (rows.length === 0) return '';
  const shown = rows.slice(0, MOST_WINDOWS_LISTED);
  return html`
<details class="numbers"><summary>The windows in numbers (${rows.length})</summary>
<div class="scroll" tabindex="0" role="group" aria-label="The windows in numbers"><table>
  <thead><tr><th scope="col">Key</th><th scope="col">First request</th><th scope="col">Reset</th><th scope="col">Limit</th><th scope="col">Admitted</th><th scope="col">Refused</th><th scope="col">Least Remaining</th></tr></thead>
  <tbody>${shown.map(
    ({ series, window }) => html`<tr>
    <th scope="row">${keyName(series.key)}</th><td>${duration(window.from)}</td><td>${duration(window.reset)}</td><td>${window.limit?.toLocaleString('en') ?? ''}</td>
    <td${html.raw`${isOver(series, window) ? ' class="over"' : ''}`}>${window.admitted.toLocaleString('en')}</td><td>${window.refused.toLocaleString('en')}</td><td>${window.remainingLeast?.toLocaleString('en') ?? ''}</td></tr>`,
  )}</tbody>
</table></div>
${rows.length > shown.length ? html`<p class="quiet">and ${rows.length - shown.length} more in report.json</p>` : ''}
</details>`;
}
