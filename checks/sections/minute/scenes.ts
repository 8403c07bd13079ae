/**
 * Drives a key to its first refusal and on into the next window, and records the answers. After a 429, no request is
 * sent on the key before the time that the target stated: that could cause a ban.
 */

import { cameBackAtOnce, isRefilling } from '../../limits/refill.ts';
import { MINUTE, SECOND } from '../../limits/time.ts';
import { fellShortAlike, heldExplains } from '../../limits/window-count.ts';
import type { Key } from '../../profile/key.ts';
import type { PlanName } from '../../profile/target-profile.ts';
import type { Probe } from '../../run/probe.ts';
import { keyScene, optional } from '../../run/scene.ts';
import { listPets, type RequestSpec } from '../../wire/requests.ts';
import { categoryOf, storeSample } from '../add/scenes.ts';
import { retrievals, servedAnimals } from '../get/scenes.ts';
import { admittedOn, isAdmitted } from './admitted.ts';
import { type AfterRefusal, afterRefusal } from './after-refusal.ts';
import { afterSpentWindow, atStart, rest, restForWindow, restFromNow } from './key-at-rest.ts';
import { ADDED_TOGETHER, refusedOperation, variety } from './requests.ts';
import { toldRetry } from './told-time.ts';
import { type FilledWindow, fillUndisturbed } from './window-filling.ts';

export interface MinuteMeasurement {
  readonly key: Key;
  /** The first window, and another one from rest if the count was not the plan's. */
  readonly windows: readonly FilledWindow[];
  /** What followed the refusal that ended the first window; undefined if nothing was refused. */
  readonly after: AfterRefusal | undefined;
  /**
   * The minute after the reset, filled again if the plan is small enough to pay for it, and twice if it fell short.
   * With gradual refill, the quota is whole again after a minute at rest.
   */
  readonly next: readonly FilledWindow[];
}

/** The second window is not filled for plans with more requests a minute than this. */
const MOST_FOR_SECOND_WINDOW = 300;

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

/** Whether a key's measurement includes the next window: only the smallest plan's does, if it is small enough. */
export const isFilledTwice = ({ name, limits }: Key, keys: readonly Key[]): boolean =>
  exhaustKeys(keys)[0]?.name === name && limits.perMinute <= MOST_FOR_SECOND_WINDOW;

/** Fills a window of the key, counting from `since`, and meets the limit with the request `last`. */
type Fill = (since?: number, last?: RequestSpec) => Promise<FilledWindow>;

/** Measures each plan's minute. */
export const minute = keyScene(
  'minute',
  {
    permit: 'exhaust',
    needs: { sample: optional(storeSample), retrieved: optional(retrievals) },
    keys: exhaustKeys,
    lacks: 'the profile has no key with the role exhaust',
    spends: (key, keys) => ({
      requests: key.limits.perMinute * (isFilledTwice(key, keys) ? 2 : 1) + 5,
      animals: ADDED_TOGETHER,
    }),
  },
  async (probe, key, { sample, retrieved }): Promise<MinuteMeasurement> => {
    const sending = { key, animals: servedAnimals(retrieved), category: categoryOf(probe.run, sample) };
    const requests = variety(probe, sending);
    const fill: Fill = (since = probe.now(), last = listPets({ limit: 1 })) =>
      fillUndisturbed(probe, key, { requests, since, last });

    const windows = await firstWindow(probe, key, fill, refusedOperation(probe, sending));
    const first = windows.at(-1);
    if (first?.refusal === undefined) return { key, windows, after: undefined, next: [] };
    const after = await afterRefusal(probe, key, first.refusal, first.refusals);
    const refilling = isRefilling(after.refill);
    const isExact = first.lost === undefined && first.count.verdict.kind === 'exact';
    // Headers that describe the day do not say when the minute ends; Retry-After does.
    const again = after.afterReset ?? (refilling === undefined ? after.afterRetryAfter : undefined);
    const isAdmittedAgain = again !== undefined && isAdmitted(again);
    const next =
      isFilledTwice(key, probe.keys) && isExact && isAdmittedAgain
        ? await nextWindow(probe, key, fill, await wholeAgain(probe, key, first, after), refilling)
        : [];
    // Not the plan's number: repeated from rest, so that earlier use of the key cannot explain it.
    if (!isExact && first.lost === undefined) {
      await rest(probe, key, windowEdge(probe, key, after));
      const fromRest = await fill();
      windows.push(fromRest);
      if (refilling === true && fromRest.count.verdict.kind === 'fewer') {
        await restForWindow(probe, key);
        windows.push(await fill());
      }
    }
    return { key, windows, after, next };
  },
);

/**
 * How long a window is under way at least when the key is refused. If the refusal begins a new window, that one ends
 * clearly later than stated, in spite of whole seconds.
 */
const UNDER_WAY = 4 * SECOND;

/** The first window. If it ended with closed connections, the next one instead, or both if that ended likewise. */
async function firstWindow(
  probe: Probe,
  key: Key,
  fill: Fill,
  atLimit: RequestSpec,
): Promise<FilledWindow[]> {
  // Requests in flight when an earlier process ended are not on record.
  if (probe.wasCutOff) await restFromNow(probe, key);
  const opened = await afterSpentWindow(probe, key);
  const [recent] = probe.trace.readingsOf(key, probe.now() - UNDER_WAY);
  if (recent !== undefined)
    await probe.waitUntil(
      recent.sentAt + UNDER_WAY,
      `the window of key ${key.name} to be under way for a while`,
    );
  const since = opened ?? (await atStart(probe, key))[0]?.sentAt;
  const first = await fill(since, atLimit);
  if (first.closed === undefined) return [first];
  // If the network broke the connections, the next window ends with a proper refusal.
  await rest(probe, key);
  const second = await fill(undefined, atLimit);
  return second.closed === undefined ? [second] : [first, second];
}

/** When a clock-aligned window ended according to the refusal; undefined if the run did not wait for that. */
function windowEdge(probe: Probe, key: Key, { obeyed, afterRetryAfter }: AfterRefusal): number | undefined {
  const retryAt = afterRetryAfter && toldRetry(probe.trace, key.limits, obeyed);
  return retryAt === undefined ? undefined : retryAt + SECOND;
}

/**
 * A request this long before a count still belongs to it; a token bucket gives part of it back, which blurs the count.
 */
const AT_ONCE = 20 * SECOND;

/** Waits until the key has its whole quota again; returns the time from which requests count towards it. */
async function wholeAgain(
  probe: Probe,
  key: Key,
  filled: FilledWindow,
  after: AfterRefusal,
): Promise<number> {
  const { refusal, refill } = after;
  if (cameBackAtOnce(refill) === true) return refusal.receivedAt;
  const refilling = isRefilling(refill);
  // Headers that describe the day hide whether all quota came back at once.
  if (refilling === undefined) {
    await rest(probe, key, windowEdge(probe, key, after));
    return probe.now();
  }
  // By then the burst has left a sliding window, and a token bucket is full again.
  const burstEnded = filled.last?.receivedAt ?? refusal.receivedAt;
  const answeredAt = () => probe.trace.readingsOf(key, burstEnded + 1).map(({ receivedAt }) => receivedAt);
  const spentUntil = Math.max(burstEnded, ...answeredAt().filter((at) => at < burstEnded + AT_ONCE));
  await probe.waitUntil(spentUntil + MINUTE + SECOND, `key ${key.name} to have its whole quota`);
  if (!refilling) return refusal.receivedAt;
  // A later request counts, unless it was so long ago that a token bucket gave it back.
  if (answeredAt().some((at) => at > spentUntil && at < probe.now() - AT_ONCE)) await rest(probe, key);
  return probe.now();
}

/** The window after the reset, and another one if it fell short. */
async function nextWindow(
  probe: Probe,
  key: Key,
  fill: Fill,
  since: number,
  refilling: boolean | undefined,
): Promise<FilledWindow[]> {
  const first = await fill(since);
  const next = [first];
  if (first.count.verdict.kind !== 'fewer') return next;
  if (refilling === true && !heldExplains(first.count, admittedOn(probe.trace, key))) {
    // A bucket that refills too slowly falls short by as much again; a sliding window counter does not.
    await rest(probe, key);
    const again = await fill();
    next.push(again);
    if (again.count.verdict.kind === 'fewer' && !fellShortAlike(first.count, again.count)) {
      await restForWindow(probe, key);
      next.push(await fill());
    }
  }
  // Counted again, and once more if only every other window is whole.
  while (
    refilling === false &&
    next.length < 3 &&
    (next.length === 1 || next[1]?.count.verdict.kind === 'exact')
  ) {
    await rest(probe, key);
    next.push(await fill());
  }
  return next;
}
