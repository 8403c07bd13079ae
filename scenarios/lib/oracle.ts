/**
 * The contract as an oracle under load: rate headers of every response, and the bodies that are looked at. What is judged
 * is the checks' own (checks/wire: answer.ts, schema.ts).
 */
import * as answer from '../../checks/wire/answer.ts';
import {
  int64Of,
  isJsonObject,
  type JsonValue,
  LosslessNumber,
  parseJson,
} from '../../checks/wire/lossless-json.ts';
import { seenPet } from '../../checks/wire/pets.ts';
import { numberOf, rateHeaders } from '../../checks/wire/rate-headers.ts';
import { schemaProblem } from '../../checks/wire/schema.ts';
import { LIMIT } from '../../spec/operations.ts';
import type { PlannedKey } from './messages.ts';
import { plan, targetNow } from './run.ts';
import type { LoadOperation } from './scenario.ts';

/** Which requirement a response breaks, and how. */
export interface Breach {
  readonly requirement: string;
  readonly detail: string;
}

type Headers = Readonly<Record<string, string>>;

function breachOf(requirement: string, violation: answer.Violation | undefined): Breach | undefined {
  return violation && { requirement, detail: `${violation.actual}; expected ${violation.expected}` };
}

const DAY_MS = 86_400_000;
/** Reset has whole seconds, Date (from which the skew is known) too; a second more for a request under way. */
const tolerance = 3_000 * Math.max(1, plan.clock.speed);

/**
 * What was found right in the headers of a key's answer and holds for the next that says the same: nothing yet. It is good
 * until a time of this machine's clock, milliseconds since 1970.
 */
export const unknownHeaders = () => ({ limit: '', most: 0, reset: '', goodUntil: 0 });

/** As k6 spells them. */
const RATE_NAMES = ['X-Ratelimit-Limit', 'X-Ratelimit-Remaining', 'X-Ratelimit-Reset'] as const;
const [LIMIT_NAME, REMAINING_NAME, RESET_NAME] = RATE_NAMES;
const NAMED_STATUSES = [200, 201, 400, 401, 404, 429];
const nameOf = (row: string, status: number) =>
  `${row}-${NAMED_STATUSES.includes(status) ? status : 'other'}`;

/** The values of a header; k6 joins those of one that was sent more than once. */
const valuesOf = (headers: Headers, name: string) => headers[name]?.split(/,\s*/) ?? [];

/** Whether limit and reset say the same as before, and remaining is a count within the limit. */
export function isAsBefore(headers: Headers, known: ReturnType<typeof unknownHeaders>, now: number): boolean {
  const remaining = headers[REMAINING_NAME] ?? '';
  // As a whole number: anything else is not spelled as it was.
  const left = +remaining >>> 0;
  return (
    headers[LIMIT_NAME] === known.limit &&
    headers[RESET_NAME] === known.reset &&
    now <= known.goodUntil &&
    left <= known.most &&
    `${left}` === remaining
  );
}

/**
 * What is wrong with the three headers of section 8; undefined where nothing is.
 *
 * @param key undefined where no valid key was sent: then no plan's number is expected
 * @param known takes what was found right; of answers that succeed alone, since a 429 has Retry-After besides
 */
export function rateHeaderBreach(
  headers: Headers,
  status: number,
  key: PlannedKey | undefined,
  now: number,
  known: ReturnType<typeof unknownHeaders>,
): Breach | undefined {
  if (isAsBefore(headers, known, now)) return undefined;
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
    breachOf(nameOf('rate-headers-on', status), answer.missingHeadersViolation(rates)) ??
    breachOf('rate-limit-value', answer.limitViolation(rates.limit, key)) ??
    breachOf('rate-remaining-value', answer.remainingViolation(rates)) ??
    breachOf('rate-reset-value', answer.resetViolation(rates.reset, range));
  if (breach !== undefined) return breach;
  if (status === 429)
    return breachOf('retry-after-present', answer.retryAfterViolation(headers['Retry-After'] !== undefined));
  known.limit = headers[LIMIT_NAME] ?? '';
  known.most = numberOf(rates.limit) ?? 0;
  known.reset = headers[RESET_NAME] ?? '';
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

/** Whether a body and its media type are those that were found right last. */
export const isBodyAsBefore = (
  response: { readonly body: string | null; readonly headers: Headers },
  asked: Asked,
): boolean => response.body === asked.rightBody && response.headers['Content-Type'] === knownType;

/** What is wrong with a body; undefined where nothing is. */
export function bodyBreach(text: string, status: number, headers: Headers, asked: Asked): Breach | undefined {
  const type = headers['Content-Type'];
  if (type === undefined || type !== knownType) {
    const types = answer.mediaTypesIn(valuesOf(headers, 'Content-Type'));
    const breach = breachOf('media-type-json', answer.mediaTypeViolation(types));
    if (breach !== undefined) return breach;
    knownType = type;
  }
  if (status < 300 && text === asked.rightBody) return undefined;
  const body = jsonIn(text);
  if (!body.ok) return breachOf('json-well-formed', answer.jsonViolation(body.problem));
  if (status >= 300) return errorBreach(body.value, status);
  const breach =
    asked.operation === 'listPets' ? listBreach(body.value, asked) : petBreach(body.value, asked);
  if (breach === undefined) asked.rightBody = text;
  return breach;
}

/** JSON.parse takes k6 a tenth of the time, but it rounds from 2^53 on, which has 16 digits. */
const MANY_DIGITS = /\d{16}/;

function jsonIn(text: string): ReturnType<typeof parseJson> {
  if (MANY_DIGITS.test(text)) return parseJson(text);
  try {
    const value: JsonValue = JSON.parse(text, (_, part: unknown) =>
      typeof part === 'number' ? new LosslessNumber(String(part)) : part,
    );
    return { ok: true, value };
  } catch {
    return parseJson(text);
  }
}

function errorBreach(value: JsonValue, status: number): Breach | undefined {
  const row = nameOf('error-body', status);
  const stated = isJsonObject(value) ? int64Of(value['status']) : undefined;
  return (
    breachOf(row, answer.schemaViolation('error', schemaProblem.error(value))) ??
    breachOf('error-status-matches', answer.errorStatusViolation(stated, status))
  );
}

function listBreach(value: JsonValue, { limit, status }: Asked): Breach | undefined {
  const breach = breachOf('list-pet-schema', answer.schemaViolation('pets', schemaProblem.pets(value)));
  if (breach !== undefined) return breach;
  const listed = [value].flat().flatMap((animal) => seenPet(animal) ?? []);
  const row = limit === undefined ? 'list-limit-default' : 'list-limit-maximum';
  return (
    breachOf(row, answer.listLimitViolation(limit, listed.length, LIMIT.default)) ??
    breachOf('list-status-filter', answer.listStatusViolation(status, listed)) ??
    breachOf('list-each-once', answer.listOnceViolation(listed))
  );
}

function petBreach(value: JsonValue, { operation, id, name, categoryId, status }: Asked): Breach | undefined {
  const row = operation === 'getPet' ? 'get-pet-schema' : 'add-pet-schema';
  const breach = breachOf(row, answer.schemaViolation('pet', schemaProblem.pet(value)));
  const animal = seenPet(value);
  if (breach !== undefined || animal === undefined) return breach;
  return (
    breachOf('get-returns-requested-id', answer.requestedIdViolation(id, animal)) ??
    breachOf('add-echoes-name', answer.echoViolation('name', name, animal.name)) ??
    breachOf('add-echoes-category-id', answer.echoViolation('categoryId', categoryId, animal.categoryId)) ??
    breachOf('add-echoes-status', answer.echoViolation('status', status, animal.status))
  );
}

/** The ids of the animals in a body, with every digit. */
export function idsIn(text: string): string[] {
  const body = jsonIn(text);
  const animals = body.ok ? [body.value].flat().map(seenPet) : [];
  return animals.flatMap((animal) => animal?.id?.toString() ?? []);
}
