/**
 * What is true of one answer, whoever asked: the judgements that the checks and k6's oracle share. Pure, and without
 * anything of Node's, since k6 runs them too.
 */
import type { PlanLimits } from '../../spec/plans.ts';
import { type NumberHeader, RATE_HEADER_NAMES, type RateHeaders } from './rate-headers.ts';

/** What the document asks of an answer, and what came. */
export interface Violation {
  readonly expected: string;
  readonly actual: string;
  /** What is wrong in the decisive answer: `status`, `header:NAME`, or `body` with a JSON Pointer (`body/3/status`). */
  readonly at?: readonly string[];
}

/** What a schema objects to, and where. */
export interface SchemaProblem {
  readonly text: string;
  /** A JSON Pointer. */
  readonly at: string;
}

const inHeader = (...names: readonly string[]) => names.map((name) => `header:${name}`);

/** An animal as far as a response tells; a field that is missing or of another type is undefined. */
export interface SeenPet {
  readonly id: bigint | undefined;
  readonly name: string | undefined;
  readonly categoryId: bigint | undefined;
  readonly status: string | undefined;
  /** Names of all fields, the document's or not. */
  readonly fields: readonly string[];
}

/** So many animals, in words. */
export const animals = (count: number) => (count === 1 ? '1 animal' : `${count} animals`);

/** A whole number with commas. k6 knows no locales: there toLocaleString('en') throws. */
const grouped = (count: number) => String(count).replace(/\B(?=(?:\d{3})+$)/g, ',');

/** A text as a message quotes it, a long one by its beginning and length. */
export function quoted(text: string): string {
  return text.length <= 120
    ? JSON.stringify(text)
    : `${JSON.stringify(`${text.slice(0, 60)}…`)} (${grouped(text.length)} characters)`;
}

/** The media types in the values of Content-Type, without their parameters, in lower case. */
export const mediaTypesIn = (contentTypes: readonly string[]): string[] =>
  contentTypes.map((value) => value.split(';')[0]?.trim().toLowerCase() ?? '');

/**
 * 1: bodies use application/json. Of two fields that differ nobody can tell which one holds.
 *
 * @param types see {@link mediaTypesIn}
 */
export function mediaTypeViolation(types: readonly string[]): Violation | undefined {
  if (types.length > 0 && types.every((type) => type === 'application/json')) return undefined;
  return {
    expected: 'Content-Type: application/json',
    actual:
      types.length === 0 ? 'no Content-Type' : types.map((type) => `Content-Type: ${type}`).join(' and '),
    at: inHeader('Content-Type'),
  };
}

/** 1: a body is JSON. @param problem what keeps it from being read, undefined where nothing does */
export function jsonViolation(problem: string | undefined): Violation | undefined {
  return problem === undefined ? undefined : { expected: 'one JSON text in UTF-8', actual: problem };
}

const SCHEMAS = {
  pets: 'Pets: id, name, categoryId and, where present, a status',
  pet: 'a Pet: id, name, categoryId and, where present, a status',
  error: 'an Error body with code, message and status',
} as const;

/** 2: a body has the fields of its schema. @param problem what the schema's validator says */
export function schemaViolation(
  schema: keyof typeof SCHEMAS,
  problem: SchemaProblem | string | undefined,
): Violation | undefined {
  if (problem === undefined) return undefined;
  const expected = SCHEMAS[schema];
  return typeof problem === 'string'
    ? { expected, actual: problem }
    : { expected, actual: problem.text, at: [`body${problem.at}`] };
}

/** 2: Error.status is the HTTP status. @param stated undefined where the body states none */
export function errorStatusViolation(stated: bigint | undefined, status: number): Violation | undefined {
  if (stated === undefined || stated === BigInt(status)) return undefined;
  const inBody = `in the body of a ${status}`;
  return {
    expected: `status ${status} ${inBody}`,
    actual: `status ${stated} ${inBody}`,
    at: ['body/status'],
  };
}

const RATE_NAMES = Object.values(RATE_HEADER_NAMES);

/** 8: the three headers are on every response. */
export function missingHeadersViolation({ limit, remaining, reset }: RateHeaders): Violation | undefined {
  const missing = [limit, remaining, reset].flatMap(({ kind }, index) =>
    kind === 'absent' ? (RATE_NAMES[index] ?? []) : [],
  );
  if (missing.length === 0) return undefined;
  return {
    expected: RATE_NAMES.join(', '),
    actual: `no ${missing.join(', no ')}`,
    at: inHeader(...missing),
  };
}

function unreadable(name: string, field: NumberHeader, form: string): Violation | undefined {
  return field.kind === 'unreadable'
    ? { expected: `${name}: ${form}`, actual: `${name}: ${field.text || 'empty'}`, at: inHeader(name) }
    : undefined;
}

/**
 * 8: X-RateLimit-Limit is the limit that applies to the caller: a figure of its plan, of the minute or of the day.
 *
 * @param plan undefined where no valid key was sent
 */
export function limitViolation(
  limit: NumberHeader,
  plan: (PlanLimits & { readonly plan: string }) | undefined,
): Violation | undefined {
  const name = RATE_HEADER_NAMES.limit;
  if (limit.kind !== 'number') return unreadable(name, limit, 'a whole number');
  const { value } = limit;
  const [actual, at] = [`${name}: ${value}`, inHeader(name)];
  if (plan === undefined) return value >= 0 ? undefined : { expected: 'a limit of 0 or more', actual, at };
  const { perMinute, perDay } = plan;
  if (value === perMinute || value === perDay) return undefined;
  return {
    expected: `${name}: ${perMinute} (a minute) or ${perDay} (a day) for a key of plan ${plan.plan}`,
    actual,
    at,
  };
}

/** 8: X-RateLimit-Remaining is what is left in the current window: never negative, never more than the limit. */
export function remainingViolation({ limit, remaining }: RateHeaders): Violation | undefined {
  const name = RATE_HEADER_NAMES.remaining;
  if (remaining.kind !== 'number') return unreadable(name, remaining, 'a whole number');
  const most = limit.kind === 'number' ? limit.value : Number.POSITIVE_INFINITY;
  if (remaining.value >= 0 && remaining.value <= most) return undefined;
  return {
    expected: `${name} from 0 to ${RATE_HEADER_NAMES.limit} (${most})`,
    actual: `${name}: ${remaining.value}`,
    at: inHeader(name),
  };
}

/** When a limit may reset, in milliseconds since 1970. */
export interface ResetRange {
  readonly from: number;
  readonly to: number;
  /** The target's own time. */
  readonly now: number;
  readonly window: 'two minutes' | 'a day';
}

/** 8: X-RateLimit-Reset is the Unix time at which the limit resets: in seconds, ahead, within the window. */
export function resetViolation(
  reset: NumberHeader,
  { from, to, now, window }: ResetRange,
): Violation | undefined {
  const name = RATE_HEADER_NAMES.reset;
  if (reset.kind !== 'number') return unreadable(name, reset, 'a Unix timestamp');
  const time = reset.value * 1000;
  if (time >= from && time <= to) return undefined;
  const away = Math.round((time - now) / 1000);
  return {
    expected: `${name}: a Unix time in seconds, from now on, at most ${window} ahead`,
    actual: `${name}: ${reset.value}, which is ${grouped(Math.abs(away))} seconds ${away < 0 ? 'ago' : 'ahead'}`,
    at: inHeader(name),
  };
}

/** 7, 8: a 429 says in Retry-After how long to wait. */
export function retryAfterViolation(isPresent: boolean): Violation | undefined {
  return isPresent
    ? undefined
    : { expected: 'Retry-After on a 429', actual: 'none', at: inHeader('Retry-After') };
}

/**
 * 4.1, 8: limit sets the maximum number of animals returned, the default where it is not given.
 *
 * @param limit what was asked for
 */
export function listLimitViolation(
  limit: number | undefined,
  listed: number,
  defaultLimit: number,
): Violation | undefined {
  if (listed <= (limit ?? defaultLimit)) return undefined;
  return {
    expected:
      limit === undefined
        ? `at most ${animals(defaultLimit)} without limit`
        : `at most ${animals(limit)} with limit=${limit}`,
    actual: animals(listed),
    at: [`body/${limit ?? defaultLimit}`],
  };
}

/** 4.1: only animals with the status that was asked for. One that shows no status tells nothing: it is optional. */
export function listStatusViolation(
  status: string | undefined,
  listed: readonly SeenPet[],
): Violation | undefined {
  if (status === undefined) return undefined;
  const index = listed.findIndex((animal) => animal.status !== undefined && animal.status !== status);
  const wrong = listed[index];
  if (wrong === undefined) return undefined;
  return {
    expected: `only animals with status ${status}`,
    actual: `${wrong.id === undefined ? 'an animal without id' : `animal ${wrong.id}`} with status ${wrong.status}`,
    at: [`body/${index}/status`],
  };
}

/** 4.1: one animal is listed once. */
export function listOnceViolation(listed: readonly SeenPet[]): Violation | undefined {
  const seen = new Set<bigint>();
  for (const [index, { id }] of listed.entries()) {
    if (id === undefined) continue;
    if (seen.has(id)) {
      const actual = `animal ${id} twice in one list`;
      return { expected: 'each animal once', actual, at: [`body/${index}/id`] };
    }
    seen.add(id);
  }
  return undefined;
}

/** Whether a path names an int64. */
export const isInt64 = (text: string): boolean =>
  /^-?\d{1,19}$/.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text);

/** 4.3: petId is the identifier of the animal. @param asked the id as it stands in the path */
export function requestedIdViolation(asked: string | undefined, { id }: SeenPet): Violation | undefined {
  // What a petId that is no int64 may find is our reading, and an id that is none is the schema's subject.
  if (id === undefined || asked === undefined || !isInt64(asked) || id === BigInt(asked)) return undefined;
  return { expected: `animal ${asked}`, actual: `animal ${id}`, at: ['body/id'] };
}

/** The fields of a request that come back. */
export type Echoed = 'name' | 'categoryId' | 'status';

/** 4.2: the body is the created Pet: it has what was sent. @param sent undefined where nothing was */
export function echoViolation(
  field: Echoed,
  sent: bigint | string | undefined,
  came: bigint | string | undefined,
): Violation | undefined {
  // That a required field is missing or of another type is the schema's subject.
  if (sent === undefined || (came === undefined && field !== 'status')) return undefined;
  if (came !== undefined && String(came) === String(sent)) return undefined;
  const shown = (value: bigint | string) => (field === 'categoryId' ? String(value) : quoted(String(value)));
  return {
    expected: `${field} ${shown(sent)}, as sent`,
    actual: came === undefined ? `no ${field}` : `${field} ${shown(came)}`,
    at: [came === undefined ? 'body' : `body/${field}`],
  };
}
