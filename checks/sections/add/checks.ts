/** Section 4.2: POST /pets. */
import type { Check, Judge } from '../../run/check.ts';
import { NO_KEY_MAY_ADD } from '../../run/functional-keys.ts';
import type { Probe } from '../../run/probe.ts';
import { type Exchange, isAnswered } from '../../wire/exchange.ts';
import { int64Of, isJsonObject, parseJson } from '../../wire/lossless-json.ts';
import { answeredPet, bodyOf, described, listedPets, quoted } from '../../wire/pets.ts';
import { schemaProblem } from '../../wire/schema.ts';
import { invalidAnimalChecks } from './invalid-bodies.ts';
import {
  type Addition,
  adds,
  basicAnimals,
  edgeAnimals,
  enoughAnimals,
  knownCategoryId,
  TWIN,
} from './scenes.ts';

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

const shown = (value: string | bigint) => (typeof value === 'bigint' ? String(value) : quoted(value));

/** Judges whether a valid addition was answered with 201. */
function created(probe: Probe, judge: Judge, { exchange, sent }: Addition): void {
  if (exchange.outcome.status === 201) judge.holds(exchange);
  else if (probe.mayLackPermission(exchange)) judge.unsettled(NO_KEY_MAY_ADD, exchange);
  else judge.breaks({ expected: `201 for ${quoted(sent.name)}`, actual: described(exchange) }, exchange);
}

const answered201 = ({ exchange }: Addition) => exchange.outcome.status === 201;
/** That no other animal has a name may be one of the constraints on names, which are not shown. */
const refusedAsLike = ({ exchange, label }: Addition) => label === TWIN && exchange.outcome.status === 400;

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
      const refusals = basic.map(({ exchange }) => exchange);
      const allInvalid = refusals.every(({ outcome }) => outcome.status === 400);
      // Whether a category has to exist is not shown.
      if (allInvalid && (await knownCategoryId(probe)) === undefined)
        return judge.unsettled(
          'each addition was refused as invalid, perhaps for its category: a profile can name one that exists, as samples: { categoryId: 7 }',
          ...refusals,
        );
      const judged =
        succeeded.length === 0
          ? basic
          : basic.filter(
              (addition) =>
                addition.exchange.outcome.status < 300 ||
                (addition.label === TWIN && !refusedAsLike(addition)),
            );
      for (const addition of judged) created(probe, judge, addition);
      if (!(await adds(probe))) return;
      for (const addition of await probe.play(enoughAnimals)) {
        // What a target may refuse for a reason of its own it refuses as invalid: an error of the server is none.
        const refusedAsInvalid = [400, 413, 422].includes(addition.exchange.outcome.status);
        if (addition.label === 'to fill a page' || (!basic.includes(addition) && !refusedAsInvalid))
          created(probe, judge, addition);
      }
      // Whether a category has to exist is open; that its id is an int64 is not.
      const { unknownCategory, largeCategories } = await probe.play(edgeAnimals);
      if (!answered201(unknownCategory)) return;
      const refused = largeCategories.filter(({ exchange }) => exchange.outcome.status === 400);
      if (refused.length === largeCategories.length)
        for (const addition of refused) created(probe, judge, addition);
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
      else created(probe, judge, without);
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
        if (refusedAsLike(addition)) continue;
        if (addition.exchange.outcome.status < 300) judge.holds(addition.exchange);
        else created(probe, judge, addition);
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
  ...invalidAnimalChecks,
];
