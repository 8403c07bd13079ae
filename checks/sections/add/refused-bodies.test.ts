/** Section 4.2: which bodies are sent that are to be refused, and what they cost. */
import t from 'tap';
import { testRun } from '../../run/testing/test-run.ts';
import { answered } from '../../wire/testing/answered.ts';
import { billOfCheck } from '../testing/bill.ts';
import { concluded } from '../testing/judged.ts';
import { invalidAnimalChecks } from './invalid-bodies.ts';
import { refusedPrefix } from './scenes.ts';
import { additionsOf } from './testing/adding.ts';
import { faultsOf, fieldsOf, provoking, saidOf } from './testing/new-pet.ts';

/** What is wrong with each body of a check. */
const SUBJECTS: Readonly<Record<string, string>> = {
  'add-rejects-missing-name': 'name: missing',
  'add-rejects-missing-category-id': 'categoryId: missing',
  'add-rejects-name-type': 'name: type',
  'add-rejects-category-id-type': 'categoryId: type',
  'add-rejects-category-id-range': 'categoryId: range',
  'add-rejects-status-value': 'status: value',
  'add-rejects-status-type': 'status: type',
  'add-rejects-non-object': 'no object',
  'add-rejects-malformed-json': 'no object',
};

for (const [id, fault] of Object.entries(SUBJECTS)) {
  t.test(`${id}: one thing is wrong with each body, and everything else is right`, async (t) => {
    const { verdict, bodies } = await saidOf(id);
    t.equal(verdict, 'pass');
    for (const body of bodies) t.strictSame(faultsOf(body), [fault], body);
  });
}

t.test('a body that is empty, and an object that is', async (t) => {
  const { verdict, sent } = await saidOf('add-rejects-empty-body');
  t.equal(verdict, 'pass');
  t.strictSame(
    additionsOf(sent).map(({ body }) => body),
    ['', '{}'],
  );
});

t.test('an animal that is stored all the same can be recognised, each by another name', async (t) => {
  const bodies = (await Promise.all(provoking.map(({ id }) => saidOf(id)))).flatMap(({ bodies }) => bodies);
  const names = bodies.flatMap((body) => /harness-[^"'\\]*/.exec(body)?.[0] ?? []);
  t.ok(names.every((name) => name.startsWith(`${refusedPrefix('abcd2345')} add-rejects-`)));
  t.equal(new Set(names).size, names.length);
  const nameless = bodies.filter((body) => !body.includes('harness-'));
  t.strictSame(
    nameless.map((body) => typeof fieldsOf(body)?.get('name')),
    [
      'undefined',
      'bigint',
      'object',
      'boolean',
      'object',
      'object',
      ...Array.from({ length: 4 }, () => 'undefined'),
    ],
    'but where the name is what is wrong, or there is none',
  );
});

t.test('what they cost is on the bill, and nothing is sent without the permission to write', async (t) => {
  for (const check of provoking) {
    const requests = (await saidOf(check.id)).sent.length;
    t.strictSame(billOfCheck(check, 'writes'), { requests, animals: 0 }, check.id);
    t.strictSame(billOfCheck(check), { requests: 0, animals: 0 }, check.id);
  }
});

t.test('an animal of an addition that was answered with 400 is not listed afterwards', async (t) => {
  const name = `${refusedPrefix('abcd2345')} 1`;
  const addition = (status: number) =>
    answered({ id: 'added', operation: 'createPet', requestBody: JSON.stringify({ name }), status });
  const listed = answered({ id: 'list', body: JSON.stringify([{ id: 1, name, categoryId: 1 }]) });
  const { run } = testRun();
  const said = (...exchanges: Parameters<typeof concluded>[3]) =>
    concluded(run, invalidAnimalChecks, 'add-rejected-stores-nothing', exchanges);
  t.match(said(addition(400), listed), { verdict: 'fail', evidence: 'list,added' });
  t.match(said(addition(400), answered({ id: 'list' })), { verdict: 'pass', evidence: 'list' });
  t.match(said(addition(201), listed), { verdict: 'not-applicable', reason: /400/ });
});
