import t from 'tap';
import { answered } from '../wire/testing/answered.ts';
import { SECOND } from './key-pool.ts';
import { ReplayOrder } from './replay-order.ts';
import { NOON } from './testing/test-run.ts';

const IDS = ['a#1', 'b#1', 'a#2', 'b#2', 'a#3'];
const EXCHANGES = new Map(
  IDS.map((id, index) => [id, answered({ id, sentAt: NOON, receivedAt: NOON + index * SECOND })]),
);
const stored = (id: string) => EXCHANGES.get(id) ?? answered({ id });

t.test('lanes that run side by side get theirs in the order of receipt', async (t) => {
  const order = new ReplayOrder(EXCHANGES);
  const got: string[] = [];
  const lane = async (...ids: readonly string[]) => {
    for (const id of ids) got.push((await order.turnOf(stored(id))).id);
  };
  await Promise.all([lane('b#1', 'b#2'), lane('a#1', 'a#2', 'a#3')]);
  t.strictSame(got, IDS);
});

t.test('of several that are asked for at once the first received comes first', async (t) => {
  const order = new ReplayOrder(EXCHANGES);
  const got: string[] = [];
  await Promise.all(
    [...IDS].reverse().map(async (id) => {
      got.push((await order.turnOf(stored(id))).id);
    }),
  );
  t.strictSame(got, IDS);
});

t.test('it rests while nobody asks, and goes on', async (t) => {
  const order = new ReplayOrder(EXCHANGES);
  t.equal(await order.turnOf(stored('b#2')), EXCHANGES.get('b#2'));
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  t.equal(await order.turnOf(stored('a#1')), EXCHANGES.get('a#1'));
});

t.test('one that is not of the stored run comes last', async (t) => {
  const order = new ReplayOrder(EXCHANGES);
  const got: string[] = [];
  await Promise.all(
    ['x#1', 'a#3'].map(async (id) => {
      got.push((await order.turnOf(stored(id))).id);
    }),
  );
  t.strictSame(got, ['a#3', 'x#1']);
  t.match(await new ReplayOrder().turnOf(stored('a#1')), { id: 'a#1' });
});

t.test(
  'whoever waited goes on after those that were received meanwhile, and before the others',
  async (t) => {
    const order = new ReplayOrder(EXCHANGES);
    const got: string[] = [];
    const waiting = async (until: number) => {
      await order.turnAfter(NOON + until * SECOND);
      got.push(`after ${until} s`);
      got.push((await order.turnOf(stored('b#2'))).id);
    };
    const lane = async () => {
      for (const id of ['a#1', 'b#1', 'a#2', 'a#3']) got.push((await order.turnOf(stored(id))).id);
    };
    await Promise.all([waiting(1.5), lane()]);
    t.strictSame(got, ['a#1', 'b#1', 'after 1.5 s', 'a#2', 'b#2', 'a#3']);
    got.length = 0;
    await Promise.all([order.turnAfterFirst(2).then(() => got.push('after two')), lane()]);
    t.strictSame(got, ['a#1', 'b#1', 'after two', 'a#2', 'a#3']);
  },
);

t.test('it is over when nobody waits for a stored exchange any more', async (t) => {
  const order = new ReplayOrder(EXCHANGES);
  const got: string[] = [];
  await order.end();
  const atEnd = async () => {
    got.push((await order.turnOf(stored('a#1'))).id);
    await order.end();
    got.push('end');
  };
  const lane = async () => {
    for (const id of ['b#1', 'a#2', 'a#3']) got.push((await order.turnOf(stored(id))).id);
  };
  await Promise.all([atEnd(), lane()]);
  t.strictSame(got, ['a#1', 'b#1', 'a#2', 'a#3', 'end']);
  await order.end();
});

t.test('what was received at that very moment was received until then', async (t) => {
  const order = new ReplayOrder(EXCHANGES);
  const got: string[] = [];
  await Promise.all([
    order.turnAfter(NOON + SECOND).then(() => got.push('after one second')),
    ...['a#1', 'b#1', 'a#2'].map((id) => order.turnOf(stored(id)).then(() => got.push(id))),
  ]);
  t.strictSame(got, ['a#1', 'b#1', 'after one second', 'a#2']);
});

t.test('who waits for the same goes on in the order of asking', async (t) => {
  const order = new ReplayOrder(EXCHANGES);
  const got: string[] = [];
  await Promise.all(['x#1', 'y#1', 'z#1'].map((id) => order.turnOf(stored(id)).then(() => got.push(id))));
  t.strictSame(got, ['x#1', 'y#1', 'z#1']);
});

t.test('where nobody waits for a stored exchange nothing is waited for', async (t) => {
  let turned = false;
  setImmediate(() => {
    turned = true;
  });
  await new ReplayOrder(EXCHANGES).end();
  t.notOk(turned, 'requests of one moment are sent in one');
});

t.test('the first so many are told from the others', (t) => {
  const order = new ReplayOrder(EXCHANGES);
  t.ok(order.isAmongFirst(1, 'a#1'));
  t.ok(order.isAmongFirst(3, 'a#2'));
  t.notOk(order.isAmongFirst(2, 'a#2'));
  t.notOk(order.isAmongFirst(0, 'a#1'));
  t.notOk(order.isAmongFirst(9, 'x#1'), 'nor is one that is not of the stored run');
  t.end();
});
