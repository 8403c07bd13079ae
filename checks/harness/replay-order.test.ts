import t from 'tap';
import { answered } from './exchange-for-tests.ts';
import { ReplayOrder } from './replay-order.ts';

const IDS = ['a#1', 'b#1', 'a#2', 'b#2', 'a#3'];
const EXCHANGES = new Map(IDS.map((id) => [id, answered({ id })]));
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
