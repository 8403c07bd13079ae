/** The measured minutes of all keys, for the checks of section 8. */

import { isRefilling } from '../../limits/refill.ts';
import type { Key } from '../../profile/key.ts';
import type { PlanName } from '../../profile/target-profile.ts';
import { type Check, check, type Judge } from '../../run/check.ts';
import { type KeyOutcome, type KeyScene, optional, playedOn } from '../../run/scene.ts';
import type { Trace } from '../../run/trace.ts';
import { Unsettled } from '../../run/unsettled.ts';
import type { AnsweredExchange, Exchange } from '../../wire/exchange.ts';
import { type BanMeasurement, type BanReading, theBan } from '../ban/reading.ts';
import { ban } from '../ban/scenes.ts';
import { refusesKey } from './admitted.ts';
import { exhaustKeys, type MinuteMeasurement, minute } from './scenes.ts';
import { tellsDay } from './told-time.ts';
import type { FilledWindow } from './window-filling.ts';

/** The measurements that could be made, of all keys. @throws Unsettled if there are none */
export function measurements<T>(outcomes: readonly KeyOutcome<T>[]): T[] {
  if (outcomes.length === 0) throw new Unsettled('no usable key has the role exhaust');
  return playedOn(outcomes).map(({ outcome }) => outcome);
}

/** Defines a check that judges what came of a scene on each key by itself. */
export const checkOfKeys = <T>(
  id: string,
  measured: KeyScene<T>,
  judgeOne: (measurement: T, judge: Judge, trace: Trace) => void,
  options: Pick<Check, 'notApplicable'> = {},
): Check =>
  check(id, { needs: { measured }, ...options }, ({ measured }, judge, trace) => {
    for (const measurement of measurements(measured)) judgeOne(measurement, judge, trace);
  });

/** The same on the key of one plan. */
export function checkOfPlan<T>(
  id: string,
  plan: PlanName,
  measured: KeyScene<T>,
  judgeOne: (measurement: T, judge: Judge, trace: Trace) => void,
): Check {
  const ofPlan = (keys: readonly Key[]) => exhaustKeys(keys).filter((key) => key.plan === plan);
  const lacks = `the profile has no ${plan} key with the role exhaust`;
  return checkOfKeys(id, { ...measured, keys: ofPlan, lacks }, judgeOne, {
    notApplicable: (keys) =>
      plan === 'enterprise' && !keys.some((key) => key.plan === plan)
        ? 'the profile names no Enterprise key, and the document leaves its numbers custom'
        : undefined,
  });
}

export const evidenceOf = (window: FilledWindow): Exchange[] =>
  [window.refusal, window.last].filter((exchange) => exchange !== undefined);

/** Whether quota is refilled gradually; undefined if the headers do not describe the minute, or nothing was refused. */
export const givesBackGradually = ({ after }: MinuteMeasurement): boolean | undefined =>
  after && isRefilling(after.refill);

/** Whether another client spent part of what the target admitted. */
export const disturbed = ({ windows, next }: MinuteMeasurement) =>
  [...windows, ...next].some(
    ({ count: { verdict } }) => verdict.kind === 'fewer' && verdict.before + verdict.between > 0,
  );

/** Why the numbers of a measurement say nothing; undefined where every answer of its windows came. */
export function lostAnswers({ key, windows, next }: MinuteMeasurement): string | undefined {
  return [...windows, ...next].some(({ lost }) => lost !== undefined)
    ? `answers to key ${key.name} were lost while its requests were counted`
    : undefined;
}

/** Why a refusal after the wait says nothing about the minute; undefined if it does. */
export function refusedOtherwise(
  measurement: MinuteMeasurement,
  refusal: AnsweredExchange,
): string | undefined {
  const { key, windows } = measurement;
  const { name, limits } = key;
  if (refusesKey(refusal)) return `key ${name} seems to be banned (see ban-spares-polite)`;
  const lost = lostAnswers(measurement);
  if (lost !== undefined) return lost;
  if (disturbed(measurement)) return `another client seems to be using key ${name}`;
  // A key that is refused before its minute's limit may have used up its day; headers need not say so.
  return tellsDay(refusal, limits) || windows[0]?.count.verdict.kind === 'fewer'
    ? `the daily quota of key ${name} may be used up`
    : undefined;
}

/** Every key's minute, and the key that may be banned: only that key is sent more than its limit at once. */
export const minutesAndBan = { minutes: minute, bans: optional(ban) };

/** The measurement of the key that may be banned; undefined if the run may ban none. @throws Unsettled if it failed */
export const banOf = (
  bans: readonly KeyOutcome<BanMeasurement>[] | undefined,
  trace: Trace,
): BanReading | undefined => (bans === undefined || bans.length === 0 ? undefined : theBan(bans, trace));
