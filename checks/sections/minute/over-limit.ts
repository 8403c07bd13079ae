/** Section 8: a request over the limit is refused with 429, and has no effect. */

import type { WindowCount } from '../../limits/window-count.ts';
import type { Check, Judge } from '../../run/check.ts';
import type { Key } from '../../run/key-pool.ts';
import type { Probe } from '../../run/probe.ts';
import type { AnsweredExchange } from '../../wire/exchange.ts';
import { described } from '../../wire/pets.ts';
import { storedThoughRefused } from '../add/refused-additions.ts';
import { banKey, banOf } from '../ban/measurement.ts';
import { mayBan, measurements } from './measurements.ts';

/** 401 and 403 for a valid key are the forms of a ban beside 429. */
const bansKey = ({ outcome }: AnsweredExchange) => outcome.status === 401 || outcome.status === 403;

function judgeRefusal(refusal: AnsweredExchange, judge: Judge): void {
  if (refusal.outcome.status === 429) judge.holds(refusal);
  else judge.breaks({ expected: '429 for a request over the limit', actual: described(refusal) }, refusal);
}

/** What another check asked on the key, and was refused as it should be, before the key was banned for it. */
function refusedMeanwhile(probe: Probe, key: Key, { admitted }: WindowCount, refusal: AnsweredExchange) {
  return probe
    .readingsOf(key, admitted[0]?.sentAt)
    .find(
      ({ id, status, sentAt }) => status === 429 && sentAt <= refusal.receivedAt && !id.startsWith('minute:'),
    );
}

export const overLimitChecks: readonly Check[] = [
  {
    // 8: a request over the limit receives 429 Too Many Requests; one key each tries another operation.
    id: 'rate-refused-429',
    permit: 'exhaust',
    async run(probe, judge) {
      const measured = await measurements(probe);
      for (const { windows, next, key } of measured) {
        // Whoever refuses so does it every time; one window may have been the network's doing.
        const closes = windows.length > 1 && windows.every(({ closed }) => closed !== undefined);
        for (const { refusal, servedOver, closed, count } of [...windows, ...next]) {
          if (refusal !== undefined && bansKey(refusal)) {
            // Refused before the limit, and not for it: somebody else may have earned the key a ban.
            if (count.verdict.kind === 'fewer') {
              judge.unsettled(`key ${key.name} was refused altogether before its limit`, refusal);
              continue;
            }
            const refused = refusedMeanwhile(probe, key, count, refusal);
            if (refused !== undefined) {
              judge.holds(probe.find(refused.id) ?? refusal);
              continue;
            }
          }
          if (servedOver !== undefined)
            judge.breaks(
              { expected: '429 for a request over the limit', actual: described(servedOver) },
              servedOver,
            );
          if (closed !== undefined) {
            const message = closed.outcome.kind === 'failure' ? closed.outcome.message : 'no answer';
            if (closes)
              judge.breaks(
                {
                  expected: '429 for a request over the limit',
                  actual: `${message}, at the end of each window`,
                },
                closed,
              );
            else judge.unsettled(`${message} at the limit of key ${key.name}, in one window`, closed);
          } else if (refusal === undefined) judge.unsettled(`key ${key.name} was refused nothing`);
          else judgeRefusal(refusal, judge);
        }
      }
      if (!mayBan(probe)) return;
      // On the key that may be banned, every operation is refused several times.
      const { refusals, served, servedBeyondRefill } = await probe.play(banOf(banKey(probe)));
      for (const refusal of refusals) judgeRefusal(refusal, judge);
      const givesBackAtOnce = measured.every(({ refilling }) => refilling === false);
      for (const exchange of givesBackAtOnce ? served : servedBeyondRefill) {
        judge.breaks(
          {
            expected: '429 for a request over the limit',
            actual: `${described(exchange)}, between two refusals of the same window`,
          },
          exchange,
        );
      }
    },
  },
  {
    // 8: a refused request is to be sent again, so it has had no effect.
    id: 'rate-refused-adds-nothing',
    permit: 'exhaust',
    async run(probe) {
      await measurements(probe);
    },
    conclude: storedThoughRefused(429, 'no addition was refused with 429'),
  },
];
