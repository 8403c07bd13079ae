/** What became of the run's animals: no operation changes or removes one, but whoever runs the target may. */
import { contract } from '../../../spec/contract.ts';
import { inTurn, type Scene, scene } from '../../run/scene.ts';
import { type AnsweredExchange, type Exchange, isAnswered } from '../../wire/exchange.ts';
import { answeredPet, listedPets, readOnce, type SeenPet } from '../../wire/pets.ts';
import { getPet } from '../../wire/requests.ts';
import { createdAnimals } from '../add/scenes.ts';
import { queryOf } from './queries.ts';
import { take } from './scenes.ts';
import type { Showing, StatusChange } from './unchanged.ts';

/** What an answer told of an animal. */
interface Told {
  readonly by: 'list' | 'get';
  readonly exchange: AnsweredExchange;
  /** Undefined where the longest list does not hold it, or no animal is found. */
  readonly pet: SeenPet | undefined;
}

/** An animal of the run, and what was told of it since, in that order. */
interface Life extends Showing {
  readonly id: bigint;
  readonly told: readonly Told[];
}

/** An answer that tells of animals. */
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

/** What a list or a retrieval tells; undefined where it tells nothing. */
const lookAt = readOnce((exchange): Look | undefined => {
  const { operation, path } = exchange.request;
  const { status } = exchange.outcome;
  if (operation === 'getPet') {
    const pet = status === 200 ? answeredPet(exchange) : undefined;
    // Whether it answers with the animal that was asked for is get-returns-requested-id's subject.
    const pets = byId(pet !== undefined && path === `/pets/${pet.id}` ? [pet] : []);
    return { by: 'get', exchange, pets, isMissing: (id) => status === 404 && path === `/pets/${id}` };
  }
  const listed = operation === 'listPets' ? listedPets(exchange) : undefined;
  if (listed === undefined) return undefined;
  const { limit, status: filter } = queryOf(path) ?? {};
  const isLongest = Number(limit) === contract.limit.maximum && filter === undefined;
  return { by: 'list', exchange, pets: byId(listed), isMissing: () => isLongest };
});

/** The lives of the run's animals of which anything was told. */
function lives(exchanges: readonly Exchange[]): readonly Life[] {
  const looks = exchanges.filter(isAnswered).flatMap((exchange) => lookAt(exchange) ?? []);
  return [...createdAnimals(exchanges)]
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
 * Animals whose status changed by itself, by id: transitions are not shown (3), somebody may sell or approve one. It is
 * held against the target where list and retrieval contradict each other, and where no addition keeps its status for a
 * while, but for those that were given the one that the others changed to: then what was answered was never stored.
 */
function statusChanges(all: readonly Life[]): ReadonlyMap<bigint, StatusChange> {
  const changes = new Map<bigint, StatusChange>();
  const stored = new Set<string | undefined>();
  let isStored = false;
  for (const life of all) {
    const from = life.pet.status;
    // A status that comes back once may be an old copy's; back and forth is a contradiction.
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
  // What was agreed on for one animal is believed of another: not all of them are asked for again.
  const isLikeAgreed = ({ from, to }: StatusChange) =>
    agreed.some((other) => other.from === from && other.to === to);
  return new Map([...changes].map(([id, change]) => [id, { ...change, isAgreed: isLikeAgreed(change) }]));
}

/** Where an animal was shown last, and what told since that it is gone. */
function lastShown({ told }: Life) {
  const index = told.findLastIndex(({ pet }) => pet !== undefined);
  return { shown: told[index], since: told.slice(index + 1) };
}

/** Whether list and retrieval agree that an animal is gone that one of them showed. */
function isGone(life: Life): boolean {
  const { shown, since } = lastShown(life);
  return shown !== undefined && new Set(since.map(({ by }) => by)).size === 2;
}

/** Whether an animal is missing that was shown before, and was never missing in between. */
function mayBeGone(life: Life): boolean {
  const { shown, since } = lastShown(life);
  const first = life.told.findIndex(({ pet }) => pet !== undefined);
  const between = life.told.slice(first, life.told.length - since.length);
  return shown !== undefined && since.length > 0 && between.every(({ pet }) => pet !== undefined);
}

/**
 * Animals that were shown and are gone: somebody may clean up, or a store be lost with a restart. It is held against the
 * target where list and retrieval contradict each other, and where it happens every time: to all that were retrieved,
 * and to no other, or to each of them at a moment of its own.
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

export function fatesOf(exchanges: readonly Exchange[]): Fates {
  const all = lives(exchanges);
  return { changes: statusChanges(all), gone: vanished(all) };
}

export const goneInWords = (id: bigint) =>
  `animal ${id} existed and has disappeared from lists and retrievals: something is removing animals`;

/** What is suspicious of an animal: that it is gone, or which status became which; undefined where nothing is. */
function suspicion(life: Life): string | undefined {
  if (mayBeGone(life)) return 'gone';
  const other = statusesOf(life).findLast((status) => status !== life.pet.status);
  return statusesOf(life).every((status) => status === life.pet.status)
    ? undefined
    : `${life.pet.status} ${other}`;
}

/** So many retrievals between lists tell a contradiction from an old copy. */
const TURNS = 2;

/** An animal of each kind that changed its status or is missing, once more, when all else is done. */
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
      await probe.send(getPet(id), key === undefined ? {} : { key });
    }
    await take(probe, longest, { key });
  });
});
