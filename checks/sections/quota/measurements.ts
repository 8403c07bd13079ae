/** The measured minutes of all keys, for the checks of section 8. */

import { isCustom, planTitle } from '../../../spec/plans.ts';
import { isRefilling, isWithinMinute } from '../../limits/refill.ts';
import { MINUTE, SECOND } from '../../limits/time.ts';
import { isForDay, toldEnd } from '../../limits/told-time.ts';
import type { Key } from '../../profile/key.ts';
import type { PlanName } from '../../profile/target-profile.ts';
import { type Check, check, doneOf, type Judge, type Seen } from '../../run/check.ts';
import { daySpent, notTold, type Reason } from '../../run/reason.ts';
import { type KeyScenes, playedOn } from '../../run/scene.ts';
import type { Trace } from '../../run/trace.ts';
import type { AnsweredExchange, Exchange } from '../../wire/exchange.ts';
import { ban } from './ban.ts';
import { type BanReading, readBan } from './ban-reading.ts';
import { lostOn, refusesKey } from './key-spending.ts';
import type { MinuteMeasurement } from './minute.ts';
import type { FilledWindow } from './window-filling.ts';

/** Defines a check that judges what came of a scene on each key by itself. */
export const checkOfKeys = <T>(
  id: string,
  measured: KeyScenes<T>,
  judgeOne: (measurement: T, judge: Judge, seen: Seen) => void,
  options: Partial<Pick<Check, 'notAsked' | 'conclude' | 'scenes' | 'explainsShortage'>> = {},
): Check =>
  check(id, { scenes: [measured], ...options }, (judge, seen) => {
    for (const measurement of playedOn(seen.on(measured))) judgeOne(measurement, judge, seen);
  });

/** The same on the key of one plan. */
export function checkOfPlan<T>(
  id: string,
  plan: PlanName,
  measured: KeyScenes<T>,
  judgeOne: (measurement: T, judge: Judge, seen: Seen) => void,
): Check {
  const ofPlan = (keys: readonly Key[]) => measured.keys(keys).filter((key) => key.plan === plan);
  return checkOfKeys(id, { ...measured, keys: ofPlan, wanted: { ...measured.wanted, plan } }, judgeOne, {
    explainsShortage: true,
    notAsked: (keys) => {
      const what = `no key of plan ${planTitle(plan)} is checked, and the document leaves its numbers custom`;
      return isCustom(plan) && !keys.some((key) => key.plan === plan) ? { kind: 'unbound', what } : undefined;
    },
  });
}

export const evidenceOf = (window: FilledWindow): Exchange[] =>
  [window.refusal, window.last].filter((exchange) => exchange !== undefined);

/** Whether quota is refilled gradually; undefined if the headers do not describe the minute, or nothing was refused. */
export const givesBackGradually = ({ after }: MinuteMeasurement): boolean | undefined =>
  after && isRefilling(after.refill);

/** Whether the first request after a refusal was admitted within a minute of the first one of the window before. */
export function isRenewedEarly({ windows, after }: MinuteMeasurement): boolean {
  const filled = windows.find(({ refusal }) => refusal?.id === after?.refusal.id);
  const [first] = filled?.count.admitted ?? [];
  return after !== undefined && first !== undefined && isWithinMinute(after.refill, first);
}

/** Whether another client spent part of what the target admitted: answers that were lost do not make up for it. */
const disturbed = ({ windows, next }: MinuteMeasurement) =>
  [...windows, ...next].some(
    ({ count: { verdict }, lost }) =>
      verdict.kind === 'fewer' && verdict.before + verdict.between > 0 && lost === undefined,
  );

/** Why the numbers of a measurement say nothing; undefined where every answer of its windows came. */
export function lostAnswers({ key, windows, next }: MinuteMeasurement): Reason | undefined {
  return [...windows, ...next].some(({ lost }) => lost !== undefined)
    ? { kind: 'lost', what: `answers to key ${key.name} were lost while its requests were counted` }
    : undefined;
}

/** What got no answer in the minute before a refusal: a ban may follow the first 429, which nobody has seen then. */
export const lostBefore = ({ key, sentAt, receivedAt }: AnsweredExchange, trace: Trace) =>
  lostOn(trace, key, sentAt - MINUTE, receivedAt)[0];

export const lostFirst = ({ key }: AnsweredExchange): Reason => ({
  kind: 'lost',
  what: `an answer to key ${key} before it was lost`,
});

/** What only somebody else on the key explains. */
export const interference = ({ name }: Key, what: string): Reason => ({
  kind: 'interference',
  key: name,
  what,
});

/** Why a refusal after the wait says nothing about the minute; undefined if it does. */
export function refusedOtherwise(
  measurement: MinuteMeasurement,
  refusal: AnsweredExchange,
  seen: Seen,
): Reason | string | undefined {
  const { key, windows, after } = measurement;
  const { name, limits } = key;
  const spread = hitByBan(refusal, seen);
  if (spread !== undefined) return spread;
  if (refusesKey(refusal)) return notTold(`key ${name} seems to be banned`, 'ban-spares-polite');
  // What was lost before the target said how long to wait, it knew of.
  if (lostOn(seen.trace, name, after?.refusal.sentAt ?? 0, refusal.receivedAt).length > 0)
    return { kind: 'lost', what: `an answer to key ${name} was lost while it waited as told` };
  if (disturbed(measurement))
    return interference(key, `fewer requests of key ${name} were admitted than its minute has`);
  // A key that is refused before its minute's limit may have used up its day; headers need not say so.
  if (isForDay(seen.trace, refusal, limits)) return daySpent(seen.trace, refusal);
  const { count, lost } = windows[0];
  const fellShort = count.verdict.kind === 'fewer' && lost === undefined;
  return fellShort ? `the daily quota of key ${name} may be used up` : undefined;
}

/**
 * The ban of the key that may be banned, for checks of each key's minute: only that key is sent more than its limit at
 * once. Undefined if the run may ban none, or did not: one of some rows provokes no ban for them, nor can a key be banned
 * that the target refuses already.
 */
export function banOf(seen: Seen): BanReading | undefined {
  const [measured] = doneOf(seen.on(ban));
  return measured && readBan(measured, seen.trace);
}

/** Why a refusal says nothing of its own key: other keys were refused as well while one was banned. */
export function hitByBan(refusal: AnsweredExchange, seen: Seen): Reason | undefined {
  const reading = banOf(seen);
  if (reading?.ban === undefined || refusal.key === reading.key.name) return undefined;
  const { ban } = reading;
  const { trace } = seen;
  const isMeanwhile =
    refusal.sentAt >= ban.answer.sentAt && refusal.sentAt <= (ban.servedAgain?.receivedAt ?? refusal.sentAt);
  const endsAlike = Math.abs((toldEnd(trace, refusal) ?? 0) - (ban.toldEnd ?? Infinity)) <= SECOND;
  const isUnearned = reading.others.some(
    ({ key, banned, exchange }) =>
      banned &&
      !trace.readingsOf(key).some(({ status, sentAt }) => status === 429 && sentAt < exchange.sentAt),
  );
  return isMeanwhile && (endsAlike || isUnearned)
    ? notTold(`key ${refusal.key} was refused while key ${reading.key.name} was banned`, 'ban-other-keys')
    : undefined;
}
