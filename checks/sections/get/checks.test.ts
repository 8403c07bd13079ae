/** Section 4.3: an animal that exists is retrieved with 200, by its id, with the fields of a Pet. */
import t from 'tap';
import { NOON, testRun } from '../../run/testing/test-run.ts';
import type { AnswerParts } from '../../wire/testing/answered.ts';
import { concluded, type Judged, seen } from '../testing/judged.ts';
import { getAnimalChecks } from './checks.ts';
import {
  addition,
  answering,
  broken,
  inTheEnd,
  LIST,
  NOT_FOUND,
  OWN,
  type Retrieving,
  retrieval,
  STORE,
  said,
  showing,
} from './testing/retrieved.ts';

const passively = (id: string, parts: AnswerParts): Judged =>
  seen(testRun().run, getAnimalChecks, id, [retrieval(parts)]);

t.test('success is 200', async (t) => {
  const id = 'get-answers-200';
  t.match(await said(id), { verdict: 'pass', evidence: 'retrievals#1,retrievals#2,retrieved-again#2' });
  const away = await said(id, { otherwise: answering('/pets/3', { status: 500, body: '{}' }) });
  t.match(away, {
    verdict: 'fail',
    expected: '200 for animal 3',
    reason: /^500/,
    evidence: 'retrievals#2,list-all',
  });
  t.equal(away.paths.at(-1), LIST, 'it is listed as ever');
  t.match(
    await said(id, { otherwise: answering('/pets/1', undefined, NOT_FOUND) }),
    {
      verdict: 'fail',
      expected: '200 for animal 1',
      reason: /^404/,
      evidence: 'retrieved-again#2,retrievals#1',
    },
    'nor once more',
  );
});

t.test('somebody else may remove an animal of theirs, and nobody one of the run’s', async (t) => {
  const id = 'get-answers-200';
  const removed = STORE.slice(0, 2);
  const listed = { all: STORE };
  t.match(await said(id, { store: removed, listed }), {
    verdict: 'pass',
    evidence: 'retrievals#1,retrieved-again#2',
  });
  t.match(
    await said(id, {
      otherwise: (request, number) =>
        answering('/pets/3', NOT_FOUND)(request, number) ?? answering(LIST, { status: 500 })(request, number),
    }),
    { verdict: 'pass' },
    'whether it is there is not known',
  );
  t.match(await said(id, { store: [[1]], own: OWN, listed }), {
    verdict: 'fail',
    expected: '200 for animal 2',
    evidence: 'retrievals#7,added-2',
  });
});

const HOUR = 3_600_000;
const DAY_OF_REMOVAL = Date.UTC(2030, 11, 4, 11);

t.test('nothing is judged of an operation that does not exist any more', async (t) => {
  for (const { id } of getAnimalChecks) {
    const gone: Retrieving = {
      otherwise: ({ operation }) => (operation === 'getPet' ? { status: 410 } : undefined),
    };
    t.match(
      await said(id, gone),
      { verdict: 'inconclusive', reason: 'the operation is gone (see get-until-removal)' },
      `${id}: before its removal`,
    );
    t.match(
      await said(id, gone, showing(DAY_OF_REMOVAL)),
      { verdict: 'not-applicable', reason: /past its removal date/ },
      `${id}: on the day`,
    );
    t.match(
      await said(id, {}, showing(Date.UTC(2030, 11, 9))),
      { verdict: 'not-applicable' },
      `${id}: after it`,
    );
    t.match(
      await said(id, gone, showing(Date.UTC(2030, 11, 9), NOON)),
      { verdict: 'inconclusive', reason: /Date and our clock disagree/ },
      `${id}: after it by one clock of the two`,
    );
    t.match(
      await said(id, {}, showing(DAY_OF_REMOVAL - 2 * HOUR)),
      { verdict: /pass|inconclusive/ },
      `${id}: the day before`,
    );
  }
  t.match(
    await said('get-answers-200', { otherwise: answering('/pets/3', { status: 405 }) }),
    { verdict: 'fail', expected: '200 for animal 3' },
    'where another animal is served it is not gone',
  );
});

t.test('an animal of the run that was served once is served again', async (t) => {
  const id = 'get-answers-200';
  const earlier = { sentAt: -10 };
  const before = retrieval({ id: 'before', ...earlier });
  const lost = retrieval({ id: 'lost', ...NOT_FOUND });
  t.match(inTheEnd(id, addition(), before, lost), {
    verdict: 'fail',
    expected: '200 for animal 7, as before',
    reason: /^404/,
    evidence: 'lost,before',
  });
  const negative = { path: '/pets/-17' };
  t.match(
    inTheEnd(
      id,
      addition({ body: '{"id":-17,"name":"Mia","categoryId":1}' }),
      retrieval({ id: 'before', ...negative, ...earlier }),
      retrieval({ id: 'lost', ...NOT_FOUND, ...negative }),
    ),
    { verdict: 'fail', evidence: 'lost,before' },
  );
  for (const [why, ...exchanges] of [
    ['an addition was refused', addition({ status: 400 }), before, lost],
    ['the connection broke', addition(), before, broken(lost)],
    ['it was not served before', addition(), lost],
    ['it was served later', addition(), lost, before],
    ['at the same time', addition(), retrieval(), lost],
    ['somebody else’s', before, lost],
    ['another animal', addition(), before, retrieval({ ...NOT_FOUND, path: '/pets/8' })],
    ['with another key', addition(), before, retrieval({ ...NOT_FOUND, key: 'pro-1' })],
    ['with no key', addition(), retrieval({ key: null, ...earlier }), retrieval({ ...NOT_FOUND, key: null })],
    ['another failure', addition(), before, retrieval({ status: 500, body: '{}' })],
    ['before it was served', addition(), retrieval({ status: 500, body: '{}', ...earlier }), lost],
    [
      'no id',
      addition(),
      retrieval({ path: '/pets/7x', ...earlier }),
      retrieval({ ...NOT_FOUND, path: '/pets/7x' }),
    ],
    [
      'no id',
      addition(),
      retrieval({ path: '/x/pets/7', ...earlier }),
      retrieval({ ...NOT_FOUND, path: '/x/pets/7' }),
    ],
    ['judged as it came', addition(), before, retrieval({ ...NOT_FOUND, id: 'retrieved-again#2' })],
    ['another operation', addition(), before, retrieval({ ...NOT_FOUND, operation: 'other' })],
    ['a list is no addition', addition({ operation: 'getPet', key: null }), before, lost],
    ['an addition without an id', addition({ body: '{}' }), before, lost],
  ] as const)
    t.equal(inTheEnd(id, ...exchanges).verdict, 'inconclusive', why);
});

t.test('nor is it lost where its operation has been removed meanwhile', async (t) => {
  const test = testRun();
  const { run } = test;
  showing(DAY_OF_REMOVAL - 2 * HOUR, NOON)(test);
  const before = retrieval({ id: 'before', receivedAt: NOON });
  const after = (hours: number) =>
    concluded(run, getAnimalChecks, 'get-answers-200', [
      addition(),
      before,
      retrieval({ ...NOT_FOUND, sentAt: NOON, receivedAt: NOON + hours * HOUR }),
    ]).verdict;
  t.equal(after(0.5), 'fail');
  t.equal(after(1), 'inconclusive', 'somewhere on Earth the day has come');
});

t.test('the animal that comes is the one that was asked for', async (t) => {
  const id = 'get-returns-requested-id';
  t.match(passively(id, {}), { verdict: 'pass', evidence: 'got' });
  t.match(passively(id, { path: '/pets/-7', body: '{"id":-7}' }), { verdict: 'pass' });
  t.match(passively(id, { path: '/pets/%37' }), { verdict: 'pass' }, 'however it is written');
  t.match(passively(id, { path: '/pets/17' }), {
    verdict: 'fail',
    expected: 'animal 17',
    reason: 'animal 7',
    evidence: 'got',
  });
  t.match(
    passively(id, { path: '/pets/9007199254740993', body: '{"id":9007199254740992}' }),
    { verdict: 'fail', reason: 'animal 9007199254740992' },
    'to the last digit',
  );
  for (const [why, parts] of [
    ['no integer was asked for', { path: '/pets/8x' }],
    ['no integer was asked for', { path: '/pets/x8' }],
    ['none came', { path: '/pets/8', ...NOT_FOUND }],
    ['an error came', { path: '/pets/8', status: 201 }],
    ['without an id', { path: '/pets/8', body: '{}' }],
    ['no animal', { path: '/pets/8', body: '[]' }],
    ['a list', { path: '/pets/8', operation: 'listPets' }],
  ] as const)
    t.equal(passively(id, parts).verdict, 'inconclusive', why);
});

t.test('the body is a Pet', async (t) => {
  const id = 'get-pet-schema';
  t.match(passively(id, {}), { verdict: 'pass', evidence: 'got' });
  t.match(passively(id, { body: '{"id":7,"categoryId":1}' }), {
    verdict: 'fail',
    expected: /^a Pet: id, name, categoryId/,
    reason: 'name is missing',
    evidence: 'got',
  });
  t.equal(passively(id, { body: '[]' }).verdict, 'fail');
  for (const [why, parts] of [
    ['that it is no JSON is said elsewhere', { body: '{' }],
    ['not found', { ...NOT_FOUND }],
    ['a list', { operation: 'listPets', body: '[]' }],
  ] as const)
    t.equal(passively(id, parts).verdict, 'inconclusive', why);
  t.match(passively(id, { body: '?', bodyProblem: 'unknown-encoding' }), {
    verdict: 'inconclusive',
    reason: /^the harness cannot read 200 /,
    evidence: 'got',
  });
});
