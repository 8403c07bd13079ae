/** Lists: how one is asked for, those of the whole store that most checks share, pages, and how long each should be. */
import { currentId } from '../../../spec/contract.ts';
import { groupBy } from '../../../spec/group-by.ts';
import { LIMIT, PET_STATUSES } from '../../../spec/operations.ts';
import { type Key, otherKeys } from '../../profile/key.ts';
import { doneOf, type Judge } from '../../run/check.ts';
import type { RunFacts } from '../../run/run-facts.ts';
import { allOf, type InTurn, inTurn, type SceneRun, scene } from '../../run/scene.ts';
import { animals, type Violation } from '../../wire/answer.ts';
import type { AnsweredExchange } from '../../wire/exchange.ts';
import { described, listedPets, readOnce, sentPet } from '../../wire/pets.ts';
import type { RateReading } from '../../wire/rate-headers.ts';
import { readLast } from '../../wire/read-last.ts';
import { type ListQuery, listPets, percentEncoded, type RequestSpec } from '../../wire/requests.ts';
import { createdBy, enoughAnimals } from './additions.ts';

const { minimum, maximum, default: defaultLimit } = LIMIT;

/** What the document allows to ask of a list. */
interface AllowedQuery {
  readonly limit?: number;
  readonly status?: string;
}

/** limit and status in a path, if the document allows them. The requests of a burst have one path. */
const queryOf = readLast((path: string): AllowedQuery | undefined => {
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

function inWords(list: AnsweredExchange): string {
  const { status, limit } = allowedQuery(list) ?? {};
  const parts = [limit === undefined ? 'no limit' : `limit=${limit}`];
  return [...parts, ...(status === undefined ? [] : [`status=${status}`])].join(', ');
}

/** What is said of a list that does not show an animal, which it should. */
export const missingFrom = (list: AnsweredExchange, animal: string): Violation => ({
  expected: `animal ${animal} in the list with ${inWords(list)}`,
  actual: `${animals(listedPets(list)?.length ?? 0)} without it`,
});

/** Whether the profile declines that a list is as long as it can be: then none is known to hold everything. */
export const mayBeShort = ({ declined }: RunFacts, { status }: AllowedQuery = {}): boolean =>
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
const takeAll = async (run: SceneRun, key?: Key): Promise<LongestLists> => [
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
  { ...listPets({ limit: maximum - 1 }), headers: [['accept', 'application/json;q=0.9']] },
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
      ? run.send({ ...listPets(), headers: [['accept', '*/*']] })
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
  const short = new Map<string, RateReading>();
  const longest = new Map<string | undefined, number>();
  const shownOf = new Map([undefined, ...PET_STATUSES].map((status) => [status, known(taken, status)]));
  const readings = facts.keys
    .flatMap((key) => trace.readingsOf(key))
    .sort((a, b) => a.receivedAt - b.receivedAt);
  for (const reading of readings) {
    const { operation, path, listed, key, sentAt } = reading;
    // Another operation may also answer with an array.
    const query = operation === 'listPets' ? queryOf(path) : undefined;
    if (query === undefined || listed === undefined) continue;
    const shown = sentAt >= taken[0].sentAt ? (shownOf.get(query.status) ?? 0) : 0;
    const most = Math.max(longest.get(query.status) ?? 0, shown);
    if (listed < Math.min(limitOf(query), most)) short.set(`${key} ${path}`, reading);
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
    const retaken = await allOf(paths, async ({ path }) => {
      const query = queryOf(path);
      const list = await run.send({ ...listPets(), path }, { key });
      const limited = query?.limit === undefined ? listPets({ ...query, limit: defaultLimit }) : undefined;
      return { list, limited: limited && (await run.send(limited, { key })), before };
    });
    const after = await takeAll(run, key);
    return retaken.map((one): ShortList => ({ ...one, after }));
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

/** Whether a list shows everything that matches. @param judge is told why that is not known where it does not */
export function showsAll(judge: Judge, list: AnsweredExchange, facts: RunFacts): boolean {
  if (listedPets(list) === undefined) judgeNoList(judge, list);
  else if (isWhole(list, facts)) return true;
  else judge.notApplicable(`more animals may match than the list with ${inWords(list)} shows`);
  return false;
}

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
