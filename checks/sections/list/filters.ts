/** Section 4.1, status: which animals a list holds. */
import { contract } from '../../../spec/contract.ts';
import { type Check, check, doneOf, type Judge, observes } from '../../run/check.ts';
import { optional } from '../../run/scene.ts';
import { Unsettled } from '../../run/unsettled.ts';
import { listStatusViolation } from '../../wire/answer.ts';
import type { Exchange } from '../../wire/exchange.ts';
import { described, listedPets } from '../../wire/pets.ts';
import { judgeLength } from './lengths.ts';
import { askedAgain, fatesOf } from './own-animals.ts';
import { completePages, filteredPages } from './pages.ts';
import { allowedQuery, isOwnAnswer, isRefused, missingFrom } from './queries.ts';
import {
  hiddenByFilter,
  isWhole,
  type Lists,
  lists,
  type OwnAnimal,
  shown,
  shows,
  type TakenList,
} from './scenes.ts';

const { maximum } = contract.limit;

/** Own animals without a status, if a complete list omits them and shows every other own animal. */
export function statuslessHidden({ all, own }: Lists): readonly OwnAnimal[] {
  const without = own.filter(({ sent, pet }) => sent?.status === undefined && pet.status === undefined);
  const others = own.filter((animal) => !without.includes(animal));
  if (!isWhole(all) || !others.every(({ pet }) => shows(all, pet.id))) return [];
  return without.filter(({ pet }) => !shows(all, pet.id));
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

const noList = (judge: Judge, status: string, { exchange }: TakenList) =>
  judge.unsettled(`the list with status=${status} was answered ${described(exchange)}`, exchange);

export const listFilterChecks: readonly Check[] = [
  // 4.1: when status is given, only animals with that status are expected.
  check(
    'list-status-filter',
    {
      needs: { lists },
      observe: observes(
        (exchange) => {
          const { limit, status } = allowedQuery(exchange) ?? {};
          if (!isOwnAnswer(exchange)) return undefined;
          return exchange.outcome.status === 200 || (isRefused(exchange) && limit !== maximum)
            ? status
            : undefined;
        },
        (status, exchange) =>
          isRefused(exchange)
            ? { expected: `200 for status=${status}`, actual: described(exchange) }
            : listStatusViolation(status, listedPets(exchange) ?? []),
      ),
    },
    ({ lists: { own, byStatus } }, judge) => {
      for (const [status, list] of byStatus) {
        const wrong = own.find((animal) => isOutOfPlace(animal, status, list));
        if (wrong !== undefined)
          judge.breaks(
            {
              expected: `only animals with status ${status}`,
              actual: `animal ${wrong.pet.id}, added with status ${wrong.sent?.status ?? '(none)'}`,
            },
            list.exchange,
            wrong.exchange,
          );
      }
    },
  ),
  // 4.1: a filter omits the animals that do not match, and no others.
  check(
    'list-status-complete',
    { permit: 'writes', needs: { lists, completePages, again: optional(askedAgain) } },
    ({ lists: taken, completePages }, judge, { exchanges }) => {
      const { changes, gone } = fatesOf(exchanges);
      // An animal that changed or disappeared between two lists may be in neither.
      const own = taken.own.filter(({ pet }) => !changes.has(pet.id) && !gone.has(pet.id));
      const lists = { ...taken, own };
      const again = new Map(doneOf(completePages, judge));
      for (const [status, list] of lists.byStatus) {
        const takenAgain = again.get(status);
        const hidden = hiddenByFilter(list, lists);
        if (list.pets === undefined) noList(judge, status, list);
        else if (!isWhole(list))
          judge.notApplicable(`${maximum} or more animals are ${status}: not all fit a list`);
        else if (takenAgain !== undefined) judgeLength(judge, lists, takenAgain);
        else if (hidden === undefined) judge.holds(list.exchange);
        else
          judge.breaks(
            missingFrom(list.pets, `${hidden.pet.id}`, `the list with status=${status}`),
            list.exchange,
            hidden.exchange,
          );
      }
    },
  ),
  // 4.1: limit is the number of animals returned, so the filter comes first.
  check(
    'list-filter-before-limit',
    { needs: { lists, filteredPages } },
    ({ lists, filteredPages }, judge) => {
      for (const [status, list] of lists.byStatus) {
        if (list.pets === undefined) noList(judge, status, list);
        else if (list.pets.length === 0) judge.notApplicable(`no animal is ${status}`);
      }
      for (const pages of doneOf(filteredPages, judge)) judgeLength(judge, lists, pages);
    },
  ),
  // 4.1: the status filter's default is none.
  check('list-unfiltered', { needs: { lists } }, ({ lists }, judge) => {
    const { all, byStatus, own } = lists;
    if (all.pets === undefined)
      throw new Unsettled(`the list was answered ${described(all.exchange)}`, [all.exchange]);
    if (!isWhole(all))
      return judge.notApplicable(`the store holds ${maximum} animals or more: not all fit a list`);
    const breaks = ({ pet }: OwnAnimal, is: string, shownBy: Exchange) =>
      judge.breaks(
        missingFrom(all.pets, `${pet.id}, which ${is},`, 'the list without status'),
        all.exchange,
        shownBy,
      );
    const [statusless] = statuslessHidden(lists);
    if (statusless !== undefined) breaks(statusless, 'has no status', statusless.exchange);
    for (const [status, list] of byStatus) {
      // Own animals only: foreign ones may be added or changed between the two lists.
      const hidden = own.find(({ pet }) => shows(list, pet.id) && !shows(all, pet.id));
      if (hidden === undefined) judge.holds(all.exchange, list.exchange);
      else breaks(hidden, `is ${status}`, list.exchange);
    }
  }),
];
