/**
 * The bill of a run before it is made: what each key spends against its minute and its day, and how long it takes.
 *
 * The numbers are those that checks and scenes declare, for a target that counts exactly and a key that nobody else
 * uses; a window that has to be counted again costs that window once more.
 */
import type { Check, GapObserver, Scene, Spending } from './check.ts';
import { type Key, MINUTE } from './key-pool.ts';
import type { Permission } from './verdict.ts';

/** The long spendings on one key, in their order. */
export interface PlannedLane {
  readonly key: Key;
  readonly scenes: readonly Scene<unknown>[];
}

export interface PlannedRun {
  readonly keys: readonly Key[];
  readonly permissions: ReadonlySet<Permission>;
  readonly checks: readonly Check[];
  readonly gapObservers: readonly GapObserver[];
  readonly lanes: readonly PlannedLane[];
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

/** Before anything else every key asks once whether the target knows it. */
const PREFLIGHT = 1;
/** Checks that ask on every key, and how often; their own `spends` leaves that out. */
const ON_EVERY_KEY: Readonly<Record<string, number>> = {
  'get-answers-200': 1,
  'get-unknown-404': 1,
  'list-limit-default': 1,
  'add-rejects-name-type': 1,
  'rate-keys-apart': 2,
};
/** A round trip to a target that is not in the same building. */
const ROUND_TRIP = 100;
/** Requests of a long spending that are under way at the same time, at least. */
const TOGETHER = 4;

/** Adds up what a run declares. */
export function quotaBill(run: PlannedRun): QuotaBill {
  const ordinary = ordinarySpending(run);
  const { paid, inWindow, pauses } = allocate(ordinary.requests, run);
  const keys = run.keys.map((key): KeyBill => {
    const lane = run.lanes.find((candidate) => candidate.key.name === key.name);
    const spending = lane?.scenes.map((scene) => laneSpending(scene, key)) ?? [];
    // What the key's minute holds already counts towards its exhaustion.
    const exhausts = lane?.scenes.some(({ permit }) => permit === 'exhaust') === true;
    const counted = exhausts ? (inWindow.get(key.name) ?? 0) : 0;
    const beforeDay =
      (paid.get(key.name) ?? 0) - counted + sum(spending.map(({ requests, day }) => (day ? 0 : requests)));
    const wholeDay = Math.max(0, ...spending.map(({ requests, day }) => (day ? requests : 0)));
    return {
      key,
      // The day counts every request of the run, whatever it was for.
      requests: Math.max(beforeDay, wholeDay),
      refusals: sum(spending.map(({ refusals }) => refusals)),
      refusalsAtMost: lane?.scenes.some(({ permit }) => permit === 'ban') === true,
      exhausted: spending.length > 0,
    };
  });
  const laneTimes = run.lanes.map(({ key, scenes }) => {
    const spending = scenes.map((scene) => laneSpending(scene, key));
    // The windows that were exhausted before are the first of the day's.
    const [days, others] = [spending.filter(({ day }) => day), spending.filter(({ day }) => !day)];
    return Math.max(sum(days.map(({ time }) => time)), sum(others.map(({ time }) => time)));
  });
  const scenes = run.lanes.flatMap((lane) => lane.scenes);
  return {
    keys,
    anonymous: ordinary.anonymous,
    animals: run.permissions.has('writes')
      ? ordinary.animals + sum(scenes.map((scene) => treeSpending([scene]).animals))
      : 0,
    longestWait: pauses > 0 || run.lanes.length > 0 ? MINUTE : 0,
    total:
      (ordinary.requests + ordinary.anonymous) * ROUND_TRIP + pauses * MINUTE + Math.max(0, ...laneTimes),
    waitsForBan: scenes.some(({ permit }) => permit === 'ban'),
    unpayable: keys.flatMap((bill) => unpayable(bill, run)),
  };
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

function unpayable({ key, requests }: KeyBill, { lanes }: PlannedRun): string[] {
  const spendsDay = lanes.some(
    (lane) => lane.key.name === key.name && lane.scenes.some(({ permit }) => permit === 'day'),
  );
  if (spendsDay || requests <= key.limits.perDay) return [];
  return [`key ${key.name} would spend ${requests} requests, and its plan has ${key.limits.perDay} a day`];
}

interface Totals {
  requests: number;
  anonymous: number;
  animals: number;
}

interface Spends {
  readonly id: string;
  readonly permit?: Permission;
  readonly spends?: Spending;
  readonly scenes?: readonly Scene<unknown>[];
}

/** What these and the scenes that they need declare, each scene once. */
function treeSpending(roots: readonly Spends[], allowed: (part: Spends) => boolean = () => true): Totals {
  const totals: Totals = { requests: 0, anonymous: 0, animals: 0 };
  const seen = new Set<Spends | string>();
  const visit = (part: Spends, name: Spends | string) => {
    if (seen.has(name) || !allowed(part)) return;
    seen.add(name);
    totals.requests += part.spends?.requests ?? 0;
    totals.anonymous += part.spends?.anonymous ?? 0;
    totals.animals += part.spends?.animals ?? 0;
    // Scenes are shared by their id; a check may bear the id of a scene.
    for (const scene of part.scenes ?? []) visit(scene, scene.id);
  };
  for (const root of roots) visit(root, root);
  return totals;
}

/** What runs before the long spendings, on whichever functional key has quota. */
function ordinarySpending({ checks, gapObservers, permissions }: PlannedRun): Totals {
  const ordinary = ({ permit }: Spends) =>
    permit === undefined || (permit === 'writes' && permissions.has('writes'));
  return treeSpending([...checks, ...gapObservers], ordinary);
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

/** Hands ordinary requests to the key with the largest plan, minute by minute, as a run does. */
function allocate(requests: number, { keys, checks, permissions }: PlannedRun): Allocation {
  const permitted = checks.filter(({ permit }) => permit === undefined || permissions.has(permit));
  const everyKey = PREFLIGHT + sum(permitted.map(({ id }) => ON_EVERY_KEY[id] ?? 0));
  const paid = new Map(keys.map(({ name }) => [name, everyKey]));
  const [payer] = keys
    .filter(({ roles }) => roles.includes('functional'))
    .toSorted((a, b) => b.limits.perMinute - a.limits.perMinute);
  if (payer === undefined) return { paid, inWindow: paid, pauses: 0 };
  const { perMinute } = payer.limits;
  const pauses = Math.max(0, Math.ceil((everyKey + requests) / perMinute) - 1);
  const sincePause = pauses === 0 ? requests : everyKey + requests - pauses * perMinute;
  paid.set(payer.name, everyKey + requests);
  const inWindow = pauses === 0 ? new Map(paid) : new Map([[payer.name, sincePause]]);
  // On a slow target the first of these are out of the minute again.
  return { paid, inWindow: sincePause * ROUND_TRIP < MINUTE / 2 ? inWindow : new Map(), pauses };
}

/** What a long spending costs its key, and the time that section 8 itself makes it take. */
function laneSpending(
  scene: Scene<unknown>,
  { limits }: Key,
): { requests: number; refusals: number; time: number; day: boolean } {
  const { requests } = treeSpending([scene]);
  const sending = (requests * ROUND_TRIP) / TOGETHER;
  switch (scene.permit) {
    case 'day':
      return { requests, refusals: 1, time: Math.ceil(limits.perDay / limits.perMinute) * MINUTE, day: true };
    case 'ban':
      return {
        requests,
        refusals: Math.max(0, requests - limits.perMinute),
        time: sending + MINUTE,
        day: false,
      };
    default: {
      const windows = Math.max(1, Math.floor(requests / limits.perMinute));
      return {
        requests,
        refusals: windows,
        // The second window begins when the first one's refusal is over, and is not waited out.
        time: windows * Math.min(sending, MINUTE) + MINUTE,
        day: false,
      };
    }
  }
}
