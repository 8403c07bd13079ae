/** The animals of a service and the document's rules for them; each fault of `catalogue.ts` changes a line. */
import { setImmediate as turn } from 'node:timers/promises';
import { isInteger, parse } from 'lossless-json';
import type { Is } from './catalogue.ts';

const STATUSES: readonly unknown[] = ['available', 'pending', 'sold'];
const GREATEST = 2n ** 63n - 1n;
const SEEDED = 30;

interface Pet {
  readonly id: unknown;
  readonly name: unknown;
  readonly categoryId: unknown;
  readonly status?: unknown;
}

export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** How this service answers the gaps. */
export interface Ways {
  /** The answer to an invalid limit or status; by default the nearest limit, and an empty list. */
  readonly oddQueries?: 'refused';
  readonly newestFirst?: boolean;
  /** The status of an animal that was added without one; by default none. */
  readonly usualStatus?: string;
}

/** Parses JSON without losing digits of integers. */
export const parseJson = (text: string): unknown =>
  parse(text, null, (digits) => (isInteger(digits) ? BigInt(digits) : Number(digits)));

export const refusal = (status: number, code: string, message: string): Answer => ({
  status,
  body: { code, message, status },
});

export class PetStore {
  readonly #is: Is;
  readonly #ways: Ways;
  readonly #pets: Pet[] = [];
  #lastId = SEEDED;

  constructor(is: Is, ways: Ways) {
    this.#is = is;
    this.#ways = ways;
    for (let id = 1; id <= SEEDED; id += 1)
      this.#pets.push({ id: BigInt(id), name: `pet ${id}`, categoryId: 1n, status: STATUSES[id % 3] });
  }

  list(asked: unknown, status: unknown): Answer {
    const limit = this.#limit(asked);
    const known = status === undefined || STATUSES.includes(status);
    if (this.#ways.oddQueries === 'refused' && (limit === undefined || !known))
      return refusal(400, 'bad_query', 'limit is 1 to 100, status available, pending or sold');
    const matches = (pet: Pet) => status === undefined || pet.status === status;
    const stored = this.#ways.newestFirst === true ? this.#pets.toReversed() : this.#pets;
    const body = this.#is('filter-behind-limit')
      ? stored.slice(0, limit ?? 100).filter(matches)
      : stored.filter(matches).slice(0, limit ?? 100);
    return { status: 200, body: this.#is('list-in-data') ? { data: body } : body };
  }

  /** undefined for one that does not exist. */
  #limit(asked: unknown): number | undefined {
    if (asked === undefined) return this.#is('default-limit-of-10') ? 10 : 20;
    const limit = Number(asked);
    if (this.#is('limit-cut-at-25')) return Math.min(limit, 25);
    return Number.isInteger(limit) && limit >= 1 && limit <= 100 ? limit : undefined;
  }

  async add(body: unknown): Promise<Answer> {
    const sent = new Map<string, unknown>(
      typeof body === 'object' && body !== null ? Object.entries(body) : [],
    );
    const pet = {
      id: this.#newId(sent.get('id')),
      name: this.#is('name-trimmed') ? String(sent.get('name')).trim() : sent.get('name'),
      categoryId: sent.get('categoryId'),
      status: sent.get('status') ?? this.#ways.usualStatus,
    };
    if (this.#is('stored-before-validated')) this.#pets.push(pet);
    const problem = this.#problem(sent);
    if (problem !== undefined)
      return refusal(this.#is('invalid-is-422') ? 422 : 400, 'invalid_animal', problem);
    await turn(); // the database
    if (!this.#is('stored-before-validated')) this.#pets.push(pet);
    return { status: this.#is('created-is-200') ? 200 : 201, body: pet };
  }

  #newId(sent: unknown): unknown {
    if (this.#is('id-of-client-taken') && sent !== undefined) return sent;
    if (this.#is('id-of-the-clock')) return BigInt(Date.now());
    if (this.#is('id-from-the-count')) return BigInt(this.#pets.length + 1);
    this.#lastId += 1;
    return BigInt(this.#lastId);
  }

  #problem(sent: ReadonlyMap<string, unknown>): string | undefined {
    const categoryId = sent.get('categoryId');
    const status = sent.get('status');
    if (typeof sent.get('name') !== 'string') return 'name must be a string';
    const parsesDoubles =
      this.#is('bodies-as-express-reads-them') || this.#is('bodies-as-fastify-reads-them');
    const isNumber = parsesDoubles ? Number.isInteger(categoryId) : typeof categoryId === 'bigint';
    const isText = this.#is('category-as-text-taken') && /^\d+$/.test(String(categoryId));
    if (!isNumber && !isText) return 'categoryId must be an integer';
    if (typeof categoryId === 'bigint' && (categoryId > GREATEST || categoryId < -GREATEST - 1n))
      return 'categoryId must fit 64 bits';
    if (this.#is('any-status-taken') || status === undefined) return undefined;
    return STATUSES.includes(status) ? undefined : 'status must be available, pending or sold';
  }

  get(asked: string): Answer {
    const id = this.#is('id-read-loosely') ? String(Number.parseInt(asked, 10)) : asked;
    const pet = this.#pets.find((one) => String(one.id) === id);
    if (pet === undefined && this.#is('unknown-is-null')) return { status: 200, body: null };
    return pet === undefined
      ? refusal(404, 'not_found', 'no animal has this id')
      : { status: 200, body: pet };
  }
}
