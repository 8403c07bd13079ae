/** Section 4.1: what the document leaves open about lists. */
import { contract } from '../../spec/contract.ts';
import { PAGE_HEADER } from '../harness/answer-forms.ts';
import type { GapObserver } from '../harness/check.ts';
import { type AnsweredExchange, header, isAnswered } from '../harness/exchange.ts';
import { isJsonObject } from '../harness/lossless-json.ts';
import { bodyOf, described } from '../harness/pets.ts';
import { TWIN } from './added-animals.ts';
import { lists, missingOf, type TakenList, take } from './lists.ts';

const { minimum, maximum, default: defaultLimit } = contract.limit;

/** Names what a target made of a limit that the document does not allow. */
function limitAnswer(list: TakenList, stored: number, asked: number): string {
  const count = list.pets?.length;
  if (list.exchange.outcome.status !== 200) return `rejected-${list.exchange.outcome.status}`;
  if (count === undefined) return 'no-list';
  const clamped = Math.min(stored, Math.max(minimum, Math.min(maximum, asked)));
  if (count === clamped && clamped !== Math.min(stored, defaultLimit)) return 'clamped';
  if (count === Math.min(stored, defaultLimit)) return 'defaulted';
  return count === 0 ? 'empty-list' : 'ignored';
}

export const listAnimalGaps: readonly GapObserver[] = [
  {
    id: 'limit-out-of-range',
    spends: { requests: 2 },
    scenes: [lists],
    async run(probe) {
      const stored = (await probe.play(lists)).all.pets?.length ?? 0;
      const taken = [];
      for (const limit of [minimum - 1, maximum + 1])
        taken.push({ limit, list: await take(probe, { limit }) });
      const answers = taken.map(({ limit, list }) => limitAnswer(list, stored, limit));
      const alike = new Set(answers).size === 1;
      const each = taken.map(({ limit }, index) => `limit=${limit}: ${answers[index]}`);
      return {
        answer: alike
          ? (answers[0] ?? '')
          : taken.map(({ limit }, index) => `${limit}-${answers[index]}`).join(' '),
        detail: each.join(', '),
        evidence: taken.map(({ list }) => list.exchange),
      };
    },
  },
  {
    id: 'limit-not-a-number',
    spends: { requests: 1 },
    scenes: [lists],
    async run(probe) {
      const stored = (await probe.play(lists)).all.pets?.length ?? 0;
      const list = await take(probe, { limit: 'ten' });
      return {
        answer: limitAnswer(list, stored, defaultLimit),
        detail: `limit=ten: ${described(list.exchange)}`,
        evidence: [list.exchange],
      };
    },
  },
  {
    id: 'unknown-status-filter',
    spends: { requests: 1 },
    async run(probe) {
      const list = await take(probe, { status: 'unheard-of' });
      const { status } = list.exchange.outcome;
      const answer =
        status !== 200 ? `rejected-${status}` : list.pets?.length === 0 ? 'empty-list' : 'unfiltered';
      return { answer, detail: `status=unheard-of: ${described(list.exchange)}`, evidence: [list.exchange] };
    },
  },
  {
    id: 'pagination-mechanism',
    scenes: [lists],
    async run(probe) {
      const { exchange } = (await probe.play(lists)).short;
      const { headers } = exchange.outcome;
      const link = header(headers, 'link');
      const other = headers.map(([name]) => name.toLowerCase()).filter((name) => PAGE_HEADER.test(name));
      const answer =
        link !== undefined && /rel="?(next|last|first|prev)/.test(link)
          ? 'link-header'
          : other.length > 0
            ? other.sort().join(', ')
            : 'none';
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
      const { own, shownLater, all } = taken;
      // When an animal is served that no list shows is not seen.
      if (own.length === 0 || (!shownLater && missingOf(taken).size > 0)) return undefined;
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
