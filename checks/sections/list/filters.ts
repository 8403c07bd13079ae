/** Section 4.1, status: which animals a list holds. */
import { contract } from '../../../spec/contract.ts';
import { type Check, type Judge, Unsettled } from '../../run/check.ts';
import { described, listedPets, type SeenPet } from '../../wire/pets.ts';
import { percentEncoded } from '../../wire/requests.ts';
import { judgeLength } from './limits.ts';
import { allowedQuery, isOwnAnswer, pets, REFUSED_AS_INVALID } from './queries.ts';
import { isWhole, type Lists, lists, missing, SETTLED, shown, shows, type TakenList } from './scenes.ts';

const { minimum, maximum } = contract.limit;

/** Own animals without a status that a whole list leaves out while it shows every one that has a status. */
export function statuslessHidden(all: Lists): Lists['own'] {
  const without = all.own.filter(({ sent, pet }) => sent.status === undefined && pet.status === undefined);
  const others = all.own.filter((addition) => !without.includes(addition));
  if (!isWhole(all.all) || !others.every(({ pet }) => shows(all.all, pet.id))) return [];
  return without.filter(({ pet }) => !shows(all.all, pet.id));
}

const describe = (pet: SeenPet) => `animal ${pet.id} with status ${pet.status}`;

const noList = (judge: Judge, status: string, { exchange }: TakenList) =>
  judge.unsettled(`the list with status=${status} was answered ${described(exchange)}`, exchange);

export const listFilterChecks: readonly Check[] = [
  {
    // 4.1: when status is given, only animals with that status are expected.
    id: 'list-status-filter',
    scenes: [lists],
    observe(exchange, judge) {
      const asked = allowedQuery(exchange);
      if (asked?.status === undefined || !isOwnAnswer(exchange)) return;
      if (REFUSED_AS_INVALID.includes(exchange.outcome.status) && asked.limit !== maximum) {
        return judge.breaks(
          { expected: `200 for status=${asked.status}`, actual: described(exchange) },
          exchange,
        );
      }
      // An animal that shows no status tells nothing: the document makes the field optional.
      const wrong = listedPets(exchange)?.find(
        (pet) => pet.status !== undefined && pet.status !== asked.status,
      );
      if (wrong !== undefined)
        judge.breaks(
          { expected: `only animals with status ${asked.status}`, actual: describe(wrong) },
          exchange,
        );
      else if (exchange.outcome.status === 200) judge.holds(exchange);
    },
    async run(probe, judge) {
      const all = await probe.play(lists);
      for (const [status, list] of all.byStatus) {
        // Of the run's own animals the status is known even where a list does not show it. One that was added without,
        // and shows none, may count as available, which is what a target would most likely take it for.
        const [usual] = contract.statuses;
        const wrong = all.own.find(
          ({ sent, pet }) =>
            (sent.status ?? pet.status ?? usual) !== status &&
            shows(list, pet.id) &&
            !(
              sent.status === undefined &&
              pet.status === undefined &&
              shown(list, pet.id)?.status === status
            ),
        );
        if (wrong !== undefined) {
          judge.breaks(
            {
              expected: `only animals with status ${status}`,
              actual: `animal ${wrong.pet.id}, added with status ${wrong.sent.status ?? '(none)'}`,
            },
            list.exchange,
            wrong.exchange,
          );
        }
      }
    },
  },
  {
    // 4.1: a filter leaves out what does not match, and nothing else.
    id: 'list-status-complete',
    permit: 'writes',
    scenes: [lists],
    async run(probe, judge) {
      const all = await probe.play(lists);
      for (const [status, list] of all.byStatus) {
        if (list.pets === undefined) noList(judge, status, list);
        else if (!isWhole(list))
          judge.notApplicable(`${maximum} or more animals are ${status}: not all fit a list`);
        else {
          // What no list shows at all is list-shows-added's subject.
          const hidden = missing(list, all).find(
            ({ pet }) => shows(all.all, pet.id) || list.pets?.length === 0,
          );
          const others = (all.all.pets ?? []).filter(
            (pet) => pet.status === status && pet.id !== undefined && !shows(list, pet.id),
          );
          if (hidden === undefined && others.length > 0) {
            // Somebody else may have added them a moment before.
            await probe.waitUntil(
              probe.now() + SETTLED,
              `animals of others to be listed with status=${status}`,
            );
            await judgeLength(probe, judge, all, { status, limit: maximum });
          } else if (hidden === undefined) judge.holds(list.exchange);
          else
            judge.breaks(
              {
                expected: `animal ${hidden.pet.id} in the list with status=${status}`,
                actual: `${pets(list.pets.length)} without it`,
              },
              list.exchange,
              hidden.exchange,
            );
        }
      }
    },
  },
  {
    // 4.1: limit is the number of animals returned, so the filter comes first.
    id: 'list-filter-before-limit',
    spends: { requests: contract.statuses.length },
    scenes: [lists],
    async run(probe, judge) {
      const all = await probe.play(lists);
      // Where the filter is ignored, a list of one shows the first animal of all, which is not to match.
      const first = all.all.pets?.[0]?.status;
      const byStatus = [...all.byStatus].sort(([a], [b]) => Number(a === first) - Number(b === first));
      for (const [index, [status, list]] of byStatus.entries()) {
        if (list.pets === undefined) noList(judge, status, list);
        else if (list.pets.length === 0) judge.notApplicable(`no animal is ${status}`);
        else {
          const limit = Math.min(list.pets.length, index + minimum);
          // The last one in other bytes, which ask for the same.
          const written = index === all.byStatus.size - 1 ? percentEncoded : undefined;
          await judgeLength(probe, judge, all, { status, limit }, { written });
        }
      }
    },
  },
  {
    // 4.1: the status filter's default is none.
    id: 'list-unfiltered',
    scenes: [lists],
    async run(probe, judge) {
      const all = await probe.play(lists);
      if (all.all.pets === undefined)
        throw new Unsettled(`the list was answered ${described(all.all.exchange)}`, [all.all.exchange]);
      if (!isWhole(all.all))
        return judge.notApplicable(`the store holds ${maximum} animals or more: not all fit a list`);
      const [statusless] = statuslessHidden(all);
      if (statusless !== undefined)
        judge.breaks(
          {
            expected: `animal ${statusless.pet.id}, which has no status, in the list without status`,
            actual: `${pets(all.all.pets.length)} without it`,
          },
          all.all.exchange,
          statusless.exchange,
        );
      for (const [status, list] of all.byStatus) {
        // Own animals only: others may be added or changed by others between the two lists.
        const hidden = all.own.find(({ pet }) => shows(list, pet.id) && !shows(all.all, pet.id));
        if (hidden === undefined) judge.holds(all.all.exchange, list.exchange);
        else
          judge.breaks(
            {
              expected: `animal ${hidden.pet.id}, which is ${status}, in the list without status`,
              actual: `${pets(all.all.pets.length)} without it`,
            },
            all.all.exchange,
            list.exchange,
          );
      }
    },
  },
];
