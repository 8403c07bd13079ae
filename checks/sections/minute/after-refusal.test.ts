import t from 'tap';
import { isRefilling } from '../../limits/refill.ts';
import { Findings } from '../../run/findings.ts';
import { NOON, testKey, testRun } from '../../run/testing/test-run.ts';
import { isAnswered } from '../../wire/exchange.ts';
import { listPets, type RequestSpec } from '../../wire/requests.ts';
import type { AnswerParts } from '../../wire/testing/answered.ts';
import { rateHeaderChecks } from '../headers/checks.ts';
import { afterRefusal } from './after-refusal.ts';
import { toldWait } from './told-time.ts';
import { fill } from './window-filling.ts';

const key = testKey({ roles: ['exhaust'], limits: { perMinute: 3, perDay: 1000 } });

/** An answer with the rate headers; Reset and Retry-After in seconds from noon and from now. */
function told(status: number, remaining: number, reset: number, retryAfter?: number): AnswerParts {
  return {
    status,
    headers: [
      ['Content-Type', 'application/json'],
      ['X-RateLimit-Limit', '3'],
      ['X-RateLimit-Remaining', `${remaining}`],
      ['X-RateLimit-Reset', `${NOON / 1000 + reset}`],
      ...(retryAfter === undefined ? [] : [['Retry-After', `${retryAfter}`] as const]),
    ],
    body: status === 200 ? '[]' : `{"code":"${status}","message":"no","status":${status}}`,
  };
}

/** Without a Date the target's clock is unknown, and with it how far ahead a Reset lies. */
const dated = ({ headers = [], ...parts }: AnswerParts): AnswerParts => ({
  ...parts,
  headers: [...headers, ['Date', new Date(NOON).toUTCString()]],
});

function* lists(): Generator<RequestSpec> {
  for (;;) yield listPets({ limit: 1 });
}

/** Fills the window of a target that gives these answers one after the other, and 200 from then on. */
async function filled(...answers: readonly AnswerParts[]) {
  const { run, waits } = testRun((_request, number) => answers[number - 1] ?? told(200, 2, 150), {
    keys: [key],
    permissions: new Set(['exhaust'] as const),
  });
  const seen: string[] = [];
  run.trace.isRemarkable = (exchange) => {
    for (const { id, observe } of rateHeaderChecks) {
      const findings = new Findings();
      observe?.(exchange, findings, run.trace);
      if (findings.broken > 0) seen.push(id);
    }
    return false;
  };
  const probe = run.probe('minute:free-1');
  const window = await fill(probe, key, { requests: lists(), since: NOON, last: listPets({ limit: 1 }) });
  return { window, probe, waits, broken: seen };
}

t.test('of several refusals that were in flight together the latest time told is waited for', async (t) => {
  const { window, probe, waits, broken } = await filled(
    told(200, 2, 60),
    told(429, 0, 60, 20),
    told(429, 0, 90, 80),
  );
  t.equal(window.refusals.length, 2);
  if (window.refusal === undefined) throw new Error('nothing was refused');
  const after = await afterRefusal(probe, key, window.refusal, window.refusals);
  t.match(toldWait(after.obeyed, key.limits), { text: '80' });
  t.match(waits()[0], /^80\.\d+: Retry-After of key free-1$/);
  t.equal(after.afterRetryAfter?.outcome.status, 200);
  t.equal(after.afterReset?.outcome.status, 200);
  t.strictSame(broken, [], 'a ban that the burst earned may end beyond the minute');
});

t.test('a ban that the burst earned is waited out before Reset is taken at its word', async (t) => {
  const { window, probe, waits } = await filled(told(200, 2, 60), told(429, 0, 60, 60), told(429, 0, 60, 90));
  if (window.refusal === undefined) throw new Error('nothing was refused');
  const after = await afterRefusal(probe, key, window.refusal, window.refusals);
  t.match(waits(), [/^90\.\d+: Retry-After of key free-1$/]);
  t.equal(after.afterReset?.outcome.status, 200);
});

t.test('a Reset that passes while the refusal is on its way is taken at its word', async (t) => {
  const { window, probe, waits } = await filled(told(200, 2, 60), told(429, 0, 0, 20));
  if (window.refusal === undefined) throw new Error('nothing was refused');
  const slow = { ...window.refusal, receivedAt: NOON + 1500 };
  await afterRefusal(probe, key, slow, [slow]);
  t.match(waits()[0], /X-RateLimit-Reset of key free-1$/);
});

t.test('the first refusal tells of the minute', async (t) => {
  const { broken } = await filled(told(200, 2, 60), dated(told(429, 0, 90, 80)), dated(told(429, 0, 90, 80)));
  t.strictSame(broken, ['rate-reset-value']);
});

t.test('a ban that overtook the refusal that led to it is not taken for the first refusal', async (t) => {
  const { window } = await filled(told(200, 2, 60), told(403, 0, 60), told(429, 0, 60, 20));
  t.equal(window.refusal?.outcome.status, 429);
  t.equal(window.refusals.length, 2);
});

t.test('quota that another scene saw coming back bit by bit did not come back at once', async (t) => {
  const { run } = testRun(
    (_request, number) =>
      [told(429, 0, 60, 60), told(200, 0, 61), told(200, 2, 120)][number - 1] ?? told(429, 0, 60),
    { keys: [key], permissions: new Set(['exhaust'] as const) },
  );
  const probe = run.probe('minute:free-1');
  const refusal = await probe.attempt(listPets({ limit: 1 }), key);
  if (!isAnswered(refusal)) throw new Error('nothing was refused');
  await run.probe('ban:free-2').attempt(listPets({ limit: 1 }), key);
  const after = await afterRefusal(probe, key, refusal, [refusal]);
  t.match(after.afterReset, { outcome: { status: 200 } }, 'the whole quota was there');
  t.equal(isRefilling(after.refill), true);
});
