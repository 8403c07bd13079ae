import t from 'tap';
import { NOON, testKey, testRun } from '../run/testing/test-run.ts';
import { listPets } from '../wire/requests.ts';
import { numbersNotShown } from './told-numbers.ts';

t.test('a number that a reason tells stands in an exchange, is a limit or counts requests', async (t) => {
  const { run } = testRun(() => ({ status: 404, headers: [['X-RateLimit-Reset', '7777777']], body: '' }));
  await run.sceneRun('one', 'ordinary').attempt(listPets({ limit: 99 }), testKey());
  const notShown = (reason: string) => numbersNotShown(reason, run.trace, 12);
  t.strictSame(notShown('X-RateLimit-Reset 7777777, and 60 requests a minute, after limit=99'), []);
  t.strictSame(notShown('12 were refused'), []);
  t.strictSame(notShown('13 were refused, with X-RateLimit-Reset 7777778'), ['13', '7777778']);
  t.strictSame(notShown('1,000 a day, not 10,000'), ['10000']);
  t.strictSame(notShown(`${run.trace.run.baseUrl} was refused 13 times, for 90 seconds`), []);
  t.strictSame(notShown(`at ${new Date(NOON).toISOString()}, before 5 December 2030`), []);
});

t.test('a status is one that came', async (t) => {
  const { run } = testRun(() => ({ status: 404, body: 'nothing here is 10 bytes or 200' }));
  await run.sceneRun('one', 'ordinary').attempt(listPets(), testKey());
  const notShown = (reason: string) => numbersNotShown(reason, run.trace, 1000);
  t.strictSame(notShown('404 with an empty body'), []);
  t.strictSame(notShown('200 with an empty body'), ['200']);
  t.strictSame(notShown('500 text/html, 12 bytes'), ['500']);
});
