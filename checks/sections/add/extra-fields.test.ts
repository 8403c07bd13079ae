/** Section 2: which fields animals carry beyond those of a Pet. */
import t from 'tap';
import { testKey, testRun } from '../../run/testing/test-run.ts';
import type { FailureOutcome } from '../../wire/exchange.ts';
import { getPet, listPets, type RequestSpec } from '../../wire/requests.ts';
import type { AnswerParts } from '../../wire/testing/answered.ts';
import { observed } from '../testing/judged.ts';
import { addAnimalGaps } from './gaps.ts';

const LIST = listPets();
const GET = getPet(7n);

/** What is said in the end of a run to whose requests these were the answers. */
async function said(...exchanges: readonly (readonly [RequestSpec, AnswerParts | FailureOutcome])[]) {
  const { run } = testRun((_request, number) => exchanges[number - 1]?.[1] ?? {});
  const probe = run.probe('run');
  for (const [spec] of exchanges) await probe.attempt(spec, testKey());
  return observed(run, addAnimalGaps, 'extra-response-fields');
}

const pet = (more = '') => `{"id":7,"name":"Mia","categoryId":1,"status":"sold"${more}}`;
const listOf = (...pets: readonly string[]) => ({ body: `[${pets.join()}]` });

t.test('animals have the fields of a Pet, or others too', async (t) => {
  t.match(await said([LIST, listOf(pet(), pet())]), {
    answer: 'none',
    detail: /only the fields of a Pet$/,
    evidence: 'run#1',
  });
  t.match(await said([GET, { body: pet() }]), { answer: 'none', evidence: 'run#1' });
  t.match(await said([LIST, listOf(pet(), pet(',"tags":[]'))]), {
    answer: 'tags',
    detail: /have tags$/,
    evidence: 'run#1',
  });
  t.match(await said([LIST, listOf(pet())], [GET, { body: pet(',"tags":[]') }]), {
    answer: 'tags',
    evidence: /^run#2$/,
  });
});

t.test('their names stand in one order, whoever shows them first', async (t) => {
  const [tags, links] = [pet(',"tags":[],"createdAt":1'), pet(',"_links":{}')];
  for (const pets of [
    [tags, links],
    [links, tags],
  ])
    t.match(
      await said([LIST, listOf(...pets)]),
      { answer: '_links, createdAt, tags', evidence: /^run#1$/ },
      pets.join(),
    );
  const apart = await said([GET, { body: tags }], [GET, { body: links }]);
  t.match(apart, { answer: '_links, createdAt, tags', evidence: /^run#\d$/ }, 'one exchange shows it');
});

t.test('a name that could not be seen is quoted', async (t) => {
  t.match(await said([GET, { body: pet(',"":1') }]), { answer: '""' });
  t.match(await said([GET, { body: pet(',"  ":1') }]), { answer: '"  "' });
});

t.test('what is no animal has no fields of one', async (t) => {
  const broken: FailureOutcome = { kind: 'failure', reason: 'reset', message: 'the connection was reset' };
  const nothing: readonly (readonly [RequestSpec, AnswerParts | FailureOutcome])[] = [
    [LIST, { body: '[]' }],
    [LIST, { body: '{"error":"no list"}' }],
    [GET, { status: 404, body: '{"code":"not_found","message":"no such animal","status":404}' }],
    [GET, { body: '<html>' }],
    [GET, broken],
  ];
  t.equal(await said(), undefined);
  t.equal(await said(...nothing), undefined);
  t.match(await said(...nothing, [GET, { body: pet() }]), { answer: 'none', evidence: 'run#6' });
});
