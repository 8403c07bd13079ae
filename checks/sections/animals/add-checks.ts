/** Section 4.2: POST /pets. */
import { type Check, check, type Judge, observes } from '../../run/check.ts';
import { NO_KEY_MAY_ADD, notShown } from '../../run/reason.ts';
import type { Trace } from '../../run/trace.ts';
import { type Echoed, echoViolation, quoted } from '../../wire/answer.ts';
import { type AnsweredExchange, headerValues } from '../../wire/exchange.ts';
import { parseJson } from '../../wire/lossless-json.ts';
import { answeredPet, described, seenPet, sentPet } from '../../wire/pets.ts';
import { schemaProblem } from '../../wire/schema.ts';
import { isSuccess, judgeAnswer, observesPet } from '../answers.ts';
import {
  type Additions,
  basicAnimals,
  createdBy,
  edgeAnimals,
  enoughAnimals,
  FILLER,
  knownCategoryId,
  mayLackPermission,
  storeSample,
  TWIN,
} from './additions.ts';
import { broughtIn, isLost } from './life.ts';
import { invalidAnimalChecks } from './refused-additions.ts';

/** Compares one field of every created animal with what was sent. */
const echo = (id: string, field: Echoed, options: Pick<Check, 'standsWhereCrossed'> = {}): Check =>
  check(id, {
    ...options,
    scenes: [basicAnimals, edgeAnimals],
    observe: observes(
      (exchange) => {
        const pet = isSuccess('createPet', exchange) ? answeredPet(exchange) : undefined;
        if (pet === undefined) return undefined;
        const body = parseJson(exchange.request.body ?? '');
        // What is invalid should not have been added at all.
        if (!body.ok || schemaProblem.newPet(body.value) !== undefined) return undefined;
        const sent = seenPet(body.value)?.[field];
        const came = pet[field];
        // An animal without a name or a category is for add-pet-schema to judge.
        const isJudged = sent !== undefined && (came !== undefined || field === 'status');
        return isJudged ? { sent, came } : undefined;
      },
      ({ sent, came }) => echoViolation(field, sent, came),
    ),
  });

const MEDIA_TYPE = 'application/json';

/** Judges whether a valid addition was answered with 201. */
function judgeCreated(exchange: AnsweredExchange, judge: Judge, trace: Trace): void {
  if (mayLackPermission(exchange, trace)) return judge.inconclusive(NO_KEY_MAY_ADD, exchange);
  // What is unusual about the request may be the reason of a refusal: a label with a charset, say.
  const [type = MEDIA_TYPE] = headerValues(exchange.request.headers, 'content-type');
  const unusual = type === MEDIA_TYPE ? '' : `, sent as ${type}`;
  const expected = `201 for ${quoted(sentPet(exchange)?.name ?? '')}${unusual}`;
  judgeAnswer(judge, exchange.outcome.status === 201, expected, exchange);
}

const hasNoStatus = (addition: AnsweredExchange) => sentPet(addition)?.status === undefined;
const answered201 = ({ outcome }: AnsweredExchange) => outcome.status === 201;
/** A target that refuses an addition for a reason of its own calls it invalid; a server error is no refusal. */
const refusedAsInvalid = ({ outcome }: AnsweredExchange) => [400, 413, 422].includes(outcome.status);

/** The basic additions without a twin that is refused: names may have to be unique, their constraints are "not shown". */
function bound({ [TWIN]: twin, ...others }: Additions): readonly AnsweredExchange[] {
  return [...Object.values(others), ...(twin === undefined || twin.outcome.status === 400 ? [] : [twin])];
}

/** Judges the id of every addition: no animal had it before, unless the whole store was lost meanwhile. */
function judgeIds(judge: Judge, { exchanges }: Trace): void {
  let lostAt: number | undefined;
  for (const { pet, exchange, other } of broughtIn(exchanges)) {
    if (other !== undefined && lostAt === undefined && isLost(exchanges, exchange.sentAt))
      lostAt = exchange.sentAt;
    const expected = 'an id that no other animal has';
    if (other === undefined) {
      judge.holds(exchange);
      continue;
    }
    const { method, path } = other.exchange.request;
    const actual = `id ${pet.id}, which ${quoted(other.pet.name ?? 'another animal')} already has, as ${method} ${path} showed`;
    if (lostAt !== undefined && other.exchange.receivedAt <= lostAt)
      judge.inconclusive(
        `id ${pet.id} was given again after all animals had disappeared`,
        exchange,
        other.exchange,
      );
    else judge.breaks({ expected, actual, at: ['body/id'] }, exchange, other.exchange);
  }
}

/** Whether basic animals of a kind are accepted; that the success must be 201 is for add-answers-201 to judge. */
const accepts = (id: string, isOfKind: (addition: AnsweredExchange) => boolean): Check =>
  check(id, { scenes: [basicAnimals] }, (judge, seen) => {
    const basic = bound(seen.of(basicAnimals));
    if (!basic.some(answered201)) return judge.inconclusive(notShown('add-answers-201'));
    for (const exchange of basic.filter(isOfKind))
      if (exchange.outcome.status < 300) judge.holds(exchange);
      else judgeCreated(exchange, judge, seen.trace);
  });

export const addAnimalChecks: readonly Check[] = [
  // 4.2: success is 201, and the body is the created Pet.
  check(
    'add-answers-201',
    {
      isBasis: true,
      scenes: [basicAnimals, edgeAnimals, enoughAnimals],
      observe(exchange, judge) {
        const { status } = exchange.outcome;
        const intent = exchange.intent;
        // The additions of a burst, beyond those of the shared scenes; of another client's what was accepted.
        const isJudged =
          intent === 'fill' ? ![401, 403, 429].includes(status) : intent === 'foreign' && status < 300;
        if (exchange.request.operation === 'createPet' && isJudged)
          judgeAnswer(judge, status === 201, '201', exchange);
      },
    },
    (judge, seen) => {
      const { trace } = seen;
      const basic = seen.of(basicAnimals);
      const edge = seen.maybe(edgeAnimals);
      const enough = seen.maybe(enoughAnimals);
      const exchanges = Object.values(basic);
      // Whether a category must exist is "not shown".
      if (
        exchanges.every(({ outcome }) => outcome.status === 400) &&
        knownCategoryId(trace.run, seen.maybe(storeSample)) === undefined
      )
        return judge.inconclusive(
          'every addition was refused as invalid, perhaps because of its category: name an existing one in the profile, such as samples: { categoryId: 7 }',
          ...exchanges,
        );
      // If only some statuses are refused, the next two rows judge that; this row judges a wrong success.
      const isSomeAdded = exchanges.some(answered201);
      for (const exchange of bound(basic))
        if (!isSomeAdded || exchange.outcome.status < 300 || exchange === basic[TWIN])
          judgeCreated(exchange, judge, trace);
      if (enough === undefined && exchanges.some(({ outcome }) => outcome.status !== 403))
        judge.inconclusive({ kind: 'lost', what: 'not every addition beyond the basic ones was answered' });
      for (const [label, exchange] of Object.entries(enough ?? {}))
        if (!(label in basic) && (label.startsWith(FILLER) || !refusedAsInvalid(exchange)))
          judgeCreated(exchange, judge, trace);
      // Whether a category must exist is open, but its id is certainly an int64.
      if (edge === undefined || !answered201(edge.unknownCategory)) return;
      const large = [edge.beyondDouble, edge.largest];
      if (large.every(({ outcome }) => outcome.status === 400))
        for (const exchange of large) judgeCreated(exchange, judge, trace);
    },
  ),
  // 2, NewPet: status is not required.
  accepts('add-status-optional', hasNoStatus),
  // 3: the status field is accepted on creation, with each of its values.
  accepts('add-status-values', (addition) => !hasNoStatus(addition)),
  // 2: the created animal has the fields of a Pet.
  check('add-pet-schema', {
    isBasis: true,
    scenes: [basicAnimals, edgeAnimals],
    observe: observesPet('createPet'),
  }),
  // 2: the id is assigned by the service on creation, even if the client sends one.
  check('pet-id-assigned-by-service', { scenes: [edgeAnimals] }, (judge, seen) => {
    const { ownId } = seen.of(edgeAnimals);
    const id = createdBy(ownId)?.id;
    if (refusedAsInvalid(ownId)) judge.holds(ownId);
    else if (id === undefined)
      judge.inconclusive(`an addition with an id was answered ${described(ownId)}`, ownId);
    else if (id !== sentPet(ownId)?.id) judge.holds(ownId);
    else {
      const actual = `the id that the client sent, ${id}`;
      judge.breaks({ expected: 'an id chosen by the service', actual }, ownId);
    }
  }),
  // 2: the identifier is unique, even among animals that were added at the same moment.
  check('pet-id-unique', { scenes: [basicAnimals, edgeAnimals], conclude: judgeIds }),
  echo('add-echoes-name', 'name', { standsWhereCrossed: true }),
  echo('add-echoes-category-id', 'categoryId'),
  echo('add-echoes-status', 'status'),
  ...invalidAnimalChecks,
];
