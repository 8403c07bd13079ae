/** Section 4.3: GET /pets/{petId}, as long as it exists. */
import { type Check, check, doneOf, type GapObserver, gap, type Judge, observes } from '../../run/check.ts';
import { type InTurn, optional } from '../../run/scene.ts';
import type { Trace } from '../../run/trace.ts';
import { INTEGER, requestedIdViolation } from '../../wire/answer.ts';
import { type AnsweredExchange, isAnswered } from '../../wire/exchange.ts';
import { answeredPet, described, type SeenPet } from '../../wire/pets.ts';
import { createdAnimals, sharedIds } from '../add/scenes.ts';
import { isSuccess, judgeAnswer, observesPet } from '../answers.ts';
import { askedAgain, fatesOf, goneInWords } from '../list/own-animals.ts';
import { shown, shows } from '../list/scenes.ts';
import { differences, judgeUnchanged } from '../list/unchanged.ts';
import { malformedIds, NO_NUMBER, unknownIdsRetrieved } from './ids.ts';
import { CLOCKS_DISPUTE, removal } from './removal.ts';
import {
  type Comparison,
  comparisons,
  idAsked,
  isGoneAltogether,
  listedAgain,
  type Retrieval,
  removalPhase,
  retrievals,
  retrievedAgain,
  retrievedPet,
  retrievedWithOthers,
} from './scenes.ts';

/** Judges GET /pets/{petId} only while the document says that the operation exists. */
const whileItExists =
  <Outcomes extends { readonly retrievals: InTurn<Retrieval> }>(
    decide: (outcomes: Outcomes, judge: Judge, trace: Trace) => void = () => undefined,
  ) =>
  (outcomes: Outcomes, judge: Judge, trace: Trace): void => {
    const phase = removalPhase(outcomes.retrievals.done, trace.targetClock);
    if (phase === 'disputed') judge.unsettled(CLOCKS_DISPUTE);
    else if (phase !== 'before') judge.notApplicable('the operation is past its removal date');
    else if (isGoneAltogether(outcomes.retrievals.done))
      judge.unsettled('the operation is gone (see get-until-removal)');
    else decide(outcomes, judge, trace);
  };

/**
 * Judges every retrieval of the run. Only this run knows its animals, so an animal that was served once must be served
 * again. This does not hold for other keys: what a key may see is open (section 5, scopes).
 */
function judgeServedAgain({ exchanges, targetClock }: Trace, judge: Judge): void {
  const { gone } = fatesOf(exchanges);
  const own = new Set<bigint>();
  const served = new Map<string, AnsweredExchange>();
  for (const exchange of exchanges.filter(isAnswered)) {
    const pet = answeredPet(exchange);
    if (exchange.request.operation === 'createPet' && pet?.id !== undefined) own.add(pet.id);
    if (exchange.request.operation !== 'getPet' || exchange.key === null) continue;
    if (exchange.sentBy === retrievedAgain.id) continue;
    if (removal(targetClock.at(exchange.receivedAt), exchange.receivedAt) !== 'before') continue;
    const asked = /^\/pets\/(-?\d{1,19})$/.exec(exchange.request.path)?.[1];
    if (asked === undefined || !own.has(BigInt(asked))) continue;
    const idAndKey = `${asked} ${exchange.key}`;
    const before = served.get(idAndKey);
    if (exchange.outcome.status === 200) served.set(idAndKey, exchange);
    else if (exchange.outcome.status !== 404 || before === undefined || before.receivedAt > exchange.sentAt)
      continue;
    else if (gone.has(BigInt(asked))) judge.unsettled(goneInWords(BigInt(asked)), exchange, before);
    else
      judge.breaks(
        { expected: `200 for animal ${asked}, as before`, actual: described(exchange) },
        exchange,
        before,
      );
  }
}

/**
 * Whether lists still show a foreign animal as before, and retrievals still show it differently, also as before. If
 * either changed, somebody else is changing the animal.
 */
function staysDifferent(known: Retrieval['known'], retrieved: SeenPet, comparison: Comparison): boolean {
  const before = shown(comparison.before, known.id);
  const again = answeredPet(comparison.exchange);
  const after = shown(comparison.after, known.id);
  if (before === undefined || again === undefined || after === undefined) return false;
  const isSame = (a: SeenPet, b: SeenPet) => differences(a, b).length === 0;
  return isSame(known, before) && isSame(before, after) && isSame(retrieved, again);
}

/** Judges every retrieval of the run: only this run knows its animals, and no operation changes them. */
function judgeUnchangedEverywhere({ exchanges }: Trace, judge: Judge): void {
  const created = createdAnimals(exchanges);
  const { changes } = fatesOf(exchanges);
  for (const exchange of exchanges.filter(isAnswered)) {
    const pet = exchange.request.operation === 'getPet' ? answeredPet(exchange) : undefined;
    if (pet?.id === undefined) continue;
    const own = created.get(pet.id);
    if (own !== undefined) judgeUnchanged(judge, own, pet, exchange, changes.get(pet.id));
  }
}

const idDecoded = (exchange: AnsweredExchange) => decodeURIComponent(idAsked(exchange));

export const getAnimalChecks: readonly Check[] = [
  // 4.3: success is 200.
  check(
    'get-answers-200',
    {
      isBasis: true,
      needs: {
        retrievals,
        retrievedAgain,
        listedAgain,
        retrievedWithOthers,
        askedAgain: optional(askedAgain),
      },
      conclude: judgeServedAgain,
    },
    whileItExists(
      ({ retrievals, retrievedAgain: { again }, listedAgain, retrievedWithOthers }, judge, { exchanges }) => {
        const { gone } = fatesOf(exchanges);
        for (const { exchange, known, own, shownBy } of [retrievals, again].flatMap((tried) =>
          doneOf(tried, judge),
        )) {
          if (exchange.outcome.status === 200) judge.holds(exchange);
          else if (own && gone.has(known.id)) judge.unsettled(goneInWords(known.id), exchange, shownBy);
          else if (own || (listedAgain !== undefined && shows(listedAgain, known.id)))
            judge.breaks(
              { expected: `200 for animal ${known.id}`, actual: described(exchange) },
              exchange,
              shownBy,
            );
        }
        // What a key may see is open (section 5, scopes). An animal that a key does not find breaks this only if the
        // same key still lists it.
        for (const { exchange, listed } of doneOf(retrievedWithOthers, judge)) {
          const id = idAsked(exchange);
          if (exchange.outcome.status === 200) judge.holds(exchange);
          else if (listed !== undefined && shows(listed, BigInt(id)))
            judge.breaks(
              {
                expected: `200 for animal ${id}, which key ${exchange.key} lists`,
                actual: described(exchange),
              },
              exchange,
              listed.exchange,
            );
        }
      },
    ),
  ),
  // 4.3: petId is the identifier of the animal.
  check(
    'get-returns-requested-id',
    {
      standsWhereCrossed: true,
      needs: { retrievals },
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
    { isBasis: true, needs: { retrievals }, observe: observesPet('getPet') },
    whileItExists(),
  ),
  // 4.3: the body is the Pet that was created or listed.
  check(
    'get-same-animal',
    {
      needs: { retrievals, comparisons, askedAgain: optional(askedAgain) },
      conclude: judgeUnchangedEverywhere,
    },
    whileItExists(({ retrievals, comparisons }, judge, { exchanges }) => {
      const { changes } = fatesOf(exchanges);
      const shared = sharedIds(exchanges);
      const compared = new Map(doneOf(comparisons, judge));
      for (const retrieval of doneOf(retrievals, judge)) {
        const { exchange, known, own, shownBy } = retrieval;
        const pet = retrievedPet(retrieval);
        if (pet === undefined || (own && shared.has(known.id))) continue;
        const changed = differences(known, pet, own ? changes.get(known.id) : undefined);
        const comparison = compared.get(known.id);
        const isSettled = own || (comparison !== undefined && staysDifferent(known, pet, comparison));
        if (changed.length === 0) judge.holds(exchange, shownBy);
        else if (isSettled)
          judge.breaks(
            {
              expected: `animal ${known.id} as it was ${own ? 'created' : 'listed'}`,
              actual: changed.join(', '),
            },
            exchange,
            shownBy,
          );
      }
    }),
  ),
  // 4.3, 7: 404 when the requested animal cannot be found.
  check(
    'get-unknown-404',
    { needs: { retrievals, retrievedAgain, ids: unknownIdsRetrieved } },
    whileItExists(({ retrievedAgain: { unknown }, ids }, judge) => {
      for (const exchange of doneOf(unknown, judge))
        judgeAnswer(judge, exchange.outcome.status === 404, '404 for an id at random', exchange);
      for (const { exchange, mayBeMalformed } of doneOf(ids, judge)) {
        const { status } = exchange.outcome;
        const id = idAsked(exchange);
        const served = status === 200 ? answeredPet(exchange)?.id : null;
        // A foreign animal may have this very id. One that no id can be read from breaks another requirement.
        if (served === undefined) continue;
        const exists = served === BigInt(id);
        const isRight = status === 404 || (mayBeMalformed && status === 400) || exists;
        judgeAnswer(judge, isRight, `404 for id ${id}`, exchange);
      }
    }),
  ),
  // 4.3: petId is an int64, so nothing else names an animal. Which client error answers it is open.
  check(
    'get-malformed-id-refused',
    { needs: { retrievals, malformedIds } },
    whileItExists(({ malformedIds }, judge) => {
      for (const exchange of doneOf(malformedIds, judge)) {
        const { status } = exchange.outcome;
        const expected = `a client error for petId ${idAsked(exchange)}`;
        judgeAnswer(judge, status >= 400 && status < 500, expected, exchange);
      }
    }),
  ),
];

export const getAnimalGaps: readonly GapObserver[] = [
  gap('malformed-id', {}, (_, { exchanges }) => {
    const exchange = exchanges
      .filter(isAnswered)
      .find(({ request }) => request.path === `/pets/${NO_NUMBER}`);
    if (exchange === undefined) return undefined;
    const { status } = exchange.outcome;
    return {
      answer: status === 404 ? 'not-found-404' : status < 400 ? 'accepted' : `rejected-${status}`,
      detail: `GET /pets/${NO_NUMBER}: ${described(exchange)}`,
      evidence: [exchange],
    };
  }),
];
