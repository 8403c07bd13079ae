/** Section 4.3: what one key lists it retrieves, though what a key may see at all is open. */
import t from 'tap';
import { payer, testKey } from '../../run/testing/test-run.ts';
import type { AnswerParts } from '../../wire/testing/answered.ts';
import { judged } from '../testing/judged.ts';
import { getAnimalChecks } from './checks.ts';
import { LIST, NOT_FOUND, retrievalRun } from './testing/retrieved.ts';

const OTHER = testKey({ name: 'other', roles: ['load'] });

/** What the other key gets, retrieval by retrieval and list by list; undefined as any key. */
interface Shown {
  readonly retrieved?: readonly (AnswerParts | undefined)[];
  readonly listed?: readonly (AnswerParts | undefined)[];
}

/** What is said where it does, and what was asked with it. */
async function said({ retrieved = [], listed = [] }: Shown, statusOfFirst?: number) {
  let [gets, lists] = [0, 0];
  const { run, sent, waits } = await retrievalRun({
    otherwise: (request) => {
      const { operation } = request;
      if (payer(request) !== OTHER.name)
        return statusOfFirst === undefined || operation === 'listPets'
          ? undefined
          : { status: statusOfFirst };
      return operation === 'listPets' ? listed[lists++] : retrieved[gets++];
    },
    options: { keys: [testKey(), OTHER] },
  });
  const said = await judged(run, getAnimalChecks, 'get-answers-200');
  const asked = sent.filter((request) => payer(request) === OTHER.name).map(({ path }) => path);
  return { ...said, asked, waits: waits() };
}

const UNLISTED: AnswerParts = { body: '[]' };
const never = Array.from({ length: 5 }, () => NOT_FOUND);

t.test('every other key is served once', async (t) => {
  t.match(await said({}), {
    verdict: 'pass',
    reason: 'held in 4 observations',
    asked: ['/pets/1'],
    waits: [],
  });
});

t.test('what it does not list it need not find', async (t) => {
  const unlisted = await said({ retrieved: [NOT_FOUND], listed: [UNLISTED] });
  t.match(unlisted, { verdict: 'pass', reason: 'held in 3 observations', waits: [] });
  t.strictSame(unlisted.asked, ['/pets/1', LIST]);
  const forbidden = await said({ retrieved: [{ status: 400 }] });
  t.match(forbidden, { verdict: 'pass', reason: 'held in 3 observations' });
  t.strictSame(forbidden.asked, ['/pets/1'], 'another answer is its own affair');
});

const pause = (seconds: number) => `${seconds}: animal 1 to be served with key other`;

t.test('what it goes on listing it finds', async (t) => {
  const lost = await said({ retrieved: never });
  t.match(lost, {
    verdict: 'fail',
    expected: '200 for animal 1, which key other lists',
    reason: /^404/,
    evidence: 'retrieved-with-others#1,retrieved-with-others#7',
    waits: [pause(0.31), pause(1.07), pause(3.08), pause(7.09)],
  });
  t.strictSame(lost.asked, ['/pets/1', LIST, '/pets/1', '/pets/1', '/pets/1', '/pets/1', LIST]);
  t.match(
    await said({ retrieved: never, listed: [undefined, UNLISTED] }),
    { verdict: 'pass', waits: { length: 4 } },
    'somebody removed it meanwhile',
  );
});

t.test('it may be served a while later', async (t) => {
  const late = await said({ retrieved: never.slice(0, 2) });
  t.match(late, { verdict: 'pass', waits: { length: 2 } });
  t.strictSame(late.asked, ['/pets/1', LIST, '/pets/1', '/pets/1']);
});

t.test('nothing is asked with it where no animal is served at all', async (t) => {
  t.match(await said({ retrieved: never }, 400), {
    verdict: 'fail',
    expected: '200 for animal 1',
    asked: { length: 0 },
  });
});
