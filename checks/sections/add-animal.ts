/** Section 4.2: POST /pets. */
import type { Check, GapObserver, Judge } from '../harness/check.ts';
import { type AnsweredExchange, type Exchange, isAnswered } from '../harness/exchange.ts';
import { int64Of, isJsonObject, parseJson } from '../harness/lossless-json.ts';
import { answeredPet, bodyOf, described, listedPets } from '../harness/pets.ts';
import type { Probe } from '../harness/probe.ts';
import { addText } from '../harness/requests.ts';
import { schemaProblem } from '../harness/schema.ts';
import {
  type Addition,
  basicAnimals,
  categoryId,
  edgeAnimals,
  enoughAnimals,
  namePrefix,
  refusedPrefix,
  storeSample,
} from './added-animals.ts';
import { storedThoughRefused } from './refused-additions.ts';

/** What a request body said, for comparison with the animal that came back. */
function sentPet(exchange: Exchange) {
  const parsed = parseJson(exchange.request.body ?? '');
  if (!parsed.ok || !isJsonObject(parsed.value)) return undefined;
  const { name, categoryId: category, status } = parsed.value;
  return {
    name: typeof name === 'string' ? name : undefined,
    categoryId: int64Of(category),
    status: typeof status === 'string' ? status : undefined,
  };
}

/** Compares one field of every created animal with what was sent. */
function echo(id: string, field: 'name' | 'categoryId' | 'status'): Check {
  return {
    id,
    permit: 'writes',
    scenes: [basicAnimals, edgeAnimals],
    observe(exchange, judge) {
      if (exchange.request.operation !== 'createPet' || exchange.outcome.status !== 201) return;
      const pet = answeredPet(exchange);
      const sent = sentPet(exchange)?.[field];
      if (pet === undefined || sent === undefined) return;
      const came = pet[field];
      if (came === sent) judge.holds(exchange);
      else if (came === undefined && field !== 'status')
        return; // add-pet-schema says what is wrong with it
      else {
        judge.breaks(
          {
            expected: `${field} ${shown(sent)}, as sent`,
            actual: came === undefined ? `no ${field}` : `${field} ${shown(came)}`,
          },
          exchange,
        );
      }
    },
    async run(probe) {
      await probe.play(basicAnimals);
      await probe.play(edgeAnimals);
    },
  };
}

const shown = (value: string | bigint) => (typeof value === 'bigint' ? String(value) : JSON.stringify(value));

/** Judges whether a valid addition was answered with 201. */
function created(judge: Judge, { exchange, sent }: Addition): void {
  if (exchange.outcome.status === 201) judge.holds(exchange);
  else
    judge.breaks({ expected: `201 for ${JSON.stringify(sent.name)}`, actual: described(exchange) }, exchange);
}

const answered201 = ({ exchange }: Addition) => exchange.outcome.status === 201;

/** A body that is to be refused: its text, given a valid name and categoryId to vary. */
type RefusedBody = (name: string, categoryId: bigint) => string | undefined;

const quoted = (name: string) => JSON.stringify(name);

/**
 * Sends bodies that the document calls missing or invalid, one deviation at a time; each is to be answered with 400.
 * Their names say that they were to be refused, so that one that was stored all the same is found in a list.
 */
function refuses(id: string, bodies: Readonly<Record<string, RefusedBody>>): Check {
  const cases = Object.entries(bodies);
  return {
    id,
    permit: 'writes',
    spends: { requests: cases.length },
    scenes: [storeSample],
    async run(probe, judge) {
      const category = await categoryId(probe);
      for (const [index, [label, body]] of cases.entries()) {
        const name = `${refusedPrefix(probe.runId)} ${id} ${index + 1}`;
        const exchange = await probe.send(addText(body(name, category)));
        if (exchange.outcome.status === 400) judge.holds(exchange);
        else judge.breaks({ expected: `400 for ${label}`, actual: described(exchange) }, exchange);
      }
    },
  };
}

const withCategoryId =
  (json: string): RefusedBody =>
  (name) =>
    `{"name":${quoted(name)},"categoryId":${json}}`;
const withName =
  (json: string): RefusedBody =>
  (_name, category) =>
    `{"name":${json},"categoryId":${category}}`;
const withStatus =
  (json: string): RefusedBody =>
  (name, category) =>
    `{"name":${quoted(name)},"categoryId":${category},"status":${json}}`;

export const addAnimalChecks: readonly Check[] = [
  {
    // 4.2: success is 201, and the body is the created Pet.
    id: 'add-answers-201',
    permit: 'writes',
    scenes: [basicAnimals, enoughAnimals],
    async run(probe, judge) {
      const basic = await probe.play(basicAnimals);
      // A refusal of one status, or of none, is the subject of the next two rows; a wrong success is this one's.
      const succeeded = basic.filter(answered201);
      const judged =
        succeeded.length === 0
          ? basic
          : basic.filter(
              ({ exchange, label }) => exchange.outcome.status < 300 || label === 'one like another',
            );
      for (const addition of judged) created(judge, addition);
      for (const addition of await probe.play(enoughAnimals)) {
        // What a target may refuse for a reason of its own it refuses as invalid: an error of the server is none.
        const refusedAsInvalid = [400, 413, 422].includes(addition.exchange.outcome.status);
        if (addition.label === 'to fill a page' || (!basic.includes(addition) && !refusedAsInvalid))
          created(judge, addition);
      }
      // Whether a category has to exist is open; that its id is an int64 is not.
      const { unknownCategory, largeCategories } = await edges(probe);
      if (!answered201(unknownCategory)) return;
      const refused = largeCategories.filter(({ exchange }) => exchange.outcome.status === 400);
      if (refused.length === largeCategories.length) for (const addition of refused) created(judge, addition);
    },
    observe(exchange, judge) {
      // Additions beside the shared ones: those of a burst, all valid.
      if (exchange.request.operation !== 'createPet' || !exchange.sentBy.startsWith('minute:')) return;
      // One that is invalid, or one over the limit, is to be refused.
      const sent = sentPet(exchange);
      if (sent?.categoryId === undefined || sent.name?.includes(' refused ') === true) return;
      const { status } = exchange.outcome;
      if (status === 201) judge.holds(exchange);
      else if (![401, 403, 429].includes(status))
        judge.breaks({ expected: '201', actual: described(exchange) }, exchange);
    },
  },
  {
    // 2, NewPet: status is not required.
    id: 'add-status-optional',
    permit: 'writes',
    scenes: [basicAnimals],
    async run(probe, judge) {
      const basic = await probe.play(basicAnimals);
      const without = basic.find(({ sent }) => sent.status === undefined);
      if (without === undefined || !basic.some(answered201))
        judge.unsettled('no animal could be added (see add-answers-201)');
      else if (without.exchange.outcome.status < 300) judge.holds(without.exchange);
      else created(judge, without);
    },
  },
  {
    // 3: the status field is accepted on creation, with each of its values.
    id: 'add-status-values',
    permit: 'writes',
    scenes: [basicAnimals],
    async run(probe, judge) {
      const basic = await probe.play(basicAnimals);
      if (!basic.some(answered201)) return judge.unsettled('no animal could be added (see add-answers-201)');
      for (const addition of basic.filter(({ sent }) => sent.status !== undefined)) {
        if (addition.exchange.outcome.status < 300) judge.holds(addition.exchange);
        else created(judge, addition);
      }
    },
  },
  {
    // 2: the created animal has the fields of a Pet.
    id: 'add-pet-schema',
    permit: 'writes',
    scenes: [basicAnimals],
    observe(exchange, judge) {
      if (exchange.request.operation !== 'createPet' || exchange.outcome.status !== 201) return;
      const body = bodyOf(exchange);
      if (!body.ok) return;
      const problem = schemaProblem.pet(body.value);
      if (problem === undefined) judge.holds(exchange);
      else
        judge.breaks(
          { expected: 'a Pet: id, name, categoryId and, where present, a status', actual: problem },
          exchange,
        );
    },
    async run(probe) {
      await probe.play(basicAnimals);
    },
  },
  {
    // 2: the id is assigned by the service on creation, also where the client sends one.
    id: 'pet-id-assigned-by-service',
    permit: 'writes',
    scenes: [edgeAnimals],
    async run(probe, judge) {
      const { ownId } = await probe.play(edgeAnimals);
      const { exchange, pet, sentId } = ownId;
      if (exchange.outcome.status === 400) judge.holds(exchange);
      else if (pet === undefined)
        judge.unsettled(`an addition with an id was answered ${described(exchange)}`, exchange);
      else if (pet.id === sentId) {
        judge.breaks(
          { expected: 'an id of the service’s choice', actual: `the id that the client sent, ${sentId}` },
          exchange,
        );
      } else judge.holds(exchange);
    },
  },
  {
    // 2: the identifier is unique, also among animals that were added at the same moment.
    id: 'pet-id-unique',
    permit: 'writes',
    scenes: [basicAnimals, edgeAnimals],
    async run(probe) {
      await probe.play(basicAnimals);
      await probe.play(edgeAnimals);
    },
    conclude(history, judge) {
      const owners = new Map<bigint, Exchange>();
      const listedBefore = new Map<bigint, Exchange>();
      for (const exchange of history.exchanges.filter(isAnswered)) {
        if (exchange.request.operation === 'listPets' && owners.size === 0) {
          for (const { id } of listedPets(exchange) ?? [])
            if (id !== undefined) listedBefore.set(id, exchange);
        }
        if (exchange.request.operation !== 'createPet' || exchange.outcome.status !== 201) continue;
        const id = answeredPet(exchange)?.id;
        if (id === undefined) continue;
        const other = owners.get(id) ?? listedBefore.get(id);
        if (other === undefined) judge.holds(exchange);
        else
          judge.breaks(
            { expected: 'an id that no other animal has', actual: `id ${id}, which another animal has` },
            exchange,
            other,
          );
        owners.set(id, exchange);
      }
    },
  },
  echo('add-echoes-name', 'name'),
  echo('add-echoes-category-id', 'categoryId'),
  echo('add-echoes-status', 'status'),
  // 4.2: 400 when the body is missing required fields …
  refuses('add-rejects-missing-name', {
    'a body without name': (_name, category) => `{"categoryId":${category}}`,
  }),
  refuses('add-rejects-missing-category-id', {
    'a body without categoryId': (name) => `{"name":${quoted(name)}}`,
    'a body without categoryId, with a status': (name) => `{"name":${quoted(name)},"status":"sold"}`,
  }),
  // … or contains invalid values: each type that is not the field's.
  refuses('add-rejects-name-type', {
    'a name that is a number': withName('7'),
    'a name that is null': withName('null'),
    'a name that is a boolean': withName('true'),
    'a name that is an array': withName('["a"]'),
    'a name that is an object': withName('{}'),
  }),
  refuses('add-rejects-category-id-type', {
    'a categoryId that is a string of digits': withCategoryId('"1"'),
    'a categoryId that is a word': withCategoryId('"one"'),
    'a categoryId that is null': withCategoryId('null'),
    'a categoryId that is a boolean': withCategoryId('true'),
    'a categoryId that is an array': withCategoryId('[1]'),
    'a categoryId that is an object': withCategoryId('{}'),
    'a categoryId that is a fraction': withCategoryId('1.5'),
  }),
  refuses('add-rejects-category-id-range', {
    'a categoryId one above int64': withCategoryId('9223372036854775808'),
    'a categoryId one below int64': withCategoryId('-9223372036854775809'),
  }),
  refuses('add-rejects-status-value', {
    'a status that is no PetStatus': withStatus('"lost"'),
    'a status in other letters': withStatus('"Available"'),
    'a status with blanks around it': withStatus('" sold "'),
    'a text that begins with a status': withStatus('"soldier"'),
    'an empty status': withStatus('""'),
  }),
  refuses('add-rejects-status-type', {
    'a status that is a number': withStatus('1'),
    'a status that is a boolean': withStatus('true'),
    'a status that is an array': withStatus('["sold"]'),
    'a status that is an object': withStatus('{}'),
  }),
  refuses('add-rejects-non-object', {
    'an array': () => '[]',
    'an array with a NewPet in it': (name, category) => `[{"name":${quoted(name)},"categoryId":${category}}]`,
    'a string': () => '"a pet"',
    'a number': () => '7',
    null: () => 'null',
  }),
  refuses('add-rejects-malformed-json', {
    'JSON that is cut off': (name, category) => `{"name":${quoted(name)},"categoryId":${category}`,
    'JSON with a comma too many': (name, category) => `{"name":${quoted(name)},"categoryId":${category},}`,
    'text that is no JSON': () => 'a pet, please',
  }),
  refuses('add-rejects-empty-body', { 'an empty body': () => '', 'an empty object': () => '{}' }),
  {
    // 4.2: a failure adds nothing. Seen in every list that comes after; a large store shows only a part of itself.
    id: 'add-rejected-stores-nothing',
    permit: 'writes',
    conclude: storedThoughRefused(400, 'no addition was refused with 400'),
  },
];

/** How an addition that the document neither allows nor forbids was answered. */
function gapAnswer(exchange: AnsweredExchange, accepted: string): string {
  const { status } = exchange.outcome;
  return status === 201 ? accepted : `rejected-${status}`;
}

async function edges(probe: Probe) {
  return probe.play(edgeAnimals);
}

export const addAnimalGaps: readonly GapObserver[] = [
  {
    id: 'name-character-set',
    permit: 'writes',
    async run(probe) {
      const { anyScript } = await edges(probe);
      return {
        answer: gapAnswer(anyScript.exchange, 'any-script'),
        detail: `a name in several scripts: ${described(anyScript.exchange)}`,
        evidence: [anyScript.exchange],
      };
    },
  },
  {
    id: 'name-length',
    permit: 'writes',
    async run(probe) {
      const { longName } = await edges(probe);
      return {
        answer: gapAnswer(longName.exchange, 'accepted'),
        detail: `a name of 255 characters: ${described(longName.exchange)}`,
        evidence: [longName.exchange],
      };
    },
  },
  {
    id: 'category-existence',
    permit: 'writes',
    async run(probe) {
      const { unknownCategory } = await edges(probe);
      const { exchange, sent } = unknownCategory;
      return {
        answer: gapAnswer(exchange, 'accepted'),
        detail: `categoryId ${sent.categoryId}: ${described(exchange)}`,
        evidence: [exchange],
      };
    },
  },
  {
    id: 'unknown-fields',
    permit: 'writes',
    async run(probe) {
      const { unknownField } = await edges(probe);
      const { exchange } = unknownField;
      const kept = answeredPet(exchange)?.fields.includes('harnessNote') === true;
      return {
        answer: gapAnswer(exchange, kept ? 'kept' : 'ignored'),
        detail: `an addition with a field harnessNote: ${described(exchange)}`,
        evidence: [exchange],
      };
    },
  },
  {
    // Many a parser does not tell null from a field that is not there. An answer with a status of null is none the less
    // no Pet.
    id: 'null-status',
    permit: 'writes',
    spends: { requests: 1, animals: 1 },
    async run(probe) {
      const body = withStatus('null')(`${namePrefix(probe.runId)} null status`, await categoryId(probe));
      const exchange = await probe.send(addText(body));
      return {
        answer: gapAnswer(exchange, 'taken-as-omitted'),
        detail: `an addition with a status of null: ${described(exchange)}`,
        evidence: [exchange],
      };
    },
  },
  {
    id: 'status-when-omitted',
    permit: 'writes',
    async run(probe) {
      const basic = await probe.play(basicAnimals);
      const without = basic.find(({ sent }) => sent.status === undefined);
      if (without?.pet === undefined) return undefined;
      return {
        answer: without.pet.status ?? 'none',
        detail: `an addition without status: ${without.pet.status ?? 'no status'}`,
        evidence: [without.exchange],
      };
    },
  },
  {
    id: 'id-assignment',
    permit: 'writes',
    async run(probe) {
      const created = (await probe.play(enoughAnimals)).filter(({ pet }) => pet !== undefined);
      const ids = created.flatMap(({ pet }) => (pet === undefined ? [] : [pet.id]));
      if (ids.length < 3) return undefined;
      const ascending = ids.every((id, index) => index === 0 || id > (ids[index - 1] ?? id));
      return {
        answer: ascending ? 'ascending' : 'other',
        detail: `ids of ${ids.length} additions in turn: ${ids.slice(0, 4).join(', ')} …`,
        evidence: created.slice(0, 3).map(({ exchange }) => exchange),
      };
    },
  },
  {
    id: 'unsupported-media-type',
    permit: 'writes',
    spends: { requests: 1 },
    async run(probe) {
      // Without name, so that a target that reads it all the same has a reason to refuse it.
      const exchange = await probe.send(addText('{"categoryId":1}', [['content-type', 'text/plain']]));
      const { status } = exchange.outcome;
      return {
        answer: status < 300 ? 'accepted' : `rejected-${status}`,
        detail: `a body labelled text/plain, and without name: ${described(exchange)}`,
        evidence: [exchange],
      };
    },
  },
  {
    id: 'extra-response-fields',
    conclude(history) {
      const known = new Set(['id', 'name', 'categoryId', 'status']);
      const extra = new Map<string, Exchange>();
      let looked: Exchange | undefined;
      for (const exchange of history.exchanges.filter(isAnswered)) {
        const own = answeredPet(exchange);
        const pets =
          listedPets(exchange) ??
          (own === undefined || exchange.request.operation === 'listPets' ? [] : [own]);
        if (pets.length > 0) looked ??= exchange;
        for (const field of pets.flatMap(({ fields }) => fields))
          if (!known.has(field)) extra.set(field, exchange);
      }
      if (looked === undefined) return undefined;
      const names = [...extra.keys()].sort();
      return {
        answer: names.length === 0 ? 'none' : names.join(', '),
        detail:
          names.length === 0
            ? 'animals have the fields of a Pet only'
            : `animals also have ${names.join(', ')}`,
        evidence: [...extra.values()].slice(0, 1).concat(names.length === 0 ? [looked] : []),
      };
    },
  },
];
