import { html, type SafeHtml } from '@remix-run/html-template';
import { shownLines } from '../visible-text.ts';

/** Text for the page: clipped, with invisible characters written out and highlighted. */
export function shown(text: string, most = 2_000): SafeHtml {
  return markUnseen(shownLines(text, most));
}

/** Highlights the names of invisible characters. */
export function markUnseen(visible: string): SafeHtml {
  const parts = visible.split(/(⟨U\+[0-9A-F]{4,6}⟩)/);
  return html`${parts.map((part, index) => (index % 2 === 1 ? html`<i class="u">${part}</i>` : part))}`;
}
