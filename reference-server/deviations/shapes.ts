import type { ApiKey } from '../api-keys.ts';
import type { Answer, Behaviour } from '../behaviour.ts';
import type { Call, Route } from '../call.ts';
import { badRequest, errorBody, type Problem } from '../error-body.ts';
import { readJson, replaceNumbers } from '../json.ts';
import type { ListQuery } from '../list-query.ts';
import type { NewPet, Pet } from '../pet-store.ts';
import type { Plan } from '../plans.ts';
import type { MeterKind } from '../rate-limiter.ts';
import type { Parts, Recipe } from '../recipe.ts';
import { type Deviation, type Personality, together } from './personality.ts';

/**
 * The building blocks of variants and faults: each turns a small function into a personality with that one deviation.
 */

/** How a decision is made instead, given the usual way; the server's parts and recipe come after what is decided on. */
type Change<Decision extends keyof Behaviour> = (
  usual: Behaviour[Decision],
  ...given: [...Parameters<Behaviour[Decision]>, parts: Parts, recipe: Recipe]
) => ReturnType<Behaviour[Decision]>;

/** Personalities that make one of the server's decisions in another way. */
const deciding =
  <Decision extends keyof Behaviour>(decision: Decision) =>
  (change: Change<Decision>): Personality => ({
    behaviour: (usual, parts, recipe) => ({
      [decision]: (...given: Parameters<Behaviour[Decision]>) =>
        change(usual[decision], ...given, parts, recipe),
    }),
  });

export const admitting = deciding('admit');
export const readingQuery = deciding('readListQuery');
export const selecting = deciding('select');
export const readingPet = deciding('readNewPet');
export const adding = deciding('addPet');
export const finding = deciding('findPet');
export const writing = deciding('petText');
const finishing = deciding('finish');
export const sendingHeaders = deciding('headers');
export const delivering = deciding('deliver');

/** Accepts more requests: those of the usual look-up, or those for which `change` finds a key. */
export const identifying = (
  change: (found: ApiKey | null, call: Call, parts: Parts, recipe: Recipe) => ApiKey | null,
): Personality =>
  deciding('identify')((usual, call, parts, recipe) => change(usual(call), call, parts, recipe));

/** Whether a deviation shows in an answer. */
export type When = (answer: Answer, call: Call) => boolean;

/** Matches answers with a status, of one operation or of all. */
export const answers =
  (status: number, operation?: Route['operation']): When =>
  (answer, call) =>
    answer.status === status && (operation === undefined || call.route.operation === operation);

/** Matches successful answers of one operation. */
export const succeeds =
  (operation: Route['operation']): When =>
  (answer, call) =>
    answer.status < 300 && call.route.operation === operation;

/** Matches answers whose call also passes a test. */
export const where =
  (when: When, test: (call: Call) => boolean): When =>
  (answer, call) =>
    when(answer, call) && test(call);

/** Every n-th time. It has a counter, so every server needs its own. */
export function everyTime(n: number): () => boolean {
  let times = 0;
  return () => ++times % n === 0;
}

/** Whether the same was seen before. It remembers, so every server needs its own. */
export function seenBefore(): (what: string) => boolean {
  const seen = new Set<string>();
  return (what) => seen.size === seen.add(what).size;
}

/** Every n-th time the one before, in place of this one. It remembers too. */
export function oneBefore<T>(n: number): (one: T) => T {
  const isDue = everyTime(n);
  let last: T | undefined;
  return (one) => {
    const shown = isDue() ? (last ?? one) : one;
    last = one;
    return shown;
  };
}

/** Matches every n-th time that a predicate does. */
export function everyNth(n: number, when: When): When {
  const isDue = everyTime(n);
  return (answer, call) => when(answer, call) && isDue();
}

/** A deviation that knows which animals were added. */
export const knowingAdded =
  (deviation: (added: ReadonlySet<string>) => Personality): Deviation =>
  () => {
    const added = new Set<string>();
    return together(
      noting(({ id }) => added.add(id)),
      deviation(added),
    );
  };

/** Whether the query of a call contains `status=`. */
export const asksForStatus = (call: Call) => call.route.search.includes('status=');

export const onPlan = (plan: Plan) => (call: Call) => call.key?.plan === plan;

/** Whether the raw query of a list contains this text. */
export const queried = (call: Call, text: string): boolean =>
  call.route.operation === 'listPets' && call.route.search.split('&').includes(text);

/** Replaces the body of an answer. */
export const withBody = (answer: Answer, text: string): Answer => ({ ...answer, text });

/** Replaces the status of an answer, with an Error body to match. */
export function withError(answer: Answer, status: number): Answer {
  const body = errorBody({ status, code: 'refused', message: 'The request was refused.' });
  return { ...withBody(answer, body), status };
}

/** Changes the answers that match. */
export const answering = (when: When, change: (answer: Answer, call: Call) => Answer): Personality =>
  finishing((usual, answer, call) => {
    const last = usual(answer, call);
    return when(last, call) ? change(last, call) : last;
  });

/** Answers with another status, and an Error body to match. */
export const failing = (status: number, when: When): Personality =>
  answering(when, (answer) => withError(answer, status));

/** Answers with another status and the same body. */
export const answeringAs = (status: number, when: When): Personality =>
  answering(when, (answer) => ({ ...answer, status }));

/** Answers with another status, which the Error body says too. */
export const restated = (status: number, when: When): Personality =>
  together(
    rewriting(when, (text) => text.replace(/"status":\d+/, `"status":${status}`)),
    answeringAs(status, when),
  );

/** Answers with another text, and perhaps another status. */
export const answeringWith = (text: string, when: When, status?: number): Personality =>
  answering(when, (answer) => ({ ...withBody(answer, text), status: status ?? answer.status }));

/** Changes the text of the answers that match. */
export const rewriting = (when: When, change: (text: string, answer: Answer) => string): Personality =>
  answering(when, (answer) => withBody(answer, change(answer.text, answer)));

/**
 * Holds answers back.
 *
 * @param delay how long, in real milliseconds
 * @param release called before an answer that was held back is sent
 */
export const heldBack = (
  delay: (answer: Answer, call: Call) => number,
  release: (call: Call) => void = () => {},
): Personality =>
  delivering((usual, response, answer, headers, call) => {
    const milliseconds = delay(answer, call);
    if (milliseconds === 0) return usual(response, answer, headers, call);
    setTimeout(() => {
      release(call);
      usual(response, answer, headers, call);
    }, milliseconds);
  });

/** Closes the connection in place of the answers that match. */
export const closing = (when: When): Personality =>
  delivering((usual, response, answer, headers, call) => {
    if (when(answer, call)) response.destroy();
    else usual(response, answer, headers, call);
  });

/** Changes the value of one header in matching answers; null removes the header. */
export const header = (
  name: string,
  when: When,
  change: (value: string, call: Call) => string | null,
): Personality =>
  sendingHeaders((usual, answer, call) => {
    const headers = usual(answer, call);
    return when(answer, call) ? changedHeader(headers, name, (value) => change(value, call)) : headers;
  });

/** Leaves headers out of matching answers. */
export const headersAbsent = (when: When, ...names: readonly string[]): Personality =>
  together(...names.map((name) => header(name, when, () => null)));

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
export const addedHeader = (name: string, value: string, when: When): Personality =>
  sendingHeaders((usual, answer, call) => [
    ...usual(answer, call),
    ...(when(answer, call) ? [name, value] : []),
  ]);

/** Changes an animal before it is written, in one operation or in all. */
export const petShown = (
  change: (pet: Pet, call: Call) => Pet,
  operation?: Route['operation'],
): Personality =>
  writing((usual, pet, call) =>
    usual(operation === undefined || call.route.operation === operation ? change(pet, call) : pet, call),
  );

/** Changes an animal's JSON, in one operation or in all. */
export const petWritten = (
  change: (text: string, pet: Pet, call: Call) => string,
  operation?: Route['operation'],
): Personality =>
  writing((usual, pet, call) => {
    const text = usual(pet, call);
    return operation === undefined || call.route.operation === operation ? change(text, pet, call) : text;
  });

/** An animal's JSON without one field. */
export const withoutField = (text: string, name: string): string =>
  text.replace(new RegExp(`,?"${name}":("(?:[^"\\\\]|\\\\.)*"|[^,}]*)`), '').replace('{,', '{');

/** Hides animals from lists; the next ones fill the gaps. */
export const hiding = (
  hidden: (pet: Pet, call: Call) => boolean,
  from: (query: ListQuery) => boolean = () => true,
): Personality =>
  selecting((usual, query, call) =>
    from(query)
      ? firstOf(
          query.limit,
          (limit) => usual({ ...query, limit }, call),
          (pet) => !hidden(pet, call),
        )
      : usual(query, call),
  );

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
export const keeping = (
  note: (pet: Pet, call: Call) => void,
  hidden: (pet: Pet, call: Call) => boolean,
): Personality =>
  together(
    noting(note),
    hiding(hidden),
    foundAs((pet, call) => (hidden(pet, call) ? null : pet)),
  );

/** Changes an animal before it is stored. */
export const addedAs = (change: (animal: NewPet, call: Call) => NewPet): Personality =>
  adding((usual, animal, call) => usual(change(animal, call), call));

/** Calls a function for every animal that is added. */
export const noting = (note: (pet: Pet, call: Call) => void): Personality =>
  adding((usual, animal, call) => {
    const pet = usual(animal, call);
    note(pet, call);
    return pet;
  });

/** Refuses additions that would be accepted. */
export const refusing = (
  refused: (animal: NewPet, call: Call, parts: Parts) => boolean,
  status = 400,
): Personality =>
  readingPet((usual, body, call, parts) => {
    const read = usual(body, call);
    if ('problem' in read || !refused(read.animal, call, parts)) return read;
    return { problem: { ...badRequest('invalid_animal', 'The animal is not accepted.'), status } };
  });

/** Changes an animal that is found. */
export const foundAs = (change: (pet: Pet, call: Call, parts: Parts) => Pet | Problem | null): Personality =>
  finding((usual, petId, call, parts) => {
    const found = usual(petId, call);
    return found === null || 'code' in found ? found : change(found, call, parts);
  });

/** Makes something for each key, once. */
export function ofEachKey<T>(make: () => T): (key: ApiKey) => T {
  const made = new Map<string, T>();
  return ({ name }) => {
    const own = made.get(name) ?? make();
    made.set(name, own);
    return own;
  };
}

/** Counts the minute with another meter. */
export const minuteBy = (minuteMeter: MeterKind): Personality => ({ recipe: () => ({ minuteMeter }) });

/** The oldest animal of the store; null if it is empty. */
export const firstPet = ({ store }: Parts): Pet | null => store.all[0] ?? null;

/** The members of a body's object and their values as JSON; null if it is no object. Later ones of a name count. */
export function membersOf(body: string): Map<string, string> | null {
  try {
    const { value, numbers } = readJson(body);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
    const written = (member: unknown) =>
      replaceNumbers(JSON.stringify(member), (place) => numbers[Number(place)] ?? '');
    return new Map(Object.entries(value).map(([name, member]) => [name, written(member)]));
  } catch {
    return null;
  }
}

/** Replaces a member's value in a body, or removes it (undefined), before the body is judged. */
export const memberAs = (
  name: string,
  change: (text: string | undefined) => string | undefined,
): Personality =>
  readingPet((usual, body, call) => {
    const members = membersOf(body);
    if (members === null) return usual(body, call);
    const changed = change(members.get(name));
    if (changed === undefined) members.delete(name);
    else members.set(name, changed);
    return usual(`{${[...members].map(([key, text]) => `${JSON.stringify(key)}:${text}`).join(',')}}`, call);
  });
