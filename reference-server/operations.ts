import type { Answer, Behaviour } from './behaviour.ts';
import type { Call } from './call.ts';
import { DEPRECATION_HEADERS, REMOVAL } from './deprecation.ts';
import {
  badRequest,
  errorBody,
  HOST_REQUIRED,
  KEY_REQUIRED,
  NO_SUCH_ANIMAL,
  type Problem,
  REMOVED,
  TOO_LARGE,
} from './error-body.ts';
import type { Lists } from './lists.ts';
import { bodyOf } from './pet-text.ts';
import type { ReceivedBody } from './request-body.ts';

const NO_HEADERS: readonly string[] = [];

/** An answer with an Error body. */
export function refusal(problem: Problem, more: readonly string[] = NO_HEADERS): Answer {
  const { text, wire } = bodyOf(errorBody(problem));
  const own = problem.headers ?? NO_HEADERS;
  return { status: problem.status, text, wire, headers: more.length === 0 ? own : [...own, ...more] };
}

/**
 * The tests before an operation: a request that HTTP itself forbids, a caller without a key, a key that is banned or
 * over its limit, an address without an operation. Stores key and quota in the call.
 *
 * @returns the refusal, or null if the operation may answer
 */
export function admission(call: Call, behaviour: Behaviour): Answer | null {
  if (call.hosts !== 1 && !(call.hosts === 0 && call.request.httpVersion === '1.0'))
    return refusal(HOST_REQUIRED);
  const key = behaviour.identify(call);
  if (key === null) return refusal(KEY_REQUIRED);
  call.key = key;
  const gate = behaviour.admit(key, call);
  call.quota = gate.quota;
  call.refusedBy = gate.refusedBy;
  if (gate.refusal !== null) return refusal(gate.refusal);
  return call.route.operation === 'none' ? refusal(call.route.problem) : null;
}

/** Section 4.1. */
export function listPets(search: string, call: Call, behaviour: Behaviour, lists: Lists): Answer {
  const read = behaviour.readListQuery(search, call);
  if ('problem' in read) return refusal(read.problem);
  const { text, wire } = lists(read.query, call);
  return { status: 200, text, wire, headers: NO_HEADERS };
}

/** Section 4.2. */
export function createPet(body: ReceivedBody, call: Call, behaviour: Behaviour): Answer {
  if (body.kind === 'too-large') return refusal(TOO_LARGE);
  if (body.kind === 'unlabelled') {
    const problem = behaviour.refuseMediaType(call);
    if (problem !== null) return refusal(problem);
  }
  if (body.kind === 'not-utf8')
    return refusal(badRequest('malformed_json', 'The request body is not UTF-8.'));
  const read = behaviour.readNewPet(body.kind === 'empty' ? '' : body.text, call);
  if ('problem' in read) return refusal(read.problem);
  const pet = behaviour.addPet(read.animal, call);
  return { status: 201, ...bodyOf(behaviour.petText(pet, call)), headers: NO_HEADERS };
}

/** Section 4.3. */
export function getPet(petId: string, call: Call, behaviour: Behaviour): Answer {
  if (call.now >= REMOVAL) return refusal(REMOVED, DEPRECATION_HEADERS);
  const found = behaviour.findPet(petId, call);
  if (found === null) return refusal(NO_SUCH_ANIMAL, DEPRECATION_HEADERS);
  if ('code' in found) return refusal(found, DEPRECATION_HEADERS);
  return { status: 200, ...bodyOf(behaviour.petText(found, call)), headers: DEPRECATION_HEADERS };
}
