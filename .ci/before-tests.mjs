/**
 * What tests read in dist/ is put there before the first one: `npx tap FILE` works in a clone that was never built. What
 * is younger than every source is left alone.
 */
import { execSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const SOURCES = ['checks', 'reports', 'scenarios', 'spec'];
const BUNDLES = ['scenarios/k6/script.js', 'reports/html/d3.js', 'reports/html/page/page.client.js'];

const changed = (/** @type {string} */ path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
const sources = SOURCES.flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
);
const youngest = Math.max(...['package.json', 'package-lock.json', ...sources].map(changed));
if (BUNDLES.some((bundle) => changed(join('dist', bundle)) <= youngest))
  execSync('npm run --silent bundles', { stdio: ['ignore', 'ignore', 'inherit'] });
