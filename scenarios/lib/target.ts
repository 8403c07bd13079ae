/** Requests to the target: sent, judged, reported. */
import type { RefinedResponse } from 'k6/http';
import http from 'k6/http';
import { OPERATIONS } from '../../spec/operations.ts';
import { type Asked, bodyBreach, idsIn, rateHeaderBreach, unknownHeaders } from './oracle.ts';
import { begin, end, facts, noteAdded, plan, secret, tellProtocol, tellViolation } from './run.ts';
import type { LoadOperation, Outcome } from './scenario.ts';

type TextResponse = RefinedResponse<'text'>;

// A 404 is an answer, and so is a 429 where a scenario is about that.
const isOverLimit = (facts.personas?.role ?? 'load') !== 'load';
const answers = isOverLimit ? [404, 429] : [404];
http.setResponseCallback(http.expectedStatuses({ min: 200, max: 299 }, ...answers));

const { base = plan.target } = plan;
const petsUrl = `${base}${OPERATIONS.listPets.path}`;

/** A key as its clients use it. */
export type Caller = ReturnType<typeof newCaller>;

const callers: Caller[] = [];

const granted = Object.fromEntries(
  plan.headers.map(({ name, value, env }) => [name, value ?? secret(env ?? '')]),
);

/** The caller for a key (position in the plan). */
export function caller(keyIndex: number): Caller {
  callers[keyIndex] ??= newCaller(keyIndex);
  return callers[keyIndex];
}

function newCaller(keyIndex: number) {
  const key = plan.keys[keyIndex];
  if (key === undefined) throw new Error(`no key ${keyIndex}`);
  /** An operation as it is sent with this key: everything that is the same for each of its requests. */
  const sender = (operation: LoadOperation) => {
    const { method, path, success } = OPERATIONS[operation];
    // k6 walks through this object for every request. It discards the body, which costs a tenth less than reading it.
    const bodiless = {
      headers: {
        ...granted,
        Authorization: `Bearer ${secret(key.env)}`,
        ...(method === 'POST' && { 'Content-Type': 'application/json' }),
      },
      ...(plan.tagged && { tags: { operation, name: `${method} ${path}`, plan: key.plan } }),
    };
    const params = { ...bodiless, responseType: 'text' as const };
    // The series is what its samples have in common.
    return { success, params, bodiless, series: `${keyIndex} ${operation}` };
  };
  const [listPets, createPet, getPet] = [sender('listPets'), sender('createPet'), sender('getPet')];
  return {
    key,
    expects429: isOverLimit && plan.clients.includes(keyIndex),
    known: unknownHeaders(),
    senders: { listPets, createPet, getPet },
  };
}

/** Requests until a body is judged again. */
let untilJudged = 0;
/** Statuses of each operation of which this VU has looked at a body. */
const seen = { listPets: new Set<number>(), createPet: new Set<number>(), getPet: new Set<number>() };

function outcomeOf(status: number, success: number, expects429: boolean): Outcome {
  if (status === success) return 'ok';
  if (!expects429) return status === 429 ? 'unexpected-429' : 'error';
  // A ban may be answered so.
  return status === 429 || status === 401 || status === 403 ? 'refused' : 'error';
}

/** Judges a response and reports its sample. */
function judge(who: Caller, asked: Asked, response: TextResponse, at: number, hasBody: boolean): void {
  const { status, headers } = response;
  const { key, expects429, known, senders } = who;
  const { operation } = asked;
  const { success, series } = senders[operation];
  const { duration } = response.timings;
  if (status === 0) return end(`${series} ${response.error_code} error`, at, duration);
  let breach = rateHeaderBreach(headers, status, status === 401 ? undefined : key, at, known);
  const isDue = untilJudged <= 0 || !seen[operation].has(status);
  untilJudged = isDue ? 0 : untilJudged - 1;
  if (isDue && hasBody) {
    untilJudged = plan.validateEvery - 1;
    seen[operation].add(status);
    tellProtocol(response.proto);
    breach ??= bodyBreach(response.body ?? '', status, headers, asked);
  }
  let outcome = outcomeOf(status, success, expects429);
  if (breach !== undefined) {
    if (outcome === 'ok' || outcome === 'refused') outcome = 'violation';
    tellViolation({
      ...{ ...breach, operation, key: key.name, status },
      method: response.request.method,
      path: response.url.slice(base.length),
      headers: { ...headers },
      body: String(response.body ?? '').slice(0, 2000),
    });
  }
  end(`${series} ${status} ${outcome}`, at, duration);
}

/** What a client needs to know of an answer; the status is 0 where no response came. */
export type Answer = Pick<TextResponse, 'status' | 'headers' | 'body'>;

/** GET /pets with a query, made once: k6 parses its address once. */
interface ListRequest {
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

/**
 * Sends a request of an operation.
 *
 * @param isRead whether the body of the answer is needed: else it is read only where it is looked at
 */
function send(
  who: Caller,
  asked: Asked,
  url: ListRequest['url'] | string,
  body: string | null,
  isRead: boolean,
): Answer {
  const sender = who.senders[asked.operation];
  const at = Date.now();
  begin(sender.series, at);
  const hasBody = isRead || untilJudged <= 0;
  const params = hasBody ? sender.params : sender.bodiless;
  const response = body === null ? http.get<'text'>(url, params) : http.post<'text'>(url, body, params);
  judge(who, asked, response, at, hasBody);
  return response;
}

/** GET /pets. @param isRead see {@link send} */
export const list = (who: Caller, { url, asked }: ListRequest, isRead = true): Answer =>
  send(who, asked, url, null, isRead);

/** So many GET /pets at once, as many in flight as k6's option `batchPerHost` lets. */
export function listTogether(who: Caller, { url, asked }: ListRequest, times: number): Answer[] {
  const sender = who.senders.listPets;
  const at = Date.now();
  begin(sender.series, at);
  const request = { method: 'GET' as const, url, params: sender.params };
  const responses = http.batch(Array.from({ length: times }, () => request));
  for (const response of responses) judge(who, asked, response, at, true);
  return responses;
}

let counter = 0;
/** Animals that the target has: those that it listed, and some that this VU added. */
const ids: string[] = [...plan.samples.ids];
const MOST_IDS = 150;

/** POST /pets: one animal, marked with the run's id. */
export function add(who: Caller, status?: string): Answer {
  counter += 1;
  const name = `harness-${plan.runId}-${__VU}-${counter}`;
  const { categoryId } = plan.samples;
  // Written by hand: JSON.stringify would round a categoryId beyond 2^53.
  const body = `{"name":"${name}","categoryId":${categoryId}${status === undefined ? '' : `,"status":"${status}"`}}`;
  const response = send(who, { operation: 'createPet', name, categoryId, status }, petsUrl, body, true);
  const [id] = response.status === 201 ? idsIn(response.body ?? '') : [];
  if (id !== undefined) {
    noteAdded(id);
    if (ids.length < MOST_IDS) ids.push(id);
  }
  return response;
}

const longList = listRequest({ limit: 100 });

/** GET /pets/{petId} of an animal that the target has. Where none is known yet, a list tells some instead. */
export function get(who: Caller): Answer {
  const id = ids[(Math.random() * ids.length) | 0];
  if (id !== undefined) return send(who, { operation: 'getPet', id }, `${petsUrl}/${id}`, null, true);
  const listed = list(who, longList);
  if (listed.status === 200) ids.push(...idsIn(listed.body ?? ''));
  return listed;
}
