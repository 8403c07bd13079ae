import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import { parseProfile } from '../../checks/profile/parse-profile.ts';
import { longestRun } from '../../checks/run/run-budget.ts';
import { planCheck } from '../check/check-plan.ts';
import { EXIT } from './exit-codes.ts';

const README = readFileSync(join(import.meta.dirname, '..', '..', 'README.md'), 'utf8');

t.test('the full profile in the README is one, and has every field', (t) => {
  const [, text = ''] = /```yaml\n(target:[\s\S]*?)```/.exec(README) ?? [];
  const read = parseProfile(text, 'README.md');
  const written: unknown = parse(text);
  t.same(Object.keys(Object(written)).sort(), Object.keys(read).sort());
  t.ok(read.keys.some(({ unusedToday }) => unusedToday));
  t.end();
});

t.test('it names every exit code', (t) => {
  for (const code of [...Object.values(EXIT), 99]) t.match(README, `**${code}**`);
  t.end();
});

t.test('whatever it names in a code span or a link as a file is there', (t) => {
  const links = [...README.matchAll(/\]\(((?!https?:)[^)#]+)/g)].map(([, path = '']) => path);
  t.ok(links.length >= 3);
  for (const path of links) t.doesNotThrow(() => isThere(path), path);
  t.end();
});

function isThere(path: string): void {
  try {
    readFileSync(join(import.meta.dirname, '..', '..', path));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EISDIR')) throw error;
  }
}

t.test('the pipelines read the profile and the keys that its init names', (t) => {
  const [, line = '', written = ''] =
    /\$ npx (petstore-harness init .*\\\n.*)\nwritten: (\S+)/.exec(README) ?? [];
  const variables = [...line.matchAll(/\w=(\w+)/g)].map(([, name]) => name);
  t.equal(variables.length, 3);
  for (const file of ['github-actions.yml', 'gitlab-ci.yml']) {
    const pipeline = readFileSync(join(import.meta.dirname, '..', '..', 'examples', 'ci', file), 'utf8');
    t.match(pipeline, `check --profile ${written} `);
    for (const [name] of pipeline.matchAll(/PETSTORE_\w+_KEY/g)) t.ok(variables.includes(name), name);
  }
  t.end();
});

t.test('the time limits of the examples are longer than the command’s own', async (t) => {
  const [, text = ''] = /```yaml\n(target:[\s\S]*?)```/.exec(README) ?? [];
  const profile = parseProfile(text, 'README.md');
  const { target = '', permit: permissions } = profile;
  const { bill } = await planCheck({ profile: { ...profile, target }, permissions });
  const longest = longestRun(bill, 1) / 60_000;
  t.ok(longest > 20, `${longest} minutes`);
  for (const file of ['library/tap.mjs', 'library/vitest.mjs', 'ci/github-actions.yml', 'ci/gitlab-ci.yml']) {
    const example = readFileSync(join(import.meta.dirname, '..', '..', 'examples', file), 'utf8');
    const minutes = /(?<=timeout(?:-minutes)?: )\d+|\d+(?= \* 60_000)/.exec(example)?.[0];
    t.ok(Number(minutes) > longest, `${file}: ${minutes}`);
  }
});
