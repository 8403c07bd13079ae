/** Sections 5, 7 and 8: a temporary ban of a key that keeps sending after a 429; how it is answered, begins and lasts. */

import { judgeRemaining } from '../../limits/remaining-arithmetic.ts';
import { DAY, SECOND } from '../../limits/time.ts';
import { clockDoubt, isForDay, toldDate, toldWait } from '../../limits/told-time.ts';
import type { WindowCount } from '../../limits/window-count.ts';
import { type Key, otherKeys } from '../../profile/key.ts';
import {
  type Check,
  check,
  type GapAnswer,
  type GapObserver,
  gap,
  type Judge,
  judgeExchange,
  type Seen,
} from '../../run/check.ts';
import { daySpent, Inconclusive, notTold } from '../../run/reason.ts';
import { playedOn } from '../../run/scene.ts';
import type { Trace } from '../../run/trace.ts';
import type { AnsweredExchange } from '../../wire/exchange.ts';
import { described } from '../../wire/pets.ts';
import { retryAfter } from '../../wire/rate-headers.ts';
import { missingFromAnswer } from '../answers/rate-headers.ts';
import { errorBodyViolation, judgeAnswer } from '../answers.ts';
import { ban } from './ban.ts';
import { answersOtherwise, type Ban, type BanReading, readBan } from './ban-reading.ts';
import { admittedOn, isAdmitted, neverRefused, refusesKey } from './key-spending.ts';
import { banOf, checkOfKeys, hitByBan, interference, lostBefore, lostFirst } from './measurements.ts';
import { type MinuteMeasurement, minute } from './minute.ts';

/** Whether a refusal below the limit can only be a ban, and no other client can have caused it. */
function earnedNothing(refusal: AnsweredExchange, { verdict }: WindowCount): boolean {
  const isUndisturbed = verdict.kind === 'fewer' && verdict.before + verdict.between === 0;
  return refusesKey(refusal) && (verdict.kind === 'exact' || isUndisturbed);
}

/** Judges the answers to a client that waited as its first refusal asked. */
function judgePolite({ key, windows, after }: MinuteMeasurement, judge: Judge, seen: Seen): void {
  const { trace } = seen;
  const { refusal, count, lost } = windows[0];
  const unseen = refusal && lostBefore(refusal, trace);
  if (refusal !== undefined && lost === undefined && unseen === undefined && earnedNothing(refusal, count))
    return judge.breaks(
      { expected: 'no ban for a key that was never refused before', actual: described(refusal) },
      refusal,
    );
  const retry = after?.afterRetryAfter ?? after?.afterReset;
  if (refusal === undefined) return judge.inconclusive(neverRefused(key));
  if (after === undefined || retry === undefined)
    return judge.inconclusive(
      notTold(`key ${key.name} was not told how long to wait`, 'retry-after-present', 'retry-after-readable'),
    );
  if (isAdmitted(retry)) return judge.holds(retry, refusal);
  const spread = hitByBan(retry, seen);
  if (spread !== undefined) return judge.inconclusive(spread, retry);
  if (isForDay(trace, retry, key.limits)) return judge.inconclusive(daySpent(trace, retry), retry);
  if (!answersOtherwise(retry, refusal))
    return judge.inconclusive(
      notTold(`key ${key.name} was refused after it had waited`, 'retry-after-honest'),
      retry,
    );
  if (unseen !== undefined) return judge.inconclusive(lostFirst(refusal), unseen, retry);
  const doubt = clockDoubt(trace, toldDate(toldWait(after.obeyed, key.limits)), after.obeyed, retry);
  if (doubt !== undefined) return judge.inconclusive(doubt, retry);
  const fellShort = windows.some(({ count }) => count.verdict.kind === 'fewer');
  if (fellShort || judgeRemaining(trace.readingsOf(key), key.limits).kind === 'disturbed')
    return judge.inconclusive(
      interference(key, `key ${key.name} was banned although it had waited as told`),
      retry,
    );
  if (windows.some(({ refusals }) => refusals.length > 1))
    return judge.inconclusive(
      `key ${key.name} had several requests in flight when it was refused, which may cause a ban`,
      retry,
    );
  judge.breaks(
    { expected: 'no ban for a client that waited as told', actual: described(retry) },
    retry,
    refusal,
  );
}

/** The ban of the one key that may be banned. @throws Inconclusive if there is none */
const theBan = (seen: Seen): BanReading => readBan(playedOn(seen.on(ban))[0], seen.trace);

/** Defines a check on the key that may be banned. */
const banCheck = (
  id: string,
  judgeReading: (reading: BanReading, judge: Judge, trace: Trace) => void,
  options: Pick<Check, 'explainsShortage'> = {},
): Check =>
  check(id, { scenes: [ban], ...options }, (judge, seen) => judgeReading(theBan(seen), judge, seen.trace));

/** Defines a check on the ban, if one was seen; no ban conforms too, since the document says "may". */
const checkOfBan = (
  id: string,
  judgeBan: (seen: Ban, judge: Judge, reading: BanReading, trace: Trace) => void,
): Check =>
  banCheck(id, (reading, judge, trace) => {
    if (reading.ban === undefined) judge.notApplicable('no ban was seen');
    else judgeBan(reading.ban, judge, reading, trace);
  });

/** Whether a key's owner may have withdrawn it, which is "not shown": no ban is answered so, and the key stays out. */
const mayBeWithdrawn = (
  key: Key,
  { outcome, receivedAt }: AnsweredExchange,
  ban: Ban | undefined,
  trace: Trace,
) =>
  outcome.status === 401 &&
  ban?.answer.outcome.status !== 401 &&
  admittedOn(trace, key, receivedAt).length === 0;

/** Says that too few requests over the limit were sent to know whether the target bans. */
const tooSlow = ({ refusals }: BanReading) =>
  `the target was so slow that only ${refusals.length} requests over the limit could be sent: a ban may begin later`;

export const banChecks: readonly Check[] = [
  // 8: continuing to send requests after a 429 may lead to a temporary ban on the API key.
  banCheck('ban-provoked', (reading, judge) => {
    const { ban, refusals, count, key, enough } = reading;
    if (count.verdict.kind === 'more') judge.notApplicable(`key ${key.name} was not held to its limit`);
    if (ban !== undefined) judge.holds(ban.answer);
    else if (!enough) judge.inconclusive(tooSlow(reading));
    else judge.notApplicable(`no ban was seen after ${refusals.length} requests over the limit`);
  }),
  // 8: only a key that keeps sending after a 429 is banned; a client that waits as told does not keep sending.
  checkOfKeys('ban-spares-polite', minute, judgePolite, { explainsShortage: true }),
  // 7: the response to a banned key is an error response and has an Error body.
  checkOfBan('ban-error-body', ({ answers }, judge) => {
    for (const exchange of answers) judgeExchange(judge, exchange, errorBodyViolation(exchange));
  }),
  // 8: the rate headers are present on the response to a banned key too.
  checkOfBan('ban-rate-headers', ({ answers }, judge) => {
    for (const exchange of answers) judgeExchange(judge, exchange, missingFromAnswer(exchange));
  }),
  // 8: a ban is temporary; where the response to a banned key tells the time to wait, the key is served after it.
  checkOfBan('ban-ends', ({ toldEnd, atEnd, notWaited, answer: first }, judge, reading, trace) => {
    if (atEnd === undefined)
      return judge.inconclusive(notWaited ?? 'the run did not wait for its end', first);
    if (isAdmitted(atEnd)) return judge.holds(atEnd, first);
    const prolonged = `key ${reading.key.name} was still banned after the time that it was told`;
    if (reading.count.verdict.kind === 'fewer')
      return judge.inconclusive(interference(reading.key, prolonged), atEnd);
    const seconds = Math.round((atEnd.receivedAt - first.receivedAt) / SECOND);
    if (toldEnd === undefined)
      return judge.inconclusive(
        `the ban does not tell its end, which had not come after ${seconds} seconds`,
        atEnd,
      );
    const limited = reading.first;
    if (limited !== undefined && answersOtherwise(first, limited) && !answersOtherwise(atEnd, limited))
      return judge.inconclusive(notTold('the rate limit refused it after that', 'retry-after-honest'), atEnd);
    const time = toldDate(retryAfter(first.outcome.headers, DAY / SECOND));
    const doubt = clockDoubt(trace, time, first, atEnd);
    if (doubt !== undefined) return judge.inconclusive(doubt, atEnd);
    const expected = 'a request admitted once the ban’s stated time and the window are over';
    judge.breaks({ expected, actual: described(atEnd) }, atEnd, first);
  }),
  // 8: the ban is on the API key that kept sending, and on no other.
  banCheck(
    'ban-other-keys',
    ({ ban, others, key }, judge, trace) => {
      const evidence = ban === undefined ? [] : [ban.answer];
      for (const { key: other, exchange, banned } of others)
        if (banned && mayBeWithdrawn(other, exchange, ban, trace)) {
          const what = `key ${other.name} is refused with 401 and never let in again, as if it had been withdrawn`;
          judge.inconclusive(what, exchange, ...evidence);
        } else if (banned || ban !== undefined) {
          const expected = `key ${other.name} served, whatever key ${key.name} did`;
          judgeAnswer(judge, !banned, expected, exchange, ...evidence);
        }
      if (ban === undefined) judge.notApplicable('no ban was seen');
      else if (otherKeys(trace.run.keys, key).length === 0)
        judge.inconclusive({ kind: 'no-key', wanted: { role: 'functional', count: 2 } });
      else if (others.length === 0)
        judge.inconclusive('no other key was available: each was over its own limit, or unusable');
    },
    { explainsShortage: true },
  ),
];

/** Ids of the answers that belong to a ban. */
export const bannedAnswers = (seen: Seen): ReadonlySet<string> =>
  new Set(banOf(seen)?.ban?.answers.map(({ id }) => id));

/** Defines a gap that is answered by the first answer of a ban. */
const banGap = (
  id: string,
  answerOf: (ban: Ban, reading: BanReading) => Pick<GapAnswer, 'answer' | 'detail'>,
): GapObserver =>
  gap(id, [ban], (seen) => {
    const reading = theBan(seen);
    const { ban: begun, refusals, enough } = reading;
    if (begun !== undefined) return { ...answerOf(begun, reading), evidence: [begun.answer] };
    if (!enough) throw new Inconclusive(tooSlow(reading));
    const detail = `none after ${refusals.length} requests over the limit`;
    return { answer: 'no-ban-seen', detail, evidence: refusals.slice(-1) };
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
