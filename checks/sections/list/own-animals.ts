/** What became of the run's animals: no operation changes or removes one, but the target's operator may. */
import { contract } from '../../../spec/contract.ts';
import { inTurn, type Scene, scene } from '../../run/scene.ts';
import { type AnsweredExchange, type Exchange, isAnswered } from '../../wire/exchange.ts';
import { answeredPet, listedPets, readOnce, type SeenPet } from '../../wire/pets.ts';
import { getPet } from '../../wire/requests.ts';
import { createdAnimals } from '../add/scenes.ts';
import { queryOf } from './queries.ts';
import { take } from './scenes.ts';
import type { Showing, StatusChange } from './unchanged.ts';

/** What an answer shows of an animal. */
interface Told {
  readonly by: 'list' | 'get';
  readonly exchange: AnsweredExchange;
  /** Undefined if the longest list does not hold it, or the retrieval does not find it. */
  readonly pet: SeenPet | undefined;
}

/** An animal of the run, and what later answers show of it, in order. */
interface Life extends Showing {
  readonly id: bigint;
  readonly told: readonly Told[];
}

/** The animals in an answer. */
interface Look {
  readonly by: Told['by'];
  readonly exchange: AnsweredExchange;
  /** By id. */
  readonly pets: ReadonlyMap<bigint, SeenPet>;
  /** Whether an animal that it does not show is missing. */
  isMissing(id: bigint): boolean;
}

const byId = (pets: readonly SeenPet[]) =>
  new Map(pets.flatMap((pet) => (pet.id === undefined ? [] : [[pet.id, pet] as const])));

/** Reads a list or a retrieval; undefined for any other answer. */
const lookAt = readOnce((exchange): Look | undefined => {
  const { operation, path } = exchange.request;
  const { status } = exchange.outcome;
  if (operation === 'getPet') {
    const pet = status === 200 ? answeredPet(exchange) : undefined;
    // An animal with another id than the requested one is for get-returns-requested-id to judge.
    const pets = byId(pet !== undefined && path === `/pets/${pet.id}` ? [pet] : []);
    return { by: 'get', exchange, pets, isMissing: (id) => status === 404 && path === `/pets/${id}` };
  }
  const listed = operation === 'listPets' ? listedPets(exchange) : undefined;
  if (listed === undefined) return undefined;
  const { limit, status: filter } = queryOf(path) ?? {};
  const isLongest = Number(limit) === contract.limit.maximum && filter === undefined;
  return { by: 'list', exchange, pets: byId(listed), isMissing: () => isLongest };
});

/** The lives of the run's animals that appear in any later answer. */
function lives(exchanges: readonly Exchange[]): readonly Life[] {
  const created = [...createdAnimals(exchanges)];
  // Large lists are read anew each time: not where no animal is looked for in them.
  const looks =
    created.length === 0 ? [] : exchanges.filter(isAnswered).flatMap((exchange) => lookAt(exchange) ?? []);
  return created
    .map(([id, own]) => ({
      ...own,
      id,
      told: looks.flatMap(({ by, exchange, pets, isMissing }): Told[] => {
        const pet = pets.get(id);
        // What another key may see is open (5, scopes).
        const tells = pet !== undefined || (exchange.key === own.exchange.key && isMissing(id));
        return tells ? [{ by, exchange, pet }] : [];
      }),
    }))
    .filter(({ told }) => told.length > 0);
}

const statusesOf = ({ pet, told }: Life) =>
  [pet, ...told.flatMap((one) => one.pet ?? [])].map((one) => one.status);
const lastOf = ({ told }: Life, by: Told['by']) =>
  told.findLast((one) => one.by === by && one.pet !== undefined)?.pet;

/**
 * Animals whose status changed by itself, by id. Transitions are "not shown" (section 3): somebody may sell or approve
 * an animal. The change counts against the target in two cases: list and retrieval contradict each other, or no
 * addition keeps its status for even a moment, except those that already had the status that the others change to. In
 * the second case the status in the answer was never stored.
 */
function statusChanges(all: readonly Life[]): ReadonlyMap<bigint, StatusChange> {
  const changes = new Map<bigint, StatusChange>();
  const stored = new Set<string | undefined>();
  let isStored = false;
  for (const life of all) {
    const from = life.pet.status;
    // A status that returns once may come from a stale copy; repeated back and forth is a contradiction.
    const turns = statusesOf(life).filter((status, index, all) => index === 0 || status !== all[index - 1]);
    if (turns.length === 1) stored.add(from);
    if (turns.length === 1 || turns.some((turn) => turns.filter((other) => other === turn).length > 2))
      continue;
    const to = turns.at(-1);
    const isAgreed = lastOf(life, 'list')?.status === to && lastOf(life, 'get')?.status === to;
    const evidence = life.told
      .filter(({ pet }) => pet !== undefined && pet.status === to)
      .map(({ exchange }) => exchange);
    isStored ||= life.told.some(({ pet }) => pet !== undefined && pet.status === from);
    if (to !== from)
      changes.set(life.id, { from, to, isAgreed, evidence: [...evidence.slice(0, 2), life.exchange] });
  }
  const agreed = [...changes.values()].filter(({ isAgreed }) => isAgreed);
  isStored ||= agreed.length === 0 || agreed.some(({ from }) => stored.has(from));
  for (const { to } of agreed) stored.delete(to);
  stored.delete(undefined);
  isStored ||= stored.size > 0;
  if (!isStored) return new Map();
  // A change confirmed for one animal is believed of others: not all of them are requested again.
  const isLikeAgreed = ({ from, to }: StatusChange) =>
    agreed.some((other) => other.from === from && other.to === to);
  return new Map([...changes].map(([id, change]) => [id, { ...change, isAgreed: isLikeAgreed(change) }]));
}

/** Where an animal was last shown, and the later answers in which it is missing. */
function lastShown({ told }: Life) {
  const index = told.findLastIndex(({ pet }) => pet !== undefined);
  return { shown: told[index], since: told.slice(index + 1) };
}

/** Whether list and retrieval agree that an animal that was shown is now gone. */
function isGone(life: Life): boolean {
  const { shown, since } = lastShown(life);
  return shown !== undefined && new Set(since.map(({ by }) => by)).size === 2;
}

/** Whether an animal is missing that was shown before, without being missing in between. */
function mayBeGone(life: Life): boolean {
  const { shown, since } = lastShown(life);
  const first = life.told.findIndex(({ pet }) => pet !== undefined);
  const between = life.told.slice(first, life.told.length - since.length);
  return shown !== undefined && since.length > 0 && between.every(({ pet }) => pet !== undefined);
}

/**
 * Animals that were shown and have disappeared: somebody may clean up, or a restart may lose the store. This counts
 * against the target if list and retrieval contradict each other, or if it happens systematically: to all animals that
 * were retrieved and to no others, or to each animal at a moment of its own.
 */
function vanished(all: readonly Life[]): ReadonlySet<bigint> {
  if (!all.some(isGone)) return new Set();
  const missing = all.filter((life) => isGone(life) || mayBeGone(life));
  const ends = missing.map(lastShown);
  const lastSeen = Math.max(...ends.map(({ shown }) => shown?.exchange.receivedAt ?? 0));
  const isAtOnce = ends.every(({ since }) => (since[0]?.exchange.receivedAt ?? 0) >= lastSeen);
  const retrieved = all.filter(({ told }) => told.some(({ by, pet }) => by === 'get' && pet !== undefined));
  const areRetrieved =
    missing.length > 1 && missing.length < all.length && missing.every((life) => retrieved.includes(life));
  const isEveryTime = (areRetrieved || !isAtOnce) && retrieved.every((life) => missing.includes(life));
  return new Set(isEveryTime ? [] : missing.map(({ id }) => id));
}

/** What became of the run's animals, by id. */
export interface Fates {
  readonly changes: ReadonlyMap<bigint, StatusChange>;
  readonly gone: ReadonlySet<bigint>;
}

const known = new WeakMap<readonly Exchange[], Fates>();

/** The fates in these exchanges, found out once for all who ask. */
export function fatesOf(exchanges: readonly Exchange[]): Fates {
  const before = known.get(exchanges);
  if (before !== undefined) return before;
  const all = lives(exchanges);
  const fates = { changes: statusChanges(all), gone: vanished(all) };
  known.set(exchanges, fates);
  return fates;
}

export const goneInWords = (id: bigint) =>
  `animal ${id} existed and has disappeared from lists and retrievals: something is removing animals`;

/** What is suspicious about an animal: its disappearance or its change of status; undefined if nothing is. */
function suspicion(life: Life): string | undefined {
  if (mayBeGone(life)) return 'gone';
  const changed = statusesOf(life).filter((status) => status !== life.pet.status);
  return changed.length === 0 ? undefined : `${life.pet.status} ${changed.at(-1)}`;
}

/** This many retrievals between lists tell a contradiction from a stale copy. */
const TURNS = 2;

/** Requests one animal of each kind of suspicion again, after everything else. */
export const askedAgain: Scene<unknown> = scene('asked-again', { afterwards: true }, (probe) => {
  const exchanges = probe.run.keys
    .flatMap((key) => probe.trace.readingsOf(key))
    .flatMap(({ id }) => probe.trace.find(id) ?? [])
    .sort((a, b) => a.receivedAt - b.receivedAt);
  const suspicious = new Map(lives(exchanges).map((life) => [suspicion(life), life]));
  suspicious.delete(undefined);
  return inTurn([...suspicious.values()], async ({ id, exchange }) => {
    const key = probe.keys.find(({ name }) => name === exchange.key);
    const longest = { limit: contract.limit.maximum };
    for (let turn = 0; turn < TURNS; turn += 1) {
      await take(probe, longest, { key });
      await probe.send(getPet(id), { key });
    }
    await take(probe, longest, { key });
  });
});
