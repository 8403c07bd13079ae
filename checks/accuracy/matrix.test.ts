import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { AccuracyCase, Row } from './case.ts';
import { casesFor } from './cases.ts';
import { type Entry, matrixOf } from './matrix.ts';

const row = (id: string, verdict: Row['verdict'], more: Partial<Row> = {}): Row => ({
  id,
  verdict,
  reason: `${id} said so`,
  blames: [],
  kinds: [],
  notShown: [],
  ...more,
});
const entry = (accuracyCase: AccuracyCase, ...rows: readonly Row[]): Entry => ({
  case: accuracyCase,
  result: { verdicts: rows },
});
const FAULT: AccuracyCase = { kind: 'fault', name: 'drops-names', breaks: 'add-echo' };
const PLAIN: AccuracyCase = { kind: 'variant', name: 'plain' };
const LOST: AccuracyCase = { ...PLAIN, disturbance: 'answers lost' };
const EDITED: AccuracyCase = { ...PLAIN, disturbance: 'an operator who edits animals' };
const conforming = entry(
  PLAIN,
  row('add-echo', 'pass'),
  row('a-ban', 'not-applicable'),
  row('a-day', 'skipped'),
);
const found = entry(FAULT, row('add-echo', 'fail'));
const open = (count: number) =>
  Array.from({ length: count }, (_, index) => row(`rate-${index}`, 'inconclusive'));

t.test('each violation of the rules is one line', async (t) => {
  for (const [what, entries, checkable, ...problems] of [
    ['nothing', [found, conforming], ['add-echo']],
    [
      'a fault that another requirement finds',
      [entry(FAULT, row('add-echo', 'pass'), row('get-added', 'fail')), conforming],
      [],
      'fault drops-names: add-echo did not fail but (get-added)',
    ],
    [
      'a requirement that was never red',
      [found, conforming],
      ['get-added'],
      'requirement get-added was never seen red',
    ],
    [
      'no conforming server',
      [found],
      ['add-echo'],
      'no conforming server was judged: nothing is known of false alarms',
    ],
    ['a false alarm', [entry(PLAIN, row('a', 'fail'))], [], 'variant plain: a failed: a said so'],
    [
      'a run that takes too long',
      [{ case: PLAIN, result: { verdicts: [], seconds: 351 } }],
      [],
      'variant plain: took 351 s, at most 350 are promised',
    ],
    ['a row that nothing showed', [entry(PLAIN, row('a', 'inconclusive', { kinds: ['not-shown'] }))], []],
    [
      'a row of a day that was spent',
      [
        entry(
          { ...PLAIN, disturbance: 'a day that is used in part' },
          row('a', 'inconclusive', { kinds: ['day-spent'] }),
        ),
      ],
      [],
    ],
    [
      'an open row',
      [entry(PLAIN, row('a', 'inconclusive'))],
      [],
      'variant plain: inconclusive: a (a said so)',
    ],
    [
      'a server that was not ready',
      [{ case: PLAIN, result: { verdicts: [], problem: 'no connection' } }],
      [],
      'variant plain: no connection',
    ],
    [
      'a false alarm behind a disturbance',
      [entry(EDITED, row('media-type-json', 'fail'))],
      [],
      'variant plain, an operator who edits animals: media-type-json failed: media-type-json said so',
    ],
    ['open rows that a disturbance explains', [entry(LOST, ...open(9))], []],
    [
      'one too many',
      [entry(LOST, ...open(10))],
      [],
      /^variant plain, answers lost: 10 inconclusive, at most 9/,
    ],
    [
      'one that it does not explain',
      [entry(LOST, row('media-type-json', 'inconclusive'))],
      [],
      /^variant plain, answers lost: inconclusive: media-type-json/,
    ],
    [
      'a cause that passed',
      [entry(PLAIN, row('a', 'pass', { blames: ['b'] }), row('b', 'pass'))],
      [],
      'variant plain: not true: a says "a said so", which blames a row that passed',
    ],
    [
      'a cause that is not there',
      [entry(PLAIN, row('a', 'pass', { blames: ['b'] }))],
      [],
      /blames a row that is not there$/,
    ],
    [
      'more than all',
      [entry(PLAIN, row('a', 'pass', { reason: '5 of 4 held' }))],
      [],
      /which is more than all$/,
    ],
    [
      'a number from nowhere',
      [entry(PLAIN, row('a', 'pass', { notShown: ['404'] }))],
      [],
      /but nothing shows 404$/,
    ],
  ] as const) {
    const matrix = matrixOf(entries, checkable);
    t.equal(matrix.problems.length, problems.length, `${what}: ${matrix.problems.join('; ')}`);
    t.match(matrix.problems, problems, what);
  }
});

t.test('the text counts faults and alarms, and is the same whatever the order', async (t) => {
  const missed = entry({ ...FAULT, name: 'a-fault' }, row('get-added', 'fail'));
  const entries = [found, missed, conforming, entry(EDITED, row('get-same-animal', 'fail'))];
  const matrix = matrixOf(entries, ['add-echo', 'get-added']);
  t.match(matrix, { faults: 2, found: 1, conforming: 2, falseAlarms: 1 });
  t.match(matrix.text, '1 of 2 single faults found');
  t.match(matrix.text, '| add-echo | **missed:** a-fault (get-added); drops-names |\n| get-added |  |\n');
  t.match(matrix.text, '| plain | 0 |\n');
  t.match(matrix.text, '| an operator who edits animals | 1 | 1 | 2 |\n');
  t.equal(matrix.text, matrixOf(entries.toReversed(), ['add-echo', 'get-added']).text);
});

t.test('MATRIX.md names the faults, servers and disturbances of today', async (t) => {
  const { cases, checkable } = casesFor(undefined);
  const entries = cases.map((one) =>
    entry(one, ...(one.breaks === undefined ? [] : [row(one.breaks, 'fail')])),
  );
  const withoutBrackets = (text: string) => text.replaceAll(/ \([^)]*\)/g, '');
  const written = readFileSync(join(import.meta.dirname, 'MATRIX.md'), 'utf8');
  t.equal(withoutBrackets(written), withoutBrackets(matrixOf(entries, checkable).text));
});
