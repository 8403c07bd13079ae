/** Requests to the target: sent, judged, reported. */
import exec from 'k6/execution';
import type { RefinedParams, RefinedResponse } from 'k6/http';
import http from 'k6/http';
import { Counter } from 'k6/metrics';
import {
  type Asked,
  type Breach,
  bodyAsBefore,
  bodyBreach,
  idsIn,
  type KnownHeaders,
  rateHeaderBreach,
  rightAsBefore,
  rightInFull,
  unknownHeaders,
} from './oracle.ts';
import { begin, end, endAs, noteAdded, tellViolation } from './report.ts';
import { keyValue, plan } from './run-plan.ts';
import { STATUS_FACTOR, seriesCode } from './sample.ts';
import { OPERATIONS, type PlannedKey } from './scenario.ts';

type TextResponse = RefinedResponse<'text'>;
/** A response whose body k6 left unread, which costs it a tenth less. */
type BodilessResponse = RefinedResponse<'none'>;

/** Outcome numbers, see OUTCOMES in sample.ts. */
const OK = 0;
const REFUSED = 1;
const UNEXPECTED_429 = 2;
const FAILED = 3;
const VIOLATION = 4;

const violations = new Counter('contract_violations');
const unexpected429 = new Counter('unexpected_429');
const expected429 = new Counter('expected_429');

// A 404 is an answer; a 429 is an error unless a stream is about that.
http.setResponseCallback(http.expectedStatuses({ min: 200, max: 299 }, 404));

const NAMES = ['GET /pets', 'POST /pets', 'GET /pets/{petId}'] as const;
const SUCCESSES = [200, 201, 200] as const;
const petsUrl = `${plan.target}/pets`;
const { validateEvery } = plan;

/** A key as one stream uses it: everything that is the same for each of its requests, made once. */
export interface Caller {
  readonly stream: number;
  readonly keyIndex: number;
  readonly key: PlannedKey;
  readonly expects429: boolean;
  readonly params: readonly RefinedParams<'text'>[];
  /** Of a list whose body is not looked at: k6 reads no body that it is not told to (see script.ts). */
  readonly bodiless: RefinedParams<'none'>;
  readonly codes: readonly number[];
  /** What the sample of a list that was answered as usual begins with. */
  readonly listedCode: number;
  readonly known: KnownHeaders;
}

const callers = new Map<number, Caller>();

/** The caller for a key (position in the plan) in a stream (position in the plan). */
export function caller(stream: number, keyIndex: number): Caller {
  const place = stream * 1000 + keyIndex;
  const known = callers.get(place);
  if (known !== undefined) return known;
  const key = plan.keys[keyIndex];
  const planned = plan.streams[stream];
  if (key === undefined || planned === undefined) throw new Error(`no key ${keyIndex} in stream ${stream}`);
  const headers = { Authorization: `Bearer ${keyValue(keyIndex)}` };
  // k6 walks through these objects for every request: nothing is in them that is the same for all.
  const callback = planned.expects429
    ? { responseCallback: http.expectedStatuses({ min: 200, max: 299 }, 404, 429) }
    : {};
  const made: Caller = {
    stream,
    keyIndex,
    key,
    expects429: planned.expects429,
    params: OPERATIONS.map((operation) => ({
      headers: operation === 'createPet' ? { ...headers, 'Content-Type': 'application/json' } : headers,
      ...callback,
      ...(validateEvery === 1 ? {} : { responseType: 'text' as const }),
    })),
    bodiless: { headers, ...callback },
    codes: OPERATIONS.map((_, index) => seriesCode(stream, keyIndex, index)),
    listedCode: seriesCode(stream, keyIndex, 0) + 200 * STATUS_FACTOR + OK,
    known: unknownHeaders(),
  };
  callers.set(place, made);
  return made;
}

let taggedCaller: Caller | undefined;
let taggedOperation = -1;

/**
 * Tags what k6 counts from now on, where that differs from the request before: in params k6 reads tags every time. A
 * stream that takes a VU over finds it without tags.
 */
function tagAs(who: Caller, operation: number): void {
  const { tags } = exec.vu.metrics;
  const isNew = taggedCaller?.stream !== who.stream;
  if (isNew || taggedOperation !== operation) {
    tags['operation'] = OPERATIONS[operation] ?? '';
    tags['name'] = NAMES[operation] ?? '';
  }
  if (isNew || taggedCaller?.key.plan !== who.key.plan) tags['plan'] = who.key.plan;
  taggedCaller = who;
  taggedOperation = operation;
}

/** Announces a request. */
function beginAs(who: Caller, operation: number, now: number): void {
  if (taggedCaller !== who || taggedOperation !== operation) tagAs(who, operation);
  begin(who.codes[operation] ?? 0, now);
}

let sinceValidated = 0;
const leftUnvalidated = validateEvery - 1;
/** By status and operation, whether a body of it was looked at, or is missed: one came, and was not read. */
const seen: ('looked at' | 'missed')[] = [];
/** How many are missed. Until none is, every body is read: the first list's too. */
let missed = 0;

function miss(place: number): void {
  if (seen[place] !== 'missed') missed += 1;
  seen[place] = 'missed';
}
miss(SUCCESSES[0] * 4);

/** Judges a response, reports its sample, and says what it came to. */
function settle(
  who: Caller,
  operation: number,
  response: TextResponse | BodilessResponse,
  now: number,
  asked: Asked,
  hasBody = true,
): number {
  const { status, headers } = response;
  const milliseconds = response.timings.duration;
  if (status === 0) {
    end(response.error_code, FAILED, milliseconds);
    return FAILED;
  }
  const seenPlace = status * 4 + operation;
  sinceValidated += 1;
  const isDue = sinceValidated >= validateEvery || seen[seenPlace] !== 'looked at';
  if (isDue && !hasBody) miss(seenPlace);
  const inFull = isDue && hasBody;
  const isSuccess = status === SUCCESSES[operation];
  const key = status === 401 ? undefined : who.key;
  let breach =
    isSuccess && (inFull ? rightInFull : rightAsBefore)(headers, who.known, now)
      ? undefined
      : rateHeaderBreach(headers, status, key, now, who.known);
  if (inFull) {
    sinceValidated = 0;
    if (seen[seenPlace] === 'missed') missed -= 1;
    seen[seenPlace] = 'looked at';
    breach ??= bodyBreach(response.body ?? '', status, headers, asked);
  }
  let outcome = OK;
  if (status === 429) outcome = who.expects429 ? REFUSED : UNEXPECTED_429;
  else if (who.expects429 && (status === 401 || status === 403))
    outcome = REFUSED; // a ban may be answered so
  else if (!isSuccess) outcome = FAILED;
  if (outcome !== OK) {
    if (outcome === REFUSED) expected429.add(1);
    else if (outcome === UNEXPECTED_429) unexpected429.add(1);
  }
  if (breach !== undefined) {
    violations.add(1);
    if (!hasBody) miss(seenPlace);
    tellBreach(who, asked, response, breach, hasBody);
    if (outcome === OK || outcome === REFUSED) outcome = VIOLATION;
  }
  end(status, outcome, milliseconds);
  return outcome;
}

function tellBreach(
  who: Caller,
  asked: Asked,
  response: TextResponse | BodilessResponse,
  breach: Breach,
  hasBody: boolean,
): void {
  tellViolation({
    kind: 'violation',
    ...breach,
    operation: asked.operation,
    method: response.request.method,
    path: response.url.slice(plan.target.length),
    key: who.key.name,
    status: response.status,
    headers: { ...response.headers },
    body: hasBody ? String(response.body ?? '').slice(0, 2000) : '(this body was not read)',
  });
}

/** What a persona needs to know of an answer. */
export interface Answer {
  /** 0 where no response came. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

function answer(response: TextResponse): Answer {
  return { status: response.status, headers: response.headers, body: response.body ?? '' };
}

/** A list request with everything that does not change, made once. */
export interface ListRequest {
  /** Parsed by k6 once. */
  readonly url: ReturnType<typeof http.url>;
  readonly asked: Asked;
}

/** Prepares GET /pets. */
export function listRequest(query: { readonly limit?: number; readonly status?: string } = {}): ListRequest {
  const parts = Object.entries(query).map(([name, value]) => `${name}=${value}`);
  return {
    url: http.url`${parts.length === 0 ? petsUrl : `${petsUrl}?${parts.join('&')}`}`,
    asked: { operation: 'listPets', ...query },
  };
}

/** GET /pets. */
export function list(who: Caller, { url, asked }: ListRequest): Answer {
  const now = Date.now();
  beginAs(who, 0, now);
  const response = http.get<'text'>(url, who.params[0]);
  settle(who, 0, response, now, asked);
  return answer(response);
}

/** Most requests of a load are those that {@link listSender} sends; `http.get` would be looked up for each. */
const { get: send } = http;

/**
 * GET /pets again and again, where only the sample is of interest: a body is read where it is looked at. The result
 * is called with milliseconds since 1970.
 *
 * An answer that says what the one before said, as most do, is settled here, in as few steps as can be: each takes a
 * part of what k6 can send. Hence variables for what is the same for all, where a property would cost twice as much.
 */
export function listSender(who: Caller, { url, asked }: ListRequest): (now: number) => void {
  const { bodiless, listedCode, known } = who;
  const [series = 0] = who.codes;
  const [inFull] = who.params;
  let { limit, most, reset, goodUntil } = known;
  return (now) => {
    if (taggedCaller !== who || taggedOperation !== 0) tagAs(who, 0);
    begin(series, now);
    const hasBody = sinceValidated >= leftUnvalidated || missed > 0;
    const response = hasBody ? send<'text'>(url, inFull) : send<'none'>(url, bodiless);
    const { headers } = response;
    const remaining = headers['X-Ratelimit-Remaining'] ?? '-1';
    const left = +remaining;
    // rightAsBefore or rightInFull, written out: calls cost too.
    if (
      response.status === 200 &&
      headers['X-Ratelimit-Limit'] === limit &&
      headers['X-Ratelimit-Reset'] === reset &&
      left >= 0 &&
      left <= most &&
      left % 1 === 0 &&
      now <= goodUntil &&
      (!hasBody || (missed === 0 && `${left}` === remaining && bodyAsBefore(response.body, headers, asked)))
    ) {
      if (hasBody) sinceValidated = 0;
      else sinceValidated += 1;
      endAs(listedCode, response.timings.duration);
    } else {
      settle(who, 0, response, now, asked, hasBody);
      ({ limit, most, reset, goodUntil } = known);
    }
  };
}

/** So many GET /pets at once, as many in flight as k6's option `batchPerHost` lets. */
export function listTogether(who: Caller, request: ListRequest, times: number): Answer[] {
  const now = Date.now();
  beginAs(who, 0, now);
  const requests = Array.from({ length: times }, () => ({
    method: 'GET' as const,
    url: request.url,
    params: who.params[0] ?? {},
  }));
  return http.batch(requests).map((response) => {
    begin(who.codes[0] ?? 0, now);
    settle(who, 0, response, now, request.asked);
    return answer(response);
  });
}

let counter = 0;
const ownIds: string[] = [];
const MOST_OWN_IDS = 50;

/** POST /pets: one animal, marked with the run's id. */
export function add(who: Caller, status?: string): Answer {
  counter += 1;
  const name = `harness-${plan.runId}-${__VU}-${counter}`;
  const { categoryId } = plan.samples;
  // Written by hand: JSON.stringify would round a categoryId beyond 2^53.
  const body = `{"name":"${name}","categoryId":${categoryId}${status === undefined ? '' : `,"status":"${status}"`}}`;
  const now = Date.now();
  beginAs(who, 1, now);
  const response = http.post<'text'>(petsUrl, body, who.params[1]);
  settle(who, 1, response, now, { operation: 'createPet', name, categoryId, status });
  if (response.status === 201) {
    const [id] = idsIn(response.body ?? '');
    if (id !== undefined) {
      noteAdded(id);
      if (ownIds.length < MOST_OWN_IDS) ownIds.push(id);
    }
  }
  return answer(response);
}

let gets = 0;
let listedIds: readonly string[] = plan.samples.ids;
const longList = listRequest({ limit: 100 });

/** GET /pets/{petId} of an animal that the target has. Where none is known yet, a list tells some instead. */
export function get(who: Caller): Answer {
  if (listedIds.length === 0 && ownIds.length === 0) {
    const listed = list(who, longList);
    if (listed.status === 200) listedIds = idsIn(listed.body);
    return listed;
  }
  gets += 1;
  const ids = ownIds.length > 0 && (gets % 2 === 0 || listedIds.length === 0) ? ownIds : listedIds;
  const id = ids[gets % ids.length] ?? '1';
  const now = Date.now();
  beginAs(who, 2, now);
  const response = http.get<'text'>(`${petsUrl}/${id}`, who.params[2]);
  settle(who, 2, response, now, { operation: 'getPet', id });
  return answer(response);
}
