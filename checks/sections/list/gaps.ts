/** Section 4.1: the gaps about lists. */
import { contract } from '../../../spec/contract.ts';
import { type GapObserver, gap } from '../../run/check.ts';
import { Unsettled } from '../../run/unsettled.ts';
import { type AnsweredExchange, headerValues, isAnswered } from '../../wire/exchange.ts';
import { isJsonObject } from '../../wire/lossless-json.ts';
import { bodyOf, described } from '../../wire/pets.ts';
import { addedInTurn } from '../add/scenes.ts';
import { known } from './lengths.ts';
import { askedAgain, fatesOf } from './own-animals.ts';
import { fullPages, limitNotANumber, limitsOutOfRange, unknownStatus } from './pages.ts';
import { pets } from './queries.ts';
import { type LongestLists, lists, missingOf, shows, type TakenList } from './scenes.ts';

const { minimum, maximum, default: defaultLimit } = contract.limit;

/**
 * A relation of a Link that leads to another page (RFC 8288, 3.3: compared without case, several with blanks between
 * them, quoted or not).
 */
const PAGE_LINK = /;\s*rel\s*=\s*("([^"]*\s)?|)(next|prev|previous|first|last)(?=[\s";,]|$)/i;

/** Header names for further pages, besides Link: there is no standard, but these words are usual. */
export const PAGE_WORDS = 'page|cursor|total-count|content-range';
export const PAGE_BEGINNINGS = 'x-total|x-next';
const PAGE_HEADER = new RegExp(`${PAGE_WORDS}|^(?:${PAGE_BEGINNINGS})`);

const NOT_CUT_SHORT = 'no list of this run was cut short';

/** The store holds at least this many animals. */
const stored = (lists: LongestLists): number => Math.max(lists.all.pets?.length ?? 0, known(lists));

/**
 * How a target may have interpreted an invalid limit, judging by the number of animals returned. Several answers are
 * possible if the store is too small to tell them apart.
 *
 * @param nearest the nearest allowed limit; undefined if the requested limit was not a number
 */
function limitAnswers(list: TakenList, lists: LongestLists, nearest?: number): readonly string[] {
  const { status } = list.exchange.outcome;
  if (status !== 200) return [`rejected-${status}`];
  const count = list.pets?.length;
  if (count === undefined) return ['no-list'];
  const { pets: longest, exchange } = lists.all;
  if (longest === undefined) throw new Unsettled(`the longest list was answered ${described(exchange)}`);
  // Other clients may have added animals meanwhile.
  const size = Math.max(stored(lists), count);
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

/** The answer, if only one is possible. @throws Unsettled if the store is too small to tell */
function only([answer = '', ...more]: readonly string[], lists: LongestLists): string {
  if (more.length === 0) return answer;
  throw new Unsettled(`a store of ${pets(stored(lists))} cannot tell ${[answer, ...more].join(' from ')}`);
}

/** Names the answer to a status that the document does not have. */
function filterAnswer({ exchange, pets: listed }: TakenList, lists: LongestLists): string {
  const { status } = exchange.outcome;
  if (status !== 200) return `rejected-${status}`;
  if (listed === undefined) throw new Unsettled(`the answer is not a list: ${described(exchange)}`);
  if (listed.length > 0) return 'unfiltered';
  if (stored(lists) === 0) throw new Unsettled('the store is empty, and so is any list');
  return 'empty-list';
}

export const listAnimalGaps: readonly GapObserver[] = [
  gap('limit-out-of-range', { needs: { lists, limitsOutOfRange } }, ({ lists, limitsOutOfRange }) => {
    const { below, above } = limitsOutOfRange;
    const ofBelow = limitAnswers(below, lists, minimum);
    const ofAbove = limitAnswers(above, lists, maximum);
    // If both limits may have been answered alike, that is the simplest explanation.
    const alike = ofBelow.filter((answer) => ofAbove.includes(answer));
    const small = only(alike.length > 0 ? alike : ofBelow, lists);
    const large = only(alike.length > 0 ? alike : ofAbove, lists);
    return {
      answer: small === large ? small : `${minimum - 1}-${small} ${maximum + 1}-${large}`,
      detail: `limit=${minimum - 1}: ${small}, limit=${maximum + 1}: ${large}`,
      evidence: [below.exchange, above.exchange],
    };
  }),
  gap('limit-not-a-number', { needs: { lists, list: limitNotANumber } }, ({ lists, list }) => ({
    answer: only(limitAnswers(list, lists), lists),
    detail: `limit=ten: ${described(list.exchange)}`,
    evidence: [list.exchange],
  })),
  gap('unknown-status-filter', { needs: { lists, list: unknownStatus } }, ({ lists, list }) => ({
    answer: filterAnswer(list, lists),
    detail: `status=unheard-of: ${described(list.exchange)}`,
    evidence: [list.exchange],
  })),
  gap('pagination-mechanism', { needs: { lists, fullPages } }, ({ lists, fullPages }) => {
    const short = fullPages.done.flat().find(({ list }) => list.query.limit === minimum)?.list;
    if (short === undefined) throw new Unsettled(NOT_CUT_SHORT);
    const { headers } = short.exchange.outcome;
    const link = headerValues(headers, 'link').join(', ');
    const others = headers.map(([name]) => name.toLowerCase()).filter((name) => PAGE_HEADER.test(name));
    const evidence = [short.exchange];
    const cutShort = 'a list that is cut short';
    if (PAGE_LINK.test(link))
      return { answer: 'link-header', detail: `${cutShort} has Link: ${link}`, evidence };
    if (others.length > 0) {
      const answer = [...new Set(others)].sort().join(', ');
      return { answer, detail: `${cutShort} has ${answer}`, evidence };
    }
    if (short.pets === undefined || stored(lists) <= minimum) throw new Unsettled(NOT_CUT_SHORT);
    return { answer: 'none', detail: `${cutShort} names no further page`, evidence };
  }),
  gap('list-order', { permit: 'writes', needs: { lists } }, ({ lists: { all, own } }) => {
    const added = addedInTurn(own);
    const positions = added.map(({ pet }) => all.pets?.findIndex(({ id }) => id === pet.id) ?? -1);
    if (positions.length < 3 || positions.some((position) => position < 0)) return undefined;
    const steps = positions.slice(1).map((position, index) => position - (positions[index] ?? 0));
    const [answer, order] = steps.every((step) => step > 0)
      ? ['oldest-first', 'in that order']
      : steps.every((step) => step < 0)
        ? ['newest-first', 'in the reverse order']
        : ['other', 'in another order'];
    return {
      answer,
      detail: `${added.length} animals added in turn are listed ${order}`,
      evidence: [all.exchange],
    };
  }),
  gap('added-visibility', { permit: 'writes', needs: { lists } }, ({ lists }) => {
    const { own, shownLater, all, byStatus } = lists;
    // An animal that no list shows says nothing about when it is served.
    const isSeen = own.some(({ pet }) => [all, ...byStatus.values()].some((list) => shows(list, pet.id)));
    if (!isSeen || (!shownLater && missingOf(lists).size > 0)) return undefined;
    return {
      answer: shownLater ? 'later' : 'at-once',
      detail: shownLater
        ? 'an added animal was missing from a whole list and shown by a later one'
        : 'no added animal was missing from a whole list',
      evidence: [all.exchange],
    };
  }),
  gap('status-transitions', { permit: 'writes', needs: { askedAgain } }, (_, { exchanges }) => {
    const changes = [...fatesOf(exchanges).changes.values()].filter(({ isAgreed }) => isAgreed);
    if (changes.length === 0) return undefined;
    const kinds = new Set(changes.map(({ from = '(none)', to = '(none)' }) => `${from} to ${to}`));
    const answer = [...kinds].sort().join(', ');
    return {
      answer,
      detail: `status changes by itself: ${answer}`,
      evidence: changes.flatMap(({ evidence }) => evidence).slice(0, 3),
    };
  }),
  gap('error-codes', {}, (_, { exchanges }) => {
    const codes = new Map<string, AnsweredExchange>();
    for (const exchange of exchanges.filter(isAnswered)) {
      // Methods that no operation has are the gap wrong-method.
      if (!['GET', 'POST'].includes(exchange.request.method)) continue;
      const body = exchange.outcome.status < 400 ? undefined : bodyOf(exchange);
      const code = body?.ok === true && isJsonObject(body.value) ? body.value['code'] : undefined;
      if (typeof code === 'string' && code.length <= 100)
        codes.set(`${exchange.outcome.status} ${code}`, exchange);
    }
    if (codes.size === 0) return undefined;
    const answer = [...codes.keys()].sort().join(', ');
    return { answer, detail: `seen: ${answer}`, evidence: [...codes.values()].slice(0, 3) };
  }),
];
