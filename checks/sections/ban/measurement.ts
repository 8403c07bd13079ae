/** The ban of a key from its provocation to its end. */
import { contract } from '../../../spec/contract.ts';
import type { WindowCount } from '../../limits/window-count.ts';
import { type Scene, Unsettled } from '../../run/check.ts';
import { type Key, MINUTE, SECOND } from '../../run/key-pool.ts';
import type { Probe } from '../../run/probe.ts';
import { LONGEST_BAN } from '../../run/run-budget.ts';
import type { AnsweredExchange } from '../../wire/exchange.ts';
import { listPets } from '../../wire/requests.ts';
import { isAdmitted } from '../minute/admitted.ts';
import { latestEnd, toldEnd } from '../minute/told-time.ts';
import { answer, type OtherKey, provocationOf, tryOthers } from './provocation.ts';

/** Where a ban does not tell its end, it is asked for after these pauses: a request during a ban may prolong it. */
const POLLS = [15, 30, 60, 120, 240, 480].map((seconds) => seconds * SECOND);

export interface Ban {
  /** The first answer that was the ban and no longer the rate limit's. */
  readonly answer: AnsweredExchange;
  /** How many requests after the first 429 it took. */
  readonly after: number;
  /** When the ban said that it ends, by our clock; undefined where it said nothing. */
  readonly toldEnd: number | undefined;
  /** Every answer while banned. */
  readonly answers: readonly AnsweredExchange[];
  /** The first answer after the told end (or, without one, after the window's end). */
  readonly atEnd: AnsweredExchange | undefined;
  /** The first request that was admitted again. */
  readonly servedAgain: AnsweredExchange | undefined;
  /** Why the end was not waited for. */
  readonly notWaited: string | undefined;
}

export interface BanMeasurement {
  readonly key: Key;
  readonly count: WindowCount;
  /** Refusals over the limit, before any ban. */
  readonly refusals: readonly AnsweredExchange[];
  /** Requests over the limit that were served all the same. */
  readonly served: readonly AnsweredExchange[];
  /** Those of them that a limit which gives back bit by bit does not explain. */
  readonly servedBeyondRefill: readonly AnsweredExchange[];
  readonly ban: Ban | undefined;
  /** Whether a ban showed, or as many requests were refused after a 429 as may be needed for one. */
  readonly enough: boolean;
  /** What other keys got meanwhile. */
  readonly others: readonly OtherKey[];
}

/** The key that may be banned; one that may do nothing else is taken first. */
export function banKey(probe: Probe): Key {
  const keys = probe.keys.filter(({ roles }) => roles.includes('ban'));
  const [key] = keys.sort(
    (a, b) => a.roles.length - b.roles.length || a.limits.perMinute - b.limits.perMinute,
  );
  if (key === undefined) throw new Unsettled('no usable key has the role ban');
  return key;
}

/** The provocation and the end of the ban that it led to. */
export function banOf(key: Key): Scene<BanMeasurement> {
  return {
    id: `ban:${key.name}:end`,
    permit: 'ban',
    spends: { requests: POLLS.length + 2 },
    scenes: [provocationOf(key)],
    async play(probe) {
      const provoked = await probe.play(provocationOf(key));
      const { count, refusals, served, servedBeyondRefill, first, bans, after, enough, others } = provoked;
      const told = refusals
        .flatMap((refusal) => toldEnd(probe, refusal) ?? [])
        .filter((end) => end < first.receivedAt + 2 * MINUTE);
      // Without a ban to wait for, every window is over after a minute; with one, when the refusals said.
      const windowEnd =
        Math.max(bans.length === 0 || told.length === 0 ? first.receivedAt + MINUTE : 0, ...told) +
        2 * SECOND;
      const end = await banEnd(probe, key, bans, windowEnd);
      // A ban that was answered like the rate limit shows itself only by outlasting the window.
      const shown = bans[0] ?? end.atEnd;
      const banned = shown !== undefined && !isAdmitted(shown);
      if (banned) probe.markBanned([shown, ...end.answers]);
      const later = banned && bans.length === 0 ? await tryOthers(probe, key, first) : [];
      return {
        key,
        count,
        refusals,
        served,
        servedBeyondRefill,
        ban: banned ? { answer: shown, after, ...end } : undefined,
        enough: enough || banned,
        others: [...others, ...later],
      };
    },
  };
}

/** Waits a ban out and asks again. */
async function banEnd(probe: Probe, key: Key, bans: readonly AnsweredExchange[], windowEnd: number) {
  const [ban] = bans;
  const told = latestEnd(probe, bans);
  const answers = [...bans];
  const until = Math.max(told ?? 0, windowEnd);
  const length = until - (ban?.receivedAt ?? until);
  if (length > LONGEST_BAN) {
    const notWaited = `the ban lasts ${Math.round(length / MINUTE)} minutes, and a run waits ${LONGEST_BAN / MINUTE}`;
    return { toldEnd: told, answers, atEnd: undefined, servedAgain: undefined, notWaited };
  }
  const again = listPets({ limit: contract.limit.maximum, status: 'sold' });
  await probe.waitUntil(
    until,
    ban === undefined ? `the window of key ${key.name} to end` : `the ban of key ${key.name} to end`,
  );
  const atEnd = await answer(probe, key, again);
  let latest = atEnd;
  for (const pause of POLLS) {
    if (isAdmitted(latest)) break;
    answers.push(latest);
    const next = Math.max(toldEnd(probe, latest) ?? 0, latest.receivedAt + pause);
    if (next - until > LONGEST_BAN) break;
    await probe.waitUntil(next, `the ban of key ${key.name} to end after all`);
    latest = await answer(probe, key, again);
  }
  return {
    toldEnd: told,
    answers,
    atEnd,
    servedAgain: isAdmitted(latest) ? latest : undefined,
    notWaited: undefined,
  };
}
