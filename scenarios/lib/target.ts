/** Requests to the target: sent, judged, reported. */
import type { RefinedParams, RefinedResponse } from 'k6/http';
import http from 'k6/http';
import { Counter } from 'k6/metrics';
import { OPERATIONS, type OperationName } from '../../spec/operations.ts';
import type { PlannedKey } from './load-plan.ts';
import {
  type Asked,
  type Breach,
  bodyBreach,
  idsIn,
  isKnownType,
  type KnownHeaders,
  rateHeaderBreach,
  rightAsBefore,
  unknownHeaders,
} from './oracle.ts';
import { begin, end, noteAdded, tellViolation } from './report.ts';
import { keyValue, plan } from './run-plan.ts';
import type { Outcome } from './scenario.ts';

type TextResponse = RefinedResponse<'text'>;

const violations = new Counter('contract_violations');

const EXPECTED = [{ min: 200, max: 299 }, 404] as const;
// A 404 is an answer; a 429 is an error unless a stream is about that.
http.setResponseCallback(http.expectedStatuses(...EXPECTED));

const petsUrl = `${plan.target}${OPERATIONS.listPets.path}`;

const nameOf = (operation: OperationName) => `${OPERATIONS[operation].method} ${OPERATIONS[operation].path}`;

/** An operation as one stream sends it with one key: everything that is the same for each of its requests. */
interface Sender {
  readonly key: PlannedKey;
  readonly expects429: boolean;
  readonly params: RefinedParams<'text'>;
  /** The same without reading the body, which costs k6 a tenth less. */
  readonly bodiless: RefinedParams<'text'>;
  /** What its samples have in common, and those of its successes. */
  readonly series: string;
  readonly succeeded: string;
  readonly success: number;
  /** Shared by all operations of a key. */
  readonly known: KnownHeaders;
}

/** A key as one stream uses it. */
export interface Caller {
  readonly key: PlannedKey;
  /** Position of the stream in the plan. */
  readonly stream: number;
  readonly senders: Readonly<Record<OperationName, Sender>>;
}

const callers = new Map<number, Caller>();

/** The caller for a key (position in the plan) in a stream (position in the plan). */
export function caller(stream: number, keyIndex: number): Caller {
  const place = stream * plan.keys.length + keyIndex;
  let made = callers.get(place);
  if (made === undefined) {
    made = newCaller(stream, keyIndex);
    callers.set(place, made);
  }
  return made;
}

function newCaller(stream: number, keyIndex: number): Caller {
  const key = plan.keys[keyIndex];
  const planned = plan.streams[stream];
  if (key === undefined || planned === undefined) throw new Error(`no key ${keyIndex} in stream ${stream}`);
  const { expects429 } = planned;
  const known = unknownHeaders();
  const sender = (operation: OperationName): Sender => {
    const series = `${stream} ${keyIndex} ${operation}`;
    const { success } = OPERATIONS[operation];
    // k6 walks through this object for every request.
    const params = {
      headers: {
        Authorization: `Bearer ${keyValue(key.env)}`,
        ...(operation === 'createPet' && { 'Content-Type': 'application/json' }),
      },
      ...(expects429 && { responseCallback: http.expectedStatuses(...EXPECTED, 429) }),
      ...(plan.tagged && { tags: { operation, name: nameOf(operation), plan: key.plan } }),
    };
    const bodiless = { ...params, responseType: 'none' } as unknown as RefinedParams<'text'>;
    return {
      key,
      expects429,
      params,
      bodiless,
      series,
      succeeded: `${series} ${success} ok`,
      success,
      known,
    };
  };
  const [listPets, createPet, getPet] = [sender('listPets'), sender('createPet'), sender('getPet')];
  return { key, stream, senders: { listPets, createPet, getPet } };
}

const { validateEvery } = plan;
let sinceValidated = 0;
/** Whether the next body is read in any case: the first one, and where one that was due had not been read. */
let isMissed = true;
/** Statuses of each operation of which this VU has looked at a body. */
const seen = { listPets: new Set<number>(), createPet: new Set<number>(), getPet: new Set<number>() };

/** Judges a response and reports its sample. */
function judge(sender: Sender, asked: Asked, response: TextResponse, at: number, hasBody = true): void {
  const { status, headers } = response;
  const { success, known } = sender;
  sinceValidated += 1;
  const isWanted = sinceValidated >= validateEvery || !seen[asked.operation].has(status);
  const isDue = isWanted && hasBody;
  isMissed = isWanted && !hasBody;
  const isUsual = status === success && rightAsBefore(headers, known, at);
  if (isUsual && (!isDue || (response.body === asked.rightBody && isKnownType(headers)))) {
    if (isDue) sinceValidated = 0;
    end(sender.succeeded, at, response.timings.duration);
  } else judgeInFull(sender, asked, response, at, isDue);
}

/** As {@link judge}, where the answer does not say what the one before said. */
function judgeInFull(sender: Sender, asked: Asked, response: TextResponse, at: number, isDue: boolean): void {
  const { key, expects429, series, success, known } = sender;
  const { status, headers } = response;
  const { duration } = response.timings;
  if (status === 0) return end(`${series} ${response.error_code} error`, at, duration);
  let breach = rateHeaderBreach(headers, status, status === 401 ? undefined : key, at, known);
  if (isDue) {
    sinceValidated = 0;
    seen[asked.operation].add(status);
    breach ??= bodyBreach(response.body ?? '', status, headers, asked);
  }
  let outcome: Outcome = status === success ? 'ok' : 'error';
  if (status === 429) outcome = expects429 ? 'refused' : 'unexpected-429';
  // A ban may be answered so.
  else if (expects429 && (status === 401 || status === 403)) outcome = 'refused';
  if (breach !== undefined) {
    violations.add(1);
    tellBreach(key, asked.operation, response, breach);
    if (outcome === 'ok' || outcome === 'refused') outcome = 'violation';
  }
  end(`${series} ${status} ${outcome}`, at, duration);
}

function tellBreach(
  key: PlannedKey,
  operation: OperationName,
  { request, url, status, headers, body }: TextResponse,
  breach: Breach,
): void {
  tellViolation({
    ...breach,
    operation,
    method: request.method,
    path: url.slice(plan.target.length),
    key: key.name,
    status,
    headers: { ...headers },
    body: String(body ?? '').slice(0, 2000),
  });
}

/** What a client needs to know of an answer; the status is 0 where no response came. */
export type Answer = Pick<TextResponse, 'status' | 'headers' | 'body'>;

/** GET /pets with a query, made once. */
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

/** GET /pets. @param isRead whether its body is needed: else it is read only where it is looked at */
export function list(who: Caller, { url, asked }: ListRequest, isRead = true): Answer {
  const sender = who.senders.listPets;
  const at = Date.now();
  begin(sender.series, at);
  const hasBody = isRead || isMissed || sinceValidated + 1 >= validateEvery;
  const response = http.get<'text'>(url, hasBody ? sender.params : sender.bodiless);
  judge(sender, asked, response, at, hasBody);
  return response;
}

/** So many GET /pets at once, as many in flight as k6's option `batchPerHost` lets. */
export function listTogether(who: Caller, { url, asked }: ListRequest, times: number): Answer[] {
  const sender = who.senders.listPets;
  const at = Date.now();
  begin(sender.series, at);
  const requests = Array.from({ length: times }, () => ({
    method: 'GET' as const,
    url,
    params: sender.params,
  }));
  return http.batch(requests).map((response) => {
    judge(sender, asked, response, at);
    return response;
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
  const sender = who.senders.createPet;
  const at = Date.now();
  begin(sender.series, at);
  const response = http.post<'text'>(petsUrl, body, sender.params);
  judge(sender, { operation: 'createPet', name, categoryId, status }, response, at);
  const [id] = response.status === 201 ? idsIn(response.body ?? '') : [];
  if (id !== undefined) {
    noteAdded(id);
    if (ownIds.length < MOST_OWN_IDS) ownIds.push(id);
  }
  return response;
}

let gets = 0;
let listedIds: readonly string[] = plan.samples.ids;
const longList = listRequest({ limit: 100 });

/** GET /pets/{petId} of an animal that the target has. Where none is known yet, a list tells some instead. */
export function get(who: Caller): Answer {
  if (listedIds.length === 0 && ownIds.length === 0) {
    const listed = list(who, longList);
    if (listed.status === 200) listedIds = idsIn(listed.body ?? '');
    return listed;
  }
  gets += 1;
  const ids = ownIds.length > 0 && (gets % 2 === 0 || listedIds.length === 0) ? ownIds : listedIds;
  const id = ids[gets % ids.length] ?? '1';
  const sender = who.senders.getPet;
  const at = Date.now();
  begin(sender.series, at);
  const response = http.get<'text'>(`${petsUrl}/${id}`, sender.params);
  judge(sender, { operation: 'getPet', id }, response, at);
  return response;
}
