import t from 'tap';
import type { AccuracyCase, CaseResult } from './case.ts';
import { matrixOf, matrixText } from './matrix.ts';

type Verdicts = Readonly<Record<string, CaseResult['verdicts'][number]['verdict'] | [string, string]>>;

const result = (verdicts: Verdicts, problem?: string): CaseResult => ({
  verdicts: Object.entries(verdicts).map(([id, verdict]) =>
    typeof verdict === 'string'
      ? { id, verdict, reason: `${id} said so`, notShown: [] }
      : { id, verdict: 'inconclusive', reason: verdict[1], notShown: [] },
  ),
  requests: 1,
  ...(problem === undefined ? {} : { problem }),
});
const fault = (name: string, breaks: string): AccuracyCase => ({ kind: 'fault', name, breaks });
const variant = (name: string, more: Partial<AccuracyCase> = {}): AccuracyCase => ({
  kind: 'variant',
  name,
  ...more,
});
const inconclusive = (reason: string): [string, string] => ['inconclusive', reason];

const ALONE = [{ case: fault('drops-names', 'add-echo'), result: result({ 'add-echo': 'fail' }) }];
/** Beside a conforming server. */
const FOUND = [...ALONE, { case: variant('quiet'), result: result({ 'add-echo': 'pass' }) }];

t.test('a fault that its requirement finds, and a server that fails nothing, are no problem', async (t) => {
  const matrix = matrixOf(
    [
      ...FOUND,
      { case: variant('plain'), result: result({ 'add-echo': 'pass', 'ban-given': 'not-applicable' }) },
    ],
    ['add-echo'],
  );
  t.match(matrix, { faults: 1, found: 1, variants: 2, falseAlarms: 0, withoutKill: [], problems: [] });
});

t.test('a fault that another requirement finds is a miss, told with what failed instead', async (t) => {
  const missed = fault('drops-names', 'add-echo');
  const instead = result({ 'add-echo': 'pass', 'list-shows-added': 'fail', 'get-added': 'fail' });
  const matrix = matrixOf([...FOUND, { case: missed, result: instead }], ['add-echo']);
  t.match(matrix, { faults: 2, found: 1, withoutKill: [] });
  t.strictSame(matrix.problems, [
    'fault drops-names: add-echo did not fail, but list-shows-added, get-added',
  ]);
});

t.test('a fault of a service made of libraries bears the name of the service, found or not', async (t) => {
  const ofService = { ...fault('text-429', 'error-body-429'), style: 'express-rate-limit' as const };
  const found = matrixOf(
    [{ case: ofService, result: result({ 'error-body-429': 'fail' }) }],
    ['error-body-429'],
  );
  t.match(matrixText(found), '| error-body-429 | express-rate-limit: text-429 |');
  const missed = matrixOf([{ case: ofService, result: result({}) }], ['error-body-429']);
  t.match(missed.problems, ['fault express-rate-limit: text-429: error-body-429 did not fail']);
});

t.test('a fault that nothing finds is told with what kept the run from its verdicts', async (t) => {
  const missed = fault('drops-names', 'add-echo');
  t.strictSame(
    matrixOf([...FOUND, { case: missed, result: result({ 'add-echo': 'inconclusive' }) }], ['add-echo'])
      .problems,
    ['fault drops-names: add-echo did not fail'],
  );
  t.strictSame(
    matrixOf([...FOUND, { case: missed, result: result({}, 'no connection') }], ['add-echo']).problems,
    ['fault drops-names: add-echo did not fail: no connection'],
  );
});

t.test('a requirement that no fault turned red is a problem of its own', async (t) => {
  const matrix = matrixOf(FOUND, ['add-echo', 'get-added']);
  t.strictSame(matrix.withoutKill, ['get-added']);
  t.strictSame(matrix.problems, ['requirement get-added was never seen red']);
});

t.test(
  'a conforming server that fails something is one false alarm, told for each thing that failed',
  async (t) => {
    const matrix = matrixOf(
      [
        ...FOUND,
        {
          case: variant('plain', { animals: 100_000, busy: true }),
          result: result({ a: 'fail', b: 'fail' }),
        },
        { case: variant('plain'), result: result({ a: 'pass' }) },
      ],
      ['add-echo'],
    );
    t.match(matrix, { variants: 3, falseAlarms: 1 });
    const name = 'plain, 100,000 foreign animals, another client adding';
    t.strictSame(matrix.problems, [
      `variant ${name}: a failed: a said so`,
      `variant ${name}: b failed: b said so`,
    ]);
  },
);

t.test('a conforming server leaves open only what its case does without', async (t) => {
  const open = {
    day: 'skipped' as const,
    shown: inconclusive('no exchange of this run shows it'),
    told: inconclusive('the window was cut off, which needs the permission day'),
  };
  t.strictSame(
    matrixOf([...FOUND, { case: variant('plain'), result: result(open) }], ['add-echo']).problems,
    ['variant plain: inconclusive: told (the window was cut off, which needs the permission day)'],
  );
});

t.test('a conforming server that could not be checked is a problem', async (t) => {
  const matrix = matrixOf(
    [...FOUND, { case: variant('plain'), result: result({}, 'no connection') }],
    ['add-echo'],
  );
  t.strictSame(matrix.problems, ['variant plain: no connection']);
});

t.test('a matrix without a conforming server says nothing of false alarms, and is red', async (t) => {
  t.match(matrixOf(ALONE, ['add-echo']).problems, [
    'no conforming server was judged: nothing is known of false alarms',
  ]);
});

t.test(
  'the table names what found a fault, what was missed and what else failed, whatever the order',
  async (t) => {
    const entries = [
      { case: fault('b-fault', 'add-echo'), result: result({ 'get-added': 'fail' }) },
      ...FOUND,
      {
        case: fault('a-fault', 'add-echo'),
        result: result({ 'add-echo': 'fail', 'get-added': 'fail', 'list-shows-added': 'fail' }),
      },
      { case: variant('plain'), result: result({}) },
      { case: variant('busy', { animals: 0 }), result: result({ a: 'fail', b: 'fail' }) },
    ];
    const text = matrixText(matrixOf(entries, ['add-echo', 'get-added']));
    t.match(
      text,
      '2 of 3 single faults found by the requirement that they break; 1 false alarms on 3 conforming',
    );
    t.match(
      text,
      '| add-echo | a-fault (get-added, list-shows-added); **missed:** b-fault (get-added); drops-names |\n| get-added |  |\n',
    );
    t.match(text, '| busy, 0 foreign animals | a, b |\n| plain | 0 |\n');
    t.equal(text, matrixText(matrixOf(entries.toReversed(), ['add-echo', 'get-added'])));
  },
);

t.test(
  'a row whose cause passed or is not there, or whose number is wrong, says what is not true',
  async (t) => {
    const seen = result({
      'add-echo': 'pass',
      'get-added': inconclusive('nothing was added (see add-echo)'),
    });
    const gone = result({ 'get-added': inconclusive('nothing was added (see add-answers)') });
    const right = result({
      'add-echo': 'fail',
      'get-added': inconclusive('nothing was added (see add-echo)'),
    });
    const problems = (of: CaseResult) =>
      matrixOf([...FOUND, { case: fault('drops-names', 'add-echo'), result: of }], []).problems.filter(
        (problem) => problem.includes('not true'),
      );
    t.match(problems(seen), [/^fault drops-names: not true: get-added says .*, which passed$/]);
    t.match(problems(gone), [/which is no row$/]);
    t.strictSame(problems(right), []);
    t.match(problems(result({ 'get-added': inconclusive('5 of 0 were admitted') })), [/more than all$/]);
    t.strictSame(problems(result({ 'get-added': inconclusive('54 of 60 were admitted') })), []);
    const [row] = result({ 'get-added': inconclusive('404 with an empty body') }).verdicts;
    const told = { verdicts: row === undefined ? [] : [{ ...row, notShown: ['404'] }], requests: 1 };
    t.match(problems(told), [/404 with an empty body", but nothing shows 404$/]);
  },
);
