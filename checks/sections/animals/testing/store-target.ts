/** A target with a store that does what the document says of animals, and what one row says of a run against it. */

import { stringify } from 'lossless-json';
import { currentId } from '../../../../spec/contract.ts';
import { gap } from '../../../run/check.ts';
import type { Finding } from '../../../run/findings.ts';
import type { RunResult } from '../../../run/judge.ts';
import { playRun } from '../../../run/play.ts';
import type { RunOptions } from '../../../run/run.ts';
import { type Answers, type TestRun, testRun } from '../../../run/testing/test-run.ts';
import type { ClientRequest } from '../../../wire/client.ts';
import type { FailureOutcome } from '../../../wire/exchange.ts';
import { int64Of, isJsonObject, type JsonValue, parseJson } from '../../../wire/lossless-json.ts';
import type { AnswerParts } from '../../../wire/testing/answered.ts';
import { allChecks, animalChecks } from '../../all-checks.ts';

/** An animal as the store keeps it. */
export interface Kept {
  readonly id: bigint;
  readonly name: string;
  readonly categoryId: bigint;
  readonly status?: string;
}

const STATUSES: readonly unknown[] = ['available', 'pending', 'sold'];

const errorBody = (status: number) => `{"code":"refused","message":"no","status":${status}}`;

/** An answer with an Error body. */
export const refusal = (status: number): AnswerParts => ({ status, body: errorBody(status) });

/** The animal in a body, if it is a NewPet. */
function newPet(value: JsonValue): Omit<Kept, 'id'> | undefined {
  if (!isJsonObject(value)) return undefined;
  const { name, categoryId: category, status } = value;
  const categoryId = int64Of(category);
  if (typeof name !== 'string' || categoryId === undefined) return undefined;
  if (status !== undefined && !STATUSES.includes(status)) return undefined;
  return { name, categoryId, ...(typeof status === 'string' ? { status } : {}) };
}

/** The store of a target: newest first, ids from 1001 on. */
export class TestStore {
  kept: Kept[];
  nextId = 1001n;

  /** @param seeded how many animals it has from the beginning, their statuses in turn */
  constructor(seeded = 0) {
    this.kept = Array.from({ length: seeded }, (_, index) => ({
      id: BigInt(index + 1),
      name: `animal ${index + 1}`,
      categoryId: 7n,
      status: ['available', 'pending', 'sold'][index % 3] ?? 'sold',
    }));
  }

  answer({ operation, method, path, body = '' }: ClientRequest): AnswerParts {
    const url = new URL(path, 'http://target');
    if (operation === 'createPet') return this.#add(parseJson(body));
    if (operation === 'getPet') {
      const found = this.kept.find(({ id }) => url.pathname === `/pets/${id}`);
      const isId = /^\/pets\/-?\d{1,19}$/.test(url.pathname);
      return found === undefined ? refusal(isId ? 404 : 400) : { body: stringify(found) ?? '' };
    }
    if (operation !== 'listPets') return refusal(method === 'GET' ? 404 : 405);
    const limit = Number(url.searchParams.get('limit') ?? 20);
    const status = url.searchParams.get('status');
    if (!(limit >= 1 && limit <= 100) || !(status === null || STATUSES.includes(status))) return refusal(400);
    const matching = this.kept.filter((animal) => status === null || animal.status === status);
    return { body: stringify(matching.slice(0, limit)) ?? '' };
  }

  #add(body: ReturnType<typeof parseJson>): AnswerParts {
    const pet = body.ok ? newPet(body.value) : undefined;
    if (pet === undefined) return refusal(400);
    const animal = { id: this.nextId, ...pet };
    this.nextId += 1n;
    this.kept.unshift(animal);
    return { status: 201, body: stringify(animal) ?? '' };
  }
}

/** What a target answers otherwise than its store; undefined where it does not. */
export type Otherwise = (
  request: ClientRequest,
  store: TestStore,
  number: number,
  now: number,
) => AnswerParts | FailureOutcome | undefined;

export interface Situation {
  /** How many animals there are from the beginning. */
  readonly seeded?: number;
  readonly otherwise?: Otherwise;
  readonly options?: Partial<RunOptions>;
  /** Done before the run, as to its clock. */
  readonly before?: (test: TestRun) => void;
}

/** Plays what these rows need, and judges them. */
export async function findingsOf(
  ids: readonly string[],
  situation: Situation = {},
): Promise<RunResult['requirements']> {
  const { seeded = 0, otherwise = () => undefined, options, before } = situation;
  const store = new TestStore(seeded);
  const answers: Answers = (request, number) =>
    otherwise(request, store, number, test.clock.now()) ?? {
      headers: [['content-type', 'application/json']],
      ...store.answer(request),
    };
  const checks = allChecks.filter(({ id }) => ids.map(currentId).includes(id));
  const test = testRun(answers, { permissions: new Set(['writes']), checks, ...options });
  before?.(test);
  const alsoPlayed = checks.some(({ observe, conclude }) => observe !== undefined || conclude !== undefined)
    ? animalChecks
    : [];
  const scenes = alsoPlayed.flatMap((one) => one.scenes);
  const observer = gap('also-played', scenes, () => undefined);
  return (await playRun(test.run, { checks, gapObservers: [observer] })).requirements;
}

/** What one row says. @param also other rows that are judged, which may explain it */
export async function said(
  id: string,
  situation?: Situation,
  also: readonly string[] = [],
): Promise<Finding> {
  const row = (await findingsOf([id, ...also], situation)).get(currentId(id));
  if (row === undefined) throw new Error(`there is no ${id}`);
  return row;
}
