import t from 'tap';
import { parseJson } from './lossless-json.ts';
import { schemaProblem } from './schema.ts';

function problem(name: keyof typeof schemaProblem, text: string): string | undefined {
  const parsed = parseJson(text);
  if (!parsed.ok) throw new Error(parsed.problem);
  return schemaProblem[name](parsed.value);
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
    ['[]', 'must be object and 1 more'],
    ['null', 'must be object and 1 more'],
    ['{"name":"Rex","categoryId":3}', "must have required property 'id'"],
    ['{"id":1,"categoryId":3}', "must have required property 'name'"],
    ['{"id":1}', "must have required property 'name' and 1 more"],
    ['{"id":"1","name":"Rex","categoryId":3}', 'id: must be an int64'],
    ['{"id":1.5,"name":"Rex","categoryId":3}', 'id: must be an int64'],
    ['{"id":null,"name":"Rex","categoryId":3}', 'id: must be an int64'],
    ['{"id":1,"name":"Rex","categoryId":9223372036854775808}', 'categoryId: must be an int64'],
    ['{"id":1,"name":7,"categoryId":3}', 'name: must be string'],
    ['{"id":1,"name":null,"categoryId":3}', 'name: must be string'],
    [
      '{"id":1,"name":"Rex","categoryId":3,"status":"gone"}',
      'status: must be equal to one of the allowed values (available, pending, sold)',
    ],
    ['{"id":1,"name":"Rex","categoryId":3,"status":null}', 'status: must be string and 1 more'],
  ];
  for (const [text, expected] of cases) t.equal(problem('pet', text), expected, text);
});

t.test('in a list the place is the item and its field', async (t) => {
  t.equal(problem('pets', '{}'), 'must be array');
  t.equal(
    problem('pets', '[{"id":1,"name":"Rex","categoryId":3},{"id":2,"name":"Rex","categoryId":"3"}]'),
    'item 1, categoryId: must be an int64',
  );
  const eleven = Array.from({ length: 11 }, (_, id) => `{"id":${id},"name":"Rex","categoryId":3}`);
  t.equal(problem('pets', `[${eleven},{}]`), "item 11: must have required property 'name' and 2 more");
  t.equal(
    problem('pets', '[{"id":1,"name":"Rex","categoryId":3},{"id":2,"name":"Rex"}]'),
    "item 1: must have required property 'categoryId'",
  );
});

t.test('an Error', async (t) => {
  t.equal(problem('error', '{"code":"not_found","message":"No such animal.","status":404}'), undefined);
  t.equal(problem('error', '{"code":"a","message":"b","status":4.04e2}'), undefined);
  t.equal(problem('error', '{"code":"a","message":"b","status":404,"details":[]}'), undefined);
  t.equal(
    problem('error', '{"code":"a","message":"b","status":9223372036854775808}'),
    undefined,
    'an integer of any size',
  );
  const cases: readonly (readonly [string, string])[] = [
    ['"not found"', 'must be object'],
    ['{"code":"a","message":"b"}', "must have required property 'status'"],
    ['{"code":"a","message":"b","status":"404"}', 'status: must be an integer'],
    ['{"code":"a","message":"b","status":404.5}', 'status: must be an integer'],
    ['{"code":404,"message":"b","status":404}', 'code: must be string'],
    ['{"code":"","message":"b","status":404}', 'code: must NOT have fewer than 1 characters'],
    ['{"error":"not found"}', "must have required property 'code' and 2 more"],
  ];
  for (const [text, expected] of cases) t.equal(problem('error', text), expected, text);
});
