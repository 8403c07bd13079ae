/**
 * Drives a key to its first refusal and on into the next window, and records the answers. After a 429, no request is
 * sent on the key before the time that the target stated: that could cause a ban.
 */

import { cameBackAtOnce, isRefilling, type Refill } from '../../limits/refill.ts';
import { MINUTE, SECOND } from '../../limits/time.ts';
import { isForDay, tellsDay } from '../../limits/told-time.ts';
import { fellShortAlike, fillingTime, heldExplains, movesOn, showsEdges } from '../../limits/window-count.ts';
import type { Key } from '../../profile/key.ts';
import { PLAN_NAMES, type PlanName } from '../../profile/target-profile.ts';
import type { Judge } from '../../run/check.ts';
import { daySpent, Inconclusive, notShown, type Reason } from '../../run/reason.ts';
import { type SceneRun, sceneOnKeys } from '../../run/scene.ts';
import type { Trace } from '../../run/trace.ts';
import { listPets, type RequestSpec } from '../../wire/requests.ts';
import { type AfterRefusal, afterRefusal } from './after-refusal.ts';
import { admittedOn, isAdmitted, knownAgain, knownSince, restFromNow } from './key-spending.ts';
import { requestsOf } from './minute-requests.ts';
import { type FilledWindow, fillUndisturbed } from './window-filling.ts';

export interface MinuteMeasurement {
  readonly key: Key;
  /** The first window, and another one from rest if the count was not the plan's. */
  readonly windows: readonly [FilledWindow, ...FilledWindow[]];
  /** What followed the refusal that ended the first window; undefined if nothing was refused. */
  readonly after: AfterRefusal | undefined;
  /**
   * The minute after the reset, filled again if the plan is small enough to pay for it, and twice if it fell short.
   * With gradual refill, the quota is whole again after a minute at rest.
   */
  readonly next: readonly FilledWindow[];
  /** Why there are no further windows; undefined unless the day ran out. */
  readonly spent?: Reason;
}

/** The second window is not filled for plans with more requests a minute than this. */
export const MOST_FOR_SECOND_WINDOW = 300;

/** The keys that may be driven to 429, one per plan, smallest plan first. */
export function exhaustKeys(keys: readonly Key[]): readonly Key[] {
  const byPlan = new Map<PlanName, Key>();
  for (const key of keys.filter(({ roles }) => roles.includes('exhaust'))) {
    // A key that may also be banned is spared if the plan has another key.
    const other = byPlan.get(key.plan);
    if (other === undefined || (other.roles.includes('ban') && !key.roles.includes('ban')))
      byPlan.set(key.plan, key);
  }
  return [...byPlan.values()].sort((a, b) => a.limits.perMinute - b.limits.perMinute);
}

/** Those of them whose minute can be filled: where the day holds no more, it ends first. */
export const minuteKeys = (keys: readonly Key[]): readonly Key[] =>
  exhaustKeys(keys).filter(({ limits }) => limits.perDay > limits.perMinute);

/** The key whose next window is filled as well: the smallest plan's, if it is small enough and its day is not. */
export const filledTwice = (keys: readonly Key[]): readonly Key[] =>
  minuteKeys(keys)
    .slice(0, 1)
    .filter(
      ({ limits: { perMinute, perDay } }) => perMinute <= MOST_FOR_SECOND_WINDOW && perDay >= 3 * perMinute,
    );

/** Fills a window of the key, counting from `since`, and meets the limit with the request `last`. */
type Fill = (since?: number, last?: RequestSpec) => Promise<FilledWindow>;

const WANTED = { role: 'exhaust', beyondMinute: true } as const;

/** Measures each plan's minute. */
export const minute = sceneOnKeys(
  'minute',
  { permit: 'exhaust', intent: 'fill', keys: minuteKeys, wanted: WANTED },
  async (run, key): Promise<MinuteMeasurement> => {
    const { variety, refusedOperation } = await requestsOf(run, key);
    const requests = variety();
    const fill: Fill = async (since = run.now(), last = listPets({ limit: 1 })) => {
      const window = await fillUndisturbed(run, key, requests, since, last);
      const { refusal } = window;
      const { limits } = key;
      // Of a window that is full as well, only headers of the day tell that it was the day.
      const mayBeDay = refusal !== undefined && (hasFewer(window) || tellsDay(refusal, limits));
      if (mayBeDay && isForDay(run.trace, refusal, limits))
        throw new Inconclusive(daySpent(run.trace, refusal), [refusal]);
      return window;
    };

    const windows = await firstWindow(run, key, fill, refusedOperation());
    const first = windows.at(-1);
    if (first?.refusal === undefined) return { key, windows, after: undefined, next: [] };
    const after = await afterRefusal(run, key, first.refusal, first.refusals);
    const next: FilledWindow[] = [];
    try {
      // Not the plan's number: repeated from rest, so that earlier use of the key cannot explain it.
      const mayTell = () =>
        windows.length < 3 &&
        !windows.some((one) => hasLost(one) || isExact(one) || isTooMany(one)) &&
        !fellShortTwice(windows) &&
        !isSharedTwice(windows, after.refill);
      for (let last = first; mayTell() && (last === first || hasFewer(last)); windows.push(last)) {
        const isHeld = isRefilling(after.refill) === true && mayHold(last, last !== first);
        const [took, isSecond] = [fillingTime(last.count.all), last === first];
        const since = await knownAgain(run, key, { took, isSecond, minutes: isHeld ? 2 : 1 });
        if (since === undefined) break;
        last = await fill(since);
      }
      const again = after.afterReset ?? after.afterRetryAfter;
      const isNextFilled = filledTwice(run.keys).includes(key) && again !== undefined && isAdmitted(again);
      // What comes back bit by bit was whole after a rest: that is the next window.
      const isTold = !isExact(first) && isRefilling(after.refill) === true;
      if (isNextFilled && !isTold && windows.some(isExact))
        await nextWindow(run, key, fill, first, after, next);
    } catch (error) {
      if (!(error instanceof Inconclusive) || error.reason.kind !== 'day-spent') throw error;
      return { key, windows, after, next, spent: error.reason };
    }
    return { key, windows, after, next };
  },
);

/** Whether nothing can be told of a key's numbers: the answers of another window make up for none that was lost. */
const hasLost = ({ lost }: FilledWindow): boolean => lost !== undefined;
const isExact = (window: FilledWindow): boolean => !hasLost(window) && window.count.verdict.kind === 'exact';
/** Whether more were admitted than any window has, which nothing that follows explains. */
const isTooMany = ({ count }: FilledWindow): boolean => count.verdict.kind === 'more' && showsEdges(count);
/** Whether a sliding window counter may have held what was spent before; of few requests it holds little. */
const mayHold = ({ count: { all, admitted, perMinute, verdict } }: FilledWindow, isAgain: boolean): boolean =>
  all.length >= perMinute / 2 &&
  (isAgain ||
    all.length > admitted.length ||
    (verdict.kind === 'fewer' && verdict.before > 0 && verdict.between === 0));
const fellShortTwice = ([one, two]: readonly FilledWindow[]): boolean =>
  one !== undefined && two !== undefined && fellShortAlike(one.count, two.count);
/**
 * Whether somebody else spent the key between our requests in two windows, as long as nothing comes back meanwhile: a
 * third would be no better.
 */
const isSharedTwice = (windows: readonly FilledWindow[], refill: Refill): boolean =>
  isRefilling(refill) !== true &&
  windows.filter(({ count: { verdict } }) => verdict.kind === 'fewer' && verdict.between > 0).length > 1;
const hasFewer = (window: FilledWindow | undefined): boolean => window?.count.verdict.kind === 'fewer';

/**
 * How long a window is under way at least when the key is refused. If the refusal begins a new window, that one ends
 * clearly later than stated, in spite of whole seconds.
 */
const UNDER_WAY = 4 * SECOND;

/** The first window. If it ended with closed connections, the next one instead, or both if that ended likewise. */
async function firstWindow(
  run: SceneRun,
  key: Key,
  fill: Fill,
  atLimit: RequestSpec,
): Promise<[FilledWindow, ...FilledWindow[]]> {
  // Requests in flight when an earlier process ended are not on record.
  if (run.wasCutOff) await restFromNow(run, key);
  const since = await knownSince(run, key);
  const [recent] = run.trace.readingsOf(key, run.now() - UNDER_WAY);
  if (recent !== undefined)
    await run.waitUntil(
      recent.sentAt + UNDER_WAY,
      `the window of key ${key.name} to be under way for a while`,
    );
  const first = await fill(since, atLimit);
  if (first.closed === undefined) return [first];
  // If the network broke the connections, the next window ends with a proper refusal. A sliding window counter may hold
  // those requests too.
  await restFromNow(run, key, 2);
  const second = await fill(undefined, atLimit);
  return second.closed === undefined ? [second] : [first, second];
}

/** The window after the reset; where it fell short, up to two more, each from rest. */
async function nextWindow(
  run: SceneRun,
  key: Key,
  fill: Fill,
  first: FilledWindow,
  after: AfterRefusal,
  next: FilledWindow[],
): Promise<void> {
  const refilling = isRefilling(after.refill);
  const { refusal } = after;
  const another = { took: fillingTime(first.count.all), isSecond: false };
  let since = refilling === false ? refusal.receivedAt : undefined;
  if (refilling === undefined || !isExact(first)) {
    since = await knownAgain(run, key, another);
    if (since === undefined) return;
  }
  // By then the burst has left a sliding window, and a token bucket is full again but for what was asked meanwhile.
  else if (cameBackAtOnce(after.refill) !== true)
    await run.waitUntil(refusal.receivedAt + MINUTE + SECOND, `key ${key.name} to have its whole quota`);
  next.push(await fill(since));
  const isTold = ([one, two]: readonly FilledWindow[]): boolean => {
    if (one === undefined || !hasFewer(one) || next.some(hasLost)) return true;
    if (two === undefined)
      return refilling === true && heldExplains(one.count, admittedOn(run.trace, key, refusal.receivedAt));
    // A bucket that refills too slowly falls short by as much again, a sliding window counter does not. Of windows that
    // are renewed at once every other one may be whole.
    return refilling === true ? !hasFewer(two) || fellShortTwice(next) : !isExact(two);
  };
  while (next.length < 3 && !isTold(next) && !isSharedTwice(next, after.refill)) {
    // A counter that slides is whole only after two; a bucket that refills too slowly would be so then as well.
    const isBucket = next.length === 1 && next.some(({ count }) => movesOn(count));
    const minutes = refilling === true && !isBucket ? 2 : 1;
    const again = await knownAgain(run, key, { minutes, ...another });
    if (again === undefined) return;
    next.push(await fill(again));
  }
}

/** Says why no refusal can be judged, where none came: no key can be driven to one, or a row of the limit explains it. */
export function judgeAbsence(judge: Judge, { run, readings }: Trace): void {
  if (readings.some(({ status }) => status === 429)) return;
  if (minuteKeys(run.keys).length === 0) judge.inconclusive({ kind: 'no-key', wanted: WANTED });
  else judge.inconclusive(notShown('rate-refused-429', ...PLAN_NAMES.map((plan) => `rate-minute-${plan}`)));
}
