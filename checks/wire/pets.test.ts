import t from 'tap';
import { answeredPet, bearsRateHeader, bodyOf, described, listedPets, looksLikeTheService } from './pets.ts';
import { answered } from './testing/answered.ts';

const REX = '{"id":9223372036854775807,"name":"Rex","categoryId":2,"status":"sold"}';
const SEEN_REX = {
  id: 9223372036854775807n,
  name: 'Rex',
  categoryId: 2n,
  status: 'sold',
  fields: ['id', 'name', 'categoryId', 'status'],
};

t.test('the animals of a list are those of a 200 with an array of objects', async (t) => {
  t.strictSame(listedPets(answered({ body: '[]' })), []);
  t.strictSame(listedPets(answered({ body: `[${REX},{"id":1,"colour":"red"}]` })), [
    SEEN_REX,
    { id: 1n, name: undefined, categoryId: undefined, status: undefined, fields: ['id', 'colour'] },
  ]);
  for (const none of [REX, `[${REX},5]`, `[${REX},"Rex"]`, '[null]', '[[]]', '"[]"', '[', '']) {
    t.equal(listedPets(answered({ body: none })), undefined, none);
  }
  for (const status of [201, 404, 500]) {
    t.equal(listedPets(answered({ status, body: `[${REX}]` })), undefined, `with ${status}`);
  }
  t.equal(listedPets(answered({ bodyProblem: 'invalid-utf8' })), undefined, 'no text, no list');
});

t.test('the animal of an answer is that of a 200 or a 201', async (t) => {
  t.strictSame(answeredPet(answered({ body: REX })), SEEN_REX);
  t.strictSame(answeredPet(answered({ status: 201, body: REX })), SEEN_REX);
  for (const status of [202, 204, 400, 404]) {
    t.equal(answeredPet(answered({ status, body: REX })), undefined, `with ${status}`);
  }
  for (const none of [`[${REX}]`, '7', '"Rex"', 'null', 'true', REX.slice(1), '']) {
    t.equal(answeredPet(answered({ body: none })), undefined, none);
  }
});

t.test('a field of another type than the document gives it is not seen, only named', async (t) => {
  const fields = ['id', 'name', 'categoryId', 'status'];
  const unseen = { id: undefined, name: undefined, categoryId: undefined, status: undefined, fields };
  for (const body of [
    '{"id":"1","name":1,"categoryId":"2","status":false}',
    '{"id":1.5,"name":null,"categoryId":null,"status":null}',
    '{"id":9223372036854775808,"name":["Rex"],"categoryId":-9223372036854775809,"status":{}}',
  ]) {
    t.strictSame(answeredPet(answered({ body })), unseen, body);
  }
});

t.test('a body that is not the faithful text of what was sent is not read as JSON', async (t) => {
  for (const [bodyProblem, kind] of [
    ['invalid-utf8', 'malformed'],
    ['undecodable-encoding', 'malformed'],
    ['unknown-encoding', 'beyond-harness'],
    ['truncated-in-record', 'beyond-harness'],
  ] as const) {
    t.strictSame(bodyOf(answered({ body: REX, bodyProblem })), { ok: false, kind, problem: bodyProblem });
  }
});

t.test('an answer is read once; of large ones only the last that was asked for is kept', async (t) => {
  const small = [1024, 1025, 64 * 1024].map((length) => answered({ body: REX.padEnd(length) }));
  const large = answered({ body: `[${REX}]`.padEnd(64 * 1024 + 1) });
  const larger = answered({ body: `[${REX},${REX}]`.padEnd(128 * 1024) });
  const read = small.map(bodyOf);
  const first = bodyOf(large);
  t.ok(bodyOf(large) === first && small.every((exchange, index) => bodyOf(exchange) === read[index]));
  t.equal(bodyOf(large), first, 'ordinary ones drive no large one out');
  t.strictSame([listedPets(larger)?.length, listedPets(large)?.length], [2, 1]);
  t.not(bodyOf(large), first, 'a large one makes room for the next');
  const [one, same] = [answered({ body: REX }), answered({ body: REX })];
  t.equal(bodyOf(one), bodyOf(same), 'the answers of a burst have one body');
});

t.test('any of the three rate headers is a trace of the interface', async (t) => {
  const html = { status: 502, body: '<html>' };
  for (const name of ['X-RateLimit-Limit', 'x-ratelimit-remaining', 'X-RATELIMIT-RESET']) {
    const bearing = answered({ ...html, headers: [[name, 'unreadable']] });
    t.ok(bearsRateHeader(bearing), name);
    t.ok(looksLikeTheService(bearing), name);
  }
  for (const name of ['RateLimit-Limit', 'X-RateLimit', 'Retry-After', 'Date']) {
    const other = answered({ ...html, headers: [[name, '60']] });
    t.notOk(bearsRateHeader(other), name);
    t.notOk(looksLikeTheService(other), name);
  }
});

t.test('without a rate header, the body may tell the service by an array or two known fields', async (t) => {
  for (const body of [
    '[]',
    '[1]',
    '{"code":"x","message":"y"}',
    '{"message":"y","status":404}',
    '{"code":null,"status":"404","trace":"z"}',
    '{"id":1,"name":"Rex"}',
    '{"name":1,"categoryId":"2"}',
    '{"id":"1","categoryId":2}',
    REX,
  ]) {
    t.ok(looksLikeTheService(answered({ status: 404, body })), body);
  }
  for (const body of [
    '{"message":"no such route"}',
    '{"id":1}',
    '{"code":1,"name":"x"}',
    '{"status":"UP"}',
    '{"orders":[],"total":0,"page":1}',
    '{}',
    '"code message status"',
    '404',
    'null',
    '<html>code message status</html>',
    '[',
    '',
  ]) {
    t.notOk(looksLikeTheService(answered({ body })), body);
  }
});

t.test('a response is described by its status, its media type and its size', async (t) => {
  const html = [['Content-Type', 'text/HTML; charset=utf-8']] as const;
  t.equal(
    described(answered({ status: 404, headers: html, body: 'x'.repeat(1204) })),
    '404 text/html, 1,204 bytes',
  );
  t.equal(described(answered({ body: '犬' })), '200 without a media type, 3 bytes');
  t.equal(described(answered({ status: 204, headers: html, body: '' })), '204 with an empty body');
  const moved = [['Location', 'https://login.example.com/']] as const;
  t.equal(described(answered({ status: 302, headers: moved })), '302 to https://login.example.com/');
});
