import { html, type SafeHtml } from '@remix-run/html-template';
import { HARNESS_VERSION } from '../../checks/run/harness-version.ts';
import { pageAssets } from './page-assets.ts';

/** A page of its own: style, policy and, where it needs one, the script inside. */
export function pageShell(title: string, body: SafeHtml, withScript: boolean): string {
  const { style, script, policy } = pageAssets();
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
