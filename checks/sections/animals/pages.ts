/** Pages: lists of every length and with every filter, and how long each should be; lists with invalid values. */
import { contract } from '../../../spec/contract.ts';
import type { Key } from '../../profile/key.ts';
import type { Judge } from '../../run/check.ts';
import { inTurn, scene } from '../../run/scene.ts';
import type { SceneRun } from '../../run/scene-run.ts';
import { described } from '../../wire/pets.ts';
import { accepting, type ListQuery, percentEncoded } from '../../wire/requests.ts';
import { otherKeys } from '../quota/other-keys.ts';
import {
  type Asking,
  hiddenByFilter,
  isWhole,
  LISTED_WITHIN,
  type Lists,
  type LongestLists,
  limitOf,
  lists,
  pets,
  queryOf,
  shows,
  type TakenList,
  take,
  takeAll,
} from './lists.ts';

const { minimum, maximum, default: defaultLimit } = contract.limit;

/** A list, and the longest lists taken after it if it was short. */
export interface Page {
  readonly list: TakenList;
  readonly after?: LongestLists;
}

const describedQuery = ({ query: { status, limit } }: TakenList) =>
  [
    ...(status === undefined ? [] : [`status=${status}`]),
    ...(limit === undefined ? ['no limit'] : [`limit=${limit}`]),
  ].join(', ');

/** The ids of all animals in these lists that match. */
function matchingIds({ all, byStatus }: LongestLists, status: string | undefined): Set<bigint> {
  const taken = [all, ...byStatus.values()].flatMap((list) => list.pets ?? []);
  const matching = taken.filter((pet) => status === undefined || pet.status === status);
  return new Set(matching.flatMap(({ id }) => id ?? []));
}

/** At least this many animals match. */
export const known = (lists: LongestLists, status?: string): number => matchingIds(lists, status).size;

/**
 * How many animals matched both before and after, and were never shown with another status. Other clients may be
 * changing their animals; which of those matched in between is unknown.
 */
function knownThroughout(before: LongestLists, after: LongestLists, status: string | undefined): number {
  const matchedBefore = matchingIds(before, status);
  const changing = new Set(
    contract.statuses
      .filter((other) => status !== undefined && other !== status)
      .flatMap((other) => [...matchingIds(before, other), ...matchingIds(after, other)]),
  );
  return [...matchingIds(after, status)].filter((id) => matchedBefore.has(id) && !changing.has(id)).length;
}

/** How many animals matched throughout, by the lists before and after a page. */
function matchingThroughout(before: LongestLists, after: LongestLists, status: string | undefined): number {
  const unfiltered = status === undefined ? (after.all.pets?.length ?? 0) : 0;
  return Math.max(knownThroughout(before, after, status), unfiltered);
}

/** Whether a list holds fewer than its limit although more were known to match before. */
export const isShort = ({ query, pets }: TakenList, before: LongestLists): boolean =>
  pets !== undefined && pets.length < Math.min(limitOf(query), known(before, query.status));

/** Whether a page is still short of what the lists after it show. */
export const isShortThroughout = ({ list: { query, pets }, after }: Page, before: LongestLists): boolean =>
  pets !== undefined &&
  after !== undefined &&
  pets.length < Math.min(limitOf(query), matchingThroughout(before, after, query.status));

/**
 * Judges the length of a page: exactly limit if more animals match, otherwise all of them. Because the store may change
 * meanwhile, a page breaks this only if it was short twice, by the lists before and after it.
 */
export function judgeLength(judge: Judge, before: LongestLists, pages: readonly Page[]): void {
  const page = pages.at(-1);
  if (page === undefined) return;
  const { list, after } = page;
  if (list.pets === undefined)
    judge.inconclusive(
      `a list with ${describedQuery(list)} was answered ${described(list.exchange)}`,
      list.exchange,
    );
  else if (after === undefined || !isShortThroughout(page, before)) judge.holds(list.exchange);
  else {
    const matching = matchingThroughout(before, after, list.query.status);
    judge.breaks(
      {
        expected: `${pets(Math.min(limitOf(list.query), matching))} with ${describedQuery(list)}, since lists show ${matching} that match`,
        actual: pets(list.pets.length),
      },
      list.exchange,
      after.all.exchange,
    );
  }
}

/**
 * Takes a page. If it is shorter than earlier lists allow, takes all lists again; if it is also shorter than these
 * allow, takes the page once more.
 */
export async function takePage(
  run: SceneRun,
  before: LongestLists,
  query: ListQuery,
  asking: Asking = {},
): Promise<readonly Page[]> {
  const once = async (): Promise<Page> => {
    const list = await take(run, query, asking);
    return isShort(list, before) ? { list, after: await takeAll(run, asking.key) } : { list };
  };
  const page = await once();
  return isShortThroughout(page, before) ? [page, await once()] : [page];
}

/** Each limit in a different spelling that another client might use; the meaning is the same. */
const LIMITS: readonly (readonly [limit: number, written?: Asking['written']])[] = [
  [minimum, (spec) => ({ ...spec, acceptsAnything: true })],
  [defaultLimit],
  [defaultLimit + 1, percentEncoded],
  [maximum - 1, accepting('application/json;q=0.9')],
];

/** Pages of several limits; the longest one only if it was short before. */
export const fullPages = scene('full-pages', {}, async (run) => {
  const taken = await run.play(lists);
  const wasShort = taken.all.pets === undefined || isShort(taken.all, taken);
  const limits = [...LIMITS, ...(wasShort ? [[maximum] as const] : [])];
  return inTurn(known(taken) === 0 ? [] : limits, ([limit, written]) =>
    takePage(run, taken, { limit }, { written }),
  );
});

/** A list without a limit. If it is short, also one with the default: a page may be shorter than limit. */
async function takeDefault(run: SceneRun, before: LongestLists, query: ListQuery, asking: Asking) {
  const pages = await takePage(run, before, query, asking);
  const { exchange } = pages.at(-1)?.list ?? {};
  const key = run.keys.find(({ name }) => name === exchange?.key);
  const isShort = pages.some((page) => isShortThroughout(page, before));
  return {
    pages,
    limited: isShort ? await take(run, { ...query, limit: defaultLimit }, { key }) : undefined,
  };
}

/** Lists without a limit. A filter must work without a limit too, for every status and plan. */
export const defaultPages = scene('default-pages', {}, async (run) => {
  const taken = await run.play(lists);
  const others = otherKeys(run.keys, { name: taken.all.exchange.key });
  return inTurn([...taken.byStatus.keys(), undefined], (status) =>
    status === undefined
      ? takeDefault(run, taken, {}, { written: accepting('*/*') })
      : takeDefault(run, taken, { status }, { key: others.shift() }),
  );
});

/** For each status with any match, a page with a limit below the number of matches. */
export const filteredPages = scene('filtered-pages', {}, async (run) => {
  const taken = await run.play(lists);
  // If the filter is ignored, a list of one shows the very first animal, so that one should not match.
  const first = taken.all.pets?.[0]?.status;
  const byStatus = [...taken.byStatus].sort(([a], [b]) => Number(a === first) - Number(b === first));
  const filtered = byStatus.flatMap(([status, { pets: matching = [] }], index) => {
    const limit = Math.min(matching.length, index + minimum);
    // The last one is percent-encoded, with the same meaning.
    const written = index === byStatus.length - 1 ? percentEncoded : undefined;
    return matching.length === 0 ? [] : [{ query: { status, limit }, asking: { written } }];
  });
  return inTurn(filtered, ({ query, asking }) => takePage(run, taken, query, asking));
});

/** Lists of every length, with a filter and without: what shows a row on any list. */
export const everyKindOfList = [lists, fullPages, defaultPages, filteredPages];

/** Whether a filter shows all own animals but omits foreign ones, which may have been added a moment later. */
const leavesOutOthers = (status: string, list: TakenList, taken: Lists): boolean =>
  isWhole(list) &&
  hiddenByFilter(list, taken.own, taken.all) === undefined &&
  (taken.all.pets ?? []).some((pet) => pet.status === status && pet.id !== undefined && !shows(list, pet.id));

/** Takes the list with a status again if it omitted foreign animals, once the newest of them should be listed. */
export const completePages = scene('complete-pages', {}, async (run) => {
  const taken = await run.play(lists);
  const incomplete = [...taken.byStatus].filter(([status, list]) => leavesOutOthers(status, list, taken));
  if (incomplete.length > 0)
    await run.waitUntil(run.now() + LISTED_WITHIN, 'other clients’ animals to be listed with their status');
  return inTurn(incomplete, async ([status]) => {
    const pages = await takePage(run, taken, { status, limit: maximum });
    return [status, pages] as const;
  });
});

/** A list shorter than an earlier list of the run allows. */
interface ShortList {
  readonly query: ListQuery;
  readonly key: Key | undefined;
}

/** All lists of the run count, whatever their key and limit. */
function shortLists({ facts, trace, keys }: SceneRun): readonly ShortList[] {
  const short = new Map<string, ShortList>();
  const longest = new Map<string, number>();
  const readings = facts.keys
    .flatMap((key) => trace.readingsOf(key))
    .sort((a, b) => a.receivedAt - b.receivedAt);
  for (const { operation, path, listed, key } of readings) {
    // Another operation may also answer with an array.
    const query = operation === 'listPets' ? queryOf(path) : undefined;
    if (query === undefined || listed === undefined) continue;
    const filter = query.status ?? '';
    const before = longest.get(filter) ?? 0;
    if (listed < Math.min(limitOf(query), before))
      short.set(`${key} ${path}`, { query, key: keys.find(({ name }) => name === key) });
    longest.set(filter, Math.max(before, listed));
  }
  return [...short.values()].slice(0, 3);
}

/** Takes short lists again, after everything else. */
export const shortPages = scene('short-pages', { afterwards: true }, async (run) => {
  const taken = await run.play(lists);
  const short = shortLists(run);
  if (short.length > 0) await run.waitUntil(run.now() + LISTED_WITHIN, 'every animal to be listed');
  return inTurn(short, async ({ query, key }) => {
    // What a key may see is open (section 5, scopes): a list is compared with others of the same key.
    const before = key === undefined ? taken : await takeAll(run, key);
    return { before, pages: await takePage(run, before, query, { key }) };
  });
});

/** Limits and a status that the document does not allow. */
export const limitsOutOfRange = scene('limits-out-of-range', {}, async (run) => ({
  below: await take(run, { limit: minimum - 1 }),
  above: await take(run, { limit: maximum + 1 }),
}));
export const limitNotANumber = scene('limit-not-a-number', {}, (run) => take(run, { limit: 'ten' }));
export const unknownStatus = scene('unknown-status', {}, (run) => take(run, { status: 'unheard-of' }));
