/**
 * Sections 5 and 8: a key that keeps sending after a 429 may be banned for a time. Only a key with the role ban is
 * driven there, after everything else on it is done.
 */

import { judgeRemaining } from '../../limits/remaining-arithmetic.ts';
import type { WindowCount } from '../../limits/window-count.ts';
import { type Check, type GapAnswer, type GapObserver, type Judge, Unsettled } from '../../run/check.ts';
import { type Key, SECOND } from '../../run/key-pool.ts';
import type { Probe } from '../../run/probe.ts';
import type { AnsweredExchange, Exchange } from '../../wire/exchange.ts';
import { bodyOf, described } from '../../wire/pets.ts';
import { schemaProblem } from '../../wire/schema.ts';
import { inWords, missingRateHeaders } from '../headers/checks.ts';
import { otherKeys } from '../keys/other-keys.ts';
import { isAdmitted } from '../minute/admitted.ts';
import { exhaustKeys, minuteScenes } from '../minute/scenes.ts';
import { tellsDay } from '../minute/told-time.ts';
import type { FilledWindow } from '../minute/window-filling.ts';
import { answersOtherwise } from './answers.ts';
import { type Ban, type BanMeasurement, banKey, banOf } from './measurement.ts';

/** Refused as only a ban refuses, below the limit, and nobody else on the key who could have earned it. */
function earnedNothing(refusal: AnsweredExchange, { verdict }: WindowCount): boolean {
  const { status } = refusal.outcome;
  if (status !== 401 && status !== 403) return false;
  return (
    verdict.kind === 'exact' || (verdict.kind === 'fewer' && verdict.before === 0 && verdict.between === 0)
  );
}

/** Any sign in the run that somebody else sends requests on a key. */
function othersSpend(probe: Probe, key: Key, windows: readonly FilledWindow[]): boolean {
  const fellShort = windows.some(({ count }) => count.verdict.kind === 'fewer');
  return (
    fellShort ||
    judgeRemaining(probe.readingsOf(key), key.limits.perMinute, key.limits.perDay).kind === 'disturbed'
  );
}

/** Runs a judgement of the ban, where one was seen; none at all conforms, since the document says "may". */
function ofBan(judgeBan: (ban: Ban, judge: Judge, measurement: BanMeasurement) => void) {
  return async (probe: Probe, judge: Judge) => {
    const measurement = await probe.play(banOf(banKey(probe)));
    if (measurement.ban === undefined) judge.notApplicable('no ban was seen');
    else judgeBan(measurement.ban, judge, measurement);
  };
}

const tooSlow = ({ refusals }: BanMeasurement) =>
  `the target was too slow to be sent more than ${refusals.length} requests over the limit in time: a ban may begin later`;

const evidence = (...exchanges: (Exchange | undefined)[]) =>
  exchanges.filter((exchange) => exchange !== undefined);

export const banChecks: readonly Check[] = [
  {
    // 8: continuing to send requests after a 429 may lead to a temporary ban.
    id: 'ban-provoked',
    permit: 'ban',
    async run(probe, judge) {
      const measurement = await probe.play(banOf(banKey(probe)));
      const { ban, refusals, count, key } = measurement;
      if (count.verdict.kind === 'more') judge.notApplicable(`key ${key.name} was not held to its limit`);
      if (ban === undefined && !measurement.enough) judge.unsettled(tooSlow(measurement));
      else if (ban === undefined)
        judge.notApplicable(`no ban was seen after ${refusals.length} requests over the limit`);
      else judge.holds(ban.answer);
    },
  },
  {
    // 8: the ban is for going on after a 429; a client that waits as told has done nothing to be banned for.
    id: 'ban-spares-polite',
    permit: 'exhaust',
    async run(probe, judge) {
      const keys = exhaustKeys(probe);
      if (keys.length === 0) throw new Unsettled('no usable key has the role exhaust');
      for (const { scene, key } of minuteScenes(probe)) {
        const { windows, afterRetryAfter, afterReset } = await probe.play(scene);
        const retry = afterRetryAfter ?? afterReset;
        const [window] = windows;
        if (window?.refusal !== undefined && earnedNothing(window.refusal, window.count)) {
          judge.breaks(
            { expected: 'no ban for a key that was never refused before', actual: described(window.refusal) },
            window.refusal,
          );
          continue;
        }
        const refusal = windows[0]?.refusal;
        if (retry === undefined || refusal === undefined)
          judge.unsettled(`key ${key.name} was not refused, or not told how long to wait`);
        else if (retry.admitted) judge.holds(retry.exchange, refusal);
        else if (tellsDay(retry.exchange, key.limits))
          judge.unsettled(`nothing is left of the day of key ${key.name}`, retry.exchange);
        else if (answersOtherwise(retry.exchange, refusal) && othersSpend(probe, key, windows)) {
          judge.unsettled(
            `somebody else seems to spend key ${key.name}, and may have earned its ban`,
            retry.exchange,
          );
        } else if (
          answersOtherwise(retry.exchange, refusal) &&
          windows.some(({ refusals }) => refusals.length > 1)
        ) {
          judge.unsettled(
            `key ${key.name} had several requests in flight when it was refused, which may earn a ban`,
            retry.exchange,
          );
        } else if (answersOtherwise(retry.exchange, refusal)) {
          judge.breaks(
            { expected: 'no ban for a client that waited as told', actual: described(retry.exchange) },
            retry.exchange,
            refusal,
          );
        } else
          judge.unsettled(
            `key ${key.name} was refused after it had waited (see retry-after-honest)`,
            retry.exchange,
          );
      }
    },
  },
  {
    // 7: the response to a banned key is an error response.
    id: 'ban-error-body',
    permit: 'ban',
    run: ofBan(({ answers }, judge) => {
      for (const exchange of answers) {
        const body = bodyOf(exchange);
        const problem = body.ok ? schemaProblem.error(body.value) : `${described(exchange)}: ${body.problem}`;
        if (problem === undefined) judge.holds(exchange);
        else judge.breaks({ expected: 'an Error body', actual: problem }, exchange);
      }
    }),
  },
  {
    // 8: the rate limit headers are present on every response.
    id: 'ban-rate-headers',
    permit: 'ban',
    run: ofBan(({ answers }, judge) => {
      for (const exchange of answers) {
        const missing = missingRateHeaders(exchange);
        if (missing.length === 0) judge.holds(exchange);
        else judge.breaks({ expected: 'the three rate headers', actual: inWords(missing) }, exchange);
      }
    }),
  },
  {
    // 8: a temporary ban.
    id: 'ban-ends',
    permit: 'ban',
    run: ofBan(({ servedAgain, notWaited, answers, answer: first }, judge, { count, key }) => {
      if (servedAgain !== undefined) judge.holds(servedAgain, first);
      else if (notWaited !== undefined) judge.unsettled(notWaited, first);
      else if (count.verdict.kind === 'fewer')
        judge.unsettled(`somebody else seems to spend key ${key.name}, which prolongs its ban`, first);
      else
        judge.breaks(
          {
            expected: 'a ban that ends',
            actual: `still ${described(answers.at(-1) ?? first)} after ${Math.round(((answers.at(-1) ?? first).receivedAt - first.receivedAt) / SECOND)} seconds`,
          },
          ...evidence(answers.at(-1), first),
        );
    }),
  },
  {
    // 8: where the ban tells the time to wait, that is when it ends.
    id: 'ban-ends-as-told',
    permit: 'ban',
    run: ofBan(({ toldEnd: told, atEnd, notWaited, answer: first }, judge, { count, key }) => {
      if (told === undefined) judge.notApplicable('the ban does not tell when it ends');
      else if (atEnd === undefined) judge.unsettled(notWaited ?? 'the end was not waited for', first);
      else if (isAdmitted(atEnd)) judge.holds(atEnd, first);
      else if (count.verdict.kind === 'fewer')
        judge.unsettled(`somebody else seems to spend key ${key.name}, which prolongs its ban`, atEnd);
      else
        judge.breaks(
          {
            expected: 'a request admitted after the time that the ban told, and after the window',
            actual: described(atEnd),
          },
          atEnd,
          first,
        );
    }),
  },
  {
    // 8: a temporary ban on the API key, so on no other.
    id: 'ban-other-keys',
    permit: 'ban',
    // One of the same plan, and one of another.
    spends: { requests: 2 },
    async run(probe, judge) {
      const { ban, others, key } = await probe.play(banOf(banKey(probe)));
      for (const other of others.filter(({ banned }) => banned)) {
        judge.breaks(
          {
            expected: `key ${other.key.name} served, whatever key ${key.name} did`,
            actual: described(other.exchange),
          },
          other.exchange,
          ...evidence(ban?.answer),
        );
      }
      if (ban === undefined) judge.notApplicable('no ban was seen');
      else if (others.length === 0)
        judge.unsettled(
          otherKeys(probe, key).length > 0
            ? 'every other key was over its own limit meanwhile'
            : 'needs a second key with the role functional',
        );
      else for (const { exchange, banned } of others) if (!banned) judge.holds(exchange, ban.answer);
    },
  },
];

function noBanSeen(measurement: BanMeasurement): GapAnswer {
  const { refusals, enough } = measurement;
  if (!enough) throw new Unsettled(tooSlow(measurement));
  return {
    answer: 'no-ban-seen',
    detail: `none after ${refusals.length} requests over the limit`,
    evidence: refusals.slice(-1),
  };
}

export const banGaps: readonly GapObserver[] = [
  {
    id: 'ban-answer',
    permit: 'ban',
    async run(probe) {
      const measurement = await probe.play(banOf(banKey(probe)));
      const { ban } = measurement;
      return ban === undefined
        ? noBanSeen(measurement)
        : {
            answer: `banned-${ban.answer.outcome.status}`,
            detail: described(ban.answer),
            evidence: [ban.answer],
          };
    },
  },
  {
    id: 'ban-threshold',
    permit: 'ban',
    async run(probe) {
      const measurement = await probe.play(banOf(banKey(probe)));
      const { ban } = measurement;
      return ban === undefined
        ? noBanSeen(measurement)
        : {
            answer: `${ban.after}`,
            detail: `the ban showed with the ${ban.after}th request over the limit`,
            evidence: [ban.answer],
          };
    },
  },
  {
    id: 'ban-duration',
    permit: 'ban',
    async run(probe) {
      const measurement = await probe.play(banOf(banKey(probe)));
      const { ban } = measurement;
      if (ban === undefined) return noBanSeen(measurement);
      if (ban.toldEnd === undefined)
        return { answer: 'not-told', detail: 'the ban does not tell when it ends', evidence: [ban.answer] };
      const seconds = Math.round((ban.toldEnd - ban.answer.receivedAt) / SECOND);
      return {
        answer: `${seconds}-seconds`,
        detail: `the ban says that it lasts ${seconds} seconds`,
        evidence: [ban.answer],
      };
    },
  },
];
