/**
 * The contract as an oracle under load: rate headers of every response, and the bodies that are looked at, against
 * the schemas of spec/petstore.openapi.yaml.
 */
import { beyondDoubles, error, pet, pets } from 'contract:validators';
import { integerOf, JsonNumber } from '../../checks/wire/lossless-json.ts';
import { plan, targetNow } from './run-plan.ts';
import type { PlannedKey } from './scenario.ts';

/** Which requirement a response breaks, and how. */
export interface Breach {
  readonly requirement: string;
  readonly detail: string;
}

type Headers = Readonly<Record<string, string>>;

const DAY_MS = 86_400_000;
/** Reset has whole seconds, Date (from which the skew is known) too; a second more for a request under way. */
const CLOCK_TOLERANCE_MS = 3_000;
const tolerance = CLOCK_TOLERANCE_MS * Math.max(1, plan.clock.speed);
const WHOLE = /^\d{1,15}$/;
const TIMESTAMP = /^\d{1,15}(\.\d{1,9})?$/;

/** What was found right in the headers of a key's list and holds for the next that says the same. */
export interface KnownHeaders {
  limit: string;
  most: number;
  reset: string;
  /** Milliseconds since 1970, this machine's clock. */
  goodUntil: number;
}

/** Nothing known yet. */
export const unknownHeaders = (): KnownHeaders => ({ limit: '', most: 0, reset: '', goodUntil: 0 });

/**
 * Whether the headers are as right as those before: limit and reset say the same, and remaining is a count within the
 * limit. This runs for every response, and is the usual case.
 */
export function rightAsBefore(headers: Headers, known: KnownHeaders, now: number): boolean {
  if (headers['X-Ratelimit-Limit'] !== known.limit || headers['X-Ratelimit-Reset'] !== known.reset)
    return false;
  // `Number()` is a call, which costs k6 more than all the rest here.
  const left = +(headers['X-Ratelimit-Remaining'] ?? '-1');
  return left >= 0 && left <= known.most && left % 1 === 0 && now <= known.goodUntil;
}

/**
 * What is wrong with the three headers of section 8; undefined where nothing is.
 *
 * @param key undefined where no valid key was sent: then no plan's number is expected
 * @param known takes what was found right, where the next answer may be measured by it
 * @param strictly whether the spelling of X-RateLimit-Remaining is held against the grammar, not its value only
 */
export function rateHeaderBreach(
  headers: Headers,
  status: number,
  key: PlannedKey | undefined,
  now: number,
  strictly: boolean,
  known: KnownHeaders | undefined,
): Breach | undefined {
  const limit = headers['X-Ratelimit-Limit'];
  const remaining = headers['X-Ratelimit-Remaining'];
  const reset = headers['X-Ratelimit-Reset'];
  if (limit === undefined || remaining === undefined || reset === undefined) {
    return { requirement: headersRequirement(status), detail: `rate headers missing on a ${status}` };
  }
  const most = +limit;
  if (key !== undefined && most !== key.perMinute && most !== key.perDay) {
    return {
      requirement: 'rate-limit-value',
      detail: `X-RateLimit-Limit is ${limit}; plan ${key.plan} has ${key.perMinute} a minute and ${key.perDay} a day`,
    };
  }
  const left = +remaining;
  if (!(left >= 0 && left <= most && left % 1 === 0) || (strictly && !WHOLE.test(remaining))) {
    return {
      requirement: 'rate-remaining-value',
      detail: `X-RateLimit-Remaining is ${remaining} of ${limit}`,
    };
  }
  if (!TIMESTAMP.test(reset)) {
    return { requirement: 'rate-reset-value', detail: `X-RateLimit-Reset is ${reset}, no Unix time` };
  }
  const ahead = +reset * 1000 - targetNow(now);
  if (ahead < -tolerance || ahead > DAY_MS + tolerance) {
    return {
      requirement: 'rate-reset-value',
      detail: `X-RateLimit-Reset is ${reset}, ${Math.round(ahead / 1000)} s from now`,
    };
  }
  if (status === 429) {
    if (left !== 0) {
      return {
        requirement: 'rate-remaining-value',
        detail: `X-RateLimit-Remaining is ${remaining} on a 429`,
      };
    }
    if (headers['Retry-After'] === undefined) {
      return { requirement: 'retry-after-present', detail: 'a 429 without Retry-After' };
    }
  }
  if (known !== undefined) {
    known.limit = limit;
    known.most = most;
    known.reset = reset;
    known.goodUntil = now + (ahead + tolerance) / plan.clock.speed;
  }
  return undefined;
}

function headersRequirement(status: number): string {
  return [200, 201, 400, 401, 404, 429].includes(status)
    ? `rate-headers-on-${status}`
    : 'rate-headers-on-other';
}

/** What a body was asked for: the query of a list, the fields sent, the id requested. */
export interface Asked {
  readonly operation: 'listPets' | 'createPet' | 'getPet';
  readonly limit?: number;
  readonly status?: string;
  readonly name?: string;
  readonly categoryId?: string;
  readonly id?: string;
}

const SCHEMA_REQUIREMENT = {
  listPets: 'list-pet-schema',
  createPet: 'add-pet-schema',
  getPet: 'get-pet-schema',
} as const;

// The same text, asked for the same way, has been judged: a target that is not written to answers the same for long.
let knownBody = '';
let knownAsked: Asked | undefined;

/** What is wrong with a body; undefined where nothing is. */
export function bodyBreach(text: string, status: number, headers: Headers, asked: Asked): Breach | undefined {
  const labelled = headers['Content-Type'];
  if (labelled === undefined || !/^application\/json\s*(;|$)/i.test(labelled)) {
    return { requirement: 'media-type-json', detail: `Content-Type is ${labelled ?? 'missing'}` };
  }
  if (status < 300 && asked === knownAsked && text === knownBody) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { requirement: 'json-well-formed', detail: 'the body is not JSON' };
  }
  if (status >= 300) return errorBreach(value, status);
  const breach =
    asked.operation === 'listPets' ? listBreach(value, text, asked) : petBreach(value, text, asked);
  if (breach === undefined) {
    knownBody = text;
    knownAsked = asked;
  }
  return breach;
}

function errorBreach(value: unknown, status: number): Breach | undefined {
  const named = [400, 401, 404, 429].includes(status) ? `error-body-${status}` : 'error-body-other';
  if (!error(value)) return { requirement: named, detail: `not an Error: ${firstProblem(error.errors)}` };
  if (typeof value === 'object' && value !== null && 'status' in value && value.status !== status) {
    return { requirement: 'error-status-matches', detail: `Error.status is ${value.status} on a ${status}` };
  }
  return undefined;
}

function listBreach(value: unknown, text: string, asked: Asked): Breach | undefined {
  const requirement = SCHEMA_REQUIREMENT.listPets;
  beyondDoubles();
  if (!pets(value)) return { requirement, detail: firstProblem(pets.errors) };
  const rounded = beyondDoubles() ? int64Problem(text) : undefined;
  if (rounded !== undefined) return { requirement, detail: rounded };
  if (!Array.isArray(value)) return { requirement, detail: 'not an array' };
  const most = asked.limit ?? 20;
  if (value.length > most) {
    return { requirement: 'list-limit-maximum', detail: `${value.length} animals with limit ${most}` };
  }
  const other =
    asked.status === undefined ? undefined : value.find((animal) => animal.status !== asked.status);
  if (other !== undefined) {
    return {
      requirement: 'list-status-filter',
      detail: `status ${other.status} where ${asked.status} was asked for`,
    };
  }
  const ids = idsIn(text);
  if (new Set(ids).size < ids.length)
    return { requirement: 'list-each-once', detail: 'an id stands twice in the list' };
  return undefined;
}

function petBreach(value: unknown, text: string, asked: Asked): Breach | undefined {
  const requirement = SCHEMA_REQUIREMENT[asked.operation];
  beyondDoubles();
  if (!pet(value)) return { requirement, detail: firstProblem(pet.errors) };
  const rounded = beyondDoubles() ? int64Problem(text) : undefined;
  if (rounded !== undefined) return { requirement, detail: rounded };
  if (asked.id !== undefined && idsIn(text)[0] !== asked.id) {
    return {
      requirement: 'get-returns-requested-id',
      detail: `id ${idsIn(text)[0]} where ${asked.id} was asked for`,
    };
  }
  if (typeof value !== 'object' || value === null) return { requirement, detail: 'not an object' };
  if (asked.name !== undefined && 'name' in value && value.name !== asked.name) {
    return {
      requirement: 'add-echoes-name',
      detail: `name ${JSON.stringify(value.name)}, sent ${asked.name}`,
    };
  }
  const category = asked.categoryId === undefined ? undefined : fieldsIn(text, 'categoryId')[0];
  if (category !== undefined && category !== asked.categoryId) {
    return {
      requirement: 'add-echoes-category-id',
      detail: `categoryId ${category}, sent ${asked.categoryId}`,
    };
  }
  return undefined;
}

function firstProblem(errors: typeof pets.errors): string {
  const [first] = errors ?? [];
  return first === undefined
    ? 'not valid'
    : `${first.instancePath || 'the body'} ${first.message ?? first.keyword}`;
}

/** Numbers of the two int64 fields as they stand in the text: JSON.parse rounds from 2^53 on. */
const INT64_FIELDS = /"(id|categoryId)"\s*:\s*(-?\d[\d.eE+-]*)/g;

function int64Problem(text: string): string | undefined {
  for (const [, field, digits = ''] of text.matchAll(INT64_FIELDS)) {
    const integer = integerOf(new JsonNumber(digits));
    if (typeof integer !== 'bigint') return `${field} ${digits} is no int64`;
  }
  return undefined;
}

/** The ids in a body with every digit, in their order. */
export function idsIn(text: string): string[] {
  return fieldsIn(text, 'id');
}

function fieldsIn(text: string, wanted: string): string[] {
  const found: string[] = [];
  for (const [, field, digits = ''] of text.matchAll(INT64_FIELDS)) if (field === wanted) found.push(digits);
  return found;
}
