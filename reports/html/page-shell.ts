/** What pages are made of, and the same in Markdown. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { html, type SafeHtml } from '@remix-run/html-template';
import { HARNESS_VERSION } from '../../spec/harness-version.ts';
import { packageRoot } from '../../spec/package-root.ts';
import { type Facts, toldFacts } from '../facts.ts';
import type { TestRun } from '../test-run.ts';
import { besideUnits } from './table.ts';

/** What a reader of Markdown sees of a verdict first. */
const SIGNS = { pass: '✅', fail: '❌', inconclusive: '⚠️' } as const;

/** A page with its style inside. Its policy allows nothing else. */
export function pageShell(title: string, body: SafeHtml): string {
  // Minified, as `npm run build` leaves it.
  const style = readFileSync(new URL('dist/reports/html/page.css', packageRoot), 'utf8').trim();
  const hash = createHash('sha256').update(style).digest('base64');
  const policy = `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`;
  return String(html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="petstore-harness ${HARNESS_VERSION}">
<title>${title}</title>
<style>${html.raw`${style}`}</style>
</head>
<body>
${body}
</body>
</html>
`);
}

/** GitHub refuses a comment of more than 65,536 characters. */
const COMMENT_LIMIT = 60_000;

/**
 * Parts of a page as Markdown, which takes HTML as it stands up to a blank line. A part that does not fit is left out.
 * What a target chose is in `<code>` or `<pre>`: there GitHub finds no mention and no issue number.
 */
export function markdownPage(
  verdict: TestRun['verdict'] | undefined,
  heading: string,
  parts: readonly (SafeHtml | '')[],
): string {
  const blocks = parts.map(inMarkdown).filter((block) => block !== '');
  let text = `## ${verdict === undefined ? '' : `${SIGNS[verdict]} `}${prose(heading)}\n\n`;
  const fitting = blocks.filter((block) => {
    const fits = text.length + block.length <= COMMENT_LIMIT;
    if (fits) text += `${block}\n\n`;
    return fits;
  });
  return fitting.length === blocks.length ? text : `${text}_The rest does not fit here; see report.html._\n`;
}

/** Text without any markup or link. */
const prose = (text: string): string =>
  text
    .replace(/[&<>"'`*_~[\]|\\@#$]/g, (character) => `&#${character.charCodeAt(0)};`)
    .replaceAll('://', '&#58;//')
    .replaceAll('www.', 'www&#46;');

/** Without blank lines, and without links into the page. */
const inMarkdown = (part: SafeHtml | ''): string =>
  String(part)
    .replace(/<pre.*?<\/pre>/gs, (pre) => pre.replaceAll('\n', '&#10;'))
    .replace(/<a href="#[^"]*">(.*?)<\/a>/g, '<code>$1</code>')
    .replace(/\n+/g, '\n')
    .trim();

/** A part that is folded at first. */
export const folded = (summary: SafeHtml, body: SafeHtml, isOpen = false): SafeHtml =>
  html`<details${isOpen ? html.raw` open` : ''}><summary>${summary}</summary>${body}</details>`;

/** The facts of a run as a list. */
export const factList = (facts: Facts): SafeHtml =>
  html`<dl>${toldFacts(facts).map(([label, text]) => html`<dt>${label}</dt><dd>${besideUnits(text)}</dd>`)}</dl>`;
