/** Section 4.2: POST /pets. A body that is not a NewPet is refused with 400, and what is refused is not stored. */
import { groupBy } from '../../../spec/group-by.ts';
import { type Key, otherKeys } from '../../profile/key.ts';
import { type Check, check, doneOf, type Judge, observes } from '../../run/check.ts';
import { Inconclusive, NO_KEY_MAY_ADD, notShown } from '../../run/reason.ts';
import { inTurn, type SceneRun, scene } from '../../run/scene.ts';
import type { Trace } from '../../run/trace.ts';
import { type Echoed, echoViolation, quoted } from '../../wire/answer.ts';
import { type AnsweredExchange, type Exchange, headerValues, isAnswered } from '../../wire/exchange.ts';
import { parseJson } from '../../wire/lossless-json.ts';
import { answeredPet, described, listedPets, seenPet, sentPet } from '../../wire/pets.ts';
import { addText, listPets, type RequestSpec, repeatable } from '../../wire/requests.ts';
import { schemaProblem } from '../../wire/schema.ts';
import { isCalledInvalid, isSuccess, judgeAnswer, observesPet } from '../answers.ts';
import {
  type Additions,
  basicAnimals,
  categoryOf,
  createdBy,
  edgeAnimals,
  enoughAnimals,
  FILLER,
  knownCategoryId,
  mayLackPermission,
  namePrefix,
  refusedPrefix,
  storeSample,
  TWIN,
  throwIfNobodyMayAdd,
} from './additions.ts';
import { broughtIn, isLost } from './life.ts';

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

/** The basic additions without a twin that is refused: names may have to be unique, their constraints are "not shown". */
function bound({ [TWIN]: twin, ...others }: Additions): readonly AnsweredExchange[] {
  return [...Object.values(others), ...(twin === undefined || twin.outcome.status === 400 ? [] : [twin])];
}

/** Judges the id of every addition: no animal had it before, unless the whole store was lost meanwhile. */
function judgeIds(judge: Judge, { exchanges }: Trace): void {
  let lostAt: number | undefined;
  for (const { pet, exchange, other } of broughtIn(exchanges)) {
    if (other === undefined) {
      judge.holds(exchange);
      continue;
    }
    if (lostAt === undefined && isLost(exchanges, exchange.sentAt)) lostAt = exchange.sentAt;
    const { method, path } = other.exchange.request;
    const expected = 'an id that no other animal has';
    const actual = `id ${pet.id}, which ${quoted(other.pet.name ?? 'another animal')} already has, as ${method} ${path} showed`;
    const whatWasLost = `id ${pet.id} was given again after all animals had disappeared`;
    if (lostAt !== undefined && other.exchange.receivedAt <= lostAt)
      judge.inconclusive(whatWasLost, exchange, other.exchange);
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

/** Builds a body that must be refused, from a valid name and categoryId, both as JSON. */
type RefusedBody = (name: string, categoryId: string) => string;

/** A connection breaks now and then, but not so often in a row with other requests answered in between. */
const TIMES_BROKEN = 3;

/**
 * The answer to a body whose answer was lost: it is to be refused, so that to send it again adds nothing. Or the last
 * exchange, where its connections break each time while other requests with the same key are answered.
 *
 * @throws what was caught, if that was no lost answer, or neither can be told
 */
async function askedAgain(run: SceneRun, spec: RequestSpec, error: unknown): Promise<Exchange> {
  let [lost] = error instanceof Inconclusive ? error.evidence : [];
  const key = run.keys.find(({ name }) => name === lost?.key);
  for (let turn = 0, breaksAlone = true; ; turn += 1) {
    const reason = lost?.outcome.kind === 'failure' ? lost.outcome.reason : undefined;
    breaksAlone &&= reason === 'reset';
    const isLost = reason === 'reset' || reason === 'unavailable';
    if (lost === undefined || key === undefined || !isLost) throw error;
    if (turn === TIMES_BROKEN && breaksAlone) return lost;
    if (turn === TIMES_BROKEN) throw error;
    breaksAlone &&= isAnswered(await run.attempt(listPets({ limit: 1 }), key));
    lost = await run.attempt(spec.again?.() ?? spec, key);
    if (isAnswered(lost)) return lost;
  }
}

/**
 * Checks that each of these bodies, with one missing or invalid value, is answered with 400. Their names are marked as
 * refused, so that an animal that was stored anyway can be found in a list.
 *
 * @param onEveryKey whether each functional key sends one of them, because a defect of one plan shows only there
 */
function refuses(
  id: string,
  bodies: Readonly<Record<string, RefusedBody>>,
  { onEveryKey = false } = {},
): Check {
  const additions = scene(id, { permit: 'writes', intent: 'refusable' }, async (run) => {
    const sample = await run.play(storeSample);
    throwIfNobodyMayAdd(run);
    const categoryId = categoryOf(run.facts, sample);
    const send = (spec: RequestSpec, preferred?: Key): Promise<Exchange> =>
      run.send(spec, { preferred }).catch((error: unknown) => askedAgain(run, spec, error));
    const others = onEveryKey ? otherKeys(run.keys, { name: sample.key }) : [];
    const isForbidden = (answer: Exchange) => isAnswered(answer) && answer.outcome.status === 403;
    const additions = await inTurn(Object.entries(bodies).entries(), async ([index, [label, body]]) => {
      const name = `${refusedPrefix(run.facts.id)} ${id} ${index + 1}`;
      // Who asks for JSON by name may be answered otherwise than who takes anything.
      const acceptsAnything = index % 2 === 1;
      const text = (again: string) => body(JSON.stringify(`${name}${again}`), `${categoryId}`);
      const spec = repeatable((again) => ({ ...addText(text(again)), acceptsAnything }));
      const key = others[index];
      const first = await send(spec, key);
      // What a key may do is open (section 5, scopes).
      return { label, exchange: key !== undefined && isForbidden(first) ? await send(spec) : first };
    });
    // Whether it was for the key, or for what they are, is told by additions that are valid.
    if (doneOf(additions).some(({ exchange }) => isForbidden(exchange) || !isAnswered(exchange)))
      await run.tryPlay(basicAnimals);
    return additions;
  });
  return check(id, { scenes: [additions] }, (judge, seen) => {
    const isAnyAnswered = seen.trace.readings.some(({ operation }) => operation === 'createPet');
    for (const { label, exchange } of doneOf(seen.of(additions), judge)) {
      if (!isAnswered(exchange)) {
        const { outcome } = exchange;
        const actual = `no answer: ${outcome.kind === 'failure' ? outcome.message : ''}, each time`;
        // Where no addition at all is answered, something on the way may let none through.
        if (isAnyAnswered) judge.breaks({ expected: `400 for ${label}`, actual }, exchange);
        else judge.inconclusive({ kind: 'lost', what: actual }, exchange);
      } else if (mayLackPermission(exchange, seen.trace)) judge.inconclusive(NO_KEY_MAY_ADD, exchange);
      else judgeAnswer(judge, exchange.outcome.status === 400, `400 for ${label}`, exchange);
    }
  });
}

/** The name in the body of an addition; undefined if it has none, or one that an older animal may share. */
export function nameSent(exchange: Exchange): string | undefined {
  const name = exchange.request.operation === 'createPet' ? sentPet(exchange)?.name : undefined;
  return name?.includes(namePrefix('')) === true ? name : undefined;
}

/**
 * Judges every list that came after an addition was refused with this status: it must not hold that animal. If the
 * store is larger than a list, only the part that is shown can be judged.
 */
export function storedThoughRefused(status: number) {
  return (judge: Judge, { exchanges }: Trace): void => {
    // If the same addition was also accepted, or got no answer, its animal may rightly be there.
    const mayBeStored = new Set(
      exchanges
        .filter((exchange) => !isAnswered(exchange) || exchange.outcome.status < 400)
        .flatMap((exchange) => nameSent(exchange) ?? []),
    );
    const answered = exchanges.filter(isAnswered);
    const refusals = answered.filter(({ outcome }) => outcome.status === status);
    const refused = groupBy(refusals, nameSent);
    for (const name of [undefined, ...mayBeStored]) refused.delete(name);
    const [first] = [...refused.values()].flat();
    if (first === undefined) return judge.notApplicable(`no addition was refused with ${status}`);
    const lists = answered
      .slice(answered.indexOf(first))
      .filter(({ request }) => request.operation === 'listPets');
    // At the end of a day nothing is listed any more.
    if (lists.every(({ outcome }) => outcome.status === 429))
      judge.notApplicable('no list could be had after an addition was refused');
    else if (lists.every((list) => listedPets(list) === undefined))
      judge.inconclusive(notShown('list-answers-200', 'json-well-formed'));
    for (const list of lists) {
      const origins = listedPets(list)?.flatMap(({ name }) => refused.get(name)?.slice(-1) ?? []);
      if (origins?.length === 0) judge.holds(list);
      for (const origin of origins ?? []) {
        const actual = `${JSON.stringify(nameSent(origin))} is listed`;
        const expected = `no animal from an addition that was answered ${status}`;
        judge.breaks({ expected, actual }, list, origin);
      }
    }
  };
}

/** Bodies whose one field has these values, as JSON. */
const withField = (field: 'name' | 'categoryId' | 'status', ...values: readonly string[]) =>
  Object.fromEntries(
    values.map((value): [string, RefusedBody] => [
      `"${field}": ${value}`,
      (name, categoryId) => {
        const fields = Object.entries({ name, categoryId, [field]: value });
        return `{${fields.map(([key, json]) => `"${key}":${json}`).join()}}`;
      },
    ]),
  );

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
        if (!(label in basic) && (label.startsWith(FILLER) || !isCalledInvalid(exchange)))
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
    if (isCalledInvalid(ownId)) judge.holds(ownId);
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
  // 4.2: 400 when the body is missing required fields …
  // JSON member names are compared exactly (RFC 8259, 8.3). A field that resembles the missing one, or an object that
  // contains it, is just an unknown field. A target that refuses unknown fields is asked without them as well.
  refuses('add-rejects-missing-name', {
    'a body without name': (_name, category) => `{"categoryId":${category}}`,
    'a body without name, with Name and an animal within it': (name, category) =>
      `{"Name":${name},"categoryId":${category},"status":"sold","pet":{"name":${name},"categoryId":${category}}}`,
  }),
  refuses('add-rejects-missing-category-id', {
    'a body without categoryId': (name) => `{"name":${name}}`,
    'a body without categoryId, with CategoryId, category_id and category': (name, category) =>
      `{"name":${name},"CategoryId":${category},"category_id":${category},"category":${category},"status":"sold"}`,
  }),
  // … or contains invalid values: every JSON type but the field's own.
  refuses('add-rejects-name-type', withField('name', '7', 'null', 'true', '["a"]', '{}'), {
    onEveryKey: true,
  }),
  // In some languages true and false are integers. Where all that is falsy counts as missing, only true shows it.
  refuses(
    'add-rejects-category-id-type',
    withField('categoryId', '"1"', '""', 'null', 'false', 'true', '[1]', '{}', '1.5'),
  ),
  refuses(
    'add-rejects-category-id-range',
    withField('categoryId', '9223372036854775808', '-9223372036854775809', '1e30'),
  ),
  // In many regular expressions, $ also matches before a trailing newline.
  refuses(
    'add-rejects-status-value',
    withField('status', '"adopted"', '"SOLD"', '"sold\\n"', '"available,pending"', '""'),
  ),
  // 0 and false are falsy in some languages; true equals every text where values are compared loosely.
  refuses('add-rejects-status-type', withField('status', '0', 'false', 'true', '["sold"]', '{}')),
  refuses('add-rejects-non-object', {
    'an array with a NewPet in it': (name, category) => `[{"name":${name},"categoryId":${category}}]`,
    'an array of the values of a NewPet': (name, category) => `[${name},${category},"sold"]`,
    'a string with a NewPet in it': (name, category) =>
      JSON.stringify(`{"name":${name},"categoryId":${category}}`),
    'a number': () => '7',
    null: () => 'null',
  }),
  refuses('add-rejects-malformed-json', {
    'JSON that is cut off': (name, category) => `{"name":${name},"categoryId":${category}`,
    'JSON with a trailing comma': (name, category) => `{"name":${name},"categoryId":${category},}`,
    'JSON with single quotes': (name, category) =>
      `{"name":${name},"categoryId":${category}}`.replaceAll('"', "'"),
    'JSON followed by a word': (name, category) => `{"name":${name},"categoryId":${category}} please`,
  }),
  refuses('add-rejects-empty-body', { 'an empty body': () => '' }),
  // 4.2: a failure adds nothing. Every later list is judged; of a large store they show only a part.
  check('add-rejected-stores-nothing', { conclude: storedThoughRefused(400) }),
];
