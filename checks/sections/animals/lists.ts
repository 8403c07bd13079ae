/** Lists: how one is asked for, what it shows, and those of the whole store that most checks share. */
import { currentId } from '../../../spec/contract.ts';
import { LIMIT, PET_STATUSES } from '../../../spec/operations.ts';
import type { Key } from '../../profile/key.ts';
import { scene } from '../../run/scene.ts';
import type { Payer, SceneRun } from '../../run/scene-run.ts';
import type { Violation } from '../../wire/answer.ts';
import type { AnsweredExchange } from '../../wire/exchange.ts';
import { listedPets, readOnce, type SeenPet } from '../../wire/pets.ts';
import { readLast } from '../../wire/read-last.ts';
import { type ListQuery, listPets, type RequestSpec } from '../../wire/requests.ts';
import { type Addition, enoughAnimals } from './additions.ts';

const { minimum, maximum, default: defaultLimit } = LIMIT;

/** What the document allows to ask of a list. */
interface AllowedQuery {
  readonly limit?: number;
  readonly status?: string;
}

/** limit and status in a path, if the document allows them. The requests of a burst have one path. */
export const queryOf = readLast((path: string): AllowedQuery | undefined => {
  const query = new URL(path, 'http://target').searchParams;
  const limit = query.get('limit');
  const status = query.get('status');
  if (limit !== null && !(/^\d{1,3}$/.test(limit) && Number(limit) >= minimum && Number(limit) <= maximum))
    return undefined;
  if (status !== null && !PET_STATUSES.includes(status)) return undefined;
  return { ...(limit === null ? {} : { limit: Number(limit) }), ...(status === null ? {} : { status }) };
});

/** limit and status of a list request, if the document allows them; undefined for any other request. */
export const allowedQuery = readOnce((exchange) =>
  exchange.request.operation !== 'listPets' || exchange.key === null
    ? undefined
    : queryOf(exchange.request.path),
);

export const pets = (count: number) => (count === 1 ? '1 animal' : `${count} animals`);

/** What is said of a list that does not show an animal, which it should. @param list the list in words */
export const missingFrom = (
  listed: readonly SeenPet[] | undefined,
  animal: string,
  list: string,
): Violation => ({
  expected: `animal ${animal} in ${list}`,
  actual: `${pets(listed?.length ?? 0)} without it`,
});

/** A requested list and its answer; `pets` is undefined if that was not an array of animals. */
export interface TakenList {
  readonly query: ListQuery;
  readonly exchange: AnsweredExchange;
  readonly pets: readonly SeenPet[] | undefined;
  /** The target does not promise that a page is as long as limit: no list is known to hold everything. */
  readonly mayBeShort: boolean;
}

/** Whether the profile declines that a list is as long as it can be. */
export const mayBeShort = (declined: ReadonlySet<string>, { status }: Pick<ListQuery, 'status'>): boolean =>
  declined.has(currentId('list-limit-fills')) ||
  (status !== undefined && declined.has(currentId('list-filter-before-limit')));

/** Options for requesting a list. */
export interface Asking extends Payer {
  /** Rewrites the request without changing its meaning. */
  readonly written?: ((spec: RequestSpec) => RequestSpec) | undefined;
}

/** Requests one list. */
export async function take(
  run: SceneRun,
  query: ListQuery,
  { written = (spec) => spec, ...payer }: Asking = {},
): Promise<TakenList> {
  const exchange = await run.send(written(listPets(query)), payer);
  const { declined } = run.facts;
  return { query, exchange, pets: listedPets(exchange), mayBeShort: mayBeShort(declined, query) };
}

/** The longest list there is. */
export const LONGEST: ListQuery = { limit: maximum };

/** The requested limit, or the default. */
export const limitOf = ({ limit = defaultLimit }: ListQuery) => Number(limit);

/** Whether the list holds everything that matches: it had room for more. */
export const isWhole = ({ pets: listed, query, mayBeShort }: TakenList): boolean =>
  listed !== undefined && !mayBeShort && listed.length < limitOf(query);

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
export async function takeAll(run: SceneRun, key?: Key): Promise<LongestLists> {
  const all = await take(run, LONGEST, { key });
  const byStatus = new Map<string, TakenList>();
  for (const status of PET_STATUSES) byStatus.set(status, await take(run, { ...LONGEST, status }, { key }));
  return { all, byStatus };
}

/** Pauses within which an addition should be served: the document promises no time, but no client waits longer. */
const VISIBLE_WITHIN: readonly number[] = [250, 750, 2000, 7000];

/** Looks until what was added is served, within a client's patience. */
export async function patiently<T>(
  run: SceneRun,
  waitingFor: string,
  look: (before?: T) => Promise<T>,
  isServed: (seen: T) => boolean,
): Promise<T> {
  let seen = await look();
  for (const pause of VISIBLE_WITHIN) {
    if (isServed(seen)) break;
    await run.waitUntil(run.now() + pause, waitingFor);
    seen = await look(seen);
  }
  return seen;
}

/** After this many milliseconds, those of all pauses, no client waits for an addition any more. */
export const LISTED_WITHIN = VISIBLE_WITHIN.reduce((sum, pause) => sum + pause);

/** Whether a complete list should show one of these animals but does not. */
const isAnyMissing = ({ all, byStatus }: LongestLists, additions: readonly Addition[]): boolean =>
  [all, ...byStatus.values()].filter(isWhole).some((list) =>
    additions.some(({ sent, pet }) => {
      const isAskedFor = [undefined, sent.status ?? pet?.status].includes(list.query.status);
      return pet !== undefined && isAskedFor && !shows(list, pet.id);
    }),
  );

/**
 * The whole store, as far as lists show it. The document does not say that a new animal is listed at once, so lists are
 * repeated until it is, within a client's patience.
 */
export const lists = scene('lists', {}, async (run): Promise<LongestLists> => {
  const additions = (await run.tryPlay(enoughAnimals)) ?? [];
  return patiently(
    run,
    'animals that were just added to be listed',
    () => takeAll(run),
    (taken) => !isAnyMissing(taken, additions),
  );
});
