/** How many animals a page holds, beside how many the lists of the same time show to match. */
import { contract } from '../../../spec/contract.ts';
import type { Judge } from '../../run/check.ts';
import { described } from '../../wire/pets.ts';
import { pets } from './queries.ts';
import { type LongestLists, limitOf, type TakenList } from './scenes.ts';

/** A list, and the longest ones after it where it was short. */
export interface Page {
  readonly list: TakenList;
  readonly after?: LongestLists;
}

const describedQuery = ({ query: { status, limit } }: TakenList) =>
  [
    ...(status === undefined ? [] : [`status=${status}`]),
    ...(limit === undefined ? ['no limit'] : [`limit=${limit}`]),
  ].join(', ');

/** The ids of the animals that match: those that the lists showed together, whatever they were asked for. */
function matchingIds({ all, byStatus }: LongestLists, status: string | undefined): Set<bigint> {
  const taken = [all, ...byStatus.values()].flatMap((list) => list.pets ?? []);
  const matching = taken.filter((pet) => status === undefined || pet.status === status);
  return new Set(matching.flatMap(({ id }) => id ?? []));
}

/** How many animals match at least. */
export const known = (lists: LongestLists, status?: string): number => matchingIds(lists, status).size;

/**
 * How many animals matched before and after, and were shown with no other status: others may go on changing theirs,
 * and which of these matched in between nobody knows.
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

/** How many animals match by the lists before a page and after it. */
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
 * Judges the length of a page: exactly limit where more match, all of them where not. Others may add animals
 * meanwhile, so that a page breaks this only where it was short twice, by the lists before it and after it.
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
