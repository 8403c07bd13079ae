import t from 'tap';
import type { Answers } from '../harness/run-for-tests.ts';
import { testRun } from '../harness/run-for-tests.ts';
import { getAnimalChecks } from './get-animal.ts';

const ANIMAL = { id: 7, name: 'Mia', categoryId: 1 };

/** Judges get-same-animal where lists and retrievals show one animal of somebody else's with these statuses in turn. */
async function judged(listed: readonly string[], retrieved: readonly string[]) {
  let lists = 0;
  let retrievals = 0;
  const answers: Answers = ({ operation, path }) => {
    const headers = [['Content-Type', 'application/json']] as const;
    if (path.endsWith('/7')) {
      const status = retrieved[retrievals++ % retrieved.length];
      return { headers, body: JSON.stringify({ ...ANIMAL, status }) };
    }
    if (operation !== 'listPets')
      return { status: 404, headers, body: '{"code":"a","message":"b","status":404}' };
    const status = listed[lists++ % listed.length];
    return { headers, body: JSON.stringify([{ ...ANIMAL, status }]) };
  };
  const { run } = testRun(answers);
  const said: string[] = [];
  const judge = {
    holds: () => said.push('holds'),
    breaks: () => said.push('breaks'),
    unsettled: () => said.push('unsettled'),
    notApplicable: () => said.push('not applicable'),
  };
  await getAnimalChecks
    .find(({ id }) => id === 'get-same-animal')
    ?.run?.(run.probe('get-same-animal'), judge);
  return said;
}

t.test('somebody else’s animal is retrieved as it is listed', async (t) => {
  t.strictSame(await judged(['sold'], ['sold']), ['holds']);
  t.strictSame(await judged(['sold'], ['pending']), ['breaks']);
});

t.test('somebody else may be changing it all the time', async (t) => {
  const statuses = ['sold', 'pending', 'available'];
  t.strictSame(await judged(statuses, ['available']), [], 'lists show it in turn');
  t.strictSame(await judged(['sold'], ['pending', 'available']), [], 'retrievals show it in turn');
});
