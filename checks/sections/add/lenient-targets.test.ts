/** Section 4.2: a target that takes one thing too many is found by one check, and by the body that shows it. */
import { parse } from 'lossless-json';
import t from 'tap';
import { faultsOf, provoking, STATUSES, saidOf, type Takes } from './testing/new-pet.ts';

type Lenience = readonly [what: string, label: RegExp, takes: Takes];

/** The field of this name is such a text, and nothing else is wrong. */
const textOf =
  (name: string, pattern: RegExp): Takes =>
  (field, body) => {
    const value = field(name);
    const isAlone = faultsOf(body).every((fault) => fault.startsWith(name));
    return isAlone && typeof value === 'string' && pattern.test(value);
  };

/** The field of this name is an object without fields. */
const emptyObject =
  (name: string): Takes =>
  (field) => {
    const value = field(name);
    return typeof value === 'object' && `${value}` === '[object Object]';
  };

/** The body is a NewPet once this is written otherwise. */
const mends =
  (broken: RegExp, mended: string): Takes =>
  (_field, body) =>
    broken.test(body) && faultsOf(body.replace(broken, mended)).length === 0;

/** By the check that finds it: what a target takes, and what the check calls the body. */
const LENIENT: Readonly<Record<string, readonly Lenience[]>> = {
  'add-rejects-missing-name': [
    [
      'an animal of no name, without unknown fields',
      /without name$/,
      (_field, body) => /^\{"categoryId":\d+\}$/.test(body),
    ],
    ['field names in any letters', /with Name/, (field) => field('Name') !== undefined],
    ['an animal within an animal', /within it/, (field) => field('pet') !== undefined],
  ],
  'add-rejects-missing-category-id': [
    ['an animal of no category', /without categoryId$/, (_field, body) => /^\{"name":"[^"]+"\}$/.test(body)],
    ['CategoryId', /CategoryId/, (field) => field('CategoryId') !== undefined],
    ['category_id', /category_id/, (field) => field('category_id') !== undefined],
    ['category', /category$/, (field) => field('category') !== undefined],
  ],
  'add-rejects-name-type': [
    ['a number as text', /number/, (field) => typeof field('name') === 'bigint'],
    ['null as text', /null/, (field) => field('name') === null],
    ['a boolean as text', /boolean/, (field) => typeof field('name') === 'boolean'],
    ['an array as text', /array/, (field) => Array.isArray(field('name'))],
    ['an object as text', /object/, emptyObject('name')],
  ],
  'add-rejects-category-id-type': [
    ['digits in quotes', /string of digits/, textOf('categoryId', /^\d+$/)],
    ['no digits for 0', /empty string/, textOf('categoryId', /^$/)],
    ['null for 0', /null/, (field) => field('categoryId') === null],
    ['false for 0', /boolean/, (field) => field('categoryId') === false],
    ['an array for its only number', /array/, (field) => Array.isArray(field('categoryId'))],
    ['an object for a number', /object/, emptyObject('categoryId')],
    ['a fraction, rounded', /fraction/, (field) => field('categoryId') === 1.5],
  ],
  'add-rejects-category-id-range': [
    ['a number that wraps around to the least', /above int64/, (field) => field('categoryId') === 2n ** 63n],
    ['one that wraps to the largest', /below int64/, (field) => field('categoryId') === -(2n ** 63n) - 1n],
    ['a power of ten', /exponent/, (field) => field('categoryId') === 1e30],
  ],
  'add-rejects-status-value': [
    ['a status of any word', /no PetStatus/, textOf('status', /^[a-z]+$/)],
    ['a status in any letters', /capital letters/, textOf('status', /^(available|pending|sold)$/i)],
    ['what $ passes over', /trailing newline/, textOf('status', /^(available|pending|sold)\n?$/)],
    ['several statuses', /two statuses/, textOf('status', /^(available|pending|sold|,)+$/)],
    ['no letters for no status', /empty/, textOf('status', /^$/)],
  ],
  'add-rejects-status-type': [
    ['0 for no status', /number/, (field) => field('status') === 0n],
    ['false for no status', /boolean/, (field) => field('status') === false],
    [
      'an array for its only status',
      /array/,
      (field) => Array.isArray(field('status')) && STATUSES.includes(`${field('status')}`),
    ],
    ['an object for a status', /object/, emptyObject('status')],
  ],
  'add-rejects-non-object': [
    ['an array for the animal in it', /array/, mends(/^\[(.*)\]$/, '$1')],
    [
      'JSON in a JSON string',
      /string/,
      (_field, body) => body.startsWith('"') && faultsOf(`${parse(body)}`).length === 0,
    ],
    ['a number for an animal', /number/, (_field, body) => /^\d+$/.test(body)],
    ['null for an animal', /null/, (_field, body) => body === 'null'],
  ],
  'add-rejects-malformed-json': [
    ['an object that is not closed', /cut off/, mends(/$/, '}')],
    ['a comma at the end', /comma/, mends(/,\}$/, '}')],
    [
      'apostrophes for quotes',
      /single quotes/,
      (_field, body) => faultsOf(body.replaceAll("'", '"')).length === 0,
    ],
    ['what begins with an animal', /followed by a word/, mends(/(?<=\}).+/, '')],
  ],
  'add-rejects-empty-body': [
    ['a request without a body', /empty body/, (_field, body) => body === ''],
    ['an object without fields', /empty object/, (_field, body) => body === '{}'],
  ],
};

for (const [finder, targets] of Object.entries(LENIENT)) {
  for (const [what, label, takes] of targets) {
    t.test(`${what}: found by ${finder}, and by no other check`, async (t) => {
      for (const { id } of provoking) {
        const { verdict, expected = '' } = await saidOf(id, takes);
        t.equal(verdict, id === finder ? 'fail' : 'pass', id);
        if (id === finder) t.match(expected, label);
      }
    });
  }
}

t.test('each body finds one of them', async (t) => {
  for (const { id } of provoking) {
    const found = new Set<string | undefined>();
    for (const [, , takes] of LENIENT[id] ?? []) found.add((await saidOf(id, takes)).expected);
    t.equal(found.size, (await saidOf(id)).bodies.length, id);
  }
});
