import { readFileSync } from 'node:fs';
import t from 'tap';
import { parse } from 'yaml';
import { startReferenceServer } from '../../reference-server.ts';
import { VARIANTS } from './index.ts';

// Only here the server's folder looks at the list of gaps: answers name them by id, and an id may not be mistyped.
const rows: unknown = parse(
  readFileSync(new URL('../../../spec/requirements.yaml', import.meta.url), 'utf8'),
);

/** A form with a part of its own in angle brackets, `<number>-seconds`. */
const formPattern = (form: unknown) => new RegExp(`^${String(form).replaceAll(/<[^>]+>/g, '.+')}$`);

function gaps(): Map<string, { answers: string[]; forms: RegExp[]; open: boolean }> {
  const list = typeof rows === 'object' && rows !== null && 'gaps' in rows ? rows.gaps : [];
  if (!Array.isArray(list)) throw new Error('no gaps');
  return new Map(
    list.map((row: unknown) => {
      const { id, answers, forms, open } = Object(row) as Record<string, unknown>;
      return [
        String(id),
        {
          answers: Array.isArray(answers) ? answers.map(String) : [],
          forms: Array.isArray(forms) ? forms.map(formPattern) : [],
          open: open === true,
        },
      ];
    }),
  );
}

// Where clients differ in what they cope with, though the document has no such question.
const OWN_QUESTIONS = [
  'name-uniqueness',
  'clock',
  'connection',
  'content-coding',
  'date-header',
  'delivery',
  'header-case',
  'json-notation',
  'latency',
  'media-type-parameter',
  'permissions-of-keys',
  'quota-without-key',
  'retry-after-margin',
  'transfer-coding',
];

t.test('at least 14 variants, each with a name of its own', async (t) => {
  t.ok(VARIANTS.length >= 14);
  t.equal(new Set(VARIANTS.map(({ name }) => name)).size, VARIANTS.length);
});

t.test('every answer is to a question that exists, and one that the question knows', async (t) => {
  const known = gaps();
  for (const { name, answers } of VARIANTS) {
    for (const [question, answer] of Object.entries(answers)) {
      const gap = known.get(question);
      if (gap === undefined) t.ok(OWN_QUESTIONS.includes(question), `${name}: ${question}`);
      // Which codes there are is described in words.
      else if (question !== 'error-codes')
        t.ok(
          gap.open || gap.answers.includes(answer) || gap.forms.some((form) => form.test(answer)),
          `${name}: ${question}: ${answer}`,
        );
    }
  }
});

t.test('every variant lists, adds, finds and refuses as the document says', async (t) => {
  for (const { name, answers } of VARIANTS) {
    const server = await startReferenceServer({ variant: name });
    const authorization = `Bearer ${server.keys[0]?.value}`;
    const send = async (
      path: string,
      init: RequestInit = {},
      headers: Record<string, string> = { authorization },
    ) => {
      const response = await fetch(server.baseUrl + path, {
        ...init,
        headers: { ...headers, ...init.headers },
      });
      for (const field of ['limit', 'remaining', 'reset']) {
        t.match(
          response.headers.get(`x-ratelimit-${field}`),
          /^\d+$/,
          `${name}: ${field} on ${response.status}`,
        );
      }
      const media = response.headers.get('content-type') ?? '';
      t.match(media.toLowerCase(), /^application\/json(?:;|$)/, `${name}: ${media}`);
      return { status: response.status, text: await response.text() };
    };

    const list = await send('/pets?status=sold&limit=5');
    t.equal(list.status, 200, name);
    const sold: unknown = JSON.parse(list.text);
    t.match(sold, [
      { status: 'sold' },
      { status: 'sold' },
      { status: 'sold' },
      { status: 'sold' },
      { status: 'sold' },
    ]);
    t.equal(Array.isArray(sold) && sold.length, 5, name);
    t.equal((JSON.parse((await send('/pets')).text) as unknown[]).length, 20, name);

    const body = '{"name":"  Rex  ","categoryId":3,"status":"pending"}';
    const added = await send('/pets', {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json' },
    });
    t.equal(added.status, 201, name);
    t.match(JSON.parse(added.text), { name: '  Rex  ', categoryId: 3, status: 'pending' }, name);
    const id = /"id"\s*:\s*(-?\d+)/.exec(added.text)?.[1] ?? '';
    if (answers['added-visibility'] === 'later') {
      t.equal((await send(`/pets/${id}`)).status, 404, name);
      while ((await send(`/pets/${id}`)).status === 404)
        await new Promise((resolve) => setTimeout(resolve, 50));
    }
    const found = await send(`/pets/${id}`);
    if (Object.values(answers).includes('after-the-removal')) t.equal(found.status, 410);
    else {
      t.equal(found.status, 200, `${name}: ${id}`);
      t.equal(found.text, added.text, name);
      t.equal((await send('/pets/42424242')).status, 404, name);
    }
    const wrong = { method: 'POST', body: '{"name":1}', headers: { 'content-type': 'application/json' } };
    t.equal((await send('/pets', wrong)).status, 400, name);
    t.equal((await send('/pets', {}, {})).status, 401, name);
    await server.close();
  }
});
