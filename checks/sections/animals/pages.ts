/** Pages: lists of every length and with every filter, and how long each should be. */

import { groupBy } from '../../../spec/group-by.ts';
import { LIMIT, PET_STATUSES } from '../../../spec/operations.ts';
import { doneOf, type Judge } from '../../run/check.ts';
import { type InTurn, inTurn, scene } from '../../run/scene.ts';
import type { SceneRun } from '../../run/scene-run.ts';
import { animals } from '../../wire/answer.ts';
import type { AnsweredExchange } from '../../wire/exchange.ts';
import { described, listedPets } from '../../wire/pets.ts';
import { accepting, listPets, percentEncoded, type RequestSpec } from '../../wire/requests.ts';
import { otherKeys } from '../quota/other-keys.ts';
import { allowedQuery, LISTED_WITHIN, type LongestLists, limitOf, lists, queryOf, takeAll } from './lists.ts';

const { minimum, maximum, default: defaultLimit } = LIMIT;

/** The ids of all animals in these lists that match. */
function matchingIds(taken: LongestLists, status: string | undefined): Set<bigint> {
  const shown = taken.flatMap((list) => listedPets(list) ?? []);
  const matching = shown.filter((pet) => status === undefined || pet.status === status);
  return new Set(matching.flatMap(({ id }) => id ?? []));
}

/** At least this many animals match. */
export const known = (taken: LongestLists, status?: string): number => matchingIds(taken, status).size;

/** Each limit in a different spelling that another client might use; the meaning is the same. */
const LIMITS: readonly RequestSpec[] = [
  { ...listPets({ limit: minimum }), acceptsAnything: true },
  listPets({ limit: defaultLimit }),
  percentEncoded(listPets({ limit: defaultLimit + 1 })),
  accepting('application/json;q=0.9')(listPets({ limit: maximum - 1 })),
];

/** Pages of several limits. */
export const fullPages = scene('full-pages', {}, async (run) =>
  inTurn(known(await run.play(lists)) === 0 ? [] : LIMITS, (spec) => run.send(spec)),
);

/** Lists without a limit. A filter must work without a limit too, for every status and plan. */
export const defaultPages = scene('default-pages', {}, async (run) => {
  const [all] = await run.play(lists);
  const others = otherKeys(run.keys, { name: all.key });
  return inTurn([...PET_STATUSES, undefined], (status) =>
    status === undefined
      ? run.send(accepting('*/*')(listPets()))
      : run.send(listPets({ status }), { preferred: others.shift() }),
  );
});

/** For each status with any match, a page with a limit below the number of matches. */
export const filteredPages = scene('filtered-pages', {}, async (run) => {
  const [all, ...byStatus] = await run.play(lists);
  // If the filter is ignored, a list of one shows the very first animal, so that one should not match.
  const first = listedPets(all)?.[0]?.status;
  const queries = byStatus.map((list) => ({ ...allowedQuery(list), limit: listedPets(list)?.length ?? 0 }));
  const specs = queries
    .sort((a, b) => Number(a.status === first) - Number(b.status === first))
    .flatMap(({ limit: matching, ...query }, index) => {
      const spec = listPets({ ...query, limit: Math.min(matching, index + minimum) });
      // The last one is percent-encoded, with the same meaning.
      return matching === 0 ? [] : [index === queries.length - 1 ? percentEncoded(spec) : spec];
    });
  return inTurn(specs, (spec) => run.send(spec));
});

const pages = [fullPages, defaultPages, filteredPages];

/** Lists of every length, with a filter and without: what shows a row on any list. */
export const everyKindOfList = [lists, ...pages];

/** A list that was short, taken again between the longest lists: the store may change meanwhile. */
interface ShortList {
  readonly list: AnsweredExchange;
  /** The same list with the default limit, where it has none. */
  readonly limited: AnsweredExchange | undefined;
  readonly before: LongestLists;
  readonly after: LongestLists;
}

/** Each is asked for again. */
const MOST_SHORT = 16;

/** Which lists of the run are shorter than others allow, whatever their key and limit: by key, one of each path. */
function shortLists({ facts, trace }: SceneRun, taken: LongestLists) {
  const short = new Map<string, { readonly key: string | null; readonly path: string }>();
  const longest = new Map<string | undefined, number>();
  const shownOf = new Map([undefined, ...PET_STATUSES].map((status) => [status, known(taken, status)]));
  const readings = facts.keys
    .flatMap((key) => trace.readingsOf(key))
    .sort((a, b) => a.receivedAt - b.receivedAt);
  for (const { operation, path, listed, key, sentAt } of readings) {
    // Another operation may also answer with an array.
    const query = operation === 'listPets' ? queryOf(path) : undefined;
    if (query === undefined || listed === undefined) continue;
    const shown = sentAt >= taken[0].sentAt ? (shownOf.get(query.status) ?? 0) : 0;
    const most = Math.max(longest.get(query.status) ?? 0, shown);
    if (listed < Math.min(limitOf(query), most)) short.set(`${key} ${path}`, { key, path });
    longest.set(query.status, Math.max(most, listed));
  }
  return groupBy([...short.values()].slice(0, MOST_SHORT), ({ key }) => key);
}

/** Takes short lists again. What a key may see is open (section 5, scopes): lists of the same key are compared. */
async function takenAgain(run: SceneRun): Promise<InTurn<ShortList>> {
  const short = shortLists(run, await run.play(lists));
  if (short.size > 0) await run.waitUntil(run.now() + LISTED_WITHIN, 'every animal to be listed');
  const again = await inTurn(short, async ([name, paths]) => {
    const key = run.keys.find((one) => one.name === name);
    const before = await takeAll(run, key);
    const retaken: Pick<ShortList, 'list' | 'limited'>[] = [];
    for (const { path } of paths) {
      const query = queryOf(path);
      const list = await run.send({ ...listPets(), path }, { key });
      const limited = query?.limit === undefined ? listPets({ ...query, limit: defaultLimit }) : undefined;
      retaken.push({ list, limited: limited && (await run.send(limited, { key })) });
    }
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

function inWords(list: AnsweredExchange): string {
  const { status, limit } = allowedQuery(list) ?? {};
  const parts = [limit === undefined ? 'no limit' : `limit=${limit}`];
  return [...parts, ...(status === undefined ? [] : [`status=${status}`])].join(', ');
}

/**
 * How many animals matched both before and after, and were never shown with another status. Other clients may be
 * changing their animals; which of those matched in between is unknown.
 */
function matchingThroughout({ before, after, list }: ShortList): number {
  const status = allowedQuery(list)?.status;
  const matchedBefore = matchingIds(before, status);
  const others = PET_STATUSES.filter((other) => status !== undefined && other !== status);
  const changing = new Set(
    others.flatMap((other) => [...matchingIds(before, other), ...matchingIds(after, other)]),
  );
  return [...matchingIds(after, status)].filter((id) => matchedBefore.has(id) && !changing.has(id)).length;
}

/** Judges the length of a list that was short: exactly limit if more animals match, otherwise all of them. */
export function judgeShort(judge: Judge, short: ShortList): void {
  const { list, limited, after } = short;
  const matching = matchingThroughout(short);
  const least = Math.min(limitOf(allowedQuery(list) ?? {}), matching);
  const length = listedPets(list)?.length;
  const expected = `${animals(least)} with ${inWords(list)}, since lists show ${matching} that match`;
  if (length === undefined) judgeNoList(judge, list);
  // One that is as short as with the default limit is for list-limit-fills to judge.
  else if (length >= least || (limited && listedPets(limited)?.length === length)) judge.holds(list);
  else judge.breaks({ expected, actual: animals(length) }, list, after[0]);
}

export const judgeNoList = (judge: Judge, list: AnsweredExchange): void =>
  judge.inconclusive(`the list with ${inWords(list)} was answered ${described(list)}`, list);

/** Judges how long these lists are, by what came of those that were short. */
export function judgeLengths(
  judge: Judge,
  taken: readonly AnsweredExchange[],
  again: InTurn<ShortList>,
): void {
  const retaken = doneOf(again, judge);
  for (const list of taken) {
    const short = retaken.find(
      (one) => one.list.key === list.key && one.list.request.path === list.request.path,
    );
    if (listedPets(list) === undefined) judgeNoList(judge, list);
    else if (short === undefined) judge.holds(list);
    else judgeShort(judge, short);
  }
}
