/** Section 8: a request over the limit is refused with 429, and has no effect. */

import { type Check, check, type Judge } from '../../run/check.ts';
import type { Trace } from '../../run/trace.ts';
import type { AnsweredExchange, Exchange } from '../../wire/exchange.ts';
import { described } from '../../wire/pets.ts';
import { storedThoughRefused } from '../add/refused-additions.ts';
import { judgeAnswer } from '../answers.ts';
import { refusesKey } from './admitted.ts';
import { banOf, givesBackGradually, measurements, minutesAndBan } from './measurements.ts';
import { type MinuteMeasurement, minute } from './scenes.ts';
import type { FilledWindow } from './window-filling.ts';

const REFUSED = '429 for a request over the limit';

const judgeRefusal = (refusal: AnsweredExchange, judge: Judge) =>
  judgeAnswer(judge, refusal.outcome.status === 429, REFUSED, refusal);

/** A request of another scene on the key that was correctly refused before the key was banned. */
function refusedMeanwhile(
  { key }: MinuteMeasurement,
  { count, refusal }: FilledWindow,
  trace: Trace,
): Exchange | undefined {
  const meanwhile = trace
    .readingsOf(key, count.admitted[0]?.sentAt)
    .find(
      ({ id, status, sentAt }) =>
        status === 429 && sentAt <= (refusal?.receivedAt ?? 0) && !id.startsWith('minute:'),
    );
  return meanwhile === undefined ? undefined : (trace.find(meanwhile.id) ?? refusal);
}

function judgeLimit(measurement: MinuteMeasurement, window: FilledWindow, judge: Judge, trace: Trace): void {
  const { key, windows } = measurement;
  const { refusal, servedOver, closed, count } = window;
  if (refusal !== undefined && refusesKey(refusal)) {
    // Refused before the limit, so not because of it: another client may have caused a ban.
    if (count.verdict.kind === 'fewer')
      return judge.unsettled(`key ${key.name} was always refused, even before its limit`, refusal);
    const refused = refusedMeanwhile(measurement, window, trace);
    if (refused !== undefined) return judge.holds(refused);
  }
  if (servedOver !== undefined) judgeRefusal(servedOver, judge);
  if (closed !== undefined) {
    const message = closed.outcome.kind === 'failure' ? closed.outcome.message : 'no answer';
    // A target that refuses by closing does so every time; a single window may be the network's fault.
    if (windows.length > 1 && windows.every((other) => other.closed !== undefined))
      judge.breaks({ expected: REFUSED, actual: `${message}, at the end of each window` }, closed);
    else judge.unsettled(`${message} at the limit of key ${key.name}, in one window`, closed);
  } else if (refusal === undefined) judge.unsettled(`no request of key ${key.name} was refused`);
  else judgeRefusal(refusal, judge);
}

export const overLimitChecks: readonly Check[] = [
  // 8: a request over the limit receives 429 Too Many Requests; each key tries a different operation.
  check('rate-refused-429', { needs: minutesAndBan }, ({ minutes, bans }, judge, trace) => {
    const measured = measurements(minutes);
    for (const measurement of measured)
      for (const window of [...measurement.windows, ...measurement.next])
        judgeLimit(measurement, window, judge, trace);
    // On the key that may be banned, each operation is tried several times.
    const { refusals = [], served = [], servedBeyondRefill = [] } = banOf(bans, trace) ?? {};
    for (const refusal of refusals) judgeRefusal(refusal, judge);
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
      needs: { minutes: minute },
      permit: 'exhaust',
      conclude: storedThoughRefused(429, 'no addition was refused with 429'),
    },
    ({ minutes }) => {
      measurements(minutes);
    },
  ),
];
