/** Section 2: an id identifies one animal only. */
import t from 'tap';
import { testKey, testRun } from '../../run/testing/test-run.ts';
import type { FailureOutcome } from '../../wire/exchange.ts';
import { addPet, getPet, listPets, type RequestSpec } from '../../wire/requests.ts';
import type { AnswerParts } from '../../wire/testing/answered.ts';
import { judged, played } from '../testing/judged.ts';
import { addAnimalChecks } from './checks.ts';

type Answered = readonly [RequestSpec, AnswerParts | FailureOutcome];

/** What is said of ids, of a target that answers so. */
async function unique(...exchanges: readonly Answered[]) {
  const { run } = testRun((_request, number) => exchanges[number - 1]?.[1] ?? {}, {
    permissions: new Set(['writes'] as const),
  });
  await played(run, 'basic-animals', []);
  await played(run, 'edge-animals', {});
  const probe = run.probe('sent');
  for (const [spec] of exchanges) await probe.attempt(spec, testKey());
  return judged(run, addAnimalChecks, 'pet-id-unique');
}

const ADD = addPet({ name: 'Mia', categoryId: 1n });
/** An addition that was answered with 201 and this body. */
const added = (body: unknown): Answered => [ADD, { status: 201, body: JSON.stringify(body) }];
const listed = (...ids: readonly number[]): Answered => [
  listPets(),
  { body: JSON.stringify(ids.map((id) => ({ id }))) },
];
const [seven, eight] = [added({ id: 7 }), added({ id: 8 })];

t.test('no two animals have one id', async (t) => {
  t.match(await unique(seven, eight), { verdict: 'pass', evidence: 'sent#1,sent#2' });
  t.match(await unique(seven, eight, seven), {
    verdict: 'fail',
    expected: 'an id that no other animal has',
    reason: 'id 7, which another animal already has',
    evidence: 'sent#3,sent#1',
  });
  t.match(await unique(listed(7), seven), { verdict: 'fail', evidence: 'sent#2,sent#1' }, 'be it another’s');
  t.match(
    await unique(eight, listed(7), seven),
    { verdict: 'pass' },
    'a list may show it before its answer is here',
  );
});

t.test('an id that is none tells nothing', async (t) => {
  for (const body of [{}, { id: '7' }, { id: 7.5 }, [], null])
    t.equal((await unique(added(body), added(body))).verdict, 'inconclusive', JSON.stringify(body));
  t.equal((await unique([listPets(), { body: '[{}]' }], added({}))).verdict, 'inconclusive');
});

t.test('what is no addition that was created, and no list, has no animal’s id', async (t) => {
  const reset: FailureOutcome = { kind: 'failure', reason: 'reset', message: 'connection reset' };
  const orders: RequestSpec = { operation: 'other', method: 'GET', path: '/store/orders' };
  for (const [what, other] of [
    ['a list that failed', [listPets(), { status: 500, body: '{"id":7}' }]],
    ['a list that is none', [listPets(), { body: '{"id":7}' }]],
    ['no answer', [ADD, reset]],
    ['no list either', [listPets(), reset]],
    ['an order', [orders, { body: '[{"id":7}]' }]],
    ['a retrieval', [getPet(7n), { status: 201, body: '{"id":7}' }]],
    ['an addition that was not created', [ADD, { body: '{"id":7}' }]],
  ] as const) {
    t.match(await unique(other, seven), { verdict: 'pass', evidence: 'sent#2' }, what);
    t.match(await unique(seven, other), { verdict: 'pass', evidence: 'sent#1' }, what);
  }
});
