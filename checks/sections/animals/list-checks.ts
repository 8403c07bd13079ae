/** Section 4.1: GET /pets. */
import { contract } from '../../../spec/contract.ts';
import { groupBy } from '../../../spec/group-by.ts';
import { type Check, check, doneOf, type Judge, observes, type Seen } from '../../run/check.ts';
import { Inconclusive } from '../../run/inconclusive.ts';
import { notTold } from '../../run/reason.ts';
import type { Trace } from '../../run/trace.ts';
import { listOnceViolation, listStatusViolation, quoted, schemaViolation } from '../../wire/answer.ts';
import { type AnsweredExchange, isAnswered } from '../../wire/exchange.ts';
import { bodyOf, described, listedPets } from '../../wire/pets.ts';
import { schemaProblem } from '../../wire/schema.ts';
import { isCalledInvalid, isOwnAnswer, successBody, wrongStatus } from '../answers.ts';
import { askedAgain, fatesOf, judgeMissing, judgeUnchanged, placeOf, SHARED } from './life.ts';
import { listLimitChecks } from './list-limit-checks.ts';
import {
  allowedQuery,
  hiddenByFilter,
  isWhole,
  LISTED_WITHIN,
  limitOf,
  lists,
  mayBeShort,
  missing,
  missingFrom,
  type OwnAnimal,
  shown,
  shows,
  type TakenList,
} from './lists.ts';
import { everyKindOfList, filteredPages, judgeLengths, judgeNoList, known, shortPages } from './pages.ts';
import { nameSent } from './refused-additions.ts';

const { maximum } = contract.limit;

/** Only this run uses its names: no list shows more animals of a name than were added, each in one answered addition. */
function judgeNames(judge: Judge, { exchanges }: Trace): void {
  // Requests in flight when a process ended are not on record, nor is every one of a burst.
  if (exchanges.some(({ session = 1 }) => session > 1)) return;
  const sent = exchanges.filter((exchange) => exchange.intent !== 'fill');
  const additions = groupBy(sent, nameSent);
  additions.delete(undefined);
  for (const exchange of exchanges.filter(isAnswered)) {
    const listed = exchange.request.operation === 'listPets' ? (listedPets(exchange) ?? []) : [];
    for (const [name, same] of groupBy(listed, (pet) => pet.name)) {
      const ids = [...new Set(same.map(({ id }) => id))];
      const added = additions.get(name) ?? [];
      const last = same.at(-1);
      if (added[0] === undefined || last === undefined || ids.length <= added.length) continue;
      // What was lost on the way may have been sent again there.
      if (!added.every((one) => isAnswered(one) && one.outcome.status === 201)) continue;
      const expected = `no more animals named ${quoted(name ?? '')} than were added, ${added.length}`;
      const at = [`${placeOf(last, exchange)}/name`];
      judge.breaks({ expected, actual: `animals ${ids.join(', ')} in one list`, at }, exchange, added[0]);
    }
  }
}

/** Whether a list comes so long after an addition that it should show the animal, if it has room for it. */
const isLateEnough = (list: AnsweredExchange, { exchange }: { readonly exchange: AnsweredExchange }) =>
  list.sentAt >= exchange.receivedAt + LISTED_WITHIN;

/**
 * Judges every list of the run: only this run knows its animals, and no operation changes or removes one. Those that
 * the lists were repeated for are expected in the last of these, whatever time has passed.
 */
function judgeEveryList(judge: Judge, seen: Seen): void {
  const fates = fatesOf(seen);
  const longest = seen.of(lists);
  const { all, byStatus, own: listable } = longest;
  const taken = [all, ...byStatus.values()];
  // For list-status-complete to judge.
  const hidesMatching = new Set<string | undefined>(
    [...byStatus.keys()].filter((status) => {
      const list = byStatus.get(status);
      const hidden = list && hiddenByFilter(list, listable, all);
      return hidden !== undefined && shows(all, hidden.pet.id);
    }),
  );
  // A filter that lists nothing at all is for list-status-complete to judge.
  const last = isWhole(all) ? [all] : taken.filter((list) => (list.pets?.length ?? 0) > 0);
  const listedBy = new Map<string, AnsweredExchange>();
  const mostListed = new Map<string | undefined, number>();
  for (const exchange of seen.trace.exchanges.filter(isAnswered)) {
    const asked = allowedQuery(exchange);
    const listed = exchange.request.operation === 'listPets' ? listedPets(exchange) : undefined;
    if (listed === undefined) continue;
    const most = mostListed.get(asked?.status) ?? known(longest, asked?.status);
    mostListed.set(asked?.status, Math.max(most, listed.length));
    const shownById = new Map(listed.map((pet) => [pet.id, pet]));
    for (const [id, own] of fates.created) {
      const pet = shownById.get(id);
      const keyAndId = `${exchange.key} ${id}`;
      const before = listedBy.get(keyAndId);
      if (pet !== undefined) {
        listedBy.set(keyAndId, exchange);
        judgeUnchanged(judge, fates, id, pet, exchange);
        continue;
      }
      // Where an animal without a status is listed is for list-unfiltered to judge.
      const { status } = own.pet;
      if (asked === undefined || status === undefined || listed.length >= limitOf(asked)) continue;
      if (mayBeShort(seen.trace.run.declined, asked)) continue;
      if (asked.status !== undefined && (asked.status !== status || fates.changes.has(id))) continue;
      // Where lists show more than there is room for within a limit, list-limit-fills judges it.
      if ((asked.limit !== undefined && most >= limitOf(asked)) || hidesMatching.has(asked.status)) continue;
      // What another key may see is open (section 5, scopes).
      const isVisible = before !== undefined || exchange.key === own.exchange.key;
      const isLast =
        last.some((list) => list.exchange.id === exchange.id) &&
        listable.some(({ pet: { id: one } }) => one === id) &&
        !taken.some((list) => shows(list, id));
      if (!isLast && !(isVisible && isLateEnough(exchange, own))) continue;
      const where = asked.status === undefined ? 'the list' : `the list with status=${asked.status}`;
      const violation = missingFrom(listed, `${id}`, before === undefined ? where : `${where}, as before`);
      judgeMissing(judge, fates, id, violation, exchange, before ?? own.exchange);
    }
  }
}

/** Whether a list with a status shows an own animal known to have another one, even if the list does not show it. */
function isOutOfPlace({ sent, pet }: OwnAnimal, status: string, list: TakenList): boolean {
  // An animal added without a status, and shown without one, may count as available, the most likely default.
  const [usual] = contract.statuses;
  const listed = shown(list, pet.id);
  // A status that the list shows is judged as shown: it may have changed since the addition.
  return (
    listed !== undefined && listed.status === undefined && (sent?.status ?? pet.status ?? usual) !== status
  );
}

export const listAnimalChecks: readonly Check[] = [
  // 4.1: success is 200, and the body is a JSON array.
  check('list-answers-200', {
    isBasis: true,
    scenes: everyKindOfList,
    observe: observes(
      (exchange) => {
        const asked = allowedQuery(exchange);
        if (asked === undefined || !isOwnAnswer(exchange)) return undefined;
        // A limit or status that is refused as invalid is for other rows to judge.
        if (isCalledInvalid(exchange) && (asked.limit !== undefined || asked.status !== undefined))
          return undefined;
        return exchange.outcome.status !== 200 || bodyOf(exchange).ok ? bodyOf(exchange) : undefined;
      },
      (body, exchange) => {
        if (exchange.outcome.status !== 200) return wrongStatus('200 with a JSON array', exchange);
        return body.ok && Array.isArray(body.value)
          ? undefined
          : { expected: 'a JSON array', actual: 'JSON, but not an array' };
      },
    ),
  }),
  ...listLimitChecks,
  // 4.1: when status is given, only animals with that status are expected.
  check(
    'list-status-filter',
    {
      scenes: everyKindOfList,
      observe: observes(
        (exchange) => {
          const { limit, status } = allowedQuery(exchange) ?? {};
          if (!isOwnAnswer(exchange)) return undefined;
          const isTold =
            listedPets(exchange) !== undefined || (isCalledInvalid(exchange) && limit !== maximum);
          return isTold ? status : undefined;
        },
        (status, exchange) =>
          isCalledInvalid(exchange)
            ? wrongStatus(`200 for status=${status}`, exchange)
            : listStatusViolation(status, listedPets(exchange) ?? []),
      ),
    },
    (judge, seen) => {
      const { own, byStatus } = seen.of(lists);
      for (const [status, list] of byStatus) {
        const wrong = own.find((animal) => isOutOfPlace(animal, status, list));
        if (wrong !== undefined)
          judge.breaks(
            {
              expected: `only animals with status ${status}`,
              actual: `animal ${wrong.pet.id}, added with status ${wrong.sent?.status ?? '(none)'}`,
              at: [placeOf(wrong.pet, list.exchange)],
            },
            list.exchange,
            wrong.exchange,
          );
      }
    },
  ),
  // 4.1: a filter omits the animals that do not match, and no others.
  check('list-status-complete', { scenes: [lists, shortPages, askedAgain] }, (judge, seen) => {
    const taken = seen.of(lists);
    const { changes, gone, shared } = fatesOf(seen);
    // An animal that changed or disappeared between two lists may be in neither.
    const own = taken.own.filter(
      ({ pet: { id } }) => ![changes, gone, shared].some((those) => those.has(id)),
    );
    for (const [status, list] of taken.byStatus) {
      const hidden = hiddenByFilter(list, own, taken.all);
      if (list.pets === undefined) judgeNoList(judge, list);
      else if (!isWhole(list)) judge.notApplicable(`more animals may be ${status} than a list shows`);
      else if (hidden !== undefined)
        judge.breaks(
          missingFrom(list.pets, `${hidden.pet.id}`, `the list with status=${status}`),
          list.exchange,
          hidden.exchange,
        );
      else judgeLengths(judge, [list], seen.of(shortPages));
    }
  }),
  // 4.1: limit is the number of animals returned, so the filter comes first.
  check('list-filter-before-limit', { scenes: [lists, filteredPages, shortPages] }, (judge, seen) => {
    const taken = seen.of(lists);
    if (taken.all.mayBeShort) throw new Inconclusive(notTold('any list may be short', 'list-limit-fills'));
    for (const [status, list] of taken.byStatus) {
      if (list.pets === undefined) judgeNoList(judge, list);
      else if (list.pets.length === 0) judge.notApplicable(`no animal is ${status}`);
    }
    judgeLengths(judge, doneOf(seen.of(filteredPages), judge), seen.of(shortPages));
  }),
  // 4.1: the status filter's default is none.
  check('list-unfiltered', { scenes: [lists] }, (judge, seen) => {
    const { all, byStatus, own } = seen.of(lists);
    if (all.pets === undefined)
      throw new Inconclusive(`the list was answered ${described(all.exchange)}`, [all.exchange]);
    if (!isWhole(all)) return judge.notApplicable('the store holds more animals than a list shows');
    judge.holds(all.exchange);
    // Own animals only: foreign ones may be added or changed between the two lists.
    const hidden = missing(all, own);
    const areStatusless = hidden.every(
      ({ sent, pet }) => sent.status === undefined && pet.status === undefined,
    );
    for (const { pet, exchange } of hidden) {
      const list = [...byStatus.values()].find((one) => shows(one, pet.id));
      const animal = `${pet.id}, which ${list === undefined ? 'has no status' : `is ${list.query.status}`},`;
      const violation = missingFrom(all.pets, animal, 'the list without status');
      if (list !== undefined || areStatusless)
        judge.breaks(violation, all.exchange, list?.exchange ?? exchange);
    }
  }),
  // 4.1: the result is a list of animals; one animal is listed once.
  check('list-each-once', {
    scenes: everyKindOfList,
    observe: observes(listedPets, listOnceViolation),
    conclude: judgeNames,
  }),
  // 1, 4.1: clients can list the animals that were added, as they were added.
  check('list-shows-added', { scenes: [...everyKindOfList, askedAgain] }, (judge, seen) => {
    const { own, all } = seen.of(lists);
    const { exchanges } = seen.trace;
    if (own.length === 0) {
      const additions = exchanges.filter(({ request }) => request.operation === 'createPet');
      const reason = notTold('no addition was answered with the id of an animal', 'add-answers-201');
      judge.inconclusive(reason, ...additions.slice(0, 1));
    }
    if (own.some(({ pet }) => fatesOf(seen).shared.has(pet.id))) judge.inconclusive(SHARED);
    if (all.pets === undefined)
      judge.inconclusive(`the list was answered ${described(all.exchange)}`, all.exchange);
    else if (!isWhole(all)) judge.notApplicable('the store holds more animals than a list shows');
    judgeEveryList(judge, seen);
  }),
  // 2: each listed animal has the fields of a Pet.
  check('list-pet-schema', {
    isBasis: true,
    scenes: everyKindOfList,
    observe: observes(
      (exchange) => {
        const listed = successBody('listPets', exchange);
        return Array.isArray(listed) && listed.length > 0 ? listed : undefined;
      },
      (listed) => schemaViolation('pets', schemaProblem.pets(listed)),
    ),
  }),
];
