/**
 * The bill of a run before it is made: what each key spends against its minute and its day, and how long it takes.
 *
 * The numbers are those that checks and scenes declare, for a target that counts exactly and a key that nobody else
 * uses; a window that has to be counted again costs that window once more.
 */
import { MINUTE } from '../limits/time.ts';
import type { Key } from '../profile/key.ts';
import type { Permission } from '../profile/permissions.ts';
import { type Check, type GapObserver, whyNotAsked } from './check.ts';
import { lanes } from './play.ts';
import { preflightScene } from './preflight.ts';
import { type Needs, needsPermission, type Scene, type Spending, scenesOf } from './scene.ts';

/** What is asked of a run. */
export interface PlannedRun {
  readonly keys: readonly Key[];
  readonly permissions: ReadonlySet<Permission>;
  readonly checks: readonly Check[];
  readonly gapObservers: readonly GapObserver[];
}

/** What a run spends on one key. */
export interface KeyBill {
  readonly key: Key;
  readonly requests: number;
  /** Requests that are to be refused with 429, among them. */
  readonly refusals: number;
  /** Whether those are the most that there may be: how soon a target bans is its own choice. */
  readonly refusalsAtMost: boolean;
  /** The most that the key's minute is asked for beside the requests that exhaust it, and whether that happens. */
  readonly exhausted: boolean;
}

export interface QuotaBill {
  readonly keys: readonly KeyBill[];
  /** Requests that carry no valid key. */
  readonly anonymous: number;
  /** Animals that stay in the store. */
  readonly animals: number;
  /** By the target's clock, in milliseconds, without the ban. */
  readonly longestWait: number;
  readonly total: number;
  /** A ban is provoked: its length, which only the target knows, comes on top. */
  readonly waitsForBan: boolean;
  /** Why the plan cannot be paid; empty where it can. */
  readonly unpayable: readonly string[];
}

/** A round trip to a target that is not in the same building. */
const ROUND_TRIP = 100;
/** Requests of a long spending that are under way at the same time, at least. */
const TOGETHER = 4;

/** Adds up what a run declares. */
export function quotaBill({ keys, permissions, checks, gapObservers }: PlannedRun): QuotaBill {
  const asked = [...checks, ...gapObservers].filter(
    (row) => whyNotAsked(row, { keys, permissions }) === undefined,
  );
  const inTurn = spendingInTurn(asked, permissions);
  const byKey = lanes(asked, { keys, permissions });
  const { paid, inWindow, pauses } = allocate(inTurn, keys);
  const spendingOn = (key: Key) => (byKey.get(key.name) ?? []).map((scene) => laneSpending(scene, key));
  const bills = keys.map((key): KeyBill => {
    const scenes = byKey.get(key.name) ?? [];
    const spending = spendingOn(key);
    // What the key's minute holds already counts towards its exhaustion.
    const exhausts = scenes.some(({ permit }) => permit === 'exhaust');
    const counted = exhausts ? (inWindow.get(key.name) ?? 0) : 0;
    const beforeDay =
      (paid.get(key.name) ?? 0) - counted + sum(spending.map(({ requests, day }) => (day ? 0 : requests)));
    const wholeDay = Math.max(0, ...spending.map(({ requests, day }) => (day ? requests : 0)));
    return {
      key,
      // The day counts every request of the run, whatever it was for.
      requests: Math.max(beforeDay, wholeDay),
      refusals: sum(spending.map(({ refusals }) => refusals)),
      refusalsAtMost: scenes.some(({ permit }) => permit === 'ban'),
      exhausted: spending.length > 0,
    };
  });
  const laneTimes = keys.map((key) => {
    const spending = spendingOn(key);
    // The windows that were exhausted before are the first of the day's.
    const [days, others] = [spending.filter(({ day }) => day), spending.filter(({ day }) => !day)];
    return Math.max(sum(days.map(({ time }) => time)), sum(others.map(({ time }) => time)));
  });
  const scenes = [...byKey.values()].flat();
  return {
    keys: bills,
    anonymous: inTurn.anonymous,
    animals: permissions.has('writes') ? inTurn.animals + sum(scenes.map(({ animals = 0 }) => animals)) : 0,
    longestWait: pauses > 0 || scenes.length > 0 ? MINUTE : 0,
    total: (inTurn.requests + inTurn.anonymous) * ROUND_TRIP + pauses * MINUTE + Math.max(0, ...laneTimes),
    waitsForBan: scenes.some(({ permit }) => permit === 'ban'),
    unpayable: bills.flatMap((bill) => unpayable(bill, byKey.get(bill.key.name) ?? [])),
  };
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

function unpayable({ key, requests }: KeyBill, scenes: readonly Scene<unknown>[]): string[] {
  if (scenes.some(({ permit }) => permit === 'day') || requests <= key.limits.perDay) return [];
  return [`key ${key.name} would spend ${requests} requests, but its plan allows ${key.limits.perDay} a day`];
}

/** What runs before keys are driven to their limits: each scene once, and one request with each key before all. */
function spendingInTurn(
  rows: readonly { readonly needs: Needs }[],
  permissions: ReadonlySet<Permission>,
): Required<Spending> {
  const totals = { requests: 0, onEveryKey: preflightScene.onEveryKey ?? 0, anonymous: 0, animals: 0 };
  const isPlayed = ({ permit }: { readonly permit?: Permission }) =>
    permit === undefined || permissions.has(permit);
  for (const scene of scenesOf(rows, isPlayed)) {
    if (scene.kind === 'key-scene') continue;
    totals.requests += scene.requests ?? 0;
    totals.onEveryKey += scene.onEveryKey ?? 0;
    totals.anonymous += scene.anonymous ?? 0;
    totals.animals += scene.animals ?? 0;
  }
  return totals;
}

/** Who pays for the ordinary requests. */
interface Allocation {
  /** By key name. */
  readonly paid: ReadonlyMap<string, number>;
  /** What of it the key's minute still holds when the long spendings begin, by key name. */
  readonly inWindow: ReadonlyMap<string, number>;
  /** How often a whole minute has to be waited for. */
  readonly pauses: number;
}

/** Hands the requests to the key with the largest plan, minute by minute, as a run does. */
function allocate({ requests, onEveryKey }: Required<Spending>, keys: readonly Key[]): Allocation {
  const paid = new Map(keys.map(({ name }) => [name, onEveryKey]));
  const [payer] = keys
    .filter(({ roles }) => roles.includes('functional'))
    .toSorted((a, b) => b.limits.perMinute - a.limits.perMinute);
  if (payer === undefined) return { paid, inWindow: paid, pauses: 0 };
  const { perMinute } = payer.limits;
  const pauses = Math.max(0, Math.ceil((onEveryKey + requests) / perMinute) - 1);
  const sincePause = pauses === 0 ? requests : onEveryKey + requests - pauses * perMinute;
  paid.set(payer.name, onEveryKey + requests);
  const inWindow = pauses === 0 ? new Map(paid) : new Map([[payer.name, sincePause]]);
  // On a slow target the first of these are out of the minute again.
  return { paid, inWindow: sincePause * ROUND_TRIP < MINUTE / 2 ? inWindow : new Map(), pauses };
}

/** What a scene on a key costs it, and the time that section 8 itself makes it take. */
function laneSpending(
  { requests = 0, permit }: Scene<unknown>,
  { limits }: Key,
): { requests: number; refusals: number; time: number; day: boolean } {
  const sending = (requests * ROUND_TRIP) / TOGETHER;
  if (permit === 'day') {
    const time = Math.ceil(limits.perDay / limits.perMinute) * MINUTE;
    return { requests, refusals: 1, time, day: true };
  }
  if (permit === 'ban') {
    const refusals = Math.max(0, requests - limits.perMinute);
    return { requests, refusals, time: sending + MINUTE, day: false };
  }
  const windows = Math.max(1, Math.floor(requests / limits.perMinute));
  // The second window begins when the first one's refusal is over, and is not waited out.
  const time = windows * Math.min(sending, MINUTE) + MINUTE;
  return { requests, refusals: windows, time, day: false };
}

/** Why a check is skipped with these permissions and keys; undefined where it is not. */
export function skippedFor(
  check: Check,
  { keys, permissions }: Pick<PlannedRun, 'keys' | 'permissions'>,
): string | undefined {
  const notAsked = whyNotAsked(check, { keys, permissions });
  if (notAsked !== undefined) return notAsked.kind === 'skips' ? notAsked.reason : undefined;
  const { inFullWith } = check;
  return inFullWith === undefined || permissions.has(inFullWith) ? undefined : needsPermission(inFullWith);
}
