import { existsSync, readFileSync } from 'node:fs';
import t from 'tap';
import { parse } from 'yaml';
import { currentId, gaps, keepsPinned, requirement, requirements, schemas } from './contract.ts';
import { LIMIT, OPERATION_NAMES, OPERATIONS, PET_STATUSES } from './operations.ts';
import { packageRoot } from './package-root.ts';
import { PLANS } from './plans.ts';

const rows = [...requirements, ...gaps];

t.test('an id, of today or of an earlier version, names one row only', async (t) => {
  const ids = rows.flatMap(({ id, formerly }) => [id, ...formerly]);
  t.strictSame(
    ids.filter((id, index) => ids.indexOf(id) !== index),
    [],
  );
});

t.test('an earlier id stands for the one of today', async (t) => {
  for (const { id, formerly } of rows) for (const name of [id, ...formerly]) t.equal(currentId(name), id);
  for (const name of ['nobody', 'constructor']) t.equal(currentId(name), name);
});

t.test('a row of all plans is one of each, with its numbers', async (t) => {
  const [pro, enterprise] = [requirement('rate-minute-pro'), requirement('rate-day-enterprise')];
  const { perMinute, perDay } = PLANS.pro;
  t.match(pro, { plan: 'pro', title: `Pro is ${perMinute} requests a minute` });
  t.ok(pro.clause.endsWith(`Pro | ${perMinute} | ${perDay.toLocaleString('en')}`), pro.clause);
  t.match(enterprise, { plan: 'enterprise', clause: /Enterprise \| custom \| custom$/ });
  t.match(enterprise.title, /^Enterprise is the custom number of requests a day/);
  t.throws(() => requirement('rate-minute'), { message: /no requirement rate-minute/ });
});

/** Words of the document as they are compared: on one line, without the ends of tables. */
const asOneLine = (text: string) => text.replaceAll(/\s+/g, ' ');

const document = ['../', '../shared/']
  .map((folder) => new URL(`${folder}petstore-service-interface.md`, packageRoot))
  .find((file) => existsSync(file));

t.test(
  'every clause stands in the document, to the letter',
  {
    skip: document === undefined ? 'the document is not beside this repository' : false,
  },
  async (t) => {
    const text = document === undefined ? '' : readFileSync(document, 'utf8');
    const words = asOneLine(text);
    for (const { id, clause } of rows)
      for (const part of clause?.split(' […] ') ?? [])
        t.ok(words.includes(asOneLine(part)), `${id}: ${part}`);
    for (const { id, section } of rows)
      t.match(text, new RegExp(`^#+ ${section.replace('.', '\\.')}\\.? `, 'm'), `${id}: section ${section}`);
  },
);

t.test('what a reading brings are readings', async (t) => {
  for (const { id, reading, brings = [] } of requirements)
    for (const brought of brings) t.ok(reading && requirement(brought).reading, `${id}: ${brought}`);
});

t.test('MAY is what the document says "may" of', async (t) => {
  for (const { id, clause } of requirements.filter(({ level }) => level === 'MAY'))
    t.match(clause, /\bmay\b/, id);
});

t.test('a gap that a run observes has answers that a profile can pin, or is open', async (t) => {
  for (const { id, answers, forms, open, unobservable } of gaps) {
    if (unobservable !== undefined)
      t.notOk(open || answers.length + forms.length > 0, `${id} is unobservable and has no answers`);
    else t.ok(open || forms.length > 0 || answers.length >= 2, `${id} has answers`);
    t.equal(new Set(answers).size, answers.length, `${id} names each answer once`);
  }
});

t.test('an answer is held to a pinned one by all it says, by its parts, or by its form', async (t) => {
  for (const [heldTo, pinned, answer, isKept] of [
    [undefined, 'rejected-400', 'rejected-400', true],
    [undefined, 'rejected-400', 'rejected-422', false],
    ['subset', '400 a, 404 b', '404 b', true],
    ['subset', '400 a, 404 b', '400 a, 429 c', false],
    ['subset', 'none', 'tags', false],
    ['subset', 'tags', 'none', true],
    ['form', '20-seconds', '31-seconds', true],
    ['form', '20-seconds', 'not-told', false],
  ] as const)
    t.equal(
      keepsPinned(heldTo === undefined ? {} : { heldTo }, pinned, answer),
      isKept,
      `${pinned}: ${answer}`,
    );
});

t.test('the OpenAPI description says the same of the operations', async (t) => {
  const { paths, components } = parse(
    readFileSync(new URL('spec/petstore.openapi.yaml', packageRoot), 'utf8'),
    { maxAliasCount: -1 },
  );
  const described = Object.values<object>(paths).flatMap((methods) => Object.values(methods));
  t.strictSame(
    described.map(({ operationId }) => operationId),
    OPERATION_NAMES,
  );
  const schemaIn = (body: unknown) => {
    const reference = /"\$ref":"#\/components\/schemas\/(\w+)"/.exec(JSON.stringify(body ?? {}));
    return reference?.[1];
  };
  for (const name of OPERATION_NAMES) {
    const { method, path, success, query, ...more } = OPERATIONS[name];
    const said = paths[path][method.toLowerCase()];
    t.equal(said.operationId, name);
    t.strictSame(
      Object.keys(said.responses).filter((status) => status < '300'),
      [String(success)],
    );
    t.equal(schemaIn(said.responses[success]), 'response' in more ? more.response : undefined);
    t.equal(schemaIn(said.requestBody), 'request' in more ? more.request : undefined);
    t.equal(said['x-removal-date'], 'removal' in more ? more.removal : undefined);
    const parameters: { name?: string; in?: string; $ref?: string }[] = said.parameters ?? [];
    const named = parameters.map(({ $ref, ...own }) =>
      $ref === undefined ? own : components.parameters[$ref.split('/').at(-1) ?? ''],
    );
    t.strictSame(
      named.filter((one) => one.in === 'query').map((one) => one.name),
      query,
    );
  }
  t.match(components.parameters.Limit.schema, { type: 'integer', ...LIMIT });
  t.strictSame(schemas['PetStatus'], { ...schemas['PetStatus'], enum: [...PET_STATUSES] });
});
