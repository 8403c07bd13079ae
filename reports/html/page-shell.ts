import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { html, type SafeHtml } from '@remix-run/html-template';
import { HARNESS_VERSION } from '../../spec/harness-version.ts';
import { packageRoot } from '../../spec/package-root.ts';
import { type Table, tableHtml } from './table.ts';

/** A minified part of the pages, as `npm run build` leaves it. */
const built = (name: string) =>
  readFileSync(new URL(`dist/reports/html/page/${name}`, packageRoot), 'utf8').trim();

const hash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** A page with its style and, if it needs one, its script inside. Its policy allows nothing else. */
export function pageShell(title: string, body: SafeHtml, withScript: boolean): string {
  const [style, script] = [built('page.css'), built('page.client.js')];
  const policy = `default-src 'none'; style-src ${hash(style)}; script-src ${hash(script)}; base-uri 'none'; form-action 'none'`;
  return String(html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="petstore-harness ${HARNESS_VERSION}">
<title>${title}</title>
<style>${html.raw`${style}`}</style>
</head>
<body>
${body}
${withScript ? html`<script>${html.raw`${script}`}</script>` : ''}
</body>
</html>
`);
}

/** A page of tables alone, without script. Those without a row stay out. */
export function tablesPage(headline: string, about: string, tables: readonly Table[]): string {
  const sections = tables
    .filter(({ rows }) => rows.length > 0)
    .map((table) => html`<h2>${table.title}</h2>${tableHtml(table)}`);
  const body = html`<header><h1>${headline}</h1><p class="quiet">${about}</p></header><main>${sections}</main>`;
  return pageShell(headline, body, false);
}
