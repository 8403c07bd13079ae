/** Compares the length of a page with the number of matching animals that lists of the same time show. */
import { contract } from '../../../spec/contract.ts';
import type { Judge } from '../../run/check.ts';
import { described } from '../../wire/pets.ts';
import { pets } from './queries.ts';
import { type LongestLists, limitOf, type TakenList } from './scenes.ts';

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
    judge.unsettled(
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
