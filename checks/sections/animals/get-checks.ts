/** Section 4.3: GET /pets/{petId}, as long as it exists. */

import { OPERATIONS, PET_STATUSES } from '../../../spec/operations.ts';
import { DAY } from '../../limits/time.ts';
import { type Check, check, doneOf, observes } from '../../run/check.ts';
import { notShown } from '../../run/reason.ts';
import { allOf, scene } from '../../run/scene.ts';
import type { TraceSoFar } from '../../run/trace.ts';
import { isInt64, requestedIdViolation, type Violation } from '../../wire/answer.ts';
import { type AnsweredExchange, header } from '../../wire/exchange.ts';
import { answeredPet, listedPets } from '../../wire/pets.ts';
import { listPets } from '../../wire/requests.ts';
import { isSuccess, judgeAnswer, observesPet, wrongStatus } from '../answers.ts';
import {
  askedAgain,
  fatesOf,
  idAsked,
  idRetrieved,
  judgeMisses,
  judgeMissing,
  judgeUnchanged,
  SHARED,
} from './life.ts';
import { isWhole, LONGEST, missingFrom } from './lists.ts';
import {
  during,
  existing,
  isGone,
  malformedIds,
  removalAt,
  removalDay,
  retrievals,
  retrievedAgain,
  unknownIdsRetrieved,
} from './retrievals.ts';

const idDecoded = (exchange: AnsweredExchange) => decodeURIComponent(idAsked(exchange));

export const getAnimalChecks: readonly Check[] = [
  // 4.3: success is 200.
  check(
    'get-answers-200',
    { isBasis: true, scenes: [retrievals, retrievedAgain, askedAgain] },
    (judge, seen) => {
      const { fates, shared } = fatesOf(seen);
      for (const exchange of doneOf([...seen.of(retrievals), ...seen.of(retrievedAgain)], judge)) {
        const { status } = exchange.outcome;
        const id = idRetrieved(exchange) ?? 0n;
        const fate = fates.get(id);
        if (status === 200) judge.holds(exchange);
        else if (shared.has(id)) judge.inconclusive(SHARED, exchange);
        // What is not found may be gone, and what another key may see is open (5, scopes).
        else if (fate !== undefined && ![403, 404, 410].includes(status))
          judge.breaks(wrongStatus(`200 for animal ${id}`, exchange), exchange, fate.exchange);
      }
      judgeMisses(judge, seen, 'get', ({ own, pet }, exchange) => {
        const isThere = removalAt(exchange.receivedAt, seen.trace) === 'before';
        const listed = own ? '' : `, which key ${exchange.key} lists`;
        return isThere ? wrongStatus(`200 for animal ${pet.id}${listed}`, exchange) : undefined;
      });
    },
  ),
  // 4.3: petId is the identifier of the animal.
  check('get-returns-requested-id', {
    standsWhereCrossed: true,
    scenes: [retrievals, unknownIdsRetrieved, malformedIds],
    observe: observes(
      (exchange) => {
        const pet = isSuccess('getPet', exchange) ? answeredPet(exchange) : undefined;
        // Ids that are no int64 are for get-malformed-id-refused to judge.
        return pet?.id !== undefined && isInt64(idDecoded(exchange)) ? pet : undefined;
      },
      (pet, exchange) => requestedIdViolation(idDecoded(exchange), pet),
    ),
  }),
  // 2: the retrieved animal has the fields of a Pet.
  check('get-pet-schema', {
    isBasis: true,
    scenes: [retrievals, unknownIdsRetrieved, malformedIds],
    observe: observesPet('getPet'),
  }),
  // 4.3: the body is the Pet that was created or listed.
  check('get-same-animal', { scenes: [retrievals, existing, askedAgain] }, (judge, seen) => {
    seen.of(existing);
    doneOf(seen.of(retrievals), judge);
    judgeUnchanged(judge, seen, 'get');
  }),
  // 4.3, 7: 404 when the requested animal cannot be found.
  check('get-unknown-404', { scenes: [unknownIdsRetrieved] }, (judge, seen) => {
    const [random, ...others] = doneOf(seen.of(unknownIdsRetrieved), judge);
    if (random !== undefined)
      judgeAnswer(judge, random.outcome.status === 404, '404 for an id at random', random);
    for (const exchange of others) {
      const { status } = exchange.outcome;
      const id = BigInt(idAsked(exchange));
      const served = status === 200 ? answeredPet(exchange)?.id : null;
      // A foreign animal may have this very id. One that no id can be read from breaks another requirement.
      if (served === undefined) continue;
      // The document sets no minimum: a target may call these malformed rather than unknown.
      const mayBeMalformed = id <= 0n;
      const isRight = status === 404 || (mayBeMalformed && status === 400) || served === id;
      judgeAnswer(judge, isRight, `${mayBeMalformed ? '404 or 400' : '404'} for id ${id}`, exchange);
    }
  }),
  // 4.3: petId is an int64, so nothing else names an animal. Which client error answers it is open.
  check('get-malformed-id-refused', { scenes: [malformedIds] }, (judge, seen) => {
    for (const exchange of doneOf(seen.of(malformedIds), judge)) {
      const { status } = exchange.outcome;
      const expected = `a client error for petId ${idAsked(exchange)}`;
      judgeAnswer(judge, status >= 400 && status < 500, expected, exchange);
    }
  }),
];

const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;
/** RFC 9745: a structured date. Its drafts used `true` or an HTTP date, which are accepted too. */
const STRUCTURED_DATE = /^@(-?\d{1,15})$/;

/**
 * Defines a check of a header that announces the end of this operation: to send it is optional, what it means is fixed,
 * and no other operation ends.
 */
const announces = (
  id: string,
  name: string,
  what: string,
  violation: (text: string, exchange: AnsweredExchange, soFar: TraceSoFar) => Violation | undefined,
): Check =>
  check(id, {
    scenes: [retrievals],
    observe: observes(
      ({ outcome }) => header(outcome.headers, name),
      (text, exchange, soFar) => {
        const { operation, method } = exchange.request;
        if (operation === 'getPet') return violation(text, exchange, soFar);
        const expected = `a ${what} of GET /pets/{petId} only`;
        return { expected, actual: `${name}: ${text} on ${method} /pets` };
      },
    ),
    conclude: (judge) => judge.notApplicable(`no ${name} header was sent`),
  });

/** What is wrong with a Deprecation header of the operation. */
function deprecationViolation(header: string, now: number): Violation | undefined {
  const text = header.trim();
  const actual = `Deprecation: ${header}`;
  if (text === 'true' || text === '?1') return undefined;
  if (text === 'false' || text === '?0') return { expected: 'a deprecated operation', actual };
  const seconds = STRUCTURED_DATE.exec(text)?.[1];
  const since = seconds === undefined ? Date.parse(HTTP_DATE.test(text) ? text : '') : Number(seconds) * 1000;
  if (Number.isNaN(since)) return { expected: 'a date, as in Deprecation: @1688169599', actual };
  return since <= now
    ? undefined
    : { expected: 'an operation that is already deprecated', actual: `${actual}, which lies ahead` };
}

/** Lists with the statuses of animals that were retrieved, taken afterwards: they must show the run's own. */
const successorLists = scene('successor-lists', { permit: 'writes' }, async (run) => {
  const statuses = new Set(
    doneOf(await run.play(retrievals)).map((exchange) => answeredPet(exchange)?.status),
  );
  return allOf(
    PET_STATUSES.filter((status) => statuses.has(status)),
    (status) => run.send(listPets({ ...LONGEST, status })),
  );
});

/** An animal of the run that was not retrieved, or that has no status to list it by, shows nothing. */
const NO_SUCCESSOR = notShown('get-until-removal', 'get-same-animal', 'add-echoes-status');

export const deprecationChecks: readonly Check[] = [
  // 4.3, 9: deprecated, and not removed before 5 December 2030.
  during('get-until-removal', 'before', 'the removal date has come', (exchange, judge) => {
    const isServed = exchange.outcome.status === 200;
    const expected = `an operation that works until ${OPERATIONS.getPet.removal}`;
    if (isServed || isGone(exchange)) judgeAnswer(judge, isServed, expected, exchange);
  }),
  // 4.3, 9: removed on 5 December 2030.
  during('get-removed', 'after', `it is not past ${OPERATIONS.getPet.removal}`, (exchange, judge) => {
    const { status } = exchange.outcome;
    const expected = `no such operation from ${OPERATIONS.getPet.removal} on`;
    judgeAnswer(judge, isGone(exchange) || (status >= 400 && status < 500), expected, exchange);
  }),
  // 4.3: marked deprecated, today; no other operation is.
  announces('deprecation-header-agrees', 'Deprecation', 'deprecation', (text, { receivedAt }, soFar) =>
    deprecationViolation(
      text,
      Math.max(receivedAt, soFar.targetClock.at(receivedAt)?.latest ?? receivedAt + DAY),
    ),
  ),
  // 4.3: removed on 5 December 2030; RFC 8594 gives the moment as an HTTP date. Any moment of that day agrees.
  announces('sunset-header-agrees', 'Sunset', 'removal date', (text) => {
    const time = Date.parse(text);
    if (time >= removalDay.begins && time <= removalDay.ends) return undefined;
    return { expected: `Sunset on ${OPERATIONS.getPet.removal}`, actual: `Sunset: ${text}` };
  }),
  // 4.3: clients should use GET /pets with the status filter instead, so both must serve the same animals.
  check(
    'deprecation-successor',
    { scenes: [retrievals, existing, successorLists, askedAgain] },
    (judge, seen) => {
      seen.of(existing);
      const taken = seen.of(successorLists);
      const isPartOnly = (list: AnsweredExchange) =>
        listedPets(list) !== undefined && !isWhole(list, seen.trace.run);
      let isCompared = taken.some(isPartOnly);
      if (isCompared) judge.notApplicable('the store holds more animals of that status than a list shows');
      for (const fate of fatesOf(seen).fates.values()) {
        // Animals that changed since they were added may be in no list.
        if (!fate.own || fate.change !== undefined) continue;
        let retrieval: AnsweredExchange | undefined;
        for (const { by, exchange, pet } of fate.told) {
          if (by === 'get') retrieval = pet === undefined ? retrieval : exchange;
          const isToShow = taken.includes(exchange) && (pet !== undefined || !isPartOnly(exchange));
          if (retrieval === undefined || !isToShow) continue;
          isCompared = true;
          if (pet !== undefined) judge.holds(retrieval, exchange);
          else judgeMissing(judge, fate, missingFrom(exchange, `${fate.pet.id}`), exchange, retrieval);
        }
      }
      if (!isCompared) judge.inconclusive(NO_SUCCESSOR);
    },
  ),
];
