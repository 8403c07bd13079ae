/** What is said of lists that come after additions were refused. */
import t from 'tap';
import { Findings } from '../../run/findings.ts';
import type { Exchange } from '../../wire/exchange.ts';
import { type AnswerParts, answered } from '../../wire/testing/answered.ts';
import { broken } from '../get/testing/retrieved.ts';
import { storedThoughRefused } from './refused-additions.ts';

const NAME = 'harness-1 refused';

/** An addition with this body, answered so. */
const sent = (requestBody: string, status: number, id = 'addition') =>
  answered({ id, operation: 'createPet', method: 'POST', requestBody, status, body: '{}' });
const addition = (status: number, name = NAME, id = 'addition') =>
  sent(JSON.stringify({ name, categoryId: 1 }), status, id);
const listOf = (names: readonly (string | undefined)[], parts: AnswerParts = {}) =>
  answered({
    id: 'list',
    body: JSON.stringify(names.map((name, index) => ({ id: index + 1, name, categoryId: 1 }))),
    ...parts,
  });

/** What is said in the end of a run that exchanged these, of additions refused with this status. */
function said(exchanges: readonly Exchange[], status = 429) {
  const findings = new Findings();
  storedThoughRefused(status, 'none was refused')({ exchanges }, findings);
  const { verdict, reason, violation, evidence } = findings.settle();
  return { verdict, reason, expected: violation?.expected, evidence: evidence.map(({ id }) => id).join() };
}

t.test('an animal whose addition was refused is not listed afterwards', async (t) => {
  for (const status of [429, 400]) {
    t.match(
      said([addition(status), listOf([]), listOf(['another'])], status),
      { verdict: 'pass', reason: /2 observations/, evidence: /^list,list$/ },
      `${status}`,
    );
    t.match(
      said([addition(status), listOf([undefined, 'another', NAME])], status),
      {
        verdict: 'fail',
        expected: new RegExp(`answered ${status}$`),
        reason: `"${NAME}" is listed`,
        evidence: /^list,addition$/,
      },
      `${status}`,
    );
  }
  const several = [addition(429, NAME, 'one'), addition(429, `${NAME} 2`, 'other'), listOf([`${NAME} 2`])];
  t.equal(said(several).evidence, 'list,other', 'the evidence is the addition of that animal');
});

t.test('where no addition was refused so, no list is about one', async (t) => {
  for (const [index, exchanges] of [
    [],
    [listOf([NAME])],
    [addition(400), listOf([NAME])],
    [addition(500), listOf([NAME])],
    [broken(addition(429)), listOf([NAME])],
  ].entries())
    t.match(said(exchanges), { verdict: 'not-applicable', reason: 'none was refused' }, `case ${index}`);
});

t.test('where no list comes after one that was, nothing shows what became of it', async (t) => {
  for (const [index, exchanges] of [
    [addition(429)],
    [listOf([NAME]), addition(429)],
    [addition(429), broken(listOf([NAME]))],
    [addition(429), listOf([NAME], { status: 500 })],
    [addition(429), listOf([NAME], { operation: 'other', path: '/store/orders' })],
  ].entries())
    t.match(said(exchanges), { verdict: 'inconclusive', reason: /no exchange/ }, `case ${index}`);
});

t.test('one that was also added by a request that was admitted is rightly there', async (t) => {
  for (const [index, admitted] of [addition(201), addition(200), broken(addition(201))].entries()) {
    t.not(said([admitted, addition(429), listOf([NAME])]).verdict, 'fail', `before, case ${index}`);
    t.not(said([addition(429), admitted, listOf([NAME])]).verdict, 'fail', `afterwards, case ${index}`);
  }
  t.equal(said([addition(400), addition(429), listOf([NAME])]).verdict, 'fail', 'no refusal is one');
});

t.test('of a body whose name is no one’s nothing can be told', async (t) => {
  for (const body of [
    '{"name":"null"}',
    '{"name":"another"}',
    '{"name":7}',
    '{"name":["harness-1"]}',
    '{"categoryId":1}',
    `["${NAME}"]`,
    `"${NAME}"`,
    'null',
    '',
    `{"name":"${NAME}"`,
  ]) {
    const names = ['null', 'another', NAME, undefined];
    t.equal(said([sent(body, 429), listOf(names)]).verdict, 'not-applicable', body);
  }
});
