/** A store that answers lists as the document says, and what the lists of a run were that was made against it. */
import { stringify } from 'lossless-json';
import type { ClientRequest } from '../../../wire/client.ts';
import type { FailureOutcome } from '../../../wire/exchange.ts';
import { listedPets } from '../../../wire/pets.ts';
import { type ListQuery, listPets } from '../../../wire/requests.ts';
import { type AnswerParts, answered } from '../../../wire/testing/answered.ts';
import { TWIN } from '../../add/scenes.ts';

/** An animal by its number, and its status where it has one. */
export type Animal = readonly [id: number | bigint, status?: string];

const STATUSES = ['available', 'pending', 'sold'] as const;

/** So many animals, the statuses by turns. */
export const animals = (count: number): Animal[] =>
  Array.from({ length: count }, (_, index) => [index + 1, STATUSES[index % STATUSES.length] ?? 'sold']);

const shownAs = ([id, status]: Animal) => ({ id, name: `animal ${id}`, categoryId: 1, status });

/** The body of an animal. */
export const animalBody = (animal: Animal) => stringify(shownAs(animal)) ?? '';

/** The body of a list. */
export const listBody = (listed: readonly Animal[]) => stringify(listed.map(shownAs)) ?? '';

/** What a store answers to a list; without a limit it shows 20. */
export function select(store: readonly Animal[], path: string): readonly Animal[] {
  const query = new URL(path, 'http://target').searchParams;
  const wanted = query.get('status');
  return store
    .filter(([, status]) => wanted === null || status === wanted)
    .slice(0, Number(query.get('limit') ?? 20));
}

/** What a target answers otherwise than such a one; undefined where it does not. */
export type Otherwise = (request: ClientRequest, number: number) => AnswerParts | FailureOutcome | undefined;

/** A target with such a store. */
export const storeOf =
  (store: readonly Animal[]) =>
  ({ path }: ClientRequest): AnswerParts => ({ body: listBody(select(store, path)) });

/** A list that was taken before, and what it showed; a number is the status that it was answered with instead. */
export function taken(query: ListQuery, shown: readonly Animal[] | number) {
  const { path } = listPets(query);
  const exchange = answered({
    id: `list-${query.status ?? 'all'}`,
    path,
    ...(typeof shown === 'number' ? { status: shown, body: '{}' } : { body: listBody(shown) }),
  });
  return { query, exchange, pets: listedPets(exchange) };
}

/** An animal of the run: the status that it was added with, and the one that its creation showed; null where none. */
export interface Own {
  readonly id: number | bigint;
  readonly label?: string;
  readonly sent?: string;
  readonly created?: string | null;
}

/** The lists of a run that took them of a store, but for the ones that showed something else. */
export function listsOf(
  store: readonly Animal[],
  own: readonly Own[] = [],
  otherwise: Readonly<Record<string, readonly Animal[] | number>> = {},
) {
  const take = (query: ListQuery) =>
    taken(query, otherwise[query.status ?? 'all'] ?? select(store, listPets(query).path));
  return {
    own: own.map(({ id, label = 'an animal', sent, created = sent }, index) => {
      const animal = { name: `animal ${id}`, categoryId: 1n, fields: [] };
      return {
        label,
        sent: { ...animal, id: undefined, status: sent },
        pet: { ...animal, id: BigInt(id), status: created ?? undefined },
        exchange: answered({
          id: `added-${id}`,
          operation: 'createPet',
          method: 'POST',
          status: 201,
          // One after the other, but for a twin of the one before it.
          sentAt: 10 * (label === TWIN ? index - 1 : index),
        }),
      };
    }),
    all: take({ limit: 100 }),
    byStatus: new Map(STATUSES.map((status) => [status, take({ limit: 100, status })])),
    shownLater: false,
  };
}
