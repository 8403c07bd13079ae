import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { transformSync } from 'esbuild';
import { packageRoot } from '../../spec/package-root.ts';

/** Style and script of the page, and the policy that lets these two run and nothing else. */
export interface PageAssets {
  readonly style: string;
  readonly script: string;
  /** Value of Content-Security-Policy: nothing is fetched, no inline script or style but these, by hash. */
  readonly policy: string;
}

let cached: PageAssets | undefined;

/**
 * Reads reports/html/page/ on first use. The script is TypeScript for a browser; esbuild, which the load scenarios
 * need anyway, strips and shrinks it here, so that the page looks the same from source and from dist/.
 */
export function pageAssets(): PageAssets {
  cached ??= load();
  return cached;
}

function load(): PageAssets {
  const source = (name: string) => readFileSync(new URL(`reports/html/page/${name}`, packageRoot), 'utf8');
  const style = transformSync(source('page.css'), {
    loader: 'css',
    minify: true,
    target: 'es2022',
  }).code.trim();
  const script = transformSync(source('page.client.ts'), {
    loader: 'ts',
    minify: true,
    format: 'iife',
    target: 'es2022',
  }).code.trim();
  const hash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  const policy = [
    "default-src 'none'",
    `style-src ${hash(style)}`,
    `script-src ${hash(script)}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  return { style, script, policy };
}
