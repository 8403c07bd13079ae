import { html, type SafeHtml } from '@remix-run/html-template';
import { shownLines } from '../visible-text.ts';

/** Text as it may stand in the page: clipped, with what cannot be seen written out and set apart. */
export function shown(text: string, most = 2_000): SafeHtml {
  return markUnseen(shownLines(text, most));
}

/** Sets the names of unseen characters apart from text that merely looks like one. */
export function markUnseen(visible: string): SafeHtml {
  const parts = visible.split(/(⟨U\+[0-9A-F]{4,6}⟩)/);
  return html`${parts.map((part, index) => (index % 2 === 1 ? html`<i class="u">${part}</i>` : part))}`;
}
