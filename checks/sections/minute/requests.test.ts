/** Section 8: what is sent while a minute is filled, and at its limit. */
import t from 'tap';
import type { Key } from '../../profile/key.ts';
import type { Permission } from '../../profile/permissions.ts';
import { testKey, testRun } from '../../run/testing/test-run.ts';
import type { RequestSpec } from '../../wire/requests.ts';
import { faultsOf } from '../add/testing/new-pet.ts';
import { refusedOperation, type Sending, variety } from './requests.ts';
import { exhaustKey } from './testing/measured.ts';

const key = exhaustKey();
const keys = [key, exhaustKey({ name: 'free-2' })];
const WRITES: readonly Permission[] = ['writes', 'exhaust'];

const probeWith = (permissions = WRITES, given: readonly Key[] = keys) =>
  testRun(undefined, { keys: given, permissions: new Set(permissions) }).run.probe('check');

const sending = (of: Key, animals: readonly bigint[] = [7n]): Sending => ({ key: of, animals, category: 3n });

/** The first so many requests of a key. */
function filling(of: Key, count: number, animals: readonly bigint[] = [7n], permissions = WRITES) {
  const requests = variety(probeWith(permissions), sending(of, animals));
  return Array.from({ length: count }, () => requests.next().value).filter((spec) => spec !== undefined);
}

const lines = (specs: readonly RequestSpec[]) => specs.map(({ method, path }) => `${method} ${path}`);
const isAddition = ({ operation }: RequestSpec) => operation === 'createPet';

t.test('an addition that a process’s end cuts off is sent as another animal than any', async (t) => {
  const sent = keys.flatMap((one) => [...filling(one, 20), refusedOperation(probeWith(), sending(one))]);
  const additions = sent.filter(isAddition);
  t.equal(additions.length, 2 * 9 + 1);
  t.ok(additions.every(({ again }) => again !== undefined));
  const bodies = additions.flatMap(({ body, again }) => [body, again?.().body]);
  t.equal(new Set(bodies).size, 2 * additions.length);
});

t.test('a few of each operation go first', async (t) => {
  const specs = filling(key, 14, [7n, 8n, 9n, 10n]);
  t.strictSame(lines(specs.slice(0, 3)), ['GET /pets/7', 'GET /pets/8', 'GET /pets/9']);
  const unknown = (of: Key) => BigInt(filling(of, 2)[1]?.path.split('/').at(-1) ?? 0);
  const [one, other] = keys.map(unknown);
  for (const id of [one, other])
    t.ok(id !== undefined && id >= 2n ** 61n && id < 2n ** 62n, 'hardly an id in use');
  t.not(one, other);
  const additions = specs.filter(isAddition);
  t.strictSame(
    additions.map(({ body = '' }) => faultsOf(body)),
    [...Array.from({ length: 8 }, () => []), ['categoryId: missing']],
  );
  for (const { body } of additions.slice(0, -1)) t.match(body, /"categoryId":3,"status":"sold"/);
  t.match(additions.at(-1)?.body, /"harness-abcd2345 \w+ refused"/, 'which its name tells, were it stored');
  t.match(lines(specs).at(-1), /^GET \/pets\?limit=\d+$/);
});

t.test('nothing is added without the permission to write', async (t) => {
  t.strictSame(filling(key, 20, [7n], ['exhaust']).filter(isAddition), []);
  t.equal(refusedOperation(probeWith(['exhaust']), sending(keys[1] ?? key)).method, 'GET');
});

t.test('then every limit from 1 to 100, without a filter and with each in turn, and once none', async (t) => {
  const all = filling(key, 512, []).slice(10);
  const lists = all.filter(({ path }) => path !== '/pets?status=sold');
  t.equal(lists.length, all.length - 1);
  const every = Array.from({ length: 100 }, (_, index) => index + 1);
  for (const [turn, status] of [null, 'available', 'pending', 'sold', null].entries()) {
    const queries = lists
      .slice(turn * 100, turn * 100 + 100)
      .map(({ path }) => new URL(path, 'http://target').searchParams);
    t.strictSame(
      queries.map((query) => Number(query.get('limit'))).sort((a, b) => a - b),
      every,
      `${status}`,
    );
    t.ok(queries.every((query) => query.get('status') === status));
  }
  t.match(lines(lists)[0], /^GET \/pets\?limit=/);
});

t.test('keys begin with another limit, so that small plans together see more of them', async (t) => {
  const limits = keys.flatMap((one) =>
    filling(one, 20, [])
      .filter((spec) => !isAddition(spec))
      .slice(1),
  );
  t.equal(new Set(lines(limits)).size, limits.length);
});

t.test('over the limit each key that is driven there tries another operation', async (t) => {
  const many = [testKey({ name: 'other' }), ...['a', 'b', 'c', 'd', 'e'].map((name) => exhaustKey({ name }))];
  const tried = (animals: readonly bigint[], permissions = WRITES) =>
    lines(many.slice(1).map((one) => refusedOperation(probeWith(permissions, many), sending(one, animals))));
  const list = 'GET /pets?limit=1';
  t.strictSame(tried([7n, 8n]), [list, 'POST /pets', 'GET /pets/7', list, 'POST /pets']);
  t.strictSame(tried([7n], ['exhaust']), [list, list, 'GET /pets/7', list, list]);
  t.strictSame(tried([]), [list, 'POST /pets', list, list, 'POST /pets'], 'no animal is known');
  const { body = '' } = refusedOperation(probeWith(), sending(keys[1] ?? key));
  t.strictSame(faultsOf(body), [], 'nothing is wrong with the addition itself');
  t.match(body, /"status":"sold"/, 'the list that looks for it is of these');
});
