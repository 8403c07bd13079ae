/** The lists that the checks of section 4.1 share: taken once, after the animals of the run are served. */
import { contract } from '../../../spec/contract.ts';
import type { Key } from '../../profile/key.ts';
import type { Probe } from '../../run/probe.ts';
import { optional, type Scene, scene } from '../../run/scene.ts';
import type { AnsweredExchange } from '../../wire/exchange.ts';
import { listedPets, type SeenPet } from '../../wire/pets.ts';
import { type ListQuery, listPets, type RequestSpec } from '../../wire/requests.ts';
import { type Addition, enoughAnimals } from '../add/scenes.ts';

/** A requested list and its answer; `pets` is undefined if that was not an array of animals. */
export interface TakenList {
  readonly query: ListQuery;
  readonly exchange: AnsweredExchange;
  readonly pets: readonly SeenPet[] | undefined;
}

/** Options for requesting a list. */
export interface Asking {
  /** Any key by default. */
  readonly key?: Key | undefined;
  /** Rewrites the request without changing its meaning. */
  readonly written?: ((spec: RequestSpec) => RequestSpec) | undefined;
}

/** Requests one list. */
export async function take(
  probe: Probe,
  query: ListQuery,
  { key, written = (spec) => spec }: Asking = {},
): Promise<TakenList> {
  const exchange = await probe.send(written(listPets(query)), { key });
  return { query, exchange, pets: listedPets(exchange) };
}

/** The requested limit, or the default. */
export const limitOf = (query: ListQuery) =>
  query.limit === undefined ? contract.limit.default : Number(query.limit);

/** Whether the list holds everything that matches: it had room for more. */
export function isWhole(list: TakenList): boolean {
  return list.pets !== undefined && list.pets.length < limitOf(list.query);
}

/** An animal as a list shows it; undefined where it does not. */
export const shown = (list: TakenList, id: bigint) => list.pets?.find((pet) => pet.id === id);

/** Whether a list shows an animal. */
export const shows = (list: TakenList, id: bigint) => shown(list, id) !== undefined;

/** The longest list without a filter, and with each status. */
export interface LongestLists {
  readonly all: TakenList;
  readonly byStatus: ReadonlyMap<string, TakenList>;
}

/** Takes the longest lists; all with the given key, if there is one. */
export async function takeAll(probe: Probe, key?: Key): Promise<LongestLists> {
  const limit = contract.limit.maximum;
  const all = await take(probe, { limit }, { key });
  const byStatus = new Map<string, TakenList>();
  for (const status of contract.statuses) byStatus.set(status, await take(probe, { limit, status }, { key }));
  return { all, byStatus };
}

/** Pauses within which an addition should be served: the document promises no time, but no client waits longer. */
export const VISIBLE_WITHIN: readonly number[] = [250, 750, 2000, 4000];

/** After this many milliseconds no client waits for an addition any more. */
export const SETTLED = 10_000;

/** An animal of the run that can be listed. */
export type OwnAnimal = Addition & { readonly pet: SeenPet & { readonly id: bigint } };

export interface Lists extends LongestLists {
  readonly own: readonly OwnAnimal[];
  /** Whether an animal of the run was missing at first and shown later. */
  readonly shownLater: boolean;
}

/** Own animals that a complete list should show but does not. */
export function missing(list: TakenList, lists: Pick<Lists, 'own'>): readonly OwnAnimal[] {
  if (!isWhole(list)) return [];
  const { status } = list.query;
  return lists.own.filter(
    ({ sent, pet }) =>
      (status === undefined || (sent?.status ?? pet.status) === status) && !shows(list, pet.id),
  );
}

/** An own animal that a complete filtered list hides although another list shows it. */
export const hiddenByFilter = (list: TakenList, lists: Lists): OwnAnimal | undefined =>
  missing(list, lists).find(({ pet }) => shows(lists.all, pet.id) || list.pets?.length === 0);

/** Whether a filter shows all own animals but omits foreign ones, which may have been added a moment later. */
export const leavesOutOthers = (status: string, list: TakenList, lists: Lists): boolean =>
  isWhole(list) &&
  hiddenByFilter(list, lists) === undefined &&
  (lists.all.pets ?? []).some((pet) => pet.status === status && pet.id !== undefined && !shows(list, pet.id));

/** Own animals that any complete list should show but does not. */
export const missingOf = (taken: Pick<Lists, 'own' | 'all' | 'byStatus'>): ReadonlySet<OwnAnimal> =>
  new Set([taken.all, ...taken.byStatus.values()].flatMap((list) => missing(list, taken)));

/**
 * The whole store, as far as lists show it. The document does not say that a new animal is listed at once, so lists are
 * repeated until it is, within a client's patience.
 */
export const lists: Scene<Lists> = scene(
  'lists',
  { needs: { additions: optional(enoughAnimals) }, requests: 1 + contract.statuses.length },
  async (probe, { additions = [] }) => {
    const own = additions.flatMap((addition) =>
      addition.pet === undefined ? [] : [{ ...addition, pet: addition.pet }],
    );
    let taken = { own, ...(await takeAll(probe)) };
    const missingAtFirst = missingOf(taken);
    for (const pause of VISIBLE_WITHIN) {
      if (missingOf(taken).size === 0) break;
      await probe.waitUntil(probe.now() + pause, 'animals that were just added to be listed');
      taken = { own, ...(await takeAll(probe)) };
    }
    const missingInTheEnd = missingOf(taken);
    const shownLater = [...missingAtFirst].some((addition) => !missingInTheEnd.has(addition));
    return { ...taken, shownLater };
  },
);
