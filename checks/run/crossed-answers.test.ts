import t from 'tap';
import { type AnswerParts, answered } from '../wire/testing/answered.ts';
import { crossedAnswers } from './crossed-answers.ts';

const ANIMAL = '{"id":1,"name":"Rex","categoryId":1}';
const LIST = `[${ANIMAL}]`;

const list = (body: string, more: AnswerParts = {}) => answered({ path: '/pets?limit=1', body, ...more });
const get = (body: string) => answered({ operation: 'getPet', path: '/pets/1', body });
const add = (body: string) =>
  answered({ operation: 'createPet', method: 'POST', path: '/pets', body, status: 200 });

t.test('a list answered with an animal and an animal with a list: answers are crossed', async (t) => {
  t.equal(
    crossedAnswers([list(LIST), list(ANIMAL), get(ANIMAL), get(LIST)]),
    'answers are mixed up between requests: GET /pets?limit=1 was answered with one animal, GET /pets/1 with a list',
  );
  t.equal(
    crossedAnswers([add(LIST), list(ANIMAL)]),
    'answers are mixed up between requests: GET /pets?limit=1 was answered with one animal, POST /pets with a list',
  );
});

t.test('one of the two alone is a mistake of the target', async (t) => {
  t.equal(crossedAnswers([list(LIST), list(ANIMAL), get(ANIMAL), add(ANIMAL)]), undefined);
  t.equal(crossedAnswers([list(LIST), get(LIST), add(LIST)]), undefined);
  t.equal(crossedAnswers([]), undefined);
});

t.test('what could be anything shows no crossing', async (t) => {
  t.equal(crossedAnswers([list(ANIMAL), get('[]')]), undefined, 'an empty list');
  t.equal(crossedAnswers([list('{"name":"Rex"}'), get(LIST)]), undefined, 'an object without an id');
  t.equal(crossedAnswers([list('{"id":1}'), get(LIST)]), undefined, 'an object without a name');
  t.equal(crossedAnswers([list('{"code":"a","message":"b","status":200}'), get(LIST)]), undefined);
  t.equal(crossedAnswers([list(ANIMAL, { status: 404 }), get(LIST)]), undefined, 'an error');
});

t.test('what was asked elsewhere, or not answered, is left out', async (t) => {
  const elsewhere = answered({ operation: 'other', path: '/else', body: LIST });
  t.equal(crossedAnswers([list(ANIMAL), elsewhere]), undefined);
  const lost = {
    ...list(ANIMAL),
    outcome: { kind: 'failure', reason: 'reset', message: 'the connection was closed' },
  } as const;
  t.equal(crossedAnswers([lost, get(LIST)]), undefined);
});
