/** Sections 2 and 4.2: what the document leaves open about additions and animals. */
import { contract } from '../../../spec/contract.ts';
import type { GapObserver } from '../../run/check.ts';
import type { Probe } from '../../run/probe.ts';
import { type AnsweredExchange, type Exchange, isAnswered } from '../../wire/exchange.ts';
import { answeredPet, described, listedPets } from '../../wire/pets.ts';
import { addPet, addText, repeatable } from '../../wire/requests.ts';
import { withStatus } from './invalid-bodies.ts';
import { basicAnimals, categoryId, edgeAnimals, enoughAnimals, namePrefix, TWIN } from './scenes.ts';

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
      const category = await categoryId(probe);
      const exchange = await probe.send(
        repeatable((again) =>
          addText(withStatus('null')(`${namePrefix(probe.runId)}${again} nil`, category)),
        ),
      );
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
      const { status } = without.pet;
      // What is no PetStatus is no answer either: add-pet-schema says what is wrong with it.
      if (status !== undefined && !contract.statuses.includes(status)) return undefined;
      return {
        answer: status ?? 'none',
        detail: `an addition without status: ${status ?? 'no status'}`,
        evidence: [without.exchange],
      };
    },
  },
  {
    id: 'id-assignment',
    permit: 'writes',
    async run(probe) {
      const created = (await probe.play(enoughAnimals)).flatMap(({ pet, label, exchange }) =>
        pet === undefined || label === TWIN ? [] : [{ id: pet.id, exchange }],
      );
      const ids = created.map(({ id }) => id);
      if (ids.length < 3) return undefined;
      const ascending = ids.every((id, index) => id > (ids[index - 1] ?? id - 1n));
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
    spends: { requests: 1, animals: 1 },
    scenes: [basicAnimals],
    async run(probe) {
      // An animal like one that was added: but for the label there is no reason to refuse it.
      const like = (await probe.play(basicAnimals)).find(({ exchange }) => exchange.outcome.status === 201);
      if (like === undefined) return undefined;
      const { categoryId, status } = like.sent;
      const exchange = await probe.send(
        repeatable((again) => {
          const name = `${namePrefix(probe.runId)}${again} txt`;
          return { ...addPet({ name, categoryId, status }), headers: [['content-type', 'text/plain']] };
        }),
      );
      return {
        answer: gapAnswer(exchange, 'accepted'),
        detail: `a valid addition labelled text/plain: ${described(exchange)}`,
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
        // A name of blanks would not be seen in a profile.
        for (const field of pets.flatMap(({ fields }) => fields))
          if (!known.has(field)) extra.set(field.trim() === '' ? JSON.stringify(field) : field, exchange);
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
