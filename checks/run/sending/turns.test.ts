import t from 'tap';
import { Turns } from './turns.ts';

/** Work that goes on until it is told to end. */
function work(began: string[], name: string) {
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  return {
    end: () => end(),
    do: async () => {
      began.push(name);
      await ended;
      return name;
    },
  };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

t.test('as many as may do something at the same time, the others when one of them ends', async (t) => {
  const began: string[] = [];
  const turns = new Turns();
  const [a, b, c, d] = [work(began, 'a'), work(began, 'b'), work(began, 'c'), work(began, 'd')];
  let most = 2;
  const all = [a, b, c, d].map((one) =>
    turns.take(
      () => most,
      () => one.do(),
    ),
  );
  await turn();
  t.strictSame(began, ['a', 'b']);
  b.end();
  await turn();
  t.strictSame(began, ['a', 'b', 'c']);
  most = 1;
  a.end();
  await turn();
  t.strictSame(began, ['a', 'b', 'c'], 'fewer may than before');
  c.end();
  await turn();
  d.end();
  t.strictSame(await Promise.all(all), ['a', 'b', 'c', 'd']);
});

t.test('one that fails makes room as well', async (t) => {
  const turns = new Turns();
  const fails = turns.take(
    () => 1,
    async () => {
      throw new Error('lost');
    },
  );
  const next = turns.take(
    () => 1,
    async () => 'next',
  );
  await t.rejects(fails, { message: 'lost' });
  t.equal(await next, 'next');
});
