import t from 'tap';
import {
  echoViolation,
  errorStatusViolation,
  jsonViolation,
  limitViolation,
  listLimitViolation,
  listOnceViolation,
  listStatusViolation,
  mediaTypesIn,
  mediaTypeViolation,
  missingHeadersViolation,
  quoted,
  remainingViolation,
  requestedIdViolation,
  resetViolation,
  retryAfterViolation,
  schemaViolation,
} from './answer.ts';
import { rateHeaders } from './rate-headers.ts';

const animal = (id: bigint | undefined, status?: string) => ({
  ...{ id, name: 'Rex', categoryId: 7n, status },
  fields: [],
});

t.test('the media type, whatever its case and parameters', async (t) => {
  const judge = (...values: string[]) => mediaTypeViolation(mediaTypesIn(values))?.actual;
  for (const right of ['application/json', 'Application/JSON; charset=utf-8', 'application/json ;x=1'])
    t.equal(judge(right), undefined, right);
  t.equal(judge('application/json', 'application/json'), undefined, 'twice the same');
  t.equal(judge(), 'no Content-Type');
  t.equal(judge('text/html'), 'Content-Type: text/html');
  t.equal(judge('application/jsonp'), 'Content-Type: application/jsonp');
  t.equal(
    judge('application/json', 'text/html'),
    'Content-Type: application/json and Content-Type: text/html',
  );
  t.strictSame(mediaTypesIn(['Application/JSON ; charset=UTF-8', 'text/html']), [
    'application/json',
    'text/html',
  ]);
  t.strictSame(mediaTypesIn(['']), [''], 'a header without a value is a header');
});

t.test('a text is quoted in one line, a long one by its beginning and length', async (t) => {
  t.equal(quoted('line 1\n"2"'), '"line 1\\n\\"2\\""');
  t.equal(quoted('x'.repeat(120)), `"${'x'.repeat(120)}"`);
  t.equal(quoted('x'.repeat(121)), `"${'x'.repeat(60)}…" (121 characters)`);
  t.equal(quoted('y'.repeat(1_048_576)), `"${'y'.repeat(60)}…" (1,048,576 characters)`);
});

t.test('what keeps a body from being read, or its schema from holding, is passed on', async (t) => {
  t.equal(jsonViolation(undefined), undefined);
  t.equal(jsonViolation('is empty')?.actual, 'is empty');
  t.equal(schemaViolation('pet', undefined), undefined);
  t.strictSame(schemaViolation('error', 'no code'), {
    expected: 'an Error body with code, message and status',
    actual: 'no code',
  });
});

t.test('Error.status', async (t) => {
  t.equal(errorStatusViolation(404n, 404), undefined);
  t.equal(errorStatusViolation(undefined, 404), undefined, 'the schema asks for it');
  t.equal(errorStatusViolation(2n ** 60n, 404)?.actual, `status ${2n ** 60n} in the body of a 404`);
});

const PRO = { plan: 'pro', perMinute: 300, perDay: 10_000 };
const rates = (limit?: string, remaining?: string, reset?: string) =>
  rateHeaders([
    ...(limit === undefined ? [] : [['X-RateLimit-Limit', limit] as const]),
    ...(remaining === undefined ? [] : [['x-ratelimit-remaining', remaining] as const]),
    ...(reset === undefined ? [] : [['X-Ratelimit-Reset', reset] as const]),
  ]);

t.test('rate headers are there, readable and in bounds', async (t) => {
  t.equal(missingHeadersViolation(rates('1', '1', '1')), undefined);
  t.equal(missingHeadersViolation(rates('1'))?.actual, 'no X-RateLimit-Remaining, no X-RateLimit-Reset');
  for (const right of ['300', '10000'])
    t.equal(limitViolation(rates(right).limit, PRO), undefined, `${right} for Pro`);
  t.match(limitViolation(rates('60').limit, PRO), {
    expected: /300 \(a minute\) or 10000 \(a day\) for a key of plan pro/,
  });
  t.equal(limitViolation(rates('60').limit, undefined), undefined, 'nobody’s plan is known');
  t.match(limitViolation(rates('-1').limit, undefined), { expected: 'a limit of 0 or more' });
  t.match(limitViolation(rates('').limit, PRO), { actual: 'X-RateLimit-Limit: empty' });
  t.match(limitViolation(rates('3e2').limit, PRO), { expected: /a whole number/ });
  t.equal(limitViolation(rates().limit, PRO), undefined, 'that it is missing is another row');
  t.equal(remainingViolation(rates('60', '0')), undefined);
  for (const wrong of ['61', '-1', '1.5', 'many'])
    t.match(remainingViolation(rates('60', wrong)), { actual: `X-RateLimit-Remaining: ${wrong}` }, wrong);
});

t.test('Reset is a Unix time ahead', async (t) => {
  const now = 1_800_000_000_000;
  const range = { from: now - 1000, to: now + 61_000, now, window: 'two minutes' } as const;
  const judge = (reset: string) => resetViolation(rates('1', '1', reset).reset, range)?.actual;
  for (const right of ['1800000060', '1799999999', '1800000030.5']) t.equal(judge(right), undefined, right);
  t.equal(judge('1799999998'), 'X-RateLimit-Reset: 1799999998, which is 2 seconds ago');
  t.equal(judge('1800003600'), 'X-RateLimit-Reset: 1800003600, which is 3,600 seconds ahead');
  t.equal(judge('soon'), 'X-RateLimit-Reset: soon');
  t.match(retryAfterViolation(false), { actual: 'none' });
  t.equal(retryAfterViolation(true), undefined);
});

t.test('a list is as long as asked for, of the status asked for, each animal once', async (t) => {
  t.equal(listLimitViolation(1, 1, 20), undefined);
  t.strictSame(listLimitViolation(1, 2, 20), {
    expected: 'at most 1 animal with limit=1',
    actual: '2 animals',
    at: ['body/1'],
  });
  t.equal(listLimitViolation(undefined, 20, 20), undefined);
  t.match(listLimitViolation(undefined, 21, 20), { expected: 'at most 20 animals without limit' });
  const listed = [animal(1n, 'sold'), animal(2n), animal(undefined, 'sold')];
  t.equal(listStatusViolation('sold', listed), undefined, 'an animal need not show its status');
  t.equal(listStatusViolation(undefined, listed), undefined, 'nothing was asked for');
  t.match(listStatusViolation('pending', [animal(3n, 'pending'), ...listed]), {
    actual: 'animal 1 with status sold',
    at: ['body/1/status'],
  });
  t.match(listStatusViolation('pending', [animal(undefined, 'sold')]), {
    actual: 'an animal without id with status sold',
  });
  t.equal(listOnceViolation(listed), undefined);
  t.match(listOnceViolation([...listed, animal(2n)]), {
    actual: 'animal 2 twice in one list',
    at: ['body/3/id'],
  });
});

t.test('the animal that was asked for', async (t) => {
  t.equal(requestedIdViolation('7', animal(7n)), undefined);
  t.equal(requestedIdViolation('007', animal(7n)), undefined, 'the number, not its spelling');
  t.equal(requestedIdViolation('abc', animal(7n)), undefined, 'what that finds is open');
  t.match(requestedIdViolation('9007199254740993', animal(9007199254740992n)), {
    expected: 'animal 9007199254740993',
    actual: 'animal 9007199254740992',
  });
});

t.test('an addition comes back as it was sent', async (t) => {
  t.equal(echoViolation('name', 'Rex', 'Rex'), undefined);
  t.strictSame(echoViolation('name', 'Rex', 'rex'), {
    expected: 'name "Rex", as sent',
    actual: 'name "rex"',
    at: ['body/name'],
  });
  t.equal(echoViolation('categoryId', 7n, '7'), undefined, 'one number, whoever read it');
  t.equal(echoViolation('categoryId', '7', 8n)?.actual, 'categoryId 8');
  t.equal(echoViolation('name', 'Rex', undefined), undefined, 'the schema asks for it');
  t.equal(echoViolation('status', 'sold', undefined)?.actual, 'no status');
  t.equal(echoViolation('status', undefined, 'available'), undefined, 'none was sent');
});
