/** Whole runs on a conforming target that has done what it was asked, and whose answer does not arrive. */

import t, { type Test } from 'tap';
import { startReferenceServer } from '../reference-server/reference-server.ts';
import { answersFrom, onTheWire } from './accuracy/hostile/testing/good-answers.ts';
import { startRawServer } from './accuracy/hostile/testing/raw-server.ts';
import { checkTarget } from './check-target.ts';
import { PROFILE_DEFAULTS } from './profile/target-profile.ts';

/** A whole run, but for the answers to these additions, counted from 1. */
async function runLosing(t: Test, ...lost: readonly number[]) {
  // No two of its animals have one name, so that one that was added may not be added again.
  const server = await startReferenceServer({ clockSpeed: 60, variant: 'one-key-reads-only', animals: 30 });
  const answer = answersFrom(new URL(server.baseUrl).origin);
  let additions = 0;
  const proxy = await startRawServer({
    async request(connection, request) {
      if (request.method === 'POST') additions += 1;
      const isLost = request.method === 'POST' && lost.includes(additions);
      const answered = onTheWire(await answer(request));
      if (isLost) connection.reset();
      else connection.write(answered);
    },
  });
  t.teardown(() => Promise.all([server.close(), proxy.close()]));
  const [key] = server.keys.filter(({ name }) => name === 'free-1');
  const checked = await checkTarget({
    profile: {
      target: `http://127.0.0.1:${proxy.port}/v1`,
      keys: [{ name: 'free-1', plan: 'free', roles: ['functional'], env: 'KEY', unusedToday: true }],
      ...PROFILE_DEFAULTS,
      permit: ['writes'],
      clock: { speed: 60 },
    },
    values: new Map([['free-1', key?.value ?? '']]),
    permissions: ['writes'],
  });
  if (checked.kind !== 'checked') throw new Error(checked.message);
  const { result } = checked;
  return {
    additions,
    verdicts: Object.fromEntries([...result.requirements].map(([id, { verdict }]) => [id, verdict])),
    gaps: Object.fromEntries(
      [...result.gaps].map(([id, answer]) => [id, typeof answer === 'string' ? answer : answer.answer]),
    ),
  };
}

t.test(
  'one lost answer costs no verdict, whichever it is; the same one each time costs some, and breaks nothing',
  async (t) => {
    const whole = await runLosing(t);
    // A plain one, one of two that are added at the same moment, one that is to be refused, one without a key.
    for (const number of [2, 5, 20, whole.additions]) {
      const { verdicts, gaps, additions } = await runLosing(t, number);
      t.strictSame(verdicts, whole.verdicts, `addition ${number}`);
      t.strictSame(gaps, whole.gaps, `addition ${number}`);
      t.equal(additions, whole.additions + 1, 'it is sent once more');
    }
    const several = Object.values((await runLosing(t, 2, 3, 4)).verdicts);
    t.notOk(several.includes('fail'));
    t.ok(several.includes('inconclusive'));
  },
);
