/** Section 8: after the reset exactly the whole quota is available again. */

import { fellShortAlike, heldExplains, showsEdges } from '../../limits/window-count.ts';
import type { Key } from '../../profile/key.ts';
import type { Judge } from '../../run/check.ts';
import type { Trace } from '../../run/trace.ts';
import { admittedOn } from './admitted.ts';
import { checkOfKeys, evidenceOf, givesBackGradually, lostAnswers } from './measurements.ts';
import { hiddenEdge } from './minute-count.ts';
import { exhaustKeys, isFilledTwice, type MinuteMeasurement, minute } from './scenes.ts';

/** Says why the second minute of a key was not filled. */
function notFilledAgain({ key, windows: [first], after }: MinuteMeasurement): string {
  if (first?.refusal === undefined) return `no request of key ${key.name} was refused`;
  const { verdict, admitted } = first.count;
  if (verdict.kind !== 'exact')
    return `${admitted.length} requests were admitted in the first minute of key ${key.name}, not ${key.limits.perMinute} (see rate-minute-${key.plan})`;
  return after?.afterReset === undefined
    ? `no exchange of this run shows it: the headers of key ${key.name} do not say when its minute ends`
    : `key ${key.name} was not admitted again once its limit had reset (see rate-reset-true)`;
}

function judgeNext(measurement: MinuteMeasurement, judge: Judge, trace: Trace): void {
  const lost = lostAnswers(measurement);
  if (lost !== undefined) return judge.unsettled(lost);
  const { key, windows, next } = measurement;
  const [filled, ...again] = next;
  const isGradual = givesBackGradually(measurement) === true;
  if (filled === undefined) {
    // If the first count was unclear, it was repeated from rest: for a sliding window that is the next window.
    const fromRest = windows.slice(1).find(({ count }) => count.verdict.kind === 'exact');
    return isGradual && fromRest !== undefined
      ? judge.holds(...evidenceOf(fromRest))
      : judge.unsettled(notFilledAgain(measurement));
  }
  const { count } = filled;
  const { verdict, admitted } = count;
  const evidence = evidenceOf(filled);
  const unsettled = (reason: string) => judge.unsettled(reason, ...evidence);
  if (verdict.kind === 'exact' || (isGradual && heldExplains(count, admittedOn(trace, key))))
    return judge.holds(...evidence);
  const whole = again.find((window) => window.count.verdict.kind === 'exact');
  if (isGradual && verdict.kind === 'fewer' && whole !== undefined) return judge.holds(...evidenceOf(whole));
  if (verdict.kind === 'more' && !showsEdges(count)) return unsettled(hiddenEdge(admitted.length, key));
  if (verdict.kind === 'more' || again.some((window) => fellShortAlike(count, window.count))) {
    const expected = `${key.limits.perMinute} requests admitted in the second window of key ${key.name}`;
    return judge.breaks({ expected, actual: `${admitted.length} were admitted` }, ...evidence);
  }
  if (filled.refusal === undefined) return unsettled('the requests were too slow to fill the second minute');
  unsettled(
    isGradual
      ? `${admitted.length} were admitted after a minute at rest: quota comes back too slowly, or another client is using key ${key.name}`
      : `${admitted.length} were admitted in the second window: another client seems to be using key ${key.name}`,
  );
}

/** The smallest plan's key, if its minute is filled twice. */
const filledTwice = (keys: readonly Key[]) => exhaustKeys(keys).filter((key) => isFilledTwice(key, keys));

const lacks = 'the profile has no key with the role exhaust whose plan is small enough to be filled twice';

export const nextWindow = checkOfKeys('rate-next-window', { ...minute, keys: filledTwice, lacks }, judgeNext);
