/** Section 8: a request over the limit is refused with 429, and has no effect. */

import { type Check, check, type Judge } from '../../run/check.ts';
import type { Trace } from '../../run/trace.ts';
import type { AnsweredExchange } from '../../wire/exchange.ts';
import { described } from '../../wire/pets.ts';
import { storedThoughRefused } from '../animals/refused-additions.ts';
import { judgeAnswer } from '../answers.ts';
import { neverRefused, refusesKey } from './admitted.ts';
import {
  banOf,
  givesBackGradually,
  lostBefore,
  lostFirst,
  measurements,
  minutesAndBan,
} from './measurements.ts';
import { type MinuteMeasurement, minute } from './minute.ts';
import type { FilledWindow } from './window-filling.ts';

const REFUSED = '429 for a request over the limit';

function judgeRefusal(refusal: AnsweredExchange, judge: Judge, trace: Pick<Trace, 'exchanges'>): void {
  const lost = refusesKey(refusal) ? lostBefore(refusal, trace) : undefined;
  if (lost === undefined) return judgeAnswer(judge, refusal.outcome.status === 429, REFUSED, refusal);
  judge.inconclusive(lostFirst(refusal), lost, refusal);
}

function judgeLimit(
  { key, windows }: MinuteMeasurement,
  window: FilledWindow,
  judge: Judge,
  trace: Pick<Trace, 'exchanges'>,
): void {
  const { refusal, servedOver, closed, count } = window;
  // Refused before the limit, so not because of it: another client may have caused a ban.
  if (refusal !== undefined && refusesKey(refusal) && count.verdict.kind === 'fewer')
    return judge.inconclusive(`key ${key.name} was always refused, even before its limit`, refusal);
  if (servedOver !== undefined) judgeRefusal(servedOver, judge, trace);
  if (closed !== undefined) {
    const message = closed.outcome.kind === 'failure' ? closed.outcome.message : 'no answer';
    // A target that refuses by closing does so every time; a single window may be the network's fault.
    if (windows.length > 1 && windows.every((other) => other.closed !== undefined))
      judge.breaks({ expected: REFUSED, actual: `${message}, at the end of each window` }, closed);
    else judge.inconclusive(`${message} at the limit of key ${key.name}, in one window`, closed);
  } else if (refusal === undefined) judge.inconclusive(neverRefused(key));
  else judgeRefusal(refusal, judge, trace);
}

export const overLimitChecks: readonly Check[] = [
  // 8: a request over the limit receives 429 Too Many Requests; each key tries a different operation.
  check('rate-refused-429', minutesAndBan, (judge, seen) => {
    const measured = measurements(seen.on(minute));
    for (const measurement of measured)
      for (const window of [...measurement.windows, ...measurement.next])
        judgeLimit(measurement, window, judge, seen.trace);
    // On the key that may be banned, each operation is tried several times.
    const { refusals = [], served = [], servedBeyondRefill = [] } = banOf(seen) ?? {};
    for (const refusal of refusals) judgeRefusal(refusal, judge, seen.trace);
    const givesBackAtOnce = measured.every((measurement) => givesBackGradually(measurement) === false);
    for (const exchange of givesBackAtOnce ? served : servedBeyondRefill) {
      const actual = `${described(exchange)}, between two refusals of the same window`;
      judge.breaks({ expected: REFUSED, actual }, exchange);
    }
  }),
  // 8: a refused request is to be sent again, so it must have had no effect.
  check(
    'rate-refused-adds-nothing',
    {
      permit: 'exhaust',
      scenes: [minute],
      conclude: storedThoughRefused(429, 'no addition was refused with 429'),
    },
    (_, seen) => {
      measurements(seen.on(minute));
    },
  ),
];
