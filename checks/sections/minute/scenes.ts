/**
 * Drives a key to its first refusal and on into the next window, once a key, and records what the checks of section 8
 * judge. A key is never sent a second request after a 429 before it was told that it may: that would earn it a ban.
 */

import type { PlanName } from '../../profile/target-profile.ts';
import type { Scene } from '../../run/check.ts';
import { type Key, MINUTE, SECOND } from '../../run/key-pool.ts';
import type { Probe } from '../../run/probe.ts';
import type { AnsweredExchange } from '../../wire/exchange.ts';
import type { RetryAfter } from '../../wire/rate-headers.ts';
import { listPets } from '../../wire/requests.ts';
import { categoryId } from '../add/scenes.ts';
import { isAdmittedStatus } from './admitted.ts';
import { afterRefusal, type OverGiven, overGivenOf, type Retry } from './after-refusal.ts';
import { atStart, rest, restForWindow } from './key-at-rest.ts';
import { ADDED_TOGETHER, refusedOperation, servedAnimals, variety } from './requests.ts';
import { type FilledWindow, fillUndisturbed } from './window-filling.ts';

export interface MinuteMeasurement {
  readonly key: Key;
  /** The first window, and the same again from rest where its count was not the plan's. */
  readonly windows: readonly FilledWindow[];
  readonly told: RetryAfter;
  /** After exactly the time that Retry-After told; undefined where it told none that can be waited for. */
  readonly afterRetryAfter: Retry | undefined;
  /** After X-RateLimit-Reset, by the target's clock. */
  readonly afterReset: Retry | undefined;
  /**
   * The minute after the reset, filled once more where the plan is small enough to pay for it; twice if it was short.
   * What is given back bit by bit is whole again after a minute at rest.
   */
  readonly next: readonly FilledWindow[];
  /** Admitted requests of this run that a minute that looks back still held when the next one was counted. */
  readonly heldBefore: number;
  /** The length of the window in milliseconds, where it shows to be shorter than a minute. */
  readonly shortWindow: number | undefined;
  /** Only where quota comes back bit by bit. */
  readonly overGiven: OverGiven | undefined;
  /**
   * Whether the target gives quota back bit by bit, as a sliding window or a token bucket does; undefined where its
   * headers do not describe the minute.
   */
  readonly refilling: boolean | undefined;
}

/** The whole measurement of a key's minute; the first check that needs it pays. */
export function minuteOf(key: Key, again: boolean): Scene<MinuteMeasurement> {
  return {
    id: `minute:${key.name}`,
    permit: 'exhaust',
    spends: { requests: key.limits.perMinute * (again ? 2 : 1) + 5, animals: ADDED_TOGETHER },
    async play(probe) {
      const category = await categoryId(probe);
      const animals = await servedAnimals(probe);
      const requests = variety(probe, key, animals, category);
      const subject = refusedOperation(probe, key, animals, category);

      const before = await atStart(probe, key);
      const fillFrom = (since = probe.now(), last = listPets({ limit: 1 })) =>
        fillUndisturbed(probe, key, requests, since, last);
      const windows: FilledWindow[] = [];
      let first = await fillFrom(before[0]?.sentAt, subject);
      if (first.closed !== undefined) {
        // Where the network broke its connections the next window ends with a refusal, and tells what this one hid.
        const hidden = first;
        await rest(probe, key);
        first = await fillFrom(undefined, subject);
        if (first.closed !== undefined) windows.push(hidden);
      }
      windows.push(first);
      const { refusal } = first;
      if (refusal === undefined) {
        return {
          key,
          windows,
          told: { kind: 'absent' },
          afterRetryAfter: undefined,
          afterReset: undefined,
          next: [],
          heldBefore: 0,
          shortWindow: undefined,
          refilling: undefined,
          overGiven: undefined,
        };
      }
      const after = await afterRefusal(probe, key, refusal, first.refusals);
      const next: FilledWindow[] = [];
      let heldBefore = 0;
      if (again && first.count.verdict.kind === 'exact' && after.afterReset?.admitted === true) {
        const since = await wholeAgain(probe, key, refusal, first, after);
        heldBefore = probe
          .readingsOf(key, since - MINUTE)
          .filter(({ status, receivedAt }) => receivedAt <= since && isAdmittedStatus(status)).length;
        next.push(await fillFrom(since));
        if (
          after.refilling === true &&
          next[0]?.count.verdict.kind === 'fewer' &&
          !heldExplains(next[0], heldBefore)
        ) {
          await restForWindow(probe, key);
          next.push(await fillFrom());
        }
        // One that fell short is counted again, and once more where every other one is whole.
        while (
          after.refilling === false &&
          next.length < 3 &&
          next[0]?.count.verdict.kind === 'fewer' &&
          (next.length === 1 || next[1]?.count.verdict.kind === 'exact')
        ) {
          await rest(probe, key);
          next.push(await fillFrom());
        }
      }
      // Not the plan's number: the same once more from rest, so that an earlier user of the key explains nothing.
      if (first.count.verdict.kind !== 'exact') {
        await rest(probe, key, after.edge);
        const again = await fillFrom();
        windows.push(again);
        if (after.refilling === true && again.count.verdict.kind === 'fewer') {
          await restForWindow(probe, key);
          windows.push(await fillFrom());
        }
      }
      const { told, afterRetryAfter, afterReset, refilling, shortWindow } = after;
      const overGiven =
        refilling === true && first.count.verdict.kind === 'exact'
          ? overGivenOf(probe, key, first.count, refusal, after.admitted)
          : undefined;
      return {
        key,
        windows,
        told,
        afterRetryAfter,
        afterReset,
        next,
        heldBefore,
        refilling,
        shortWindow,
        overGiven,
      };
    },
  };
}

/** Whether what a window fell short by was still held by a minute that looks back. */
export function heldExplains({ count }: FilledWindow, heldBefore: number): boolean {
  const { verdict, admitted, perMinute } = count;
  return (
    verdict.kind === 'fewer' &&
    verdict.between === 0 &&
    verdict.before <= heldBefore &&
    admitted.length + verdict.before === perMinute
  );
}

/** A request this long before a count is taken to belong to it: a bucket gives a part of it back, which blurs the count. */
const AT_ONCE = 20 * SECOND;

/** Waits until the key has its whole quota after a refusal; returns the time from which requests count towards it. */
async function wholeAgain(
  probe: Probe,
  key: Key,
  refusal: AnsweredExchange,
  filled: FilledWindow,
  after: Awaited<ReturnType<typeof afterRefusal>>,
): Promise<number> {
  if (after.fresh === true) return refusal.receivedAt;
  // Headers of the day hide whether all of it came back at once.
  if (after.refilling === undefined) {
    await rest(probe, key, after.edge);
    return probe.now();
  }
  // The requests of the burst leave a sliding window in this time; a bucket is full again.
  const burstEnded = filled.last?.receivedAt ?? refusal.receivedAt;
  const answeredAt = () => probe.readingsOf(key, burstEnded + 1).map(({ receivedAt }) => receivedAt);
  const spentUntil = Math.max(burstEnded, ...answeredAt().filter((at) => at < burstEnded + AT_ONCE));
  await probe.waitUntil(spentUntil + MINUTE + SECOND, `key ${key.name} to have its whole quota`);
  if (!after.refilling) return refusal.receivedAt;
  // A later request counts; long before, a bucket gave it back.
  if (answeredAt().some((at) => at > spentUntil && at < probe.now() - AT_ONCE)) await rest(probe, key);
  return probe.now();
}

/** Above this many requests a minute a plan's second window is not paid for. */
const MOST_FOR_SECOND_WINDOW = 300;

/** The keys that may be driven to 429, smallest plan first; one a plan is enough. */
export function exhaustKeys(probe: Pick<Probe, 'keys'>): Key[] {
  const byPlan = new Map<PlanName, Key>();
  for (const key of probe.keys.filter(({ roles }) => roles.includes('exhaust'))) {
    // A key that may also be banned is spared where another of the plan is there.
    const other = byPlan.get(key.plan);
    if (other === undefined || (other.roles.includes('ban') && !key.roles.includes('ban')))
      byPlan.set(key.plan, key);
  }
  return [...byPlan.values()].sort((a, b) => a.limits.perMinute - b.limits.perMinute);
}

/** The measurement of a key's minute, and whether it goes on into the next window. */
interface PlannedMinute {
  readonly key: Key;
  readonly scene: Scene<MinuteMeasurement>;
  readonly again: boolean;
}

/** The measurement of every key that may be driven to 429; the smallest plan's goes on into the next window. */
export function minuteScenes(probe: Pick<Probe, 'keys'>): PlannedMinute[] {
  return exhaustKeys(probe).map((key, index) => {
    const again = index === 0 && key.limits.perMinute <= MOST_FOR_SECOND_WINDOW;
    return { key, scene: minuteOf(key, again), again };
  });
}
