/** Section 4.1, limit: how many animals a list holds. */
import { contract } from '../../../spec/contract.ts';
import { type Check, check, doneOf, observes } from '../../run/check.ts';
import { optional } from '../../run/scene.ts';
import { listLimitViolation } from '../../wire/answer.ts';
import { described, listedPets } from '../../wire/pets.ts';
import { isShort, judgeLength, known } from './lengths.ts';
import { defaultPages, fullPages, shortPages } from './pages.ts';
import { allowedQuery, isOwnAnswer, isRefused, pets } from './queries.ts';
import { lists } from './scenes.ts';

const defaultLimit = contract.limit.default;

export const listLimitChecks: readonly Check[] = [
  // 8, page size: limit may be any integer from 1 to 100.
  check('list-limit-range', {
    isBasis: true,
    needs: { lists },
    observe: observes(
      (exchange) => {
        const { limit } = allowedQuery(exchange) ?? {};
        return isOwnAnswer(exchange) && (exchange.outcome.status === 200 || isRefused(exchange))
          ? limit
          : undefined;
      },
      (limit, exchange) =>
        exchange.outcome.status === 200
          ? undefined
          : { expected: `200 for limit=${limit}`, actual: described(exchange) },
    ),
  }),
  // 4.1: limit sets the maximum number of animals returned.
  check('list-limit-maximum', {
    needs: { lists },
    observe: observes(
      (exchange) => (allowedQuery(exchange)?.limit === undefined ? undefined : listedPets(exchange)),
      ({ length }, exchange) => listLimitViolation(allowedQuery(exchange)?.limit, length, defaultLimit),
    ),
  }),
  // 4.1: as many as exist, up to limit.
  check(
    'list-limit-fills',
    { needs: { lists, fullPages, shortPages: optional(shortPages) } },
    ({ lists, fullPages, shortPages }, judge) => {
      for (const pages of doneOf(fullPages, judge)) judgeLength(judge, lists, pages);
      if (known(lists) === 0) judge.unsettled('no list shows an animal with an id', lists.all.exchange);
      else if (lists.all.pets !== undefined && !isShort(lists.all, lists)) judge.holds(lists.all.exchange);
      if (shortPages === undefined) judge.unsettled('short lists could not be requested again');
      else for (const { before, pages } of doneOf(shortPages, judge)) judgeLength(judge, before, pages);
    },
  ),
  // 8, page size: default 20.
  check(
    'list-limit-default',
    {
      needs: { lists, defaultPages },
      observe(exchange, judge) {
        const asked = allowedQuery(exchange);
        const listed = listedPets(exchange);
        if (asked === undefined || asked.limit !== undefined || listed === undefined) return;
        const violation = listLimitViolation(undefined, listed.length, defaultLimit);
        if (violation !== undefined) judge.breaks(violation, exchange);
      },
    },
    ({ lists, defaultPages }, judge, { run }) => {
      if (known(lists) <= defaultLimit) {
        const reason = `lists show ${pets(known(lists))} with ids that differ, and ${defaultLimit + 1} are needed to see the default`;
        if (run.permissions.has('writes')) judge.unsettled(reason, lists.all.exchange);
        else judge.skips(`${reason}; adding them needs the permission writes`);
      }
      for (const pages of doneOf(defaultPages, judge)) judgeLength(judge, lists, pages);
    },
  ),
];
