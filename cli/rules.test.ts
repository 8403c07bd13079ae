/** Rules of one's own: rows beside the document's. */
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { readReport } from '../reports/report.ts';
import { check } from './library.ts';
import { header, listPets, type Rule, rule, scene } from './rules.ts';
import { runHere } from './testing/in-process.ts';
import { testTarget } from './testing/test-target.ts';

const exported = pathToFileURL(join(import.meta.dirname, 'rules.ts')).href;
const IMPORT = "import { rule } from 'petstore-harness/rules';\n";
const README = readFileSync(join(import.meta.dirname, '..', 'README.md'), 'utf8');
const OPTIONS = "{ statement: 'Every answer has X-Request-Id.' }";
const MODULES: Readonly<Record<string, readonly [source: string, code: number, stderr: RegExp]>> = {
  'one that holds': [
    `export default [rule('ours-a', ${OPTIONS}, { observe: (one, judge) => judge.holds(one) })]`,
    0,
    /Nothing broken/,
  ],
  'the one in the README, broken': [
    /```js\n(import \{ header, rule[\s\S]*?);\n```/.exec(README)?.[1] ?? '',
    1,
    /ours-request-id \(own\) Every answer has X-Request-Id\./,
  ],
  'one that says nothing': [`export default [rule('ours-a', ${OPTIONS}, {})]`, 3, /ours-a/],
  'an id of the document’s': [
    `export default [rule('add-answers-201', ${OPTIONS}, {})]`,
    2,
    /add-answers-201 has the id of one of the document's/,
  ],
  'an id that is none': [`export default [rule('Ours A', ${OPTIONS}, {})]`, 2, /has no id like/],
  'no list': ['export default 7', 2, /its default export is no list of rules/],
  'no module': ['export default [', 2, /rules\.mjs: /],
};

for (const [name, [source, code, stderr]] of Object.entries(MODULES))
  t.test(name, async (t) => {
    const target = await testTarget(t);
    appendFileSync(target.profile, 'rules: [./rules.mjs]\n');
    writeFileSync(
      join(target.folder, 'rules.mjs'),
      `${source.startsWith('import') ? '' : IMPORT}${source};\n`.replace('petstore-harness/rules', exported),
    );
    const args = [
      'check',
      '--profile',
      'target.yaml',
      '--only',
      '4.3,own',
      '--permit',
      'writes',
      '--out',
      'results',
    ];
    const ended = await runHere(target.folder, args, target.env);
    t.match(ended, { code, stderr });
    if (code > 1) return;
    const [row] = readReport(join(target.folder, 'results')).requirements.filter(
      ({ section }) => section === 'own',
    );
    const junit = readFileSync(join(target.folder, 'results', 'junit.xml'), 'utf8');
    t.match(junit, /<testsuite name="own rules"[^>]*>\s*<testcase name="ours-/);
    t.match(row, { id: /^ours-/, verdict: code === 0 ? 'pass' : 'fail', evidence: [/.+/] });
  });

t.test('in the library, with a scene', async (t) => {
  const target = await testTarget(t);
  const [value = ''] = target.secrets;
  const twice = scene('ours-twice', {}, async (run) => [
    await run.send(listPets({ limit: 1 })),
    await run.send(listPets({ limit: 1 })),
  ]);
  const same = rule(
    'ours-same-type',
    { statement: 'A list asked for twice has one media type.', level: 'MAY' },
    {
      scenes: [twice],
      judge(judge, seen) {
        const types = seen.of(twice).map(({ outcome }) => header(outcome.headers, 'content-type'));
        if (types[0] === types[1]) judge.holds(...seen.of(twice));
        else judge.breaks({ expected: 'one media type', actual: types.join() }, ...seen.of(twice));
      },
    },
  );
  const checkWith = (own: Rule, only: string) =>
    check({
      target: target.address,
      keys: [{ plan: 'free', value }],
      rules: [own],
      only: only.split(','),
    });
  const verdictOf = async (only: string) =>
    (await checkWith(same, only)).requirements.find(({ id }) => id === 'ours-same-type')?.verdict;
  t.equal(await verdictOf('4.1'), 'skipped', 'left out by only');
  t.equal(await verdictOf('ours-same-type'), 'pass');
  const options = { statement: 'It throws.' };
  const fail = () => {
    throw new Error('oh');
  };
  const broken = scene('ours-broken', {}, async () => fail());
  for (const parts of [{ observe: fail }, { judge: fail }, { scenes: [broken] }])
    await t.rejects(checkWith(rule('ours-a', options, parts), '4.1,ours-a'), /^the rule ours-a threw: oh$/);
});
