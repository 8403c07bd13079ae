/** Requests to the target: sent, judged, reported. */
import type { RefinedResponse } from 'k6/http';
import http from 'k6/http';
import { OPERATIONS } from '../../spec/operations.ts';
import {
  type Asked,
  bodyBreach,
  idsIn,
  isAsBefore,
  isBodyAsBefore,
  rateHeaderBreach,
  unknownHeaders,
} from './oracle.ts';
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
/** An operation as it is sent with a key. */
type Sender = Caller[LoadOperation];

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
  const expects429 = isOverLimit && plan.clients.includes(keyIndex);
  /** Everything that is the same for each of its requests. */
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
    // The series is what its samples have in common; `seen` are the statuses of which a body was looked at.
    const series = `${keyIndex} ${operation}`;
    return {
      ...{ key, expects429, success, params, bodiless, series, usual: `${series} ${success} ok` },
      ...{ known: unknownHeaders(), seen: new Set<number>() },
    };
  };
  return { key, listPets: sender('listPets'), createPet: sender('createPet'), getPet: sender('getPet') };
}

/** Answers until a body is judged again. */
let untilJudged = 0;
const leftUnjudged = plan.validateEvery - 1;

function outcomeOf(status: number, { success, expects429 }: Sender): Outcome {
  if (status === success) return 'ok';
  if (!expects429) return status === 429 ? 'unexpected-429' : 'error';
  // A ban may be answered so.
  return status === 429 || status === 401 || status === 403 ? 'refused' : 'error';
}

/** Judges a response and reports its sample. */
function judge(sender: Sender, asked: Asked, response: TextResponse, at: number, hasBody: boolean): void {
  const { status, headers } = response;
  const { duration } = response.timings;
  if (status === 0) return end(`${sender.series} ${response.error_code} error`, at, duration);
  // Only what a success says lets the next be settled without a look at its body.
  const known = status === sender.success ? sender.known : unknownHeaders();
  let breach = rateHeaderBreach(headers, status, status === 401 ? undefined : sender.key, at, known);
  if (untilJudged > 0 && sender.seen.has(status)) untilJudged -= 1;
  else if (hasBody) {
    untilJudged = leftUnjudged;
    sender.seen.add(status);
    tellProtocol(response.proto);
    breach ??= bodyBreach(response.body ?? '', status, headers, asked);
  } else untilJudged = 0;
  if (breach === undefined && status === sender.success) return end(sender.usual, at, duration);
  let outcome = outcomeOf(status, sender);
  if (breach !== undefined) {
    if (outcome === 'ok' || outcome === 'refused') outcome = 'violation';
    tellViolation({
      ...{ ...breach, operation: asked.operation, key: sender.key.name, status },
      method: response.request.method,
      path: response.url.slice(base.length),
      headers: { ...headers },
      body: String(response.body ?? '').slice(0, 2000),
    });
  }
  end(`${sender.series} ${status} ${outcome}`, at, duration);
}

/** What a client needs to know of an answer; the status is 0 where no response came. */
export type Answer = Pick<TextResponse, 'status' | 'headers' | 'body'>;

/** A GET; a list is made once, so that k6 parses its address once. */
interface GetRequest {
  readonly url: ReturnType<typeof http.url> | string;
  readonly asked: Asked;
}

/** Prepares GET /pets. */
export function listRequest(query: { readonly limit?: number; readonly status?: string } = {}): GetRequest {
  const parts = Object.entries(query).map(([name, value]) => `${name}=${value}`);
  return {
    url: http.url`${parts.length === 0 ? petsUrl : `${petsUrl}?${parts.join('&')}`}`,
    asked: { operation: 'listPets', ...query },
  };
}

const { get: sendNow } = http;

/**
 * Sends a GET. Most answers say what the one before said. They are settled here, as each step costs k6 a part of what it can
 * send: a destructured parameter three percent.
 *
 * @param isRead whether somebody needs the body: else it is read only where it is looked at
 */
export function send(sender: Sender, request: GetRequest, at: number, isRead: boolean): Answer {
  begin(sender.series, at);
  const hasBody = isRead || untilJudged === 0;
  const response = sendNow<'text'>(request.url, hasBody ? sender.params : sender.bodiless);
  if (
    response.status === sender.success &&
    isAsBefore(response.headers, sender.known, at) &&
    (untilJudged > 0 || isBodyAsBefore(response, request.asked))
  ) {
    untilJudged = untilJudged > 0 ? untilJudged - 1 : leftUnjudged;
    end(sender.usual, at, response.timings.duration);
  } else judge(sender, request.asked, response, at, hasBody);
  return response;
}

/** GET /pets, whose answer somebody reads. */
export const list = (who: Caller, request: GetRequest): Answer =>
  send(who.listPets, request, Date.now(), true);

/** So many GET /pets at once, as many in flight as k6's option `batchPerHost` lets. */
export function listTogether(who: Caller, { url, asked }: GetRequest, times: number): Answer[] {
  const sender = who.listPets;
  const at = Date.now();
  begin(sender.series, at);
  const request = { method: 'GET' as const, url, params: sender.params };
  const responses = http.batch(Array.from({ length: times }, () => request));
  for (const response of responses) judge(sender, asked, response, at, true);
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
  const at = Date.now();
  begin(who.createPet.series, at);
  const response = http.post<'text'>(petsUrl, body, who.createPet.params);
  judge(who.createPet, { operation: 'createPet', name, categoryId, status }, response, at, true);
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
  if (id !== undefined) {
    const asked = { operation: 'getPet', id } as const;
    return send(who.getPet, { url: `${petsUrl}/${id}`, asked }, Date.now(), true);
  }
  const listed = list(who, longList);
  if (listed.status === 200) ids.push(...idsIn(listed.body ?? ''));
  return listed;
}
