import t from 'tap';
import { parseJson } from './lossless-json.ts';
import { schemaProblem } from './schema.ts';

function problem(name: keyof typeof schemaProblem, text: string): string | undefined {
  const parsed = parseJson(text);
  if (!parsed.ok) throw new Error(parsed.problem);
  return schemaProblem[name](parsed.value)?.text;
}

t.test('animals as the document has them', async (t) => {
  for (const text of [
    '{"id":1,"name":"Rex","categoryId":3}',
    '{"id":1,"name":"","categoryId":3,"status":"sold"}',
    '{"id":9223372036854775807,"name":"Rex","categoryId":-9223372036854775808,"status":"available"}',
    '{"id":1.0,"name":"Rex","categoryId":1e2,"status":"pending"}',
    '{"id":1,"name":"Rex","categoryId":3,"colour":"brown"}',
  ])
    t.equal(problem('pet', text), undefined, text);
  t.equal(problem('pets', '[]'), undefined);
  t.equal(problem('pets', '[{"id":1,"name":"Rex","categoryId":3}]'), undefined);
});

t.test('what is wrong with an animal, and where', async (t) => {
  const cases: readonly (readonly [string, string])[] = [
    ['[]', 'the body is not an object'],
    ['null', 'the body is null, not an object'],
    ['{"name":"Rex","categoryId":3}', 'id is missing'],
    ['{"id":1,"categoryId":3}', 'name is missing'],
    ['{"id":1}', 'name is missing (and 1 more)'],
    ['{"id":"1","name":"Rex","categoryId":3}', 'id is "1", not an int64'],
    ['{"id":1.5,"name":"Rex","categoryId":3}', 'id is 1.5, not an int64'],
    ['{"id":null,"name":"Rex","categoryId":3}', 'id is null, not an int64'],
    [
      '{"id":1,"name":"Rex","categoryId":9223372036854775808}',
      'categoryId is 9223372036854775808, not an int64',
    ],
    ['{"id":1,"name":7,"categoryId":3}', 'name is 7, not a string'],
    ['{"id":1,"name":null,"categoryId":3}', 'name is null, not a string'],
    [
      '{"id":1,"name":"Rex","categoryId":3,"status":"gone"}',
      'status is "gone", not one of available, pending, sold',
    ],
    [
      '{"id":1,"name":"Rex","categoryId":3,"status":null}',
      'status is null, not one of available, pending, sold',
    ],
    ['7', 'the body is 7, not an object'],
    [`{"id":1,"name":${'7'.repeat(50)},"categoryId":3}`, 'name is not a string'],
    ['{"id":1,"name":[],"categoryId":3}', 'name is not a string'],
  ];
  for (const [text, expected] of cases) t.equal(problem('pet', text), expected, text);
});

t.test('in a list the place is the item and its field', async (t) => {
  t.equal(problem('pets', '{}'), 'the body is not an array');
  t.equal(
    problem('pets', '[{"id":1,"name":"Rex","categoryId":3},{"id":2,"name":"Rex","categoryId":"3"}]'),
    'animal 2: categoryId is "3", not an int64',
  );
  const eleven = Array.from({ length: 11 }, (_, id) => `{"id":${id},"name":"Rex","categoryId":3}`);
  t.equal(problem('pets', `[${eleven},{}]`), 'item 12: name is missing (and 2 more)');
  t.equal(
    problem('pets', '[{"id":1,"name":"Rex","categoryId":3},{"id":2,"name":"Rex"}]'),
    'animal 2: categoryId is missing',
  );
});

t.test('an Error', async (t) => {
  t.equal(problem('error', '{"code":"not_found","message":"No such animal.","status":404}'), undefined);
  t.equal(problem('error', '{"code":"a","message":"b","status":4.04e2}'), undefined);
  t.equal(problem('error', '{"code":"","message":"b","status":404,"details":[]}'), undefined);
  t.equal(
    problem('error', '{"code":"a","message":"b","status":9223372036854775808}'),
    undefined,
    'an integer of any size',
  );
  const cases: readonly (readonly [string, string])[] = [
    ['"not found"', 'the body is "not found", not an object'],
    ['{"code":"a","message":"b"}', 'status is missing'],
    ['{"code":"a","message":"b","status":"404"}', 'status is "404", not an integer'],
    ['{"code":"a","message":"b","status":404.5}', 'status is 404.5, not an integer'],
    ['{"code":404,"message":"b","status":404}', 'code is 404, not a string'],
    ['{"error":"not found"}', 'code is missing (and 2 more)'],
  ];
  for (const [text, expected] of cases) t.equal(problem('error', text), expected, text);
});
