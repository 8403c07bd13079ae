import { fileURLToPath } from 'node:url';
import t from 'tap';
import { FAULTS as ALL_FAULTS } from '../../reference-server/deviations/faults/index.ts';
import { packageRoot } from '../../spec/package-root.ts';
import type { AccuracyCase } from './case.ts';
import { type Sources, sourcesIn, touchedBy } from './changed.ts';

const FAULTS = 'reference-server/deviations/faults';
const SOURCES: Sources = new Map([
  [
    'checks/accuracy/main.ts',
    `import { FAULTS } from '../../${FAULTS}/index.ts'; fork(new URL('./worker.js', import.meta.url));`,
  ],
  ['checks/accuracy/worker.ts', `import { allChecks } from '../sections/all-checks.ts';`],
  [
    'checks/sections/all-checks.ts',
    `import '../run/judge.ts'; import './list/checks.ts'; import './get/checks.ts';`,
  ],
  ['checks/sections/list/checks.ts', `import { lists } from './scenes.ts'; check('list-order', {});`],
  ['checks/sections/list/scenes.ts', ''],
  ['checks/sections/get/checks.ts', `import { lists } from '../list/scenes.ts'; check('get-echo', {});`],
  ['checks/run/judge.ts', ''],
  [`${FAULTS}/index.ts`, `import { LISTING } from './listing.ts'; import { GETTING } from './getting.ts';`],
  [
    `${FAULTS}/listing.ts`,
    `import { shape } from './shape.ts'; const LISTING = { 'list-order': { 'reversed': [] } };`,
  ],
  [
    `${FAULTS}/getting.ts`,
    `import { shape } from './shape.ts'; const GETTING = { 'get-echo': { 'forgets': [] } };`,
  ],
  [`${FAULTS}/shape.ts`, ''],
  ['cli/main.ts', ''],
]);

const CASES: readonly AccuracyCase[] = [
  { kind: 'fault', name: 'reversed', breaks: 'list-order' },
  { kind: 'fault', name: 'forgets', breaks: 'get-echo' },
  { kind: 'fault', name: 'resets-early', breaks: 'get-echo', style: 'fastify-rate-limit' },
  { kind: 'variant', name: 'quiet' },
];

t.test('a change touches the cases whose files import it', async (t) => {
  const touched = (...files: string[]) => CASES.filter(touchedBy(files, SOURCES)).map(({ name }) => name);
  const all = CASES.map(({ name }) => name);
  t.strictSame(touched(), []);
  t.strictSame(touched(`${FAULTS}/listing.ts`), ['reversed'], 'a table of faults');
  t.strictSame(touched(`${FAULTS}/shape.ts`), ['reversed', 'forgets'], 'what tables of faults share');
  t.strictSame(touched(`${FAULTS}/index.ts`), all, 'the list of all faults');
  t.strictSame(touched('checks/sections/get/checks.ts'), ['forgets', 'resets-early'], 'a section');
  t.strictSame(
    touched('checks/sections/list/scenes.ts'),
    ['reversed', 'forgets', 'resets-early'],
    'what another section imports as well',
  );
  t.strictSame(touched('checks/accuracy/frameworks/express.ts'), ['resets-early'], 'a service of others');
  t.strictSame(touched('checks/run/judge.ts'), all, 'what all share');
  t.strictSame(touched('spec/requirements.yaml'), all, 'the contract');
  t.strictSame(touched('checks/run/gone.ts'), all, 'a file that is gone');
  t.strictSame(
    touched('cli/main.ts', 'README.md', 'checks/run/judge.test.ts'),
    all.slice(0, 0),
    'what no run imports',
  );
});

t.test('no fault is out of reach: its table and the checks of its requirement touch it', async (t) => {
  const sources = await sourcesIn(fileURLToPath(packageRoot));
  for (const place of [/\/faults\/(?!index)/, /\/sections\/[a-z]+\//]) {
    const touches = touchedBy(
      [...sources.keys()].filter((file) => place.test(file)),
      sources,
    );
    const missed = ALL_FAULTS.filter(({ name, breaks }) => !touches({ kind: 'fault', name, breaks }));
    t.strictSame(
      missed.map(({ name }) => name),
      [],
      String(place),
    );
  }
});
