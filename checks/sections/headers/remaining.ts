/** Section 8: X-RateLimit-Remaining as requests are spent, and when none is left. */

import { judgeRemaining } from '../../limits/remaining-arithmetic.ts';
import type { Check, Judge } from '../../run/check.ts';
import { rateReading } from '../../wire/rate-headers.ts';
import { evidenceOf, forEveryKey, measurements } from '../minute/measurements.ts';
import type { FilledWindow } from '../minute/window-filling.ts';

/** A window that was counted exactly, and gave nothing back, shows every value from the limit less one down to 0 once. */
function judgeValues(window: FilledWindow, perMinute: number, judge: Judge): void {
  const { admitted, verdict } = window.count;
  if (verdict.kind !== 'exact' || admitted.length !== perMinute) return;
  if (admitted.some(({ limit, reset }) => limit !== perMinute || reset !== admitted[0]?.reset)) return;
  const values = new Set(admitted.flatMap(({ remaining }) => remaining ?? []));
  if (values.has(0) && values.size >= perMinute - 1) return judge.holds(...evidenceOf(window));
  judge.breaks(
    {
      expected: `${perMinute} requests that leave ${perMinute - 1} down to 0`,
      actual: `they left ${values.size} different values, the lowest ${Math.min(...values)}`,
    },
    ...evidenceOf(window),
  );
}

export const remainingFalls: Check = {
  // 8: requests left in the current window; every admitted request of any operation takes one.
  id: 'rate-remaining-falls',
  async afterwards(probe, judge) {
    if (!probe.permits('exhaust')) return;
    // The first window of each key, and the next.
    for (const { key, windows, next, refilling } of await measurements(probe)) {
      if (refilling !== false) continue;
      for (const window of [...windows.slice(0, 1), ...next])
        judgeValues(window, key.limits.perMinute, judge);
    }
  },
  conclude(history, judge) {
    for (const key of history.keys) {
      const readings = history.readings
        .filter((reading) => reading.key === key.name)
        .sort((a, b) => a.sentAt - b.sentAt);
      const verdict = judgeRemaining(readings, key.limits.perMinute, key.limits.perDay);
      // What another run spent a day ago comes back where a day looks back at it: its reset moves on.
      const ofDay = readings.filter(({ limit }) => limit === key.limits.perDay);
      const looksBack = new Set(ofDay.map(({ reset }) => reset)).size > 1;
      if (
        verdict.kind === 'broken' &&
        looksBack &&
        verdict.readings.every((reading) => ofDay.includes(reading))
      )
        judge.unsettled(`key ${key.name}: its day seems to look back, over what another run spent`);
      else if (verdict.kind === 'broken') {
        judge.breaks(verdict, ...verdict.readings.flatMap(({ id }) => history.find(id) ?? []));
      } else if (verdict.kind === 'disturbed') judge.unsettled(`key ${key.name}: ${verdict.reason}`);
      else if (verdict.kind === 'falls')
        judge.holds(...readings.slice(0, 2).flatMap(({ id }) => history.find(id) ?? []));
    }
  },
};

export const remainingExhausted: Check = {
  // 8: requests left in the current window: none, when a request was refused for the minute.
  id: 'rate-remaining-exhausted',
  permit: 'exhaust',
  run: forEveryKey(({ windows, key }, judge) => {
    for (const { refusal } of windows) {
      if (refusal?.outcome.status !== 429) continue;
      const { limit, remaining } = rateReading(refusal);
      if (limit !== key.limits.perMinute || remaining === undefined)
        judge.notApplicable('the headers of the refusal do not describe the minute');
      else if (remaining === 0) judge.holds(refusal);
      else
        judge.breaks(
          {
            expected: 'X-RateLimit-Remaining: 0 when refused',
            actual: `X-RateLimit-Remaining: ${remaining}`,
          },
          refusal,
        );
    }
  }),
};
