/** Lists: how one is asked for, what it shows, and those of the whole store that most checks share. */
import { currentId } from '../../../spec/contract.ts';
import { LIMIT, PET_STATUSES } from '../../../spec/operations.ts';
import type { Key } from '../../profile/key.ts';
import type { RunFacts } from '../../run/run-facts.ts';
import { allOf, scene } from '../../run/scene.ts';
import type { SceneRun } from '../../run/scene-run.ts';
import { animals, type Violation } from '../../wire/answer.ts';
import type { AnsweredExchange } from '../../wire/exchange.ts';
import { listedPets, readOnce, sentPet } from '../../wire/pets.ts';
import { readLast } from '../../wire/read-last.ts';
import { type ListQuery, listPets } from '../../wire/requests.ts';
import { createdBy, enoughAnimals } from './additions.ts';

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

/** What is said of a list that does not show an animal, which it should. @param inWords names the list */
export const missingFrom = (list: AnsweredExchange, animal: string, inWords: string): Violation => ({
  expected: `animal ${animal} in ${inWords}`,
  actual: `${animals(listedPets(list)?.length ?? 0)} without it`,
});

/** Whether the profile declines that a list is as long as it can be: then none is known to hold everything. */
export const mayBeShort = (
  { declined }: Pick<RunFacts, 'declined'>,
  { status }: AllowedQuery = {},
): boolean =>
  declined.has(currentId('list-limit-fills')) ||
  (status !== undefined && declined.has(currentId('list-filter-before-limit')));

/** The longest list there is. */
export const LONGEST: ListQuery = { limit: maximum };

/** The requested limit, or the default. */
export const limitOf = ({ limit = defaultLimit }: AllowedQuery) => limit;

/** Whether a list had room for more. */
export function hasRoom(list: AnsweredExchange): boolean {
  const [query, listed] = [allowedQuery(list), listedPets(list)];
  return query !== undefined && listed !== undefined && listed.length < limitOf(query);
}

/** Whether a list holds everything that matches. */
export const isWhole = (list: AnsweredExchange, facts: RunFacts): boolean =>
  hasRoom(list) && !mayBeShort(facts, allowedQuery(list));

/** The longest list without a filter, and with each status. */
export type LongestLists = readonly [all: AnsweredExchange, ...byStatus: AnsweredExchange[]];

/** Takes the longest lists; all with the given key, if there is one. */
export const takeAll = async (run: SceneRun, key?: Key): Promise<LongestLists> => [
  await run.send(listPets(LONGEST), { key }),
  ...(await allOf(PET_STATUSES, (status) => run.send(listPets({ ...LONGEST, status }), { key }))),
];

/** Pauses within which an addition should be served: the document promises no time, but no client waits longer. */
const VISIBLE_WITHIN: readonly number[] = [250, 750, 2000, 7000];

/** Looks until what was added is served, within a client's patience. */
export async function patiently<T>(
  run: SceneRun,
  waitingFor: string,
  look: () => Promise<T>,
  isServed: (seen: T) => boolean,
): Promise<T> {
  let seen = await look();
  for (const pause of VISIBLE_WITHIN) {
    if (isServed(seen)) break;
    await run.waitUntil(run.now() + pause, waitingFor);
    seen = await look();
  }
  return seen;
}

/** After this many milliseconds, those of all pauses, no client waits for an addition any more. */
export const LISTED_WITHIN = VISIBLE_WITHIN.reduce((sum, pause) => sum + pause);

/** Whether a complete list should show one of these animals but does not. */
const isAnyMissing = (
  taken: LongestLists,
  additions: readonly AnsweredExchange[],
  facts: RunFacts,
): boolean =>
  taken
    .filter((list) => isWhole(list, facts))
    .some((list) =>
      additions.some((addition) => {
        const pet = createdBy(addition);
        const status = sentPet(addition)?.status ?? pet?.status;
        const isAskedFor = [undefined, status].includes(allowedQuery(list)?.status);
        return pet !== undefined && isAskedFor && !listedPets(list)?.some(({ id }) => id === pet.id);
      }),
    );

/**
 * The whole store, as far as lists show it. The document does not say that a new animal is listed at once, so lists are
 * repeated until it is, within a client's patience.
 */
export const lists = scene('lists', {}, async (run): Promise<LongestLists> => {
  const additions = Object.values((await run.tryPlay(enoughAnimals)) ?? {});
  return patiently(
    run,
    'animals that were just added to be listed',
    () => takeAll(run),
    (taken) => !isAnyMissing(taken, additions, run.facts),
  );
});
