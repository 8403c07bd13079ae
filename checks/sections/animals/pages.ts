/** Pages: lists of every length and with every filter, and how long each should be. */

import { groupBy } from '../../../spec/group-by.ts';
import { LIMIT, PET_STATUSES } from '../../../spec/operations.ts';
import { doneOf, type Judge } from '../../run/check.ts';
import { type InTurn, inTurn, scene } from '../../run/scene.ts';
import type { SceneRun } from '../../run/scene-run.ts';
import { described } from '../../wire/pets.ts';
import { accepting, type ListQuery, percentEncoded } from '../../wire/requests.ts';
import { otherKeys } from '../quota/other-keys.ts';
import {
  type Asking,
  LISTED_WITHIN,
  type LongestLists,
  limitOf,
  lists,
  pets,
  queryOf,
  type TakenList,
  take,
  takeAll,
} from './lists.ts';

const { minimum, maximum, default: defaultLimit } = LIMIT;

/** The ids of all animals in these lists that match. */
function matchingIds({ all, byStatus }: LongestLists, status: string | undefined): Set<bigint> {
  const taken = [all, ...byStatus.values()].flatMap((list) => list.pets ?? []);
  const matching = taken.filter((pet) => status === undefined || pet.status === status);
  return new Set(matching.flatMap(({ id }) => id ?? []));
}

/** At least this many animals match. */
export const known = (lists: LongestLists, status?: string): number => matchingIds(lists, status).size;

/** Each limit in a different spelling that another client might use; the meaning is the same. */
const LIMITS: readonly (readonly [limit: number, written?: Asking['written']])[] = [
  [minimum, (spec) => ({ ...spec, acceptsAnything: true })],
  [defaultLimit],
  [defaultLimit + 1, percentEncoded],
  [maximum - 1, accepting('application/json;q=0.9')],
];

/** Pages of several limits. */
export const fullPages = scene('full-pages', {}, async (run) => {
  const taken = await run.play(lists);
  return inTurn(known(taken) === 0 ? [] : LIMITS, ([limit, written]) => take(run, { limit }, { written }));
});

/** Lists without a limit. A filter must work without a limit too, for every status and plan. */
export const defaultPages = scene('default-pages', {}, async (run) => {
  const taken = await run.play(lists);
  const others = otherKeys(run.keys, { name: taken.all.exchange.key });
  return inTurn([...taken.byStatus.keys(), undefined], (status) =>
    status === undefined
      ? take(run, {}, { written: accepting('*/*') })
      : take(run, { status }, { preferred: others.shift() }),
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
  return inTurn(filtered, ({ query, asking }) => take(run, query, asking));
});

const pages = [fullPages, defaultPages, filteredPages];

/** Lists of every length, with a filter and without: what shows a row on any list. */
export const everyKindOfList = [lists, ...pages];

/** A list that was short, taken again between the longest lists: the store may change meanwhile. */
interface ShortList {
  readonly list: TakenList;
  /** The same list with the default limit, where it has none. */
  readonly limited: TakenList | undefined;
  readonly before: LongestLists;
  readonly after: LongestLists;
}

/** Each is asked for again. */
const MOST_SHORT = 16;

/** Which lists of the run are shorter than others allow, whatever their key and limit: by key, one of each path. */
function shortLists({ facts, trace }: SceneRun, taken: LongestLists) {
  const short = new Map<string, { readonly key: string | null; readonly query: ListQuery; path: string }>();
  const longest = new Map<string | undefined, number>();
  const shownOf = new Map(
    [undefined, ...taken.byStatus.keys()].map((status) => [status, known(taken, status)]),
  );
  const readings = facts.keys
    .flatMap((key) => trace.readingsOf(key))
    .sort((a, b) => a.receivedAt - b.receivedAt);
  for (const { operation, path, listed, key, sentAt } of readings) {
    // Another operation may also answer with an array.
    const query = operation === 'listPets' ? queryOf(path) : undefined;
    if (query === undefined || listed === undefined) continue;
    const shown = sentAt >= taken.all.exchange.sentAt ? (shownOf.get(query.status) ?? 0) : 0;
    const most = Math.max(longest.get(query.status) ?? 0, shown);
    if (listed < Math.min(limitOf(query), most)) short.set(`${key} ${path}`, { key, query, path });
    longest.set(query.status, Math.max(most, listed));
  }
  return groupBy([...short.values()].slice(0, MOST_SHORT), ({ key }) => key);
}

/** Takes short lists again. What a key may see is open (section 5, scopes): lists of the same key are compared. */
async function takenAgain(run: SceneRun): Promise<InTurn<ShortList>> {
  const short = shortLists(run, await run.play(lists));
  if (short.size > 0) await run.waitUntil(run.now() + LISTED_WITHIN, 'every animal to be listed');
  const again = await inTurn(short, async ([name, lists]) => {
    const key = run.keys.find((one) => one.name === name);
    const before = await takeAll(run, key);
    const retaken: Pick<ShortList, 'list' | 'limited'>[] = [];
    for (const { query, path } of lists)
      retaken.push({
        list: await take(run, query, { key, written: (spec) => ({ ...spec, path }) }),
        limited:
          query.limit === undefined ? await take(run, { ...query, limit: defaultLimit }, { key }) : undefined,
      });
    const after = await takeAll(run, key);
    return retaken.map((one): ShortList => ({ ...one, before, after }));
  });
  return again.flat();
}

/** The pages that were short. */
export const shortPages = scene('pages-again', {}, async (run) => {
  for (const page of pages) await run.tryPlay(page);
  return takenAgain(run);
});

/** What was short of any list, after everything else. */
export const shortAtLast = scene('short-pages', { afterwards: true }, takenAgain);

const inWords = ({ query: { status, limit } }: TakenList) =>
  [
    ...(limit === undefined ? ['no limit'] : [`limit=${limit}`]),
    ...(status === undefined ? [] : [`status=${status}`]),
  ].join(', ');

/**
 * How many animals matched both before and after, and were never shown with another status. Other clients may be
 * changing their animals; which of those matched in between is unknown.
 */
function matchingThroughout({ before, after, list: { query } }: ShortList): number {
  const { status } = query;
  const matchedBefore = matchingIds(before, status);
  const changing = new Set(
    PET_STATUSES.filter((other) => status !== undefined && other !== status).flatMap((other) => [
      ...matchingIds(before, other),
      ...matchingIds(after, other),
    ]),
  );
  return [...matchingIds(after, status)].filter((id) => matchedBefore.has(id) && !changing.has(id)).length;
}

/** Judges the length of a list that was short: exactly limit if more animals match, otherwise all of them. */
export function judgeShort(judge: Judge, short: ShortList): void {
  const { list, limited, after } = short;
  const matching = matchingThroughout(short);
  const expected = Math.min(limitOf(list.query), matching);
  const length = list.pets?.length;
  if (length === undefined) judgeNoList(judge, list);
  // One that is as short as with the default limit is for list-limit-fills to judge.
  else if (length >= expected || limited?.pets?.length === length) judge.holds(list.exchange);
  else
    judge.breaks(
      {
        expected: `${pets(expected)} with ${inWords(list)}, since lists show ${matching} that match`,
        actual: pets(length),
      },
      list.exchange,
      after.all.exchange,
    );
}

export const judgeNoList = (judge: Judge, list: TakenList): void =>
  judge.inconclusive(
    `the list with ${inWords(list)} was answered ${described(list.exchange)}`,
    list.exchange,
  );

/** Judges how long these lists are, by what came of those that were short. */
export function judgeLengths(judge: Judge, taken: readonly TakenList[], again: InTurn<ShortList>): void {
  const retaken = doneOf(again, judge);
  for (const list of taken) {
    const { key, request } = list.exchange;
    const short = retaken.find(
      ({ list: { exchange } }) => exchange.key === key && exchange.request.path === request.path,
    );
    if (list.pets === undefined) judgeNoList(judge, list);
    else if (short === undefined) judge.holds(list.exchange);
    else judgeShort(judge, short);
  }
}
