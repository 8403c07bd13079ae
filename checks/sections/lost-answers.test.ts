/** One answer is lost in the middle of a scene: what was broken before stays a fail, what comes after is still asked. */
import t from 'tap';
import type { Check } from '../run/check.ts';
import { NOTHING_TRIED } from '../run/scene.ts';
import { type TestRun, testKey, testRun } from '../run/testing/test-run.ts';
import type { ClientRequest } from '../wire/client.ts';
import { type AnswerParts, answered } from '../wire/testing/answered.ts';
import { invalidAnimalChecks } from './add/invalid-bodies.ts';
import { getAnimalChecks } from './get/checks.ts';
import { malformedIds, unknownIdsRetrieved } from './get/ids.ts';
import { retrievals, retrievedWithOthers } from './get/scenes.ts';
import { OWN, retrievalRun } from './get/testing/retrieved.ts';
import { authenticationChecks } from './keys/checks.ts';
import { listFilterChecks } from './list/filters.ts';
import { listLimitChecks } from './list/limits.ts';
import { defaultPages, filteredPages, fullPages } from './list/pages.ts';
import { animals, listsOf, type Otherwise, storeOf } from './list/testing/listed.ts';
import { judged, played } from './testing/judged.ts';

const WRITES = new Set(['writes'] as const);
const KEYS = [
  testKey(),
  testKey({ name: 'free-2' }),
  testKey({ name: 'free-3' }),
  testKey({ name: 'free-4' }),
];

/** A target that refuses bodies and whoever has no key. */
async function refusing(otherwise: Otherwise): Promise<TestRun> {
  const test = testRun(
    (request, number) => {
      const refusal = request.authorization.kind === 'key' ? 400 : 401;
      const isDue = request.method === 'POST' || refusal === 401;
      return otherwise(request, number) ?? (isDue ? { status: refusal } : {});
    },
    { permissions: WRITES, sampleCategoryId: 3n },
  );
  await played(test.run, 'store-sample', { exchange: answered({ id: 'sample' }), pets: [] });
  await played(test.run, 'retrievals', NOTHING_TRIED);
  return test;
}

const retrieving = (otherwise: Otherwise): Promise<TestRun> =>
  retrievalRun({ own: OWN, otherwise, options: { permissions: WRITES, keys: KEYS } });

async function listing(otherwise: Otherwise): Promise<TestRun> {
  const store = animals(90);
  const serve = storeOf(store);
  const test = testRun((request, number) => otherwise(request, number) ?? serve(request));
  await played(test.run, 'lists', listsOf(store));
  return test;
}

interface Row {
  readonly checks: readonly Check[];
  readonly id: string;
  /** The id of the scene; where none is given, the check's own. */
  readonly scene?: string;
  readonly target: (otherwise: Otherwise) => Promise<TestRun>;
  /** What breaks the requirement. */
  readonly broken: AnswerParts;
}

const auth = (name: string): Row => ({
  checks: authenticationChecks,
  id: `auth-${name}`,
  target: refusing,
  broken: { status: 200 },
});
const body = (name: string): Row => ({
  checks: invalidAnimalChecks,
  id: `add-rejects-${name}`,
  target: refusing,
  broken: { status: 201 },
});
const get = (id: string, scene: string): Row => ({
  checks: getAnimalChecks,
  id,
  scene,
  target: retrieving,
  broken: { status: 500 },
});
const list = (checks: readonly Check[], id: string, scene: string): Row => ({
  checks,
  id,
  scene,
  target: listing,
  broken: { body: '[]' },
});

const ROWS: readonly Row[] = [
  ...['missing-key', 'empty-key', 'unknown-key', 'near-miss-key', 'other-scheme'].map(auth),
  ...['name-type', 'category-id-type', 'status-value', 'non-object', 'malformed-json'].map(body),
  get('get-answers-200', retrievals.id),
  get('get-unknown-404', unknownIdsRetrieved.id),
  get('get-malformed-id-refused', malformedIds.id),
  list(listLimitChecks, 'list-limit-fills', fullPages.id),
  list(listLimitChecks, 'list-limit-default', defaultPages.id),
  list(listFilterChecks, 'list-filter-before-limit', filteredPages.id),
];

// A body at which the connection is reset each time would be the target's fault; a gateway answers for itself.
const LOST = { kind: 'failure', reason: 'unavailable', message: '502 of a gateway' } as const;
/** A request, whether it is the first or the same as another animal. */
const nameOf = ({ method, path, body = '', authorization }: ClientRequest) =>
  [method, path, authorization.kind === 'raw' ? authorization.header : authorization.kind, body]
    .join(' ')
    .replaceAll(/ [b-z](?=\\?")/g, '');

/** The requests of a scene in an untouched run, in order. */
async function requestsOf({ checks, id, scene = id, target }: Row): Promise<readonly string[]> {
  const { run, sent } = await target(() => undefined);
  await judged(run, checks, id);
  // Those that scenes before it would have sent have no number.
  const inOrder = run.trace.exchanges.filter((exchange) => exchange.id.includes('#'));
  return sent.filter((_, index) => inOrder[index]?.sentBy === scene).map(nameOf);
}

t.test(
  'a lost answer costs what needed it, and neither what was seen before nor what comes after',
  async (t) => {
    for (const row of ROWS) {
      const title = `${row.id}, ${row.scene ?? row.id}`;
      const [first, ...others] = await requestsOf(row);
      // Whether the target is there is asked with the shortest list: that one is answered.
      const lost = others.find((name) => !name.includes('/pets?limit=1 '));
      t.ok(first !== undefined && lost !== undefined, `${title}: there are several requests`);
      const lose: Otherwise = (request) => (nameOf(request) === lost ? LOST : undefined);
      const whole = await row.target(lose);
      t.match(
        await judged(whole.run, row.checks, row.id),
        { verdict: 'inconclusive', reason: /no answer: 502 of a gateway/ },
        `${title}: nothing broken`,
      );
      const sent = new Set(whole.sent.map(nameOf));
      t.ok(
        others.every((name) => sent.has(name)),
        `${title}: all others were sent`,
      );
      const broken = await row.target((request, number) =>
        nameOf(request) === first ? row.broken : lose(request, number),
      );
      t.match(await judged(broken.run, row.checks, row.id), { verdict: 'fail' }, `${title}: broken before`);
    }
  },
);

t.test('a key whose answer is lost costs no other one', async (t) => {
  const { run } = await retrieving(({ path, authorization }) =>
    authorization.kind === 'key' && authorization.name === 'free-2' && path !== '/pets?limit=1'
      ? LOST
      : undefined,
  );
  await judged(run, getAnimalChecks, 'get-answers-200');
  t.match(run.outcomeOf(retrievedWithOthers), {
    done: [{ exchange: { key: 'free-3' } }, { exchange: { key: 'free-4' } }],
    unsettled: [{ reason: 'no answer: 502 of a gateway' }],
  });
});

t.test('an animal that is not served once more costs no row about another id', async (t) => {
  let isAgain = false;
  const losing: Otherwise = ({ path }) => {
    isAgain ||= /^\/pets\/[2-4]\d{18}$/.test(path);
    return isAgain && path === '/pets/2' ? LOST : undefined;
  };
  const { run } = await retrieving(losing);
  t.match(await judged(run, getAnimalChecks, 'get-unknown-404'), { verdict: 'pass' });
  t.match(await judged(run, getAnimalChecks, 'get-answers-200'), { verdict: 'inconclusive' });
});

t.test('where no animal could be retrieved at all, nothing is known of the operation', async (t) => {
  const { run } = await retrieving(({ operation }) => (operation === 'getPet' ? LOST : undefined));
  t.match(await judged(run, getAnimalChecks, 'get-pet-schema'), {
    verdict: 'inconclusive',
    reason: 'no answer: 502 of a gateway',
  });
});
