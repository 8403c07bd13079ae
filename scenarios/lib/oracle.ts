/**
 * The contract as an oracle under load: rate headers of every response, and the bodies that are looked at, against the
 * schemas of spec/petstore.openapi.yaml. What is judged is the checks' own (checks/wire/answer.ts).
 */
import { error, type Pet, pet, pets } from 'contract:validators';
import {
  echoViolation,
  errorStatusViolation,
  jsonViolation,
  limitViolation,
  listLimitViolation,
  listOnceViolation,
  listStatusViolation,
  mediaTypesIn,
  mediaTypeViolation,
  missingHeadersViolation,
  remainingViolation,
  requestedIdViolation,
  resetViolation,
  retryAfterViolation,
  type ShownAnimal,
  schemaViolation,
  type Violation,
} from '../../checks/wire/answer.ts';
import { int64Of, isJsonObject, parseJson } from '../../checks/wire/lossless-json.ts';
import { numberOf, rateHeaders } from '../../checks/wire/rate-headers.ts';
import { LIMIT } from '../../spec/operations.ts';
import type { PlannedKey } from './load-plan.ts';
import type { LoadOperation } from './operations.ts';
import { plan, targetNow } from './run-plan.ts';

/** Which requirement a response breaks, and how. */
export interface Breach {
  readonly requirement: string;
  readonly detail: string;
}

type Headers = Readonly<Record<string, string>>;

function breachOf(requirement: string, violation: Violation | undefined): Breach | undefined {
  return violation && { requirement, detail: `${violation.actual}; expected ${violation.expected}` };
}

const DAY_MS = 86_400_000;
const DEFAULT_LIMIT = LIMIT.default;
/** Reset has whole seconds, Date (from which the skew is known) too; a second more for a request under way. */
const CLOCK_TOLERANCE_MS = 3_000;
const tolerance = CLOCK_TOLERANCE_MS * Math.max(1, plan.clock.speed);

/** What was found right in the headers of a key's answer and holds for the next that says the same. */
export interface KnownHeaders {
  limit: string;
  most: number;
  reset: string;
  /** Milliseconds since 1970, this machine's clock. */
  goodUntil: number;
}

/** Nothing known yet. */
export const unknownHeaders = (): KnownHeaders => ({ limit: '', most: 0, reset: '', goodUntil: 0 });

/** As k6 spells them. */
const RATE_NAMES = ['X-Ratelimit-Limit', 'X-Ratelimit-Remaining', 'X-Ratelimit-Reset'] as const;
const [LIMIT_NAME, REMAINING_NAME, RESET_NAME] = RATE_NAMES;
const NAMED_STATUSES = [200, 201, 400, 401, 404, 429];
const ERROR_STATUSES = [400, 401, 404, 429];
const nameOf = (row: string, status: number, named: readonly number[]) =>
  `${row}-${named.includes(status) ? status : 'other'}`;

/** The values of a header; k6 joins those of one that was sent more than once. */
const valuesOf = (headers: Headers, name: string) => headers[name]?.split(/,\s*/) ?? [];

/**
 * What is wrong with the three headers of section 8; undefined where nothing is.
 *
 * @param key undefined where no valid key was sent: then no plan's number is expected
 * @param known takes what was found right
 */
export function rateHeaderBreach(
  headers: Headers,
  status: number,
  key: PlannedKey | undefined,
  now: number,
  known: KnownHeaders,
): Breach | undefined {
  // This runs for every response. Nearly always limit and reset say the same, and remaining is a count within the limit.
  const limit = headers[LIMIT_NAME];
  const reset = headers[RESET_NAME];
  const left = +(headers[REMAINING_NAME] ?? '-1');
  const isSame = status !== 429 && limit === known.limit && reset === known.reset && now <= known.goodUntil;
  const isCount = left >= 0 && left <= known.most && left % 1 === 0 && `${left}` === headers[REMAINING_NAME];
  if (isSame && isCount) return undefined;
  const rates = rateHeaders(
    RATE_NAMES.flatMap((name) => valuesOf(headers, name).map((value) => [name, value] as const)),
  );
  const time = targetNow(now);
  const range = {
    from: time - tolerance,
    to: time + DAY_MS + tolerance,
    now: time,
    window: 'a day',
  } as const;
  const breach =
    breachOf(nameOf('rate-headers-on', status, NAMED_STATUSES), missingHeadersViolation(rates)) ??
    breachOf('rate-limit-value', limitViolation(rates.limit, key)) ??
    breachOf('rate-remaining-value', remainingViolation(rates)) ??
    breachOf('rate-reset-value', resetViolation(rates.reset, range));
  if (breach !== undefined) return breach;
  if (status === 429)
    return breachOf('retry-after-present', retryAfterViolation(headers['Retry-After'] !== undefined));
  known.limit = limit ?? '';
  known.most = numberOf(rates.limit) ?? 0;
  known.reset = reset ?? '';
  const ahead = (numberOf(rates.reset) ?? 0) * 1000 - time;
  known.goodUntil = now + (ahead + tolerance) / plan.clock.speed;
  return undefined;
}

/** What a body was asked for: the query of a list, the fields sent, the id requested. */
export interface Asked {
  readonly operation: LoadOperation;
  readonly limit?: number;
  readonly status?: string | undefined;
  readonly name?: string;
  readonly categoryId?: string;
  readonly id?: string;
  /** The body that was found right last: a target that is not written to answers the same for long. */
  rightBody?: string;
}

/** The media type that was found right last. */
let knownType: string | undefined;

/** What is wrong with a body; undefined where nothing is. */
export function bodyBreach(text: string, status: number, headers: Headers, asked: Asked): Breach | undefined {
  const type = headers['Content-Type'];
  if (type === undefined || type !== knownType) {
    const types = mediaTypesIn(valuesOf(headers, 'Content-Type'));
    const breach = breachOf('media-type-json', mediaTypeViolation(types));
    if (breach !== undefined) return breach;
    knownType = type;
  }
  if (status < 300 && text === asked.rightBody) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return breachOf('json-well-formed', jsonViolation('the body is not JSON'));
  }
  if (status >= 300) return errorBreach(value, status);
  const breach =
    asked.operation === 'listPets' ? listBreach(value, text, asked) : petBreach(value, text, asked);
  if (breach === undefined) asked.rightBody = text;
  return breach;
}

function errorBreach(value: unknown, status: number): Breach | undefined {
  if (error(value)) return breachOf('error-status-matches', errorStatusViolation(value.status, status));
  const row = nameOf('error-body', status, ERROR_STATUSES);
  return breachOf(row, schemaViolation('error', firstProblem(error.errors)));
}

function listBreach(value: unknown, text: string, { limit, status }: Asked): Breach | undefined {
  const listed = pets(value) ? shown(value, text) : undefined;
  if (listed === undefined)
    return breachOf('list-pet-schema', schemaViolation('pets', firstProblem(pets.errors)));
  const row = limit === undefined ? 'list-limit-default' : 'list-limit-maximum';
  return (
    breachOf(row, listLimitViolation(limit, listed.length, DEFAULT_LIMIT)) ??
    breachOf('list-status-filter', listStatusViolation(status, listed)) ??
    breachOf('list-each-once', listOnceViolation(listed))
  );
}

function petBreach(value: unknown, text: string, asked: Asked): Breach | undefined {
  const [animal] = (pet(value) ? shown([value], text) : undefined) ?? [];
  if (animal === undefined) {
    const row = asked.operation === 'getPet' ? 'get-pet-schema' : 'add-pet-schema';
    return breachOf(row, schemaViolation('pet', firstProblem(pet.errors)));
  }
  return (
    breachOf('get-returns-requested-id', requestedIdViolation(asked.id, animal)) ??
    breachOf('add-echoes-name', echoViolation('name', asked.name, animal.name)) ??
    breachOf('add-echoes-category-id', echoViolation('categoryId', asked.categoryId, animal.categoryId)) ??
    breachOf('add-echoes-status', echoViolation('status', asked.status, animal.status))
  );
}

function firstProblem(errors: typeof pets.errors): string {
  const [first] = errors ?? [];
  return first === undefined
    ? 'an integer that is no int64'
    : `${first.instancePath || 'the body'} ${first.message ?? first.keyword}`;
}

/** JSON.parse rounds from 2^53 on, which has 16 digits. */
const MANY_DIGITS = /\d{16}/;

/** The animals with every digit of their ids; undefined where one is no int64. */
function shown(valid: readonly Pet[], text: string): readonly ShownAnimal[] | undefined {
  const exact = MANY_DIGITS.test(text) ? exactIds(text) : undefined;
  const animals = valid.map(({ name, status, ...ids }, index) => {
    const { id, categoryId } = exact === undefined ? ids : (exact[index] ?? {});
    return { name, status, id: id?.toString(), categoryId: categoryId?.toString() };
  });
  return animals.every(({ id, categoryId }) => id !== undefined && categoryId !== undefined)
    ? animals
    : undefined;
}

/** The ids of one animal or of several, which JSON.parse rounds from 2^53 on. */
function exactIds(text: string): { id: bigint | undefined; categoryId: bigint | undefined }[] {
  const body = parseJson(text);
  const objects = (body.ok ? [body.value].flat() : []).filter(isJsonObject);
  return objects.map(({ id, categoryId }) => ({ id: int64Of(id), categoryId: int64Of(categoryId) }));
}

/** The ids of the animals in a body, with every digit. */
export function idsIn(text: string): string[] {
  return exactIds(text).flatMap(({ id }) => id?.toString() ?? []);
}
