/** Section 4.1: GET /pets. */

import { groupBy } from '../../../spec/group-by.ts';
import { LIMIT, PET_STATUSES } from '../../../spec/operations.ts';
import { type Check, check, doneOf, type Judge, observes, type Seen } from '../../run/check.ts';
import { Inconclusive, notTold } from '../../run/reason.ts';
import type { Trace } from '../../run/trace.ts';
import {
  animals,
  listLimitViolation,
  listOnceViolation,
  listStatusViolation,
  quoted,
  schemaViolation,
  type Violation,
} from '../../wire/answer.ts';
import { type AnsweredExchange, isAnswered } from '../../wire/exchange.ts';
import { bodyOf, listedPets, sentPet } from '../../wire/pets.ts';
import { schemaProblem } from '../../wire/schema.ts';
import { isCalledInvalid, isOwnAnswer, successBody, wrongStatus } from '../answers.ts';
import { nameSent } from './add-checks.ts';
import { askedAgain, type Fate, fatesOf, judgeMisses, judgeUnchanged, placeOf, SHARED } from './life.ts';
import {
  allowedQuery,
  defaultPages,
  everyKindOfList,
  filteredPages,
  fullPages,
  judgeLengths,
  judgeNoList,
  judgeShort,
  known,
  lists,
  mayBeShort,
  missingFrom,
  shortAtLast,
  shortPages,
  showsAll,
} from './lists.ts';

const { maximum, default: defaultLimit } = LIMIT;

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
      const added = additions.get(name);
      if (added === undefined || ids.length <= added.length) continue;
      // What was lost on the way may have been sent again there.
      if (!added.every((one) => isAnswered(one) && one.outcome.status === 201)) continue;
      const expected = `no more animals named ${quoted(name ?? '')} than were added, ${added.length}`;
      const at = [`${placeOf(same.at(-1) ?? same[0], exchange)}/name`];
      judge.breaks({ expected, actual: `animals ${ids.join(', ')} in one list`, at }, exchange, added[0]);
    }
  }
}

/**
 * Judges the lists that do not show an animal of the run: those with a filter, or those without. One that is shorter than
 * others with its limit is for list-limit-fills to judge.
 */
function judgeListed(
  judge: Judge,
  seen: Seen,
  kind: 'list' | 'filter',
  isJudged: (fate: Fate) => boolean,
): void {
  const longest = seen.of(lists);
  judgeMisses(judge, seen, kind, (fate, exchange) => {
    const query = allowedQuery(exchange);
    if (query === undefined || !isJudged(fate) || mayBeShort(seen.trace.run, query)) return undefined;
    if (query.limit !== undefined && known(longest, query.status) >= query.limit) return undefined;
    return missingFrom(exchange, `${fate.pet.id}`);
  });
}

/** Whether a list without a filter showed the animal. */
const isListed = ({ told }: Fate): boolean => told.some(({ by, pet }) => by === 'list' && pet !== undefined);

/** Defines a check of every list by itself. */
const ofEachList = <T>(
  id: string,
  subject: (list: AnsweredExchange) => T | undefined,
  violation: (subject: T, list: AnsweredExchange) => Violation | undefined,
  options: Pick<Check, 'isBasis' | 'conclude'> = {},
  decide?: Check['decide'],
): Check => check(id, { ...options, scenes: everyKindOfList, observe: observes(subject, violation) }, decide);

export const listAnimalChecks: readonly Check[] = [
  // 4.1: success is 200, and the body is a JSON array.
  ofEachList(
    'list-answers-200',
    (list) => {
      const asked = allowedQuery(list);
      if (asked === undefined || !isOwnAnswer(list)) return undefined;
      // A limit or status that is refused as invalid is for other rows to judge.
      if (isCalledInvalid(list) && (asked.limit !== undefined || asked.status !== undefined))
        return undefined;
      return list.outcome.status !== 200 || bodyOf(list).ok ? bodyOf(list) : undefined;
    },
    (body, list) => {
      if (list.outcome.status !== 200) return wrongStatus('200 with a JSON array', list);
      const isArray = body.ok && Array.isArray(body.value);
      return isArray ? undefined : { expected: 'a JSON array', actual: 'JSON, but not an array' };
    },
    { isBasis: true },
  ),
  // 8, page size: limit may be any integer from 1 to 100.
  ofEachList(
    'list-limit-range',
    (list) => {
      const isTold = isOwnAnswer(list) && (list.outcome.status === 200 || isCalledInvalid(list));
      return isTold ? allowedQuery(list)?.limit : undefined;
    },
    (limit, list) => (list.outcome.status === 200 ? undefined : wrongStatus(`200 for limit=${limit}`, list)),
    { isBasis: true },
  ),
  // 4.1: limit sets the maximum number of animals returned.
  ofEachList(
    'list-limit-maximum',
    (list) => (allowedQuery(list)?.limit === undefined ? undefined : listedPets(list)),
    ({ length }, list) => listLimitViolation(allowedQuery(list)?.limit, length, defaultLimit),
  ),
  // 4.1: as many as exist, up to limit.
  check('list-limit-fills', { scenes: [lists, fullPages, shortPages, shortAtLast] }, (judge, seen) => {
    const taken = seen.of(lists);
    const [all] = taken;
    if (known(taken) === 0) judge.inconclusive('no list shows an animal with an id', all);
    judgeLengths(judge, [all, ...doneOf(seen.of(fullPages), judge)], seen.of(shortPages));
    const atLast = seen.maybe(shortAtLast);
    if (atLast === undefined) return judge.inconclusive('short lists could not be requested again');
    // One that a status makes short is for list-filter-before-limit, where the profile declines that.
    const isBound = (list: AnsweredExchange) =>
      mayBeShort(seen.trace.run, allowedQuery(list)) === mayBeShort(seen.trace.run);
    for (const short of doneOf(atLast, judge)) if (isBound(short.list)) judgeShort(judge, short);
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
        const what = `lists show ${animals(known(taken))} with ids that differ, and ${defaultLimit + 1} are needed to see the default`;
        if (mayBeShort(seen.trace.run)) judge.notApplicable(what);
        else if (seen.trace.run.permissions.has('writes')) judge.inconclusive(what, taken[0]);
        else judge.inconclusive({ kind: 'not-permitted', permission: 'writes' });
      }
      judgeLengths(judge, doneOf(seen.of(defaultPages), judge), seen.of(shortPages));
    },
  ),
  // 4.1: when status is given, only animals with that status are expected.
  ofEachList(
    'list-status-filter',
    (list) => {
      const { limit, status } = allowedQuery(list) ?? {};
      const isTold = listedPets(list) !== undefined || (isCalledInvalid(list) && limit !== maximum);
      return isOwnAnswer(list) && isTold ? status : undefined;
    },
    (status, list) =>
      isCalledInvalid(list)
        ? wrongStatus(`200 for status=${status}`, list)
        : listStatusViolation(status, listedPets(list) ?? []),
    {},
    (judge, seen) => {
      // An animal added without a status, and shown without one, may count as available, the most likely default. Of a
      // target that need not show a status nobody knows the default.
      const [usual] = seen.trace.run.declined.has('add-echoes-status') ? [] : PET_STATUSES;
      for (const { own, told, exchange: addition } of fatesOf(seen).fates.values()) {
        const sent = sentPet(addition)?.status;
        for (const { by, exchange, pet } of told) {
          // A status that the list shows is judged as shown: it may have changed since the addition.
          if (!own || by !== 'filter' || pet === undefined || pet.status !== undefined) continue;
          const status = allowedQuery(exchange)?.status;
          if ((sent ?? usual ?? status) === status) continue;
          const actual = `animal ${pet.id}, added with status ${sent ?? '(none)'}`;
          const at = [placeOf(pet, exchange)];
          judge.breaks({ expected: `only animals with status ${status}`, actual, at }, exchange, addition);
        }
      }
    },
  ),
  // 4.1: a filter omits the animals that do not match, and no others.
  check('list-status-complete', { scenes: [lists, shortPages, askedAgain] }, (judge, seen) => {
    const [, ...byStatus] = seen.of(lists);
    // An animal that changed between two lists may be in neither; one that no list shows is for list-shows-added to judge.
    judgeListed(judge, seen, 'filter', (fate) => isListed(fate) && fate.change === undefined);
    for (const list of byStatus)
      if (showsAll(judge, list, seen.trace.run)) judgeLengths(judge, [list], seen.of(shortPages));
  }),
  // 4.1: limit is the number of animals returned, so the filter comes first.
  check('list-filter-before-limit', { scenes: [lists, filteredPages, shortPages] }, (judge, seen) => {
    const [, ...byStatus] = seen.of(lists);
    if (mayBeShort(seen.trace.run))
      throw new Inconclusive(notTold('any list may be short', 'list-limit-fills'));
    for (const list of byStatus) {
      const listed = listedPets(list);
      if (listed === undefined) judgeNoList(judge, list);
      else if (listed.length === 0) judge.notApplicable(`no animal is ${allowedQuery(list)?.status}`);
    }
    judgeLengths(judge, doneOf(seen.of(filteredPages), judge), seen.of(shortPages));
  }),
  // 4.1: the status filter's default is none.
  check('list-unfiltered', { scenes: [lists, askedAgain] }, (judge, seen) => {
    const [all] = seen.of(lists);
    if (!showsAll(judge, all, seen.trace.run)) return;
    judge.holds(all);
    const own = [...fatesOf(seen).fates.values()].filter((fate) => fate.own);
    const areOthersListed = own.every((fate) => fate.pet.status === undefined || isListed(fate));
    judgeMisses(judge, seen, 'list', ({ pet: { id, status }, told }, exchange) => {
      const isFiltered = told.some(({ by, pet }) => by === 'filter' && pet !== undefined);
      const isHidden = isFiltered || (status === undefined && areOthersListed);
      if (!isHidden || exchange.id !== all.id) return undefined;
      const animal = `${id}, which ${status === undefined ? 'has no status' : `is ${status}`},`;
      return missingFrom(all, animal);
    });
  }),
  // 4.1: the result is a list of animals; one animal is listed once.
  ofEachList('list-each-once', listedPets, listOnceViolation, { conclude: judgeNames }),
  // 1, 4.1: clients can list the animals that were added, as they were added.
  check('list-shows-added', { scenes: [...everyKindOfList, askedAgain] }, (judge, seen) => {
    const [all] = seen.of(lists);
    const { fates, shared } = fatesOf(seen);
    if (shared.size > 0) judge.inconclusive(SHARED);
    else if (![...fates.values()].some(({ own }) => own)) {
      const addition = seen.trace.exchanges.find(({ request }) => request.operation === 'createPet');
      const reason = notTold('no addition was answered with the id of an animal', 'add-answers-201');
      judge.inconclusive(reason, ...(addition === undefined ? [] : [addition]));
    }
    showsAll(judge, all, seen.trace.run);
    judgeUnchanged(judge, seen, 'list', 'filter');
    // One without a status is for list-unfiltered to judge.
    judgeListed(judge, seen, 'list', ({ pet }) => pet.status !== undefined);
  }),
  // 2: each listed animal has the fields of a Pet.
  ofEachList(
    'list-pet-schema',
    (list) => {
      const listed = successBody('listPets', list);
      return Array.isArray(listed) && listed.length > 0 ? listed : undefined;
    },
    (listed) => schemaViolation('pets', schemaProblem.pets(listed)),
    { isBasis: true },
  ),
];
