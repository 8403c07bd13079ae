/** Why a row has its verdict, in words. Whatever decides by a reason reads its fields. */

import type { KeyWanted, Reason } from '../checks/run/reason.ts';
import { PERMISSIONS } from '../spec/permissions.ts';
import { isCustom } from '../spec/plans.ts';

/** A key that is wanted, as in `second key of plan free with the role ban`. */
export const keyWanted = ({ role, plan, count, perMinuteAtMost, beyondMinute }: KeyWanted): string =>
  [
    count === undefined ? 'key' : 'second key',
    ...(plan === undefined ? [] : [`of plan ${plan}`]),
    ...(role === undefined ? [] : [`with the role ${role}`]),
    ...(perMinuteAtMost === undefined
      ? []
      : [`with at most ${perMinuteAtMost.toLocaleString('en')} requests a minute`]),
    // A plan with numbers of the document always has that.
    ...(beyondMinute === true && (plan === undefined || isCustom(plan))
      ? ['whose day is larger than its minute']
      : []),
  ].join(' ');

/** What is said of a reason alone. */
function words(reason: Reason): string {
  switch (reason.kind) {
    case 'held':
      return `held in ${reason.times === 1 ? 'one observation' : `${reason.times.toLocaleString('en')} observations`}`;
    case 'broken':
      return `broken ${reason.times === 1 ? 'once' : `${reason.times.toLocaleString('en')} times`}`;
    case 'not-permitted':
      return `needs the permission ${reason.permission}`;
    case 'left-out':
      return 'left out by --only';
    case 'no-key':
      return `the profile has no ${keyWanted(reason.wanted)}`;
    case 'not-shown':
      return 'no exchange of this run shows it';
    case 'not-stored':
      return `the stored run did not play the scene ${reason.scene}`;
    case 'interference':
      return reason.key === undefined
        ? reason.what
        : `${reason.what}, as if another client were using key ${reason.key}`;
    default:
      return reason.what;
  }
}

export const blamesOf = (reason: Reason): readonly string[] =>
  'blames' in reason ? (reason.blames ?? []) : [];

/** A reason as a sentence; it names the rows that explain it. */
export function sentenceOf(reason: Reason): string {
  const blames = blamesOf(reason);
  return blames.length === 0 ? words(reason) : `${words(reason)} (see ${blames.join(', ')})`;
}

/** All reasons of a row as one sentence. */
export const sentence = (reasons: readonly Reason[]): string => reasons.map(sentenceOf).join('; ');

/** Why rows were skipped, in a few words: `exhaust, day not permitted; no key of plan pro; left out by --only`. */
export function whySkipped(reasons: readonly Reason[]): string {
  const missing = PERMISSIONS.filter((name) =>
    reasons.some((reason) => reason.kind === 'not-permitted' && reason.permission === name),
  );
  const others = reasons.flatMap((reason) => {
    if (reason.kind === 'not-permitted') return [];
    return reason.kind === 'no-key' ? `no ${keyWanted(reason.wanted)}` : words(reason);
  });
  const refused = missing.length === 0 ? [] : [`${missing.join(', ')} not permitted`];
  return [...refused, ...new Set(others)].join('; ');
}
