/** Sections 7 and 8: the time to wait, as Retry-After and X-RateLimit-Reset of a refusal tell it. */
import type { Check, GapObserver } from '../../run/check.ts';
import { MINUTE } from '../../run/key-pool.ts';
import type { Probe } from '../../run/probe.ts';
import type { AnsweredExchange } from '../../wire/exchange.ts';
import { described } from '../../wire/pets.ts';
import { type RetryAfter, rateReading, retryAfter } from '../../wire/rate-headers.ts';
import { banKey, banOf } from '../ban/measurement.ts';
import { first, forEveryKey, mayBan, measurements, refusedOtherwise } from './measurements.ts';
import { exceededWindow, toldWait } from './told-time.ts';

/**
 * What is wrong with a Retry-After as a time to wait; undefined where nothing is.
 *
 * @param window that was exceeded, in milliseconds
 * @param longest wait that makes sense, in milliseconds
 */
function unreadableWait(
  told: RetryAfter,
  refusal: AnsweredExchange,
  window: number,
  longest: number,
  probe: Probe,
): string | undefined {
  if (told.kind === 'absent') return undefined;
  if (told.kind === 'unreadable') return `Retry-After: ${told.text}`;
  const tooLong = `Retry-After: ${told.text}, for a window of a ${window === MINUTE ? 'minute' : 'day'}`;
  if (told.kind === 'delay') {
    if (told.milliseconds <= 0) return `Retry-After: ${told.text}, which is no time to wait`;
    return told.milliseconds > longest ? tooLong : undefined;
  }
  const now = probe.targetClock.at(refusal.receivedAt);
  const asked = probe.targetClock.at(refusal.sentAt);
  if (now === undefined || asked === undefined) return undefined;
  // The answer may have been under way for long: what lay ahead when it was made may be past when it arrives.
  if (told.time < asked.earliest - 1000) return `Retry-After: ${told.text}, which is past`;
  return told.time > now.latest + longest ? tooLong : undefined;
}

export const resetTrue: Check = {
  // 8: at the time in X-RateLimit-Reset the limit resets.
  id: 'rate-reset-true',
  permit: 'exhaust',
  run: forEveryKey((measurement, judge) => {
    const { afterReset, key } = measurement;
    const refusal = first(measurement)?.refusal;
    if (afterReset === undefined) {
      if (refusal === undefined) judge.unsettled(`key ${key.name} was refused nothing`);
      else if (rateReading(refusal).limit !== key.limits.perMinute)
        judge.notApplicable('the headers do not describe the minute');
      else
        judge.unsettled(
          `X-RateLimit-Reset of the refusal could not be waited for (see rate-reset-value)`,
          refusal,
        );
      return;
    }
    const otherwise = refusedOtherwise(measurement, afterReset);
    if (afterReset.admitted) judge.holds(afterReset.exchange, ...(refusal === undefined ? [] : [refusal]));
    else if (otherwise !== undefined) judge.unsettled(otherwise, afterReset.exchange);
    else
      judge.breaks(
        {
          expected: 'a request admitted once X-RateLimit-Reset has passed',
          actual: described(afterReset.exchange),
        },
        afterReset.exchange,
        ...(refusal === undefined ? [] : [refusal]),
      );
  }),
};

export const retryAfterChecks: readonly Check[] = [
  {
    // 7, 8: the time to wait is given in Retry-After.
    id: 'retry-after-present',
    observe(exchange, judge) {
      if (exchange.outcome.status !== 429) return;
      if (retryAfter(exchange.outcome.headers, 60).kind === 'absent')
        judge.breaks({ expected: 'Retry-After on a 429', actual: 'none' }, exchange);
      else judge.holds(exchange);
    },
  },
  {
    // 8: a time to wait: neither none at all nor unreadable nor out of all proportion to the window.
    id: 'retry-after-readable',
    permit: 'exhaust',
    async run(probe, judge) {
      const refused = (await measurements(probe)).flatMap(({ key, windows, next }) =>
        // "Of the order of the window" leaves room for a generous target, not for another unit.
        [...windows, ...next].map(({ refusal }) => ({ key, refusal, windows: 10 })),
      );
      if (mayBan(probe)) {
        const { key, refusals } = await probe.play(banOf(banKey(probe)));
        // Several in flight together may be a ban's before the limit's: how long a ban lasts is not shown.
        refused.push(...refusals.map((refusal) => ({ key, refusal, windows: Number.POSITIVE_INFINITY })));
      }
      for (const { key, refusal, windows } of refused) {
        if (refusal?.outcome.status !== 429) continue;
        const window = exceededWindow(rateReading(refusal), key.limits);
        const told = toldWait(refusal, key.limits);
        const problem = unreadableWait(told, refusal, window, windows * window, probe);
        if (problem !== undefined)
          judge.breaks(
            {
              expected: `a number or a date that lies ahead, of the order of a ${window === MINUTE ? 'minute' : 'day'}`,
              actual: problem,
            },
            refusal,
          );
        else if (told.kind !== 'absent') judge.holds(refusal);
      }
    },
  },
  {
    // 8: the client waits for the time indicated, and then retries.
    id: 'retry-after-honest',
    permit: 'exhaust',
    run: forEveryKey((measurement, judge) => {
      const { afterRetryAfter, told, key } = measurement;
      const refusal = first(measurement)?.refusal;
      const evidence = refusal === undefined ? [] : [refusal];
      if (afterRetryAfter === undefined)
        return judge.unsettled(
          `key ${key.name}: no Retry-After that can be waited for (see retry-after-readable)`,
          ...evidence,
        );
      const otherwise = refusedOtherwise(measurement, afterRetryAfter);
      if (afterRetryAfter.admitted) judge.holds(afterRetryAfter.exchange, ...evidence);
      else if (otherwise !== undefined) judge.unsettled(otherwise, afterRetryAfter.exchange);
      else
        judge.breaks(
          {
            expected: `a request admitted after Retry-After: ${told.kind === 'absent' ? '' : told.text}`,
            actual: described(afterRetryAfter.exchange),
          },
          afterRetryAfter.exchange,
          ...evidence,
        );
    }),
  },
];

export const retryAfterFormat: GapObserver = {
  id: 'retry-after-format',
  permit: 'exhaust',
  async run(probe) {
    const measured = (await measurements(probe)).find(
      ({ told }) => told.kind === 'delay' || told.kind === 'date',
    );
    if (measured === undefined || (measured.told.kind !== 'delay' && measured.told.kind !== 'date'))
      return undefined;
    const refusal = first(measured)?.refusal;
    return {
      answer: measured.told.format,
      detail: `Retry-After: ${measured.told.text}`,
      evidence: refusal === undefined ? [] : [refusal],
    };
  },
};
