/** Section 4.1: what the document leaves open about lists. */
import { contract } from '../../../spec/contract.ts';
import { type GapObserver, Unsettled } from '../../run/check.ts';
import { PAGE_HEADER } from '../../wire/answer-forms.ts';
import { type AnsweredExchange, headerValues, isAnswered } from '../../wire/exchange.ts';
import { isJsonObject } from '../../wire/lossless-json.ts';
import { bodyOf, described } from '../../wire/pets.ts';
import { TWIN } from '../add/scenes.ts';
import { known } from './limits.ts';
import { pets } from './queries.ts';
import { type Lists, lists, missingOf, shows, type TakenList, take } from './scenes.ts';

const { minimum, maximum, default: defaultLimit } = contract.limit;

/**
 * A relation of a Link that leads to another page (RFC 8288, 3.3: compared without case, several with blanks between
 * them, quoted or not).
 */
const PAGE_LINK = /;\s*rel\s*=\s*("([^"]*\s)?|)(next|prev|previous|first|last)(?=[\s";,]|$)/i;

/** How many animals the store holds at least. */
const stored = (all: Pick<Lists, 'all' | 'byStatus'>): number =>
  Math.max(all.all.pets?.length ?? 0, known(all, undefined));

/**
 * What a target may have made of a limit that the document does not allow, by how many animals came; several where the
 * store is too small to tell.
 *
 * @param nearest the limit of the document that is nearest; undefined where what was asked is no number
 */
function limitAnswers(list: TakenList, all: Lists, nearest?: number): readonly string[] {
  const { status } = list.exchange.outcome;
  if (status !== 200) return [`rejected-${status}`];
  const count = list.pets?.length;
  if (count === undefined) return ['no-list'];
  const { pets: longest, exchange } = all.all;
  if (longest === undefined) throw new Unsettled(`the longest list was answered ${described(exchange)}`);
  // Others may have added some meanwhile.
  const size = Math.max(stored(all), count);
  const asIfLimitWere = {
    ...(nearest === undefined ? {} : { clamped: nearest }),
    defaulted: defaultLimit,
    'empty-list': 0,
    ignored: size,
  };
  const possible = Object.entries(asIfLimitWere).flatMap(([answer, limit]) =>
    Math.min(size, limit) === count ? [answer] : [],
  );
  // A number of the target's own.
  return possible.length === 0 ? ['ignored'] : possible;
}

/** The one answer among those that are possible. */
function only([answer = '', ...more]: readonly string[], all: Lists): string {
  if (more.length === 0) return answer;
  throw new Unsettled(`a store of ${pets(stored(all))} does not tell ${[answer, ...more].join(' from ')}`);
}

/** Names what a target made of a status that the document does not have. */
function filterAnswer({ exchange, pets: listed }: TakenList, all: Lists): string {
  const { status } = exchange.outcome;
  if (status !== 200) return `rejected-${status}`;
  if (listed === undefined) throw new Unsettled(`what came is no list: ${described(exchange)}`);
  if (listed.length > 0) return 'unfiltered';
  if (stored(all) === 0) throw new Unsettled('the store is empty, and so is any list');
  return 'empty-list';
}

export const listAnimalGaps: readonly GapObserver[] = [
  {
    id: 'limit-out-of-range',
    spends: { requests: 2 },
    scenes: [lists],
    async run(probe) {
      const all = await probe.play(lists);
      const below = await take(probe, { limit: minimum - 1 });
      const above = await take(probe, { limit: maximum + 1 });
      const ofBelow = limitAnswers(below, all, minimum);
      const ofAbove = limitAnswers(above, all, maximum);
      // Of what either may mean, that they are answered alike is the simplest.
      const alike = ofBelow.filter((answer) => ofAbove.includes(answer));
      const small = only(alike.length > 0 ? alike : ofBelow, all);
      const large = only(alike.length > 0 ? alike : ofAbove, all);
      return {
        answer: small === large ? small : `${minimum - 1}-${small} ${maximum + 1}-${large}`,
        detail: `limit=${minimum - 1}: ${small}, limit=${maximum + 1}: ${large}`,
        evidence: [below.exchange, above.exchange],
      };
    },
  },
  {
    id: 'limit-not-a-number',
    spends: { requests: 1 },
    scenes: [lists],
    async run(probe) {
      const all = await probe.play(lists);
      const list = await take(probe, { limit: 'ten' });
      return {
        answer: only(limitAnswers(list, all), all),
        detail: `limit=ten: ${described(list.exchange)}`,
        evidence: [list.exchange],
      };
    },
  },
  {
    id: 'unknown-status-filter',
    spends: { requests: 1 },
    scenes: [lists],
    async run(probe) {
      const all = await probe.play(lists);
      const list = await take(probe, { status: 'unheard-of' });
      return {
        answer: filterAnswer(list, all),
        detail: `status=unheard-of: ${described(list.exchange)}`,
        evidence: [list.exchange],
      };
    },
  },
  {
    id: 'pagination-mechanism',
    scenes: [lists],
    async run(probe) {
      const { short, ...all } = await probe.play(lists);
      const { exchange } = short;
      const { headers } = exchange.outcome;
      const link = headerValues(headers, 'link').join(', ');
      const other = headers.map(([name]) => name.toLowerCase()).filter((name) => PAGE_HEADER.test(name));
      const answer = PAGE_LINK.test(link)
        ? 'link-header'
        : other.length > 0
          ? [...new Set(other)].sort().join(', ')
          : 'none';
      if (answer === 'none' && (short.pets === undefined || stored(all) <= minimum))
        throw new Unsettled('no list of this run was cut short');
      return {
        answer,
        detail:
          answer === 'none'
            ? 'a list that is cut short names no further page'
            : `a list that is cut short has ${answer === 'link-header' ? `Link: ${link}` : answer}`,
        evidence: [exchange],
      };
    },
  },
  {
    id: 'list-order',
    permit: 'writes',
    scenes: [lists],
    async run(probe) {
      const { all, ...taken } = await probe.play(lists);
      const own = taken.own.filter(({ label }) => label !== TWIN);
      const positions = own.map(({ pet }) => all.pets?.findIndex(({ id }) => id === pet.id) ?? -1);
      if (positions.length < 3 || positions.some((position) => position < 0)) return undefined;
      const ascending = positions.every(
        (position, index) => index === 0 || position > (positions[index - 1] ?? 0),
      );
      const descending = positions.every(
        (position, index) => index === 0 || position < (positions[index - 1] ?? 0),
      );
      return {
        answer: ascending ? 'oldest-first' : descending ? 'newest-first' : 'other',
        detail: `${own.length} animals added in turn stand ${ascending ? 'in that order' : descending ? 'in the reverse order' : 'in another order'}`,
        evidence: [all.exchange],
      };
    },
  },
  {
    id: 'added-visibility',
    permit: 'writes',
    scenes: [lists],
    async run(probe) {
      const taken = await probe.play(lists);
      const { own, shownLater, all, byStatus } = taken;
      // When an animal is served that no list shows is not seen.
      const isSeen = own.some(({ pet }) => [all, ...byStatus.values()].some((list) => shows(list, pet.id)));
      if (!isSeen || (!shownLater && missingOf(taken).size > 0)) return undefined;
      return {
        answer: shownLater ? 'later' : 'at-once',
        detail: shownLater
          ? 'an added animal was missing from a whole list and shown by a later one'
          : 'no added animal was missing from a whole list',
        evidence: [all.exchange],
      };
    },
  },
  {
    id: 'error-codes',
    conclude(history) {
      const codes = new Map<string, AnsweredExchange>();
      for (const exchange of history.exchanges.filter(isAnswered)) {
        const body = exchange.outcome.status < 400 ? undefined : bodyOf(exchange);
        const code = body?.ok === true && isJsonObject(body.value) ? body.value['code'] : undefined;
        if (typeof code === 'string' && code.length <= 100)
          codes.set(`${exchange.outcome.status} ${code}`, exchange);
      }
      const named = [...codes.keys()].sort();
      return named.length === 0
        ? undefined
        : {
            answer: named.join(', '),
            detail: `seen: ${named.join(', ')}`,
            evidence: [...codes.values()].slice(0, 3),
          };
    },
  },
];
