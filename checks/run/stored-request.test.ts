import t from 'tap';
import type { Authorization } from '../wire/client.ts';
import { addText, getPet, listPets, type RequestSpec } from '../wire/requests.ts';
import { answered } from '../wire/testing/answered.ts';
import { askedInstead } from './stored-request.ts';

const KEY: Authorization = { kind: 'key', name: 'free-1', value: 'value of free-1' };
const raw = (described: string): Authorization => ({ kind: 'raw', name: null, header: 'any', described });

/** What the client adds of its own may change from one version to the next. */
const OWN = [
  ['user-agent', 'petstore-harness/0.0.9'],
  ['accept', '*/*'],
] as const;

/** An exchange as it is stored: of this request, but for what is given. */
function stored({ operation, method, path, headers = [], body }: RequestSpec, shown?: string | null) {
  return answered({
    operation,
    method,
    path,
    requestHeaders: [
      ...OWN,
      ...headers,
      ...(typeof shown === 'string' ? [['authorization', shown] as const] : []),
    ],
    ...(body === undefined ? {} : { requestBody: body }),
    ...(shown === undefined ? {} : { key: null }),
  });
}

t.test('the same request, whichever key pays and whatever the client adds', async (t) => {
  for (const spec of [listPets({ limit: 1 }), getPet(7n), addText('{"name":"a"}'), addText(undefined)])
    t.equal(askedInstead(stored(spec), { ...spec, authorization: KEY }), undefined);
  const list = listPets();
  t.equal(askedInstead(stored(list, null), { ...list, authorization: { kind: 'none' } }), undefined);
  t.equal(
    askedInstead(stored(list, 'Basic and a key'), { ...list, authorization: raw('Basic and a key') }),
    undefined,
  );
});

t.test('another request is named by what was asked', async (t) => {
  const asked = (of: RequestSpec, now: RequestSpec) =>
    askedInstead(stored(of), { ...now, authorization: KEY });
  t.equal(asked(getPet(7n), getPet(8n)), 'GET /pets/7');
  t.equal(asked(listPets({ limit: 1 }), listPets({ limit: 10 })), 'GET /pets?limit=1');
  t.equal(asked(listPets(), addText('{}')), 'GET /pets');
  t.equal(asked(addText('{}'), addText('[]')), 'POST /pets with another body');
  t.equal(asked(addText('{}'), addText(undefined)), 'POST /pets with another body');
  t.equal(asked(addText(undefined), addText('{}')), 'POST /pets with another body');
  t.equal(
    asked(addText('{}'), addText('{}', [['content-type', 'text/plain']])),
    'POST /pets with other headers',
  );
  t.equal(asked(addText('{}', []), addText('{}')), 'POST /pets with other headers');
  t.equal(
    asked(addText('a [key redacted]'), addText(undefined)),
    'POST /pets with another body',
    'a key that stood in it is no body',
  );
  t.equal(asked(getPet('1'.repeat(200)), getPet(1n)), `GET /pets/${'1'.repeat(74)}…`);
  t.equal(asked(getPet('1'.repeat(74)), getPet(1n)), `GET /pets/${'1'.repeat(74)}`);
});

t.test('the media type may be left to the target', async (t) => {
  const anything = { ...listPets(), acceptsAnything: true, authorization: KEY };
  t.equal(askedInstead(answered(), anything), undefined);
  t.equal(askedInstead(stored(listPets()), anything), 'GET /pets with other headers');
});

t.test('credentials', async (t) => {
  const list = listPets();
  const other = 'GET /pets with other credentials';
  const shown: readonly (string | null | undefined)[] = [
    undefined,
    null,
    'Basic and a key',
    'Token and a key',
  ];
  const now: readonly Authorization[] = [
    KEY,
    { kind: 'none' },
    raw('Basic and a key'),
    raw('Token and a key'),
  ];
  for (const [row, then] of shown.entries()) {
    for (const [column, authorization] of now.entries()) {
      const expected = row === column ? undefined : other;
      t.equal(askedInstead(stored(list, then), { ...list, authorization }), expected, `${row} ${column}`);
    }
  }
});

t.test('where a key stood any text is taken for it', async (t) => {
  const same = (then: string, now: string) =>
    askedInstead(stored(addText(then)), { ...addText(now), authorization: KEY }) === undefined;
  t.ok(same('a [key redacted] b', 'a secret b'));
  t.ok(same('[key redacted]', ''));
  t.ok(same('[key redacted]-[key redacted]', 'one-two-three'));
  t.ok(same('a[key redacted]b[key redacted]c', 'a1b2c'));
  t.notOk(same('a [key redacted] b', 'a secret c'));
  t.notOk(same('a [key redacted] b', 'b secret b'));
  t.notOk(same('a[key redacted]b[key redacted]c', 'a1c'));
  t.ok(same('[key redacted]b[key redacted]c', 'b1c'));
  t.notOk(same('ab[key redacted]bc', 'abc'), 'nothing is taken twice');
  t.notOk(same('x[key redacted]ab[key redacted]bc', 'xabc'));
  t.notOk(same('secret', '[key redacted]'), 'only what is stored is redacted');
  const cookie = (value: string): RequestSpec => ({
    ...listPets(),
    headers: [['cookie', `a=${value}; b=1`]],
  });
  t.equal(
    askedInstead(stored(cookie('[key redacted]')), { ...cookie('not-sent'), authorization: KEY }),
    undefined,
  );
});
