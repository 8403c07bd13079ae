import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { html, type SafeHtml } from '@remix-run/html-template';
import { HARNESS_VERSION } from '../../spec/harness-version.ts';
import { packageRoot } from '../../spec/package-root.ts';

let assets: Readonly<Record<'style' | 'script', string>> | undefined;

/** Style and script of the pages, read on first use from where `npm run build` leaves them, stripped and shrunk. */
export function pageAssets(): Readonly<Record<'style' | 'script', string>> {
  const built = (name: string) =>
    readFileSync(new URL(`dist/reports/html/page/${name}`, packageRoot), 'utf8').trim();
  assets ??= { style: built('page.css'), script: built('page.client.js') };
  return assets;
}

const hash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** A page of its own, with style and, where it needs one, the script inside; its policy lets in nothing else. */
export function pageShell(title: string, body: SafeHtml, withScript: boolean): string {
  const { style, script } = pageAssets();
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
