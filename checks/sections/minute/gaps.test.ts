/** Section 8: what a run shows of what is left open. */
import t from 'tap';
import type { Key } from '../../profile/key.ts';
import { testRun } from '../../run/testing/test-run.ts';
import { listPets } from '../../wire/requests.ts';
import type { AnswerParts } from '../../wire/testing/answered.ts';
import { observed, played } from '../testing/judged.ts';
import { rateLimitGaps } from './gaps.ts';
import { exhaustKey, type Measured, minuteMeasured, telling } from './testing/measured.ts';

const free = exhaustKey();

/** The window that X-RateLimit-Limit speaks of, where the key got these answers. */
async function windowShown(keys: readonly Key[], ...answers: readonly AnswerParts[]) {
  const { run } = testRun((_request, number) => answers[number - 1] ?? {}, { keys });
  const probe = run.probe('shown');
  const [key] = keys;
  for (const _answer of answers) {
    if (key !== undefined) await probe.attempt(listPets(), key);
  }
  return observed(run, rateLimitGaps, 'rate-headers-window');
}

t.test('whether the headers describe the minute or the day', async (t) => {
  const minuteAnswer = telling({ status: 200, limit: 6 });
  const dayAnswer = telling({ status: 200, limit: 1000 });
  t.match(await windowShown([free], minuteAnswer, minuteAnswer), {
    answer: 'minute',
    detail: 'Minute figures in X-RateLimit-Limit',
    evidence: /^shown#1$/,
  });
  t.match(await windowShown([free], dayAnswer), { answer: 'day', evidence: /^shown#1$/ });
  t.match(await windowShown([free], dayAnswer, minuteAnswer), { answer: 'both', evidence: /^shown#1$/ });
  t.equal(await windowShown([free], telling({ status: 200, limit: 7 })), undefined);
  t.equal(await windowShown([free], telling({ status: 200, limit: undefined })), undefined);
  const { run } = testRun(() => dayAnswer, { keys: [free] });
  await run.probe('shown').sendWithoutKey(listPets(), 'none');
  t.equal(await observed(run, rateLimitGaps, 'rate-headers-window'), undefined, 'no caller, no plan');
});

t.test('whether quota comes back at once or bit by bit', async (t) => {
  const kind = async (...measured: readonly Measured[]) => {
    const plans = ['free', 'pro', 'business'] as const;
    const keys = measured.map((_, index) =>
      exhaustKey({ name: `key-${index}`, plan: plans[index] ?? 'free' }),
    );
    const { run } = testRun(() => ({}), { keys, permissions: new Set(['exhaust']) });
    for (const [index, key] of keys.entries())
      await played(run, `minute:${key.name}`, minuteMeasured(key, measured[index]));
    return observed(run, rateLimitGaps, 'rate-window-kind');
  };
  t.match(await kind({ refilling: false }), {
    answer: 'fixed',
    detail: /whole quota/,
    evidence: /^after-retry-after$/,
  });
  t.match(await kind({ refilling: true, afterRetryAfter: undefined }), {
    answer: 'refilling',
    detail: /refilled gradually/,
    evidence: /^after-reset$/,
  });
  t.equal(await kind({ afterRetryAfter: undefined, afterReset: undefined }), undefined);
  t.equal(await kind({ refilling: undefined }), undefined);
  t.match(await kind({ refilling: undefined }, { refilling: true }), { answer: 'refilling' });
});
