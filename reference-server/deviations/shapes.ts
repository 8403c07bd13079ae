import type { ApiKey } from '../api-keys.ts';
import type { Answer, Call, Decisions, Gate, RefusedBy } from '../design.ts';
import { badRequest, errorBody, type Problem } from '../error-body.ts';
import { readJson, replaceNumbers } from '../json.ts';
import type { ListQuery } from '../list-query.ts';
import type { OperationName } from '../operations.ts';
import type { NewPet, Pet } from '../pet-store.ts';
import type { Plan } from '../plans.ts';
import type { Deviation } from './deviation.ts';

/** The building blocks of variants and faults: each turns a small function into a deviation. */

/** How a decision is made instead, given the usual way. */
type Change<Decision extends keyof Decisions> = (
  usual: Decisions[Decision],
  ...given: Parameters<Decisions[Decision]>
) => ReturnType<Decisions[Decision]>;

/** Makes one of the server's decisions in another way. */
const deciding =
  <Decision extends keyof Decisions>(decision: Decision) =>
  (change: Change<Decision>): Deviation =>
  (usual) => ({
    [decision]: (...given: Parameters<Decisions[Decision]>) => change(usual[decision], ...given),
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
export const identifying = (change: (found: ApiKey | null, call: Call) => ApiKey | null) =>
  deciding('identify')((usual, call) => change(usual(call), call));

/** Changes what the gate decided of a request, or watches it. */
export const gating = (change: (gate: Gate, key: ApiKey, call: Call) => Gate) =>
  admitting((usual, key, call) => change(usual(key, call), key, call));

/** Whether a deviation shows in an answer; most look at the call alone. */
export type When = (call: Call, answer: Answer) => boolean;

/** Matches what each of these does. */
export const where =
  (...tests: readonly When[]): When =>
  (call, answer) =>
    tests.every((test) => test(call, answer));

export const always = () => true;

/** Whether a call is to an operation; to any, if none is named. */
export const on =
  (operation?: OperationName) =>
  ({ route }: Call): boolean =>
    operation === undefined || route.operation === operation;

export const onPlan = (plan: Plan) => (call: Call) => call.key?.plan === plan;

/** Whether the query of a call contains `status=`. */
export const asksForStatus = (call: Call): boolean => call.route.search.includes('status=');

/** Whether the raw query of a list contains this parameter. */
export const queried =
  (text: string) =>
  ({ route }: Call): boolean =>
    route.operation === 'listPets' && route.search.split('&').includes(text);

export const withoutKey = (call: Call): boolean => call.authorization === null;

/** Whether a request with a valid key is refused, for one of these. */
export const refusedBy =
  (...reasons: readonly RefusedBy[]) =>
  (call: Call): boolean =>
    call.refusedBy !== null && reasons.includes(call.refusedBy);
export const overLimit = refusedBy('minute', 'day');

export const withKey = ({ key }: Call): boolean => key !== null;
/** Whether a request has a valid key and is not refused for its quota or a ban. */
export const admitted = (call: Call): boolean => withKey(call) && call.refusedBy === null;

/** Matches answers with a status, of one operation or of all. */
export const answers = (status: number, operation?: OperationName): When =>
  where(on(operation), (_call, answer) => answer.status === status);

/** Matches successful answers of one operation. */
export const succeeds = (operation: OperationName): When =>
  where(on(operation), (_call, { status }) => status < 300);

/** Matches errors of the three operations that the document's table does not name: 410, 413 and 415 here. */
export const otherErrors: When = ({ route }, { status }) =>
  status >= 400 && ![400, 401, 404, 429].includes(status) && route.operation !== 'none';

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
export const everyNth = (n: number, when: When): When => where(when, everyTime(n));

/** Makes something for each key, once. */
export function ofEachKey<T>(make: () => T): (key: ApiKey | null) => T {
  const made = new Map<string, T>();
  return (key) => {
    const name = key?.name ?? '';
    const own = made.get(name) ?? make();
    made.set(name, own);
    return own;
  };
}

/** The animals that were added: by which key, and when. */
type Added = ReadonlyMap<string, { readonly by: string | undefined; readonly at: number }>;

/** A deviation that knows which animals were added. */
export const knowingAdded =
  (deviation: (added: Added) => Deviation): Deviation =>
  () => {
    const added = new Map<string, { by: string | undefined; at: number }>();
    return [noting(({ id }, { key, now }) => added.set(id, { by: key?.name, at: now })), deviation(added)];
  };

/** A deviation that knows how many requests with a valid key, or without, have come. */
export const knowingRequests =
  (deviation: (requests: () => number) => Deviation): Deviation =>
  () => {
    let requests = 0;
    const counting = identifying((found) => {
      requests += 1;
      return found;
    });
    return [counting, deviation(() => requests)];
  };

/** Status and text of an Error. */
export const errorOf = (status: number) => ({
  status,
  text: errorBody({ status, code: 'refused', message: 'The request was refused.' }),
});

/** Changes the answers that match: their status, their text, the headers that are theirs. */
export const answering = (
  when: When,
  change: Partial<Answer> | ((answer: Answer, call: Call) => Partial<Answer>),
): Deviation =>
  finishing((usual, answer, call) => {
    const last = usual(answer, call);
    if (!when(call, last)) return last;
    return { ...last, ...(typeof change === 'function' ? change(last, call) : change) };
  });

/** Answers with another status, and an Error body to match. */
export const failing = (status: number, when: When): Deviation => answering(when, errorOf(status));

/** Changes the text of the answers that match. */
export const rewriting = (when: When, change: (text: string, answer: Answer) => string): Deviation =>
  answering(when, (answer) => ({ text: change(answer.text, answer) }));

/** Answers with another status, which the Error body says too. */
export const restated = (status: number, when: When): Deviation =>
  answering(when, ({ text }) => ({ status, text: text.replace(/"status":\d+/, `"status":${status}`) }));

/**
 * Holds answers back.
 *
 * @param delay how long, in real milliseconds
 * @param release called before an answer that was held back is sent
 */
export const heldBack = (
  delay: (call: Call, answer: Answer) => number,
  release: (call: Call) => void = () => {},
): Deviation =>
  delivering((usual, response, answer, headers, call) => {
    const milliseconds = delay(call, answer);
    if (milliseconds === 0) return usual(response, answer, headers, call);
    setTimeout(() => {
      release(call);
      usual(response, answer, headers, call);
    }, milliseconds);
  });

/** Closes the connection in place of the answers that match. */
export const closing = (when: When): Deviation =>
  delivering((usual, response, answer, headers, call) => {
    if (when(call, answer)) response.destroy();
    else usual(response, answer, headers, call);
  });

/** Lets requests through that a window or a ban would refuse. */
export const letThrough = (what: RefusedBy, when: (call: Call, key: ApiKey) => boolean): Deviation =>
  gating((gate, key, call) =>
    gate.refusedBy === what && when(call, key) ? { ...gate, refusedBy: null, refusal: null } : gate,
  );

/** The names of the three headers of section 8. */
export const RATE_HEADERS = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'] as const;

/** Changes a header that holds a number. */
const numberIn =
  (name: string) =>
  (when: When, change: (value: number, call: Call) => HeaderValue): Deviation =>
    header(name, when, (value, call) => change(Number(value), call));

export const limitShown = numberIn('X-RateLimit-Limit');
export const remainingShown = numberIn('X-RateLimit-Remaining');
export const resetShown = numberIn('X-RateLimit-Reset');

/** Changes Retry-After, by default of refusals for the minute. */
export const retryAfter = (
  change: Parameters<typeof resetShown>[1],
  when: When = refusedBy('minute'),
): Deviation => numberIn('Retry-After')(when, change);

/** What a header is to say; null removes it. */
type HeaderValue = string | number | null;

/** Changes the value of one header in matching answers. */
export const header = (
  name: string,
  when: When,
  change: (value: string, call: Call) => HeaderValue,
): Deviation =>
  sendingHeaders((usual, answer, call) => {
    const headers = usual(answer, call);
    return when(call, answer) ? changedHeader(headers, name, (value) => change(value, call)) : headers;
  });

/** Leaves headers out of matching answers. */
export const headersAbsent = (when: When, ...names: readonly string[]): Deviation =>
  names.map((name) => header(name, when, () => null));

/** Headers with another value of one of them. */
export function changedHeader(
  headers: readonly string[],
  name: string,
  change: (value: string) => HeaderValue,
): string[] {
  const changed: string[] = [];
  for (let at = 0; at < headers.length; at += 2) {
    const field = headers[at] ?? '';
    const value = headers[at + 1] ?? '';
    const kept = field.toLowerCase() === name.toLowerCase() ? change(value) : value;
    if (kept !== null) changed.push(field, String(kept));
  }
  return changed;
}

/** Adds a header to matching answers. */
export const addedHeader = (name: string, value: string, when: When): Deviation =>
  sendingHeaders((usual, answer, call) => [
    ...usual(answer, call),
    ...(when(call, answer) ? [name, value] : []),
  ]);

/** Changes a field of an animal before it is written, in one operation or in all. */
export const shown = <Field extends keyof Pet>(
  field: Field,
  change: (value: Pet[Field], call: Call) => Pet[Field],
  operation?: OperationName,
): Deviation =>
  writing((usual, pet, call) =>
    usual(on(operation)(call) ? { ...pet, [field]: change(pet[field], call) } : pet, call),
  );

/** Digits as they are where they were a double. */
export const rounded = (digits: string) => BigInt(Number(digits)).toString();

/** Changes an animal's JSON, in one operation or in all. */
export const petWritten = (
  change: (text: string, pet: Pet, call: Call) => string,
  operation?: OperationName,
): Deviation =>
  writing((usual, pet, call) => {
    const text = usual(pet, call);
    return on(operation)(call) ? change(text, pet, call) : text;
  });

/** Hides animals from lists; the next ones fill the gaps. */
export const hiding = (
  hidden: (pet: Pet, call: Call) => boolean,
  from: (query: ListQuery) => boolean = always,
): Deviation =>
  selecting((usual, query, call) =>
    from(query)
      ? usual({ ...query, limit: Number.POSITIVE_INFINITY }, call)
          .filter((pet) => !hidden(pet, call))
          .slice(0, query.limit)
      : usual(query, call),
  );

/** Shows some of the animals to nobody. */
export const hidingEverywhere = (hidden: (pet: Pet, call: Call) => boolean): Deviation => [
  hiding(hidden),
  foundAs((pet, call) => (hidden(pet, call) ? null : pet)),
];

/** Changes an animal before it is stored. */
export const addedAs = (change: (animal: NewPet, call: Call) => NewPet): Deviation =>
  adding((usual, animal, call) => usual(change(animal, call), call));

/** Calls a function for every animal that is added. */
export const noting = (note: (pet: Pet, call: Call) => void): Deviation =>
  adding((usual, animal, call) => {
    const pet = usual(animal, call);
    note(pet, call);
    return pet;
  });

/** Refuses additions that would be accepted. */
export const refusing = (refused: (animal: NewPet, call: Call) => boolean, status = 400) =>
  readingPet((usual, body, call) => {
    const read = usual(body, call);
    if ('problem' in read || !refused(read.animal, call)) return read;
    return { problem: { ...badRequest('invalid_animal', 'The animal is not accepted.'), status } };
  });

/** Changes an animal that is found. */
export const foundAs = (change: (pet: Pet, call: Call) => Pet | Problem | null) =>
  finding((usual, petId, call) => {
    const found = usual(petId, call);
    return found === null || 'code' in found ? found : change(found, call);
  });

/** A store that begins with other animals, at most so many. Its ids are all of one source. */
export const beginningWith = (
  animal: (ordinal: number) => NewPet,
  most = Number.POSITIVE_INFINITY,
): Deviation => ({
  seed(store, animals) {
    for (let ordinal = 0; ordinal < Math.min(animals, most); ordinal += 1) store.add(animal(ordinal));
  },
});

/** The oldest animal of the store; null if it is empty. */
export const firstPet = ({ service }: Call): Pet | null => service.store.all[0] ?? null;

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

/** Reads an addition's body as if another one had been sent. */
export const bodyAs = (change: (body: string) => string): Deviation =>
  readingPet((usual, body, call) => usual(change(body), call));

/**
 * Takes a member of a body for something else.
 *
 * @param sent matches the member's JSON, which is the empty text if there is no such member
 * @param as what it is taken for; undefined removes it
 */
export const memberAs = (
  name: string,
  sent: RegExp,
  as: string | undefined | ((text: string) => string | undefined),
): Deviation =>
  bodyAs((body) => {
    const members = membersOf(body);
    const text = members?.get(name) ?? '';
    if (members === null || !sent.test(text)) return body;
    const taken = typeof as === 'function' ? as(text) : as;
    if (taken === undefined) members.delete(name);
    else members.set(name, taken);
    return `{${[...members].map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(',')}}`;
  });
