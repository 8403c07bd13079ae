/** Section 4.3: GET /pets/{petId}, as long as it exists, with ids of animals, ids that none has, and texts that are none. */

import { OPERATIONS, PET_STATUSES } from '../../../spec/operations.ts';
import { DAY } from '../../limits/time.ts';
import { type Key, otherKeys } from '../../profile/key.ts';
import { type Check, check, doneOf, type Judge, observes } from '../../run/check.ts';
import { Inconclusive, notShown, notTold } from '../../run/reason.ts';
import { drawNumber, type RunFacts } from '../../run/run-facts.ts';
import { allOf, type InTurn, inTurn, playedOn, scene } from '../../run/scene.ts';
import type { Trace, TraceSoFar } from '../../run/trace.ts';
import { isInt64, requestedIdViolation, type Violation } from '../../wire/answer.ts';
import { type AnsweredExchange, header } from '../../wire/exchange.ts';
import { answeredPet, listedPets } from '../../wire/pets.ts';
import { getPet, listPets } from '../../wire/requests.ts';
import { isSuccess, judgeAnswer, observesPet, wrongStatus } from '../answers.ts';
import { type Additions, createdBy, enoughAnimals, TWIN } from './additions.ts';
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
import { isWhole, LONGEST, lists, missingFrom, patiently } from './lists.ts';

/** Beyond this a double cannot represent every integer. */
const BEYOND_DOUBLE = 2n ** 53n;
/** How many own animals are retrieved: the basic ones, then those with edge values. */
const OWN_RETRIEVED = 8;

const isServed = ({ outcome }: AnsweredExchange) => outcome.status === 200;

/** The ids of the animals that the target returned. */
export const servedAnimals = (retrieved: InTurn<AnsweredExchange> = []): bigint[] =>
  doneOf(retrieved)
    .filter(isServed)
    .flatMap((exchange) => idRetrieved(exchange) ?? []);

/** Whether an operation answers as if it did not exist: gone, moved, not allowed, not implemented. */
function isGone({ outcome }: AnsweredExchange): boolean {
  return [405, 410, 501].includes(outcome.status) || (outcome.status >= 300 && outcome.status < 400);
}

const HOUR = DAY / 24;
const REMOVED_AT = Date.parse(`${OPERATIONS.getPet.removal}T00:00:00Z`);
/**
 * When the removal date begins in the first time zone and ends in the last, by the target's clock. The document names a
 * day but no time zone: on Earth a day begins up to 14 hours before and ends up to 12 after UTC's.
 */
const removalDay = { begins: REMOVED_AT - 14 * HOUR, ends: REMOVED_AT + DAY + 12 * HOUR };

type Removal = 'before' | 'on the day' | 'after' | 'disputed';

/**
 * Whether GET /pets/{petId} still exists at a moment by our clock (sections 4.3 and 9): before its removal date, after
 * it, or on it, when both are right. If the target's clock and ours disagree, it is unknown which one is wrong.
 */
function removalAt(ours: number, { targetClock }: Trace): Removal {
  const { earliest, latest } = targetClock.at(ours) ?? { earliest: ours, latest: ours };
  const between = (from: number, to: number): Removal =>
    to < removalDay.begins ? 'before' : from > removalDay.ends ? 'after' : 'on the day';
  return between(earliest, latest) === between(ours, ours) ? between(ours, ours) : 'disputed';
}

/** Whether the removal date had come when the last animal was retrieved. */
const removalPhase = (retrieved: readonly AnsweredExchange[], trace: Trace): Removal =>
  removalAt(Math.max(...retrieved.map(({ receivedAt }) => receivedAt)), trace);

const CLOCKS_DISPUTE =
  'the target’s Date and our clock disagree on whether the operation is past its removal date';

/** Defines a check of the retrievals that is judged in this phase only. */
const during = (
  id: string,
  wanted: Removal,
  otherwise: string,
  judgeOne: (exchange: AnsweredExchange, judge: Judge) => void,
): Check =>
  check(id, { scenes: [retrievals] }, (judge, seen) => {
    const retrieved = doneOf(seen.of(retrievals), judge);
    const phase = removalPhase(retrieved, seen.trace);
    if (phase === 'disputed') judge.inconclusive(CLOCKS_DISPUTE);
    else if (phase !== wanted) judge.notApplicable(otherwise);
    else for (const exchange of retrieved) judgeOne(exchange, judge);
  });

/** Own animals that are retrieved. */
const ownIds = ({ [TWIN]: _twin, spaced: _spaced, ...others }: Additions): readonly bigint[] =>
  Object.values(others)
    .flatMap((addition) => createdBy(addition)?.id ?? [])
    .slice(0, OWN_RETRIEVED);

/**
 * Up to three foreign ones: the first and the last of a list, of which one is older, and one whose id a double cannot
 * represent.
 */
function foreignIds(all: AnsweredExchange, additions: Additions): readonly bigint[] {
  const own = new Set(Object.values(additions).map((addition) => createdBy(addition)?.id));
  const foreign = (listedPets(all) ?? []).flatMap(({ id }) => (id === undefined || own.has(id) ? [] : [id]));
  const ends = [...foreign.slice(0, 1), ...foreign.slice(1).slice(-1)];
  return [...ends, ...foreign.filter((id) => id > BEYOND_DOUBLE && !ends.includes(id)).slice(0, 1)];
}

/** The rows that are broken where no animal with an id can be read. */
const ANIMALS_SHOWN_BY = ['list-answers-200', 'list-pet-schema', 'add-answers-201', 'add-pet-schema'];

/** Retrieves animals that the run knows; its own are requested until they are served, within a client's patience. */
export const retrievals = scene('retrievals', {}, async (run): Promise<InTurn<AnsweredExchange>> => {
  const [all] = await run.play(lists);
  const additions = (await run.tryPlay(enoughAnimals)) ?? {};
  const own = ownIds(additions);
  const ids = [...own, ...foreignIds(all, additions)];
  if (ids.length === 0)
    throw new Inconclusive(
      notTold('no list and no addition of this run shows an animal with an id', ...ANIMALS_SHOWN_BY),
    );
  const isLate = (exchange: AnsweredExchange) =>
    exchange.outcome.status === 404 && own.some((id) => id === idRetrieved(exchange));
  const retrieved = await patiently(
    run,
    'an animal that was just added to be served',
    () => inTurn(ids, (id) => run.send(getPet(id))),
    (tried) => !doneOf(tried).some(isLate),
  );
  playedOn(retrieved);
  return retrieved;
});

/** A random id that no animal has, far above what a store counts to. */
export const unknownId = (run: RunFacts, label: string): bigint =>
  2n ** 61n + drawNumber(run, label, 2n ** 61n);

/**
 * The retrievals of the run, as long as the operation exists.
 *
 * @throws Inconclusive where it is past its removal date, may be, or is gone
 */
const existing = scene('existing', {}, async (run): Promise<readonly AnsweredExchange[]> => {
  const retrieved = doneOf(await run.play(retrievals));
  const phase = removalPhase(retrieved, run.trace);
  if (phase === 'disputed') throw new Inconclusive(CLOCKS_DISPUTE);
  if (phase !== 'before')
    throw new Inconclusive({ kind: 'unbound', what: 'the operation is past its removal date' });
  if (retrieved.every(isGone)) throw new Inconclusive(notTold('the operation is gone', 'get-until-removal'));
  return retrieved;
});

const LARGEST = 2n ** 63n - 1n;
const SMALLEST = -(2n ** 63n);

const magnitude = (id: bigint) => (id < 0n ? -id : id);

/** Ids that hardly any animal has: the largest int64, ids that sloppy parsing confuses with a known one, the least. */
function unknownIds(known: readonly bigint[]): Iterable<bigint> {
  // A double cannot tell an id beyond 2^53 from its neighbour.
  const neighbours = known
    .filter((id) => id > BEYOND_DOUBLE && id < LARGEST - 1n)
    .map((id) => (id % 2n === 0n ? id + 1n : id - 1n));
  // Truncated to 32 bits these are equal to a known id.
  const alike = known.map((id) => (id < 0n ? id - 2n ** 32n : id + 2n ** 32n));
  const negated = known.map((id) => -id);
  const one = (ids: readonly bigint[]) =>
    ids.filter((id) => id <= LARGEST && id >= SMALLEST && !known.includes(id)).slice(0, 1);
  return new Set([LARGEST, ...one(neighbours), ...one(alike), 0n, -1n, SMALLEST, ...one(negated)]);
}

/** An id at random, then ids that may be taken for another one, and the first one again. */
const unknownIdsRetrieved = scene('unknown-ids', {}, async (run) => {
  const [all] = await run.play(lists);
  const retrieved = await run.play(existing);
  const random = unknownId(run.facts, 'unknown id');
  const first = await run.send(getPet(random));
  // Dropping bits or signs goes unnoticed with small ids, so the smallest known ids are tried.
  const known = [...retrieved.map(idRetrieved), ...(listedPets(all) ?? []).map(({ id }) => id)]
    .flatMap((id) => id ?? [])
    .sort((a, b) => Number(magnitude(a) - magnitude(b)));
  // Each is requested with a different key while there are any: errors may differ from plan to plan.
  const others = otherKeys(run.keys, { name: first.key });
  // Requesting an id must not create an animal.
  const ids = [...unknownIds(known), random];
  const more = await inTurn(ids, async (id) => {
    const preferred = others.shift();
    const exchange = await run.send({ ...getPet(id), acceptsAnything: true }, { preferred });
    // What a key may do is open (section 5, scopes).
    return preferred !== undefined && exchange.outcome.status === 403 ? run.send(getPet(id)) : exchange;
  });
  return [first, ...more];
});

/** One that was served before, also with every other key, when ids were asked for that no animal has. */
const retrievedAgain = scene('served-again', {}, async (run) => {
  const [served] = (await run.play(existing)).filter(isServed);
  await run.tryPlay(unknownIdsRetrieved);
  const id = served && idRetrieved(served);
  if (id === undefined) return [];
  const isSame = ({ name }: Key) => name === served?.key;
  const keys = run.keys.toSorted((a, b) => Number(isSame(b)) - Number(isSame(a)));
  return inTurn(keys, (preferred) => run.send(getPet(id), { preferred }));
});

const malformedIds = scene('malformed-ids', {}, async (run) => {
  const [id] = (await run.play(existing)).flatMap((exchange) => idRetrieved(exchange) ?? []);
  if (id === undefined) return [];
  const hexadecimal = `${id < 0n ? '-' : ''}0x${magnitude(id).toString(16)}`;
  // One is beyond int64, and truncated to 64 bits it is the animal's id.
  const ids = ['abc', `${id}x`, `${id}.5`, id + 2n ** 64n, hexadecimal];
  return inTurn(ids, (one) => run.send(getPet(one)));
});

const idDecoded = (exchange: AnsweredExchange) => decodeURIComponent(idAsked(exchange));

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
      // An animal of the run that was not retrieved, or that has no status to list it by, shows nothing.
      if (!isCompared)
        judge.inconclusive(notShown('get-until-removal', 'get-same-animal', 'add-echoes-status'));
    },
  ),
];
