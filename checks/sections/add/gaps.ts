/** Sections 2 and 4.2: the gaps about additions and animals. */
import { contract } from '../../../spec/contract.ts';
import { type GapAnswer, type GapObserver, gap } from '../../run/check.ts';
import { scene } from '../../run/scene.ts';
import { type AnsweredExchange, type Exchange, isAnswered } from '../../wire/exchange.ts';
import { answeredPet, described, listedPets } from '../../wire/pets.ts';
import { addPet, addText, repeatable } from '../../wire/requests.ts';
import { withStatus } from './invalid-bodies.ts';
import {
  addedInTurn,
  basicAnimals,
  categoryOf,
  edgeAnimals,
  enoughAnimals,
  namePrefix,
  storeSample,
  throwIfNobodyMayAdd,
} from './scenes.ts';

/** How an addition that the document neither allows nor forbids was answered. */
function answerTo(exchange: AnsweredExchange, addition: string, accepted: string): GapAnswer {
  const { status } = exchange.outcome;
  return {
    answer: status === 201 ? accepted : `rejected-${status}`,
    detail: `${addition}: ${described(exchange)}`,
    evidence: [exchange],
  };
}

// Many parsers treat null like a missing field. Even so, an answer with a status of null is not a Pet.
const nullStatus = scene(
  'null-status',
  { permit: 'writes', needs: { sample: storeSample }, requests: 1, animals: 1, beside: true },
  async (probe, { sample }) => {
    throwIfNobodyMayAdd(probe);
    return probe.send(
      repeatable((again) => {
        const name = `${namePrefix(probe.run.id)}${again} nil`;
        return addText(withStatus('null')(name, categoryOf(probe.run, sample)));
      }),
    );
  },
);

/** The same animal as one that was accepted: only its label can be a reason to refuse it. */
const labelledAsText = scene(
  'labelled-as-text',
  { permit: 'writes', needs: { basic: basicAnimals }, requests: 1, animals: 1, beside: true },
  async (probe, { basic }) => {
    const like = basic.find(({ exchange }) => exchange.outcome.status === 201)?.sent;
    if (like === undefined) return undefined;
    const { categoryId, status } = like;
    return probe.send(
      repeatable((again) => {
        const name = `${namePrefix(probe.run.id)}${again} txt`;
        return { ...addPet({ name, categoryId, status }), headers: [['content-type', 'text/plain']] };
      }),
    );
  },
);

export const addAnimalGaps: readonly GapObserver[] = [
  gap('name-character-set', { needs: { edge: edgeAnimals } }, ({ edge }) =>
    answerTo(edge.anyScript.exchange, 'a name in several scripts', 'any-script'),
  ),
  gap('name-length', { needs: { edge: edgeAnimals } }, ({ edge }) =>
    answerTo(edge.longName.exchange, 'a name of 255 characters', 'accepted'),
  ),
  gap('category-existence', { needs: { edge: edgeAnimals } }, ({ edge: { unknownCategory } }) =>
    answerTo(unknownCategory.exchange, `categoryId ${unknownCategory.sent.categoryId}`, 'accepted'),
  ),
  gap('unknown-fields', { needs: { edge: edgeAnimals } }, ({ edge: { unknownField } }) => {
    const { exchange } = unknownField;
    const kept = answeredPet(exchange)?.fields.includes('harnessNote') === true;
    return answerTo(exchange, 'an addition with a field harnessNote', kept ? 'kept' : 'ignored');
  }),
  gap('null-status', { needs: { exchange: nullStatus } }, ({ exchange }) =>
    answerTo(exchange, 'an addition with a status of null', 'taken-as-omitted'),
  ),
  gap('status-when-omitted', { needs: { basic: basicAnimals } }, ({ basic }) => {
    const without = basic.find(({ sent }) => sent.status === undefined);
    if (without?.pet === undefined) return undefined;
    const { status } = without.pet;
    // An invalid status is no answer; add-pet-schema judges it.
    if (status !== undefined && !contract.statuses.includes(status)) return undefined;
    return {
      answer: status ?? 'none',
      detail: `an addition without status: ${status ?? 'no status'}`,
      evidence: [without.exchange],
    };
  }),
  gap('id-assignment', { needs: { enough: enoughAnimals } }, ({ enough }) => {
    const created = addedInTurn(enough).flatMap(({ pet, exchange }) =>
      pet === undefined ? [] : [{ id: pet.id, exchange }],
    );
    const ids = created.map(({ id }) => id);
    if (ids.length < 3) return undefined;
    const ascending = ids.every((id, index) => id > (ids[index - 1] ?? id - 1n));
    return {
      answer: ascending ? 'ascending' : 'other',
      detail: `ids of ${ids.length} additions in turn: ${ids.slice(0, 4).join(', ')} …`,
      evidence: created.slice(0, 3).map(({ exchange }) => exchange),
    };
  }),
  gap('unsupported-media-type', { needs: { exchange: labelledAsText } }, ({ exchange }) =>
    exchange === undefined
      ? undefined
      : answerTo(exchange, 'a valid addition labelled text/plain', 'accepted'),
  ),
  gap('extra-response-fields', {}, (_outcomes, trace) => {
    const known = new Set(['id', 'name', 'categoryId', 'status']);
    const extra = new Map<string, Exchange>();
    let looked: Exchange | undefined;
    for (const exchange of trace.exchanges.filter(isAnswered)) {
      const own = answeredPet(exchange);
      const pets =
        listedPets(exchange) ?? (own === undefined || exchange.request.operation === 'listPets' ? [] : [own]);
      if (pets.length > 0) looked ??= exchange;
      // A field name of blanks would be invisible in a profile.
      for (const field of pets.flatMap(({ fields }) => fields))
        if (!known.has(field)) extra.set(field.trim() === '' ? JSON.stringify(field) : field, exchange);
    }
    if (looked === undefined) return undefined;
    const names = [...extra.keys()].sort();
    return {
      answer: names.length === 0 ? 'none' : names.join(', '),
      detail:
        names.length === 0
          ? 'animals have only the fields of a Pet'
          : `animals also have ${names.join(', ')}`,
      evidence: [...extra.values()].slice(0, 1).concat(names.length === 0 ? [looked] : []),
    };
  }),
];
