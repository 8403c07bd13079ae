import t from 'tap';
import { BodyBudget } from './body-budget.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

t.test('one body: to its bound, and no byte further', async (t) => {
  const budget = new BodyBudget();
  t.equal(budget.refuse(2 * MIB, 10), undefined);
  t.equal(budget.refuse(2 * MIB + 1, 10), 'the body is larger than 2097152 bytes');
});

t.test('ordinary bodies are read without end, large ones until 24 MiB of them were', async (t) => {
  const budget = new BodyBudget();
  for (let read = 0; read < 1000; read += 1) budget.refuse(64 * KIB, 64 * KIB);
  for (let read = 0; read < 24; read += 1) t.equal(budget.refuse(MIB, MIB), undefined);
  t.match(budget.refuse(MIB, 1), /^the body is larger than 65536 bytes, and the run has read 24 MiB of such/);
  t.equal(budget.refuse(64 * KIB, 64 * KIB), undefined);
  t.equal(budget.mostDecoded, 64 * KIB, 'nor decompressed to more');
});

t.test('what a body becomes when decompressed counts as well', async (t) => {
  const budget = new BodyBudget();
  t.equal(budget.mostDecoded, 2 * MIB);
  for (let read = 0; read < 12; read += 1) budget.refuseDecoded(Buffer.alloc(2 * MIB, 0x20), 1000);
  t.ok(budget.mostDecoded < 80 * KIB, `${budget.mostDecoded}`);
});

t.test('bodies of many values, or of many objects over the run', async (t) => {
  const budget = new BodyBudget();
  const numbers = (count: number) => Buffer.from(`[${'0,'.repeat(count)}0]`);
  t.equal(budget.refuseDecoded(numbers(100_000), 200_003), undefined);
  t.equal(budget.refuseDecoded(numbers(100_001), 200_005), 'the body holds more than 100000 values');
  const objects = (count: number) => Buffer.from(`[${'{},'.repeat(count)}0]`);
  t.equal(budget.refuseDecoded(objects(30_000), 90_003), undefined);
  t.match(budget.refuseDecoded(objects(30_000), 90_003), /the run has read 30000 objects in such bodies$/);
  t.equal(budget.refuseDecoded(objects(9_000), 27_003), undefined, 'of an ordinary body nobody counts them');
  t.equal(budget.refuseDecoded(numbers(90_000), 180_003), undefined);
});
