/** What the services have in common: callers with their plans, animals, and the document's rules for them. */
import { setImmediate as turn } from 'node:timers/promises';
import { isInteger, parse } from 'lossless-json';
import { PLANS } from '../../../spec/plans.ts';

/** By the names that an accuracy case has for them. */
export const KEYS = [
  { name: 'free-1', plan: 'free', value: 'Pets-free-1-q7XwLr9' },
  { name: 'free-2', plan: 'free', value: 'Pets-free-2-m4TzBk2' },
  { name: 'free-ban', plan: 'free', value: 'Pets-free-ban-h8VnCs5' },
  { name: 'pro-1', plan: 'pro', value: 'Pets-pro-1-d3YjFp6' },
] as const;

interface Request {
  readonly headers: { readonly authorization?: string | undefined };
  readonly ip?: string | undefined;
}

/** The account that a request is counted for: the key's, and without a valid key the address. */
export async function accountOf({ headers: { authorization = '' }, ip = '' }: Request) {
  await turn(); // the database
  const sent = /^bearer +(\S+)$/i.exec(authorization)?.[1];
  const key = KEYS.find(({ value }) => value === sent);
  return { id: key?.name ?? ip, perMinute: PLANS[key?.plan ?? 'free'].perMinute, isKnown: key !== undefined };
}

const STATUSES: readonly unknown[] = ['available', 'pending', 'sold'];
const GREATEST = 2n ** 63n - 1n;
const SEEDED = 30;

export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** Parses JSON without losing digits of integers. */
export const parseJson = (text: string): unknown =>
  parse(text, null, (digits) => (isInteger(digits) ? BigInt(digits) : Number(digits)));

export const refusal = (status: number, code: string, message: string): Answer => ({
  status,
  body: { code, message, status },
});

export class PetStore {
  readonly #pets = Array.from({ length: SEEDED }, (_, index) => ({
    id: index + 1,
    name: `pet ${index + 1}`,
    categoryId: 1n,
    status: STATUSES[index % 3],
  }));

  list(query: { readonly limit?: unknown; readonly status?: unknown }): Answer {
    const { status } = query;
    const limit = Number(query.limit ?? 20);
    if (!Number.isInteger(limit) || limit < 1 || limit > 100)
      return refusal(400, 'bad_limit', 'limit is 1 to 100');
    const matching = this.#pets.filter((pet) => status === undefined || pet.status === status);
    return { status: 200, body: matching.slice(0, limit) };
  }

  async add(body: unknown): Promise<Answer> {
    const sent = new Map<string, unknown>(
      typeof body === 'object' && body !== null ? Object.entries(body) : [],
    );
    const [name, categoryId, status] = ['name', 'categoryId', 'status'].map((field) => sent.get(field));
    const isInt64 = typeof categoryId === 'bigint' && categoryId <= GREATEST && categoryId >= -GREATEST - 1n;
    if (typeof name !== 'string' || !isInt64 || (status !== undefined && !STATUSES.includes(status)))
      return refusal(400, 'invalid_animal', 'name is a string, categoryId an int64, status a PetStatus');
    await turn(); // the database
    const pet = { id: this.#pets.length + 1, name, categoryId, status };
    this.#pets.push(pet);
    return { status: 201, body: pet };
  }

  get(id: string): Answer {
    const pet = this.#pets.find((one) => String(one.id) === id);
    return pet === undefined
      ? refusal(404, 'not_found', 'no animal has this id')
      : { status: 200, body: pet };
  }
}

/** What a request has that an operation may read. */
export interface Asked {
  readonly query: Parameters<PetStore['list']>[0];
  /** Of the path, where it has one. */
  readonly id: string;
  readonly body: unknown;
}

interface Route {
  readonly method: 'get' | 'post';
  readonly url: string;
  /** Of its success. */
  readonly status: number;
  readonly schema: object;
  readonly answer: (store: PetStore, asked: Asked) => Answer | Promise<Answer>;
}

const FIELDS = { id: { type: 'integer' }, name: { type: 'string' }, categoryId: { type: 'integer' } };
const PET = { type: 'object', properties: { ...FIELDS, status: { type: 'string' } } };
const PETS = { type: 'array', items: PET };

/** The operations, for whichever framework. */
// biome-ignore format: a table, a line for each operation
export const ROUTES: readonly Route[] = [
  { method: 'get', url: '/v1/pets', status: 200, schema: PETS, answer: (store, { query }) => store.list(query) },
  { method: 'post', url: '/v1/pets', status: 201, schema: PET, answer: (store, { body }) => store.add(body) },
  { method: 'get', url: '/v1/pets/:id', status: 200, schema: PET, answer: (store, { id }) => store.get(id) },
];
