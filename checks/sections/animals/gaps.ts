/** What the document leaves open about animals and lists, and how the target answers it. */
import { LIMIT, OPERATIONS, PET_STATUSES } from '../../../spec/operations.ts';
import { doneOf, type GapAnswer, type GapObserver, gap } from '../../run/check.ts';
import { Inconclusive } from '../../run/reason.ts';
import { scene } from '../../run/scene.ts';
import { animals } from '../../wire/answer.ts';
import { type AnsweredExchange, headerValues, isAnswered } from '../../wire/exchange.ts';
import { described, listedPets, type SeenPet, sentPet } from '../../wire/pets.ts';
import { listPets } from '../../wire/requests.ts';
import { answered, codeOf } from '../answers.ts';
import { basicAnimals, createdBy, edgeAnimals, NO_STATUS } from './additions.ts';
import { askedAgain, fatesOf } from './life.ts';
import { allowedQuery, fullPages, known, type LongestLists, lists } from './lists.ts';

const { minimum, maximum, default: defaultLimit } = LIMIT;

/**
 * A relation of a Link that leads to another page (RFC 8288, 3.3: compared without case, several with blanks between
 * them, quoted or not).
 */
const PAGE_LINK = /;\s*rel\s*=\s*("([^"]*\s)?|)(next|prev|previous|first|last)(?=[\s";,]|$)/i;

/** Header names for further pages, besides Link: there is no standard, but these words are usual. */
const PAGE_HEADER = /page|cursor|total-count|content-range|^(?:x-total|x-next)/;

const refused = ({ outcome }: AnsweredExchange) => `rejected-${outcome.status}`;

const NOT_CUT_SHORT = 'no list of this run was cut short';

/** The store holds at least this many animals. */
const stored = (taken: LongestLists): number => Math.max(listedPets(taken[0])?.length ?? 0, known(taken));

/**
 * How a target may have interpreted an invalid limit, judging by the number of animals returned. Several answers are
 * possible if the store is too small to tell them apart.
 *
 * @param nearest the nearest allowed limit; undefined if the requested limit was not a number
 */
function limitAnswers(list: AnsweredExchange, taken: LongestLists, nearest?: number): readonly string[] {
  if (list.outcome.status !== 200) return [refused(list)];
  const count = listedPets(list)?.length;
  if (count === undefined) return ['no-list'];
  if (listedPets(taken[0]) === undefined)
    throw new Inconclusive(`the longest list was answered ${described(taken[0])}`);
  // Other clients may have added animals meanwhile.
  const size = Math.max(stored(taken), count);
  const asIfLimitWere = {
    ...(nearest === undefined ? {} : { clamped: nearest }),
    defaulted: defaultLimit,
    'empty-list': 0,
    ignored: size,
  };
  const possible = Object.entries(asIfLimitWere).flatMap(([answer, limit]) =>
    Math.min(size, limit) === count ? [answer] : [],
  );
  // A limit of the target's own.
  return possible.length === 0 ? ['ignored'] : possible;
}

/** The answer, if only one is possible. @throws Inconclusive if the store is too small to tell */
function only([answer = '', ...more]: readonly string[], taken: LongestLists): string {
  if (more.length === 0) return answer;
  throw new Inconclusive(
    `a store of ${animals(stored(taken))} cannot tell ${[answer, ...more].join(' from ')}`,
  );
}

/** How an addition that the document neither allows nor forbids was answered. */
const answerTo = (exchange: AnsweredExchange, addition: string, accepted = 'accepted'): GapAnswer =>
  answered(exchange, addition, exchange.outcome.status === 201 ? accepted : refused(exchange));

/** Those that an operation has. */
const METHODS: ReadonlySet<string> = new Set(Object.values(OPERATIONS).map(({ method }) => method));

/** Limits and a status that the document does not allow. */
const limitsOutOfRange = scene('limits-out-of-range', {}, async (run) => ({
  below: await run.send(listPets({ limit: minimum - 1 })),
  above: await run.send(listPets({ limit: maximum + 1 })),
}));
const limitNotANumber = scene('limit-not-a-number', {}, (run) => run.send(listPets({ limit: 'ten' })));
const unknownStatus = scene('unknown-status', {}, (run) => run.send(listPets({ status: 'unheard-of' })));

export const animalGaps: readonly GapObserver[] = [
  gap('name-character-set', [edgeAnimals], (seen) =>
    answerTo(seen.of(edgeAnimals).anyScript, 'a name in several scripts', 'any-script'),
  ),
  gap('name-length', [edgeAnimals], (seen) =>
    answerTo(seen.of(edgeAnimals).longName, 'a name of 255 characters'),
  ),
  gap('category-existence', [edgeAnimals], (seen) => {
    const { unknownCategory } = seen.of(edgeAnimals);
    return answerTo(unknownCategory, `categoryId ${sentPet(unknownCategory)?.categoryId}`);
  }),
  gap('status-when-omitted', [basicAnimals], (seen) => {
    const { [NO_STATUS]: without } = seen.of(basicAnimals);
    const pet = without && createdBy(without);
    if (without === undefined || pet === undefined) return undefined;
    const { status } = pet;
    // An invalid status is no answer; add-pet-schema judges it.
    if (status !== undefined && !PET_STATUSES.includes(status)) return undefined;
    return {
      answer: status ?? 'none',
      detail: `an addition without status: ${status ?? 'no status'}`,
      evidence: [without],
    };
  }),
  gap('limit-out-of-range', [lists, limitsOutOfRange], (seen) => {
    const taken = seen.of(lists);
    const { below, above } = seen.of(limitsOutOfRange);
    const ofBelow = limitAnswers(below, taken, minimum);
    const ofAbove = limitAnswers(above, taken, maximum);
    // If both limits may have been answered alike, that is the simplest explanation.
    const alike = ofBelow.filter((answer) => ofAbove.includes(answer));
    const small = only(alike.length > 0 ? alike : ofBelow, taken);
    const large = only(alike.length > 0 ? alike : ofAbove, taken);
    return {
      answer: small === large ? small : `${minimum - 1}-${small} ${maximum + 1}-${large}`,
      detail: `limit=${minimum - 1}: ${small}, limit=${maximum + 1}: ${large}`,
      evidence: [below, above],
    };
  }),
  gap('limit-not-a-number', [lists, limitNotANumber], (seen) => {
    const [taken, list] = [seen.of(lists), seen.of(limitNotANumber)];
    return answered(list, 'limit=ten', only(limitAnswers(list, taken), taken));
  }),
  gap('unknown-status-filter', [lists, unknownStatus], (seen) => {
    const [taken, list] = [seen.of(lists), seen.of(unknownStatus)];
    const answer = (name: string) => answered(list, 'status=unheard-of', name);
    if (list.outcome.status !== 200) return answer(refused(list));
    const listed = listedPets(list);
    if (listed === undefined) throw new Inconclusive(`the answer is not a list: ${described(list)}`);
    if (listed.length > 0) return answer('unfiltered');
    if (stored(taken) === 0) throw new Inconclusive('the store is empty, and so is any list');
    return answer('empty-list');
  }),
  gap('pagination-mechanism', [lists, fullPages], (seen) => {
    const short = doneOf(seen.of(fullPages)).find((list) => allowedQuery(list)?.limit === minimum);
    if (short === undefined) throw new Inconclusive(NOT_CUT_SHORT);
    const { headers } = short.outcome;
    const link = headerValues(headers, 'link').join(', ');
    const named = headers.map(([name]) => name.toLowerCase()).filter((name) => PAGE_HEADER.test(name));
    const names = [...new Set(named)].sort().join(', ');
    const isLinked = PAGE_LINK.test(link);
    if (!isLinked && names === '' && (listedPets(short) === undefined || stored(seen.of(lists)) <= minimum))
      throw new Inconclusive(NOT_CUT_SHORT);
    const further = isLinked ? `has Link: ${link}` : names === '' ? 'names no further page' : `has ${names}`;
    return {
      answer: isLinked ? 'link-header' : names || 'none',
      detail: `a list that is cut short ${further}`,
      evidence: [short],
    };
  }),
  gap('status-transitions', [basicAnimals, askedAgain], (seen) => {
    const changed = [...fatesOf(seen).fates.values()].flatMap(({ pet, change }) =>
      change?.isTheirs === true && pet.status !== change.to.status ? [{ pet, ...change }] : [],
    );
    if (changed.length === 0) return undefined;
    const status = (pet: SeenPet) => pet.status ?? '(none)';
    const kinds = new Set(changed.map(({ pet, to }) => `${status(pet)} to ${status(to)}`));
    const answer = [...kinds].sort().join(', ');
    return {
      answer,
      detail: `status changes by itself: ${answer}`,
      evidence: changed.flatMap(({ evidence }) => evidence).slice(0, 3),
    };
  }),
  gap('error-codes', [], ({ trace }) => {
    const codes = new Map<string, AnsweredExchange>();
    for (const exchange of trace.exchanges.filter(isAnswered)) {
      // Of methods that no operation has the document says nothing.
      if (!METHODS.has(exchange.request.method)) continue;
      const code = exchange.outcome.status < 400 ? undefined : codeOf(exchange);
      if (code !== undefined && code.length <= 100) codes.set(`${exchange.outcome.status} ${code}`, exchange);
    }
    if (codes.size === 0) return undefined;
    const answer = [...codes.keys()].sort().join(', ');
    return { answer, detail: `seen: ${answer}`, evidence: [...codes.values()].slice(0, 3) };
  }),
];
