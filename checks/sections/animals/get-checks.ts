/** Section 4.3: GET /pets/{petId}, as long as it exists. */
import { type Check, check, doneOf, type Judge, observes, type Seen } from '../../run/check.ts';
import { notTold } from '../../run/reason.ts';
import { INTEGER, requestedIdViolation } from '../../wire/answer.ts';
import { type AnsweredExchange, isAnswered } from '../../wire/exchange.ts';
import { answeredPet, type SeenPet } from '../../wire/pets.ts';
import { isSuccess, judgeAnswer, observesPet, wrongStatus } from '../answers.ts';
import { askedAgain, differences, fatesOf, judgeMissing, judgeUnchanged, otherwise } from './life.ts';
import { shown, shows } from './lists.ts';
import { removal } from './removal.ts';
import {
  type Comparison,
  comparisons,
  during,
  idAsked,
  isGoneAltogether,
  malformedIds,
  retrievals,
  retrievedAgain,
  retrievedPet,
  unknownIdsRetrieved,
} from './retrievals.ts';

/** Judges GET /pets/{petId} only while the document says that the operation exists. */
const whileItExists = (decide: Check['decide'] = () => undefined): Check['decide'] =>
  during('before', 'the operation is past its removal date', (judge, seen) => {
    if (isGoneAltogether(doneOf(seen.of(retrievals))))
      judge.inconclusive(notTold('the operation is gone', 'get-until-removal'));
    else decide(judge, seen);
  });

/**
 * Judges every retrieval of the run: only this run knows its animals, so one that was served once must be served again.
 * This does not hold for other keys: what a key may see is open (section 5, scopes).
 */
function judgeServedAgain(judge: Judge, seen: Seen): void {
  const { exchanges, targetClock } = seen.trace;
  const fates = fatesOf(seen);
  const served = new Map<string, AnsweredExchange>();
  for (const exchange of exchanges.filter(isAnswered)) {
    if (exchange.request.operation !== 'getPet' || exchange.key === null) continue;
    if (removal(targetClock.at(exchange.receivedAt), exchange.receivedAt) !== 'before') continue;
    const asked = idAsked(exchange);
    if (!INTEGER.test(asked) || !fates.created.has(BigInt(asked))) continue;
    const idAndKey = `${asked} ${exchange.key}`;
    const before = served.get(idAndKey);
    if (exchange.outcome.status === 200) served.set(idAndKey, exchange);
    else if (exchange.outcome.status === 404 && before !== undefined) {
      const violation = wrongStatus(`200 for animal ${asked}, as before`, exchange);
      judgeMissing(judge, fates, BigInt(asked), violation, exchange, before);
    }
  }
}

/** Whether the key still lists an animal that it does not find. */
function staysMissing({ retrieval, before, exchange, after }: Comparison): boolean {
  const { known, shownBy } = retrieval;
  // What was shown to another key is served within a client's patience.
  const isFound = exchange.outcome.status === 200 && exchange.key !== shownBy.key;
  return !isFound && shows(before, known.id) && shows(after, known.id);
}

/**
 * Whether lists still show an animal as before, and retrievals still show it differently, also as before. If either
 * changed, somebody else is changing the animal.
 */
function staysDifferent(retrieved: SeenPet, { retrieval: { known }, ...comparison }: Comparison): boolean {
  const again = answeredPet(comparison.exchange);
  const [before, after] = [shown(comparison.before, known.id), shown(comparison.after, known.id)];
  if (before === undefined || again === undefined || after === undefined) return false;
  const isSame = (a: SeenPet, b: SeenPet) => differences(a, b).length === 0;
  return isSame(known, before) && isSame(before, after) && isSame(retrieved, again);
}

const idDecoded = (exchange: AnsweredExchange) => decodeURIComponent(idAsked(exchange));

export const getAnimalChecks: readonly Check[] = [
  // 4.3: success is 200.
  check(
    'get-answers-200',
    { isBasis: true, scenes: [retrievals, retrievedAgain, comparisons, askedAgain] },
    whileItExists((judge, seen) => {
      const fates = fatesOf(seen);
      const { again } = seen.of(retrievedAgain);
      for (const { exchange, known, own, shownBy } of doneOf([...seen.of(retrievals), ...again], judge)) {
        const violation = wrongStatus(`200 for animal ${known.id}`, exchange);
        if (exchange.outcome.status === 200) judge.holds(exchange);
        else if (own) judgeMissing(judge, fates, known.id, violation, exchange, shownBy);
      }
      judgeServedAgain(judge, seen);
      for (const comparison of doneOf(seen.of(comparisons), judge)) {
        const { retrieval, after } = comparison;
        const { exchange, known } = retrieval;
        const violation = wrongStatus(
          `200 for animal ${known.id}, which key ${exchange.key} lists`,
          exchange,
        );
        if (exchange.outcome.status !== 200 && staysMissing(comparison))
          judge.breaks(violation, exchange, after.exchange);
      }
    }),
  ),
  // 4.3: petId is the identifier of the animal.
  check(
    'get-returns-requested-id',
    {
      standsWhereCrossed: true,
      scenes: [retrievals, unknownIdsRetrieved, malformedIds],
      observe: observes(
        (exchange) => {
          const pet = isSuccess('getPet', exchange) ? answeredPet(exchange) : undefined;
          // Ids that are not integers are for get-malformed-id-refused to judge.
          return pet?.id !== undefined && INTEGER.test(idDecoded(exchange)) ? pet : undefined;
        },
        (pet, exchange) => requestedIdViolation(idDecoded(exchange), pet),
      ),
    },
    whileItExists(),
  ),
  // 2: the retrieved animal has the fields of a Pet.
  check(
    'get-pet-schema',
    {
      isBasis: true,
      scenes: [retrievals, unknownIdsRetrieved, malformedIds],
      observe: observesPet('getPet'),
    },
    whileItExists(),
  ),
  // 4.3: the body is the Pet that was created or listed.
  check(
    'get-same-animal',
    { scenes: [retrievals, comparisons, askedAgain] },
    whileItExists((judge, seen) => {
      const fates = fatesOf(seen);
      for (const exchange of seen.trace.exchanges.filter(isAnswered)) {
        const pet = exchange.request.operation === 'getPet' ? answeredPet(exchange) : undefined;
        if (pet?.id !== undefined) judgeUnchanged(judge, fates, pet.id, pet, exchange);
      }
      for (const retrieval of doneOf(seen.of(retrievals), judge)) {
        const { exchange, known, own, shownBy } = retrieval;
        const pet = retrievedPet(retrieval);
        if (!own && pet !== undefined && differences(known, pet).length === 0) judge.holds(exchange, shownBy);
      }
      for (const comparison of doneOf(seen.of(comparisons), judge)) {
        const { exchange, known, shownBy } = comparison.retrieval;
        const pet = retrievedPet(comparison.retrieval);
        if (pet !== undefined && staysDifferent(pet, comparison))
          judge.breaks(otherwise('listed', known, pet, exchange), exchange, shownBy);
      }
    }),
  ),
  // 4.3, 7: 404 when the requested animal cannot be found.
  check(
    'get-unknown-404',
    { scenes: [retrievals, retrievedAgain, unknownIdsRetrieved] },
    whileItExists((judge, seen) => {
      for (const exchange of doneOf(seen.of(retrievedAgain).unknown, judge))
        judgeAnswer(judge, exchange.outcome.status === 404, '404 for an id at random', exchange);
      for (const { exchange, mayBeMalformed } of doneOf(seen.of(unknownIdsRetrieved), judge)) {
        const { status } = exchange.outcome;
        const id = idAsked(exchange);
        const served = status === 200 ? answeredPet(exchange)?.id : null;
        // A foreign animal may have this very id. One that no id can be read from breaks another requirement.
        if (served === undefined) continue;
        const exists = served === BigInt(id);
        const isRight = status === 404 || (mayBeMalformed && status === 400) || exists;
        judgeAnswer(judge, isRight, `${mayBeMalformed ? '404 or 400' : '404'} for id ${id}`, exchange);
      }
    }),
  ),
  // 4.3: petId is an int64, so nothing else names an animal. Which client error answers it is open.
  check(
    'get-malformed-id-refused',
    { scenes: [retrievals, malformedIds] },
    whileItExists((judge, seen) => {
      for (const exchange of doneOf(seen.of(malformedIds), judge)) {
        const { status } = exchange.outcome;
        const expected = `a client error for petId ${idAsked(exchange)}`;
        judgeAnswer(judge, status >= 400 && status < 500, expected, exchange);
      }
    }),
  ),
];
