/**
 * What `npm run mutate` judges checks/sections/ by: the checks of some files, and of those that use them, find every
 * fault of their requirements, and raise no alarm on a conforming server. In simulated time; no part of `npm test`,
 * which has `npm run accuracy` beside it. The files come in CHECKS_OF, with commas.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import t from 'tap';
import { FAULTS } from '../../reference-server/faults/index.ts';
import { VARIANTS } from '../../reference-server/variants/index.ts';
import type { AccuracyCase } from './case.ts';
import { matrixOf } from './matrix.ts';
import { simulateCase } from './simulated-case.ts';

const SECTIONS = new URL('../sections/', import.meta.url);
/** They name all checks, and say nothing of their own. */
const LISTS_OF_CHECKS = ['all-checks', 'lanes'];
/** A Business key's day is 100,000 requests; the days of other plans are judged by the same code. */
const TOO_LONG = 'rate-day-business';

const imports = new Map(
  readdirSync(SECTIONS)
    .filter((file) => /^[\w-]+\.[jt]s$/.test(file))
    .map((file) => {
      const source = readFileSync(new URL(file, SECTIONS), 'utf8');
      return [
        file,
        [...source.matchAll(/from ['"]\.\/([\w-]+)\.[jt]s['"]/g)].map(([, name]) => name),
      ] as const;
    }),
);

const nameOf = (file: string) => basename(file).replace(/\.[jt]s$/, '');

/** The files that use one of these, however far away, and these. */
function withUsers(names: ReadonlySet<string>): ReadonlySet<string> {
  const users = [...imports]
    .filter(([, used]) => used.some((name) => name !== undefined && names.has(name)))
    .map(([file]) => nameOf(file))
    .filter((name) => !LISTS_OF_CHECKS.includes(name) && !names.has(name));
  return users.length === 0 ? names : withUsers(new Set([...names, ...users]));
}

/** The ids of the checks in a file. */
async function checksIn(file: string): Promise<string[]> {
  const exported: Readonly<Record<string, unknown>> = await import(new URL(file, SECTIONS).href);
  return Object.values(exported)
    .flat()
    .flatMap((value) =>
      typeof value === 'object' && value !== null && 'id' in value && typeof value.id === 'string'
        ? [value.id]
        : [],
    );
}

const changed = (process.env['CHECKS_OF'] ?? '').split(',').filter((file) => file !== '');
const names = withUsers(new Set(changed.map(nameOf)));
const ids = new Set(
  (await Promise.all([...imports.keys()].filter((file) => names.has(nameOf(file))).map(checksIn))).flat(),
);

const cases: AccuracyCase[] = [
  ...FAULTS.filter(({ breaks }) => ids.has(breaks) && breaks !== TOO_LONG).map(({ name, breaks }) => ({
    kind: 'fault' as const,
    name,
    breaks,
  })),
  ...VARIANTS.map(({ name }) => ({ kind: 'variant' as const, name })),
  ...VARIANTS.map(({ name }) => ({ kind: 'variant' as const, name, animals: 0 })),
];

t.setTimeout(0);
for (const accuracyCase of cases) {
  const result = await simulateCase(accuracyCase);
  t.strictSame(matrixOf([{ case: accuracyCase, result }], []).problems, [], accuracyCase.name);
  if (!t.passing()) break;
}
