/** The gaps about bans: how a ban is answered, when it begins, how long it lasts. */

import { SECOND } from '../../limits/time.ts';
import { type GapAnswer, type GapObserver, gap } from '../../run/check.ts';
import { Inconclusive } from '../../run/inconclusive.ts';
import { described } from '../../wire/pets.ts';
import { ban } from './ban.ts';
import { tooSlow } from './ban-checks.ts';
import { type Ban, type BanReading, theBan } from './ban-reading.ts';

function noBanSeen(reading: BanReading): GapAnswer {
  const { refusals, enough } = reading;
  if (!enough) throw new Inconclusive(tooSlow(reading));
  return {
    answer: 'no-ban-seen',
    detail: `none after ${refusals.length} requests over the limit`,
    evidence: refusals.slice(-1),
  };
}

/** Defines a gap that is answered by the first answer of a ban. */
const banGap = (
  id: string,
  answerOf: (ban: Ban, reading: BanReading) => Pick<GapAnswer, 'answer' | 'detail'>,
): GapObserver =>
  gap(id, { permit: 'ban', scenes: [ban] }, (seen) => {
    const reading = theBan(seen.on(ban), seen.trace);
    return reading.ban === undefined
      ? noBanSeen(reading)
      : { ...answerOf(reading.ban, reading), evidence: [reading.ban.answer] };
  });

export const banGaps: readonly GapObserver[] = [
  banGap('ban-answer', ({ answer }) => ({
    answer: `banned-${answer.outcome.status}`,
    detail: described(answer),
  })),
  banGap('ban-threshold', ({ after }) => ({
    answer: `${after}`,
    detail: `the ban began with request ${after} over the limit`,
  })),
  banGap('ban-duration', ({ answer, toldEnd }, { bans }) => {
    if (bans.length === 0)
      return { answer: 'not-told', detail: 'the ban shows only because it outlasts the window' };
    if (toldEnd === undefined) return { answer: 'not-told', detail: 'the ban does not tell when it ends' };
    const seconds = Math.round((toldEnd - answer.receivedAt) / SECOND);
    return { answer: `${seconds}-seconds`, detail: `the ban says that it lasts ${seconds} seconds` };
  }),
];
