/** Section 4.1, limit: how many animals a list holds. */
import { contract } from '../../../spec/contract.ts';
import { type Check, check, doneOf, observes } from '../../run/check.ts';
import { listLimitViolation } from '../../wire/answer.ts';
import { listedPets } from '../../wire/pets.ts';
import { isCalledInvalid, isOwnAnswer, wrongStatus } from '../answers.ts';
import { allowedQuery, lists, pets } from './lists.ts';
import {
  defaultPages,
  everyKindOfList,
  fullPages,
  judgeLengths,
  judgeShort,
  known,
  shortAtLast,
  shortPages,
} from './pages.ts';

const defaultLimit = contract.limit.default;

export const listLimitChecks: readonly Check[] = [
  // 8, page size: limit may be any integer from 1 to 100.
  check('list-limit-range', {
    isBasis: true,
    scenes: everyKindOfList,
    observe: observes(
      (exchange) => {
        const { limit } = allowedQuery(exchange) ?? {};
        return isOwnAnswer(exchange) && (exchange.outcome.status === 200 || isCalledInvalid(exchange))
          ? limit
          : undefined;
      },
      (limit, exchange) =>
        exchange.outcome.status === 200 ? undefined : wrongStatus(`200 for limit=${limit}`, exchange),
    ),
  }),
  // 4.1: limit sets the maximum number of animals returned.
  check('list-limit-maximum', {
    scenes: everyKindOfList,
    observe: observes(
      (exchange) => (allowedQuery(exchange)?.limit === undefined ? undefined : listedPets(exchange)),
      ({ length }, exchange) => listLimitViolation(allowedQuery(exchange)?.limit, length, defaultLimit),
    ),
  }),
  // 4.1: as many as exist, up to limit.
  check('list-limit-fills', { scenes: [lists, fullPages, shortPages, shortAtLast] }, (judge, seen) => {
    const taken = seen.of(lists);
    const { all } = taken;
    if (known(taken) === 0) judge.inconclusive('no list shows an animal with an id', all.exchange);
    judgeLengths(judge, [all, ...doneOf(seen.of(fullPages), judge)], seen.of(shortPages));
    const atLast = seen.maybe(shortAtLast);
    if (atLast === undefined) return judge.inconclusive('short lists could not be requested again');
    // One that a status makes short is for list-filter-before-limit, where the profile declines that.
    for (const short of doneOf(atLast, judge))
      if (short.list.mayBeShort === all.mayBeShort) judgeShort(judge, short);
  }),
  // 8, page size: default 20.
  check(
    'list-limit-default',
    {
      scenes: [lists, defaultPages, shortPages],
      observe(exchange, judge) {
        const asked = allowedQuery(exchange);
        const listed = listedPets(exchange);
        if (asked === undefined || asked.limit !== undefined || listed === undefined) return;
        const violation = listLimitViolation(undefined, listed.length, defaultLimit);
        if (violation !== undefined) judge.breaks(violation, exchange);
      },
    },
    (judge, seen) => {
      const taken = seen.of(lists);
      if (known(taken) <= defaultLimit) {
        const what = `lists show ${pets(known(taken))} with ids that differ, and ${defaultLimit + 1} are needed to see the default`;
        if (taken.all.mayBeShort) judge.notApplicable(what);
        else if (seen.trace.run.permissions.has('writes')) judge.inconclusive(what, taken.all.exchange);
        else judge.skips({ kind: 'not-permitted', permission: 'writes' });
      }
      judgeLengths(judge, doneOf(seen.of(defaultPages), judge), seen.of(shortPages));
    },
  ),
];
