import type { ApiKey } from '../api-keys.ts';
import type { Answer, Behaviour, Gate } from '../behaviour.ts';
import type { Call } from '../call.ts';
import { badRequest, errorBody, type Problem } from '../error-body.ts';
import { readJsonObject } from '../json-members.ts';
import type { ListQuery, NewPet, Pet } from '../pet-store.ts';
import { bodyOf } from '../pet-text.ts';
import type { Plan } from '../plans.ts';
import type { MeterKind } from '../rate-meter.ts';
import type { Parts, Recipe } from '../recipe.ts';
import type { Route } from '../routing.ts';
import { type Personality, together } from './personality.ts';

/**
 * The building blocks of variants and faults: each turns a small function into a personality with that one deviation.
 */

/** Whether a deviation shows in an answer. */
export type When = (answer: Answer, call: Call) => boolean;

/** Matches answers with a status, of one operation or of all. */
export function answers(status: number, operation?: Route['operation']): When {
  return (answer, call) =>
    answer.status === status && (operation === undefined || call.route.operation === operation);
}

/** Matches successful answers of one operation. */
export function succeeds(operation: Route['operation']): When {
  return (answer, call) => answer.status < 300 && call.route.operation === operation;
}

/** Matches answers whose call also passes a test. */
export function where(when: When, test: (call: Call) => boolean): When {
  return (answer, call) => when(answer, call) && test(call);
}

/** Whether the address of a call contains `status=`. */
export const asksForStatus = (call: Call) => call.target.includes('status=');

export const onPlan = (plan: Plan) => (call: Call) => call.key?.plan === plan;

/** Whether the raw query of a list contains this text. */
export function queried(call: Call, text: string): boolean {
  return call.route.operation === 'listPets' && call.route.search.split('&').includes(text);
}

/** Replaces the body of an answer. */
export function withBody(answer: Answer, text: string): Answer {
  return { ...answer, ...bodyOf(text) };
}

/** Replaces the status of an answer, with an Error body to match. */
export function withError(answer: Answer, status: number): Answer {
  const body = errorBody({ status, code: 'refused', message: 'The request was refused.' });
  return { ...withBody(answer, body), status };
}

/** Changes the answers that match. */
export function answering(when: When, change: (answer: Answer, call: Call) => Answer): Personality {
  return {
    behaviour: (usual) => ({
      finish(answer, call) {
        const last = usual.finish(answer, call);
        return when(last, call) ? change(last, call) : last;
      },
    }),
  };
}

/** Answers with another status, and an Error body to match. */
export function failing(status: number, when: When): Personality {
  return answering(when, (answer) => withError(answer, status));
}

/** Answers with another text, and perhaps another status. */
export function answeringWith(text: string, when: When, status?: number): Personality {
  return answering(when, (answer) => ({ ...withBody(answer, text), status: status ?? answer.status }));
}

/** Matches every n-th time that a predicate does. It has a counter, so every server needs its own. */
export function everyNth(n: number, when: When): When {
  let times = 0;
  return (answer, call) => when(answer, call) && ++times % n === 0;
}

/** A deviation with state; every server gets its own. */
export function eachServer(make: (parts: Parts) => Personality): Personality {
  return {
    behaviour: (usual, parts, recipe) => make(parts).behaviour?.(usual, parts, recipe) ?? {},
  };
}

/**
 * Holds answers back.
 *
 * @param delay how long, in real milliseconds
 * @param release called before an answer that was held back is sent
 */
export function heldBack(
  delay: (answer: Answer, call: Call) => number,
  release: (call: Call) => void = () => {},
): Personality {
  return {
    behaviour: (usual) => ({
      deliver(response, answer, headers, call) {
        const milliseconds = delay(answer, call);
        if (milliseconds === 0) return usual.deliver(response, answer, headers, call);
        setTimeout(() => {
          release(call);
          usual.deliver(response, answer, headers, call);
        }, milliseconds);
      },
    }),
  };
}

/** Changes the value of one header in matching answers; null removes the header. */
export function header(
  name: string,
  when: When,
  change: (value: string, call: Call) => string | null,
): Personality {
  return {
    behaviour: (usual) => ({
      headers(answer, call) {
        const headers = usual.headers(answer, call);
        return when(answer, call) ? changedHeader(headers, name, (value) => change(value, call)) : headers;
      },
    }),
  };
}

/** Leaves headers out of matching answers. */
export function headersAbsent(when: When, ...names: readonly string[]): Personality {
  return together(...names.map((name) => header(name, when, () => null)));
}

/** Headers with another value of one of them; null removes it. */
export function changedHeader(
  headers: readonly string[],
  name: string,
  change: (value: string) => string | null,
): string[] {
  const changed: string[] = [];
  for (let at = 0; at < headers.length; at += 2) {
    const field = headers[at] ?? '';
    const value = headers[at + 1] ?? '';
    const kept = field.toLowerCase() === name.toLowerCase() ? change(value) : value;
    if (kept !== null) changed.push(field, kept);
  }
  return changed;
}

/** Adds a header to matching answers. */
export function addedHeader(name: string, value: string, when: When): Personality {
  return {
    behaviour: (usual) => ({
      headers: (answer, call) => [
        ...usual.headers(answer, call),
        ...(when(answer, call) ? [name, value] : []),
      ],
    }),
  };
}

/** Changes an animal before it is written, in one operation or in all. */
export function petShown(change: (pet: Pet, call: Call) => Pet, operation?: Route['operation']): Personality {
  return {
    behaviour: (usual) => ({
      petText: (pet, call) =>
        usual.petText(
          operation === undefined || call.route.operation === operation ? change(pet, call) : pet,
          call,
        ),
    }),
  };
}

/** Changes an animal's JSON, in one operation or in all. */
export function petWritten(
  change: (text: string, pet: Pet, call: Call) => string,
  operation?: Route['operation'],
): Personality {
  return {
    behaviour: (usual) => ({
      petText(pet, call) {
        const text = usual.petText(pet, call);
        return operation === undefined || call.route.operation === operation ? change(text, pet, call) : text;
      },
    }),
  };
}

/** An animal's JSON without one field. */
export function withoutField(text: string, name: string): string {
  return text.replace(new RegExp(`,?"${name}":("(?:[^"\\\\]|\\\\.)*"|[^,}]*)`), '').replace('{,', '{');
}

/** Selects other animals for a list. */
export function selecting(
  change: (usual: Behaviour['select'], query: ListQuery, call: Call, parts: Parts) => readonly Pet[],
): Personality {
  return {
    behaviour: (usual, parts) => ({ select: (query, call) => change(usual.select, query, call, parts) }),
  };
}

/** Hides animals from lists; the next ones fill the gaps. */
export function hiding(
  hidden: (pet: Pet, call: Call) => boolean,
  from: (query: ListQuery) => boolean = () => true,
): Personality {
  return selecting((usual, query, call) =>
    from(query)
      ? firstOf(
          query.limit,
          (limit) => usual({ ...query, limit }, call),
          (pet) => !hidden(pet, call),
        )
      : usual(query, call),
  );
}

/** The first animals that pass a test, of a list that can be made longer. */
export function firstOf(
  limit: number,
  list: (limit: number) => readonly Pet[],
  passes: (pet: Pet) => boolean,
): readonly Pet[] {
  for (let length = limit; ; length *= 4) {
    const all = list(length);
    const passed = all.filter(passes);
    if (passed.length >= limit || all.length < length) return passed.slice(0, limit);
  }
}

/** Notes every animal that is added, and shows some of the animals to nobody. */
export function keeping(
  note: (pet: Pet, call: Call) => void,
  hidden: (pet: Pet, call: Call) => boolean,
): Personality {
  return together(
    noting(note),
    hiding(hidden),
    foundAs((pet, call) => (hidden(pet, call) ? null : pet)),
  );
}

/** Changes an animal before it is stored. */
export function addedAs(change: (animal: NewPet, call: Call) => NewPet): Personality {
  return {
    behaviour: (usual) => ({ addPet: (animal, call) => usual.addPet(change(animal, call), call) }),
  };
}

/** Calls a function for every animal that is added. */
export function noting(note: (pet: Pet, call: Call) => void): Personality {
  return {
    behaviour: (usual) => ({
      addPet(animal, call) {
        const pet = usual.addPet(animal, call);
        note(pet, call);
        return pet;
      },
    }),
  };
}

/** Accepts more requests: those of the usual look-up, or those for which `change` finds a key. */
export function identifying(
  change: (usual: ApiKey | null, call: Call, recipe: Recipe, parts: Parts) => ApiKey | null,
): Personality {
  return {
    behaviour: (usual, parts, recipe) => ({
      identify: (call) => change(usual.identify(call), call, recipe, parts),
    }),
  };
}

/** Changes whether a valid key's request is admitted. */
export function admitting(
  change: (usual: Behaviour['admit'], key: ApiKey, call: Call, parts: Parts) => Gate,
): Personality {
  return {
    behaviour: (usual, parts) => ({ admit: (key, call) => change(usual.admit, key, call, parts) }),
  };
}

/** Changes how the body of an addition is read. */
export function readingPet(
  change: (
    usual: Behaviour['readNewPet'],
    body: string,
    call: Call,
    parts: Parts,
  ) => ReturnType<Behaviour['readNewPet']>,
): Personality {
  return {
    behaviour: (usual, parts) => ({
      readNewPet: (body, call) => change(usual.readNewPet, body, call, parts),
    }),
  };
}

/** Refuses additions that would be accepted. */
export function refusing(
  refused: (animal: NewPet, call: Call, parts: Parts) => boolean,
  status = 400,
): Personality {
  return readingPet((usual, body, call, parts) => {
    const read = usual(body, call);
    if ('problem' in read || !refused(read.animal, call, parts)) return read;
    return { problem: { ...badRequest('invalid_animal', 'The animal is not accepted.'), status } };
  });
}

/** Changes an animal that is found. */
export function foundAs(change: (pet: Pet, call: Call, parts: Parts) => Pet | Problem | null): Personality {
  return finding((usual, petId, call, parts) => {
    const found = usual(petId, call);
    return found === null || 'code' in found ? found : change(found, call, parts);
  });
}

/** Changes how an animal is found. */
export function finding(
  change: (usual: Behaviour['findPet'], petId: string, call: Call, parts: Parts) => Pet | Problem | null,
): Personality {
  return {
    behaviour: (usual, parts) => ({ findPet: (petId, call) => change(usual.findPet, petId, call, parts) }),
  };
}

/** Counts the minute with another meter. */
export const minuteBy = (minuteMeter: MeterKind): Personality => ({ recipe: () => ({ minuteMeter }) });

/** The oldest animal of the store; null if it is empty. */
export function firstPet(parts: Parts): Pet | null {
  return parts.store.having(null).at(0) ?? null;
}

/** Replaces a member's value in a body, or removes it (undefined), before the body is judged. */
export function memberAs(
  name: string,
  change: (text: string | undefined) => string | undefined,
): Personality {
  return readingPet((usual, body, call) => {
    const json = readJsonObject(body);
    if (json.kind !== 'object') return usual(body, call);
    const members = new Map(json.members);
    const changed = change(members.get(name));
    if (changed === undefined) members.delete(name);
    else members.set(name, changed);
    return usual(`{${[...members].map(([key, text]) => `${JSON.stringify(key)}:${text}`).join(',')}}`, call);
  });
}
