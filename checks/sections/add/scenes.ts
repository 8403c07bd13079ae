/** The animals that a run adds: few, marked with its id, made once and shared by every check that needs one. */
import { contract } from '../../../spec/contract.ts';
import type { Scene } from '../../run/check.ts';
import type { Probe } from '../../run/probe.ts';
import { UNAVAILABLE } from '../../run/target-presence.ts';
import { type AnsweredExchange, type Exchange, isAnswered } from '../../wire/exchange.ts';
import { answeredPet, listedPets, type SeenPet } from '../../wire/pets.ts';
import {
  addPet,
  addText,
  listPets,
  type NewPet,
  OF_ANOTHER,
  type RequestSpec,
  repeatable,
} from '../../wire/requests.ts';

/** An addition that was sent, and the animal that came back where one did. */
export interface Addition {
  readonly label: string;
  readonly sent: NewPet;
  readonly exchange: AnsweredExchange;
  /** The created animal; undefined where the target did not answer 201 with one. */
  readonly pet: (SeenPet & { readonly id: bigint }) | undefined;
}

/**
 * Names of a run's animals begin with this; what was to be refused says so. Where a name is not what a check is about it
 * is short, 20 characters, and of letters: how long a name may be, and of what, is not shown.
 */
export const namePrefix = (runId: string) => `harness-${runId}`;
export const refusedPrefix = (runId: string) => `${namePrefix(runId)} refused`;

/** A number from 0 on as letters: a, b, … z, aa, ab, … */
export const inLetters = (number: number): string =>
  (number < 26 ? '' : inLetters(Math.floor(number / 26) - 1)) + String.fromCharCode(97 + (number % 26));

/**
 * An animal to be added.
 *
 * @param again nothing, or what makes another name of its name: it may have been added already, and nobody knows
 */
type Animal<T extends NewPet = NewPet> = (again: string) => T;

/** Sends one addition and pairs it with what came back. */
export async function add<T extends NewPet>(
  probe: Probe,
  label: string,
  animal: Animal<T>,
  request: (animal: T) => RequestSpec = addPet,
): Promise<Addition> {
  const spec = repeatable((again) => request(animal(again)));
  return additionOf(label, animal, spec, await probe.send(spec));
}

function additionOf(
  label: string,
  animal: Animal,
  { again }: RequestSpec,
  exchange: AnsweredExchange,
): Addition {
  const sent = animal(exchange.request.body === again?.body ? OF_ANOTHER : '');
  const seen = exchange.outcome.status === 201 ? answeredPet(exchange) : undefined;
  const id = seen?.id;
  return { label, sent, exchange, pet: seen === undefined || id === undefined ? undefined : { ...seen, id } };
}

/**
 * Sends additions at the same moment, with the key of one that was admitted before; one after the other where the key's
 * minute does not hold them.
 */
async function addTogether(
  probe: Probe,
  before: readonly Addition[],
  animals: readonly { readonly label: string; readonly animal: Animal }[],
): Promise<readonly Addition[]> {
  const planned = animals.map((one) => ({ ...one, spec: repeatable((again) => addPet(one.animal(again))) }));
  const admitted = before.find(({ exchange }) => exchange.outcome.status === 201)?.exchange.key;
  const key = probe.keys.find(({ name }) => name === (probe.storedKey() ?? admitted));
  const together =
    admitted !== undefined && key !== undefined && probe.quotaLeft(key) >= animals.length
      ? await Promise.all(planned.map(({ spec }) => probe.attempt(spec, key)))
      : [];
  const additions: Addition[] = [];
  for (const [index, { label, animal, spec }] of planned.entries()) {
    const exchange = together[index];
    const first =
      exchange === undefined || key === undefined ? undefined : await probe.answerTo(exchange, spec, key);
    // One that was refused because somebody else spends the key was not added.
    const isOpen = first === undefined || first.outcome.status === 429;
    // Whether a target that is busy did what was asked nobody knows.
    const isBusy = first !== undefined && UNAVAILABLE.has(first.outcome.status);
    const answer = isOpen ? await probe.send(spec) : isBusy ? await probe.send(spec.again ?? spec) : first;
    additions.push(additionOf(label, animal, spec, answer));
  }
  return additions;
}

/** What the run's additions created, by id; without those whose id came twice, since nobody knows which of them it is. */
export function createdAnimals(
  exchanges: readonly Exchange[],
): ReadonlyMap<bigint, { readonly pet: SeenPet; readonly exchange: AnsweredExchange }> {
  const created = new Map<bigint, { pet: SeenPet; exchange: AnsweredExchange }>();
  const twice = new Set<bigint>();
  for (const exchange of exchanges.filter(isAnswered)) {
    if (exchange.request.operation !== 'createPet' || exchange.outcome.status !== 201) continue;
    const pet = answeredPet(exchange);
    if (pet?.id === undefined) continue;
    if (created.has(pet.id)) twice.add(pet.id);
    created.set(pet.id, { pet, exchange });
  }
  for (const id of twice) created.delete(id);
  return created;
}

/** The store before anything was added: as many animals as one list can hold. */
export const storeSample: Scene<{ exchange: AnsweredExchange; pets: readonly SeenPet[] }> = {
  id: 'store-sample',
  spends: { requests: 2 },
  async play(probe) {
    const exchange = await probe.send(listPets({ limit: contract.limit.maximum }));
    const pets = listedPets(exchange) ?? [];
    // Once the run has added its animals no filter is without a match: how such a list is answered is seen now.
    const unmatched = contract.statuses.find((status) => !pets.some((pet) => pet.status === status));
    if (probe.permits('writes') && unmatched !== undefined) await probe.send(listPets({ status: unmatched }));
    return { exchange, pets };
  },
};

/** A categoryId that exists: the profile's, or a listed animal's; undefined where neither names one. */
export async function knownCategoryId(probe: Probe): Promise<bigint | undefined> {
  if (probe.sampleCategoryId !== undefined) return probe.sampleCategoryId;
  const { pets } = await probe.play(storeSample);
  return pets.find((pet) => pet.categoryId !== undefined)?.categoryId;
}

/** A categoryId that exists, as far as can be known, else 1. */
export const categoryId = async (probe: Probe): Promise<bigint> => (await knownCategoryId(probe)) ?? 1n;

/**
 * The same animal in JSON that another program would write: the members in another order, white space between them,
 * and letters escaped (RFC 8259, 2, 4 and 7). The label tells the charset, which JSON has no other of (11).
 */
function writtenOtherwise({ name, categoryId, status }: Required<NewPet>): RequestSpec {
  const escaped = JSON.stringify(name).replace('h', '\\u0068');
  return addText(
    `\n{ "status" : ${JSON.stringify(status)},\r\n\t"name" : ${escaped} ,\n\t"categoryId" : ${categoryId} }\n`,
    [
      ['content-type', 'application/json; charset=utf-8'],
      ['accept', '*/*'],
    ],
  );
}

/** The same animal with escapes that JSON allows and asks of nobody: of a slash, and of a letter beyond the basic plane. */
function escapedMore({ name, categoryId, status }: Required<NewPet>): RequestSpec {
  const escaped = JSON.stringify(name).replaceAll('/', '\\/').replace(PARROT, '\\ud83e\\udd9c');
  return addText(`{"name":${escaped},"categoryId":${categoryId},"status":${JSON.stringify(status)}}`);
}

/**
 * Label of the animal that is like another one. It is added at the same moment as the one without a status, so that the
 * order of these two is nobody's.
 */
export const TWIN = 'one like another';

/** One animal of each status and one without: what most checks need. */
export const basicAnimals: Scene<readonly Addition[]> = {
  id: 'basic-animals',
  permit: 'writes',
  spends: { requests: 5, animals: 5 },
  scenes: [storeSample],
  async play(probe) {
    const category = await categoryId(probe);
    const prefix = namePrefix(probe.runId);
    const additions: Addition[] = [];
    for (const [index, status] of contract.statuses.entries()) {
      const animal = (again: string) => ({
        name: `${prefix}${again} ${status.slice(0, 3)}`,
        categoryId: category,
        status,
      });
      additions.push(await add(probe, status, animal, index === 1 ? writtenOtherwise : addPet));
    }
    const noStatus = {
      label: 'no status',
      animal: (again: string) => ({ name: `${prefix}${again} any`, categoryId: category }),
    };
    // The document makes no field unique but the id: an animal like another one is another animal.
    const like = additions.slice(0, 1).map(({ sent }) => ({ label: TWIN, animal: () => sent }));
    additions.push(...(await addTogether(probe, additions, [noStatus, ...like])));
    // Valid as they are, whatever the key may do: where each of them is forbidden, no key may add.
    if (additions.every(({ exchange }) => exchange.outcome.status === 403)) probe.giveUpAdding();
    return additions;
  },
};

/** Whether the run adds animals: it may by its permissions, and by those of a key. */
export async function adds(probe: Probe): Promise<boolean> {
  if (!probe.permits('writes')) return false;
  await probe.play(basicAnimals);
  return probe.mayAdd;
}

const PARROT = '🦜';

/**
 * A name that tests what the wire does to text: several scripts, letters that change their length with their case,
 * beyond the basic plane, blanks, line ends and marks that are not ASCII, what HTML, JSON, SQL and templates quote.
 */
export const ANY_SCRIPT = `Žofie Ελλη Straße İz 猫 한 🐈‍⬛${PARROT}\u00a0\u2028\ufeff"<b>&amp;'\\/%20+\${7*7}{{7*7}}`;

/** Letters with their accents apart: what Unicode would compose is not the same text. */
export const DECOMPOSED = 'Ame\u0301lie';

/** Longer than the columns and buffers that names are usually cut to. */
const VERY_LONG = 1_100;

/** Animals with values at the edges; a target may refuse them for reasons that the document leaves open. */
export const edgeAnimals: Scene<{
  readonly anyScript: Addition;
  readonly spaced: Addition;
  readonly longName: Addition;
  readonly categories: readonly Addition[];
  readonly unknownCategory: Addition;
  readonly largeCategories: readonly Addition[];
  readonly ownId: Addition & { readonly sentId: bigint };
  readonly unknownField: Addition;
}> = {
  id: 'edge-animals',
  permit: 'writes',
  spends: { requests: 10, animals: 10 },
  scenes: [storeSample],
  async play(probe) {
    const category = await categoryId(probe);
    const prefix = namePrefix(probe.runId);
    const anyScript = await add(
      probe,
      'any script',
      (again) => ({ name: `${prefix}${again} ${ANY_SCRIPT}`, categoryId: category, status: 'sold' }),
      escapedMore,
    );
    const spaced = await add(probe, 'blanks around', (again) => ({
      name: `  ${prefix}${again}\t${DECOMPOSED}\r\n `,
      categoryId: category,
      status: 'available',
    }));
    const longName = await add(probe, '255 characters', (again) => ({
      name: `${prefix}${again} long `.padEnd(255, 'abcdefghij'),
      categoryId: category,
      status: 'sold',
    }));
    const ofCategory = (value: bigint, name: (again: string) => string) =>
      add(probe, `categoryId ${value}`, (again) => ({
        name: name(again),
        categoryId: value,
        status: 'pending',
      }));
    const named = (rest: string) => (again: string) => `${prefix}${again} ${rest}`;
    // Beyond 2^53 a double loses the last digit, on either side of 0; the last one is the largest int64.
    const beyondDouble = await ofCategory(9_007_199_254_740_993n, named('big'));
    // Texts that look like another type of value, so that they cannot begin with the run's id; few servers take them
    // for one, and those that do lose the name, or the 0 that it begins with.
    const digits = (again: string) =>
      `0${10n ** 11n + probe.random(`name of digits${again}`, 9n * 10n ** 11n)}`;
    const lookalikes = [
      await ofCategory(-9_223_372_036_854_775_807n, digits),
      await ofCategory(0n, () => 'null'),
    ];
    // U+0000 ends a text in some languages, and no name.
    const veryLong = (again: string) =>
      `${`${prefix}${again} very long `.padEnd(VERY_LONG, 'abcdefghij')}\0end`;
    const largeCategories = [beyondDouble, await ofCategory(9_223_372_036_854_775_807n, veryLong)];
    // Hardly a category that exists, and within 32 bits: whoever accepts it does not ask whether a category exists.
    const unknownCategory = await ofCategory(
      10n ** 8n + probe.random('unknown category', 10n ** 9n),
      named('new'),
    );
    // In the order of adding.
    const categories = [beyondDouble, ...lookalikes, ...largeCategories.slice(1), unknownCategory];
    const sentId = 10n ** 16n + probe.random('own id', 9n * 10n ** 16n);
    const ownId = await add(probe, 'an id of its own', (again) => ({
      id: sentId,
      name: `${prefix}${again} own`,
      categoryId: category,
      status: 'available',
    }));
    const unknownField = await add(probe, 'an unknown field', (again) => ({
      name: `${prefix}${again} odd`,
      categoryId: category,
      harnessNote: 'not a field of NewPet',
      // The newest animal is one that a filter shows.
      status: 'pending',
    }));
    return {
      anyScript,
      spaced,
      longName,
      categories,
      unknownCategory,
      largeCategories,
      ownId: { ...ownId, sentId },
      unknownField,
    };
  },
};

/** One more than a list without limit may hold: fewer would not show its default. */
const ENOUGH_FOR_DEFAULT = contract.limit.default + 1;
/** What the basic animals and the edge animals add where nothing is refused. */
const ADDED_ANYWAY = 15;

/** Fills a store that holds few animals up to one more than the default page. */
export const enoughAnimals: Scene<readonly Addition[]> = {
  id: 'enough-animals',
  permit: 'writes',
  spends: { requests: ENOUGH_FOR_DEFAULT, animals: ENOUGH_FOR_DEFAULT - ADDED_ANYWAY },
  scenes: [storeSample, basicAnimals, edgeAnimals],
  async play(probe) {
    const { pets } = await probe.play(storeSample);
    const basic = await probe.play(basicAnimals);
    const edge = await probe.play(edgeAnimals);
    const added = [
      ...basic,
      edge.anyScript,
      edge.spaced,
      edge.longName,
      ...edge.categories,
      edge.ownId,
      edge.unknownField,
    ];
    const created = added.filter((addition) => addition.pet !== undefined).length;
    const category = await categoryId(probe);
    const missing = created === 0 ? 0 : ENOUGH_FOR_DEFAULT - pets.length - created;
    const additions: Addition[] = [];
    for (let index = 0; index < missing; index += 1) {
      const status = contract.statuses[index % contract.statuses.length];
      additions.push(
        await add(probe, 'to fill a page', (again) => ({
          name: `${namePrefix(probe.runId)}${again} f${inLetters(index)}`,
          categoryId: category,
          ...(status === undefined ? {} : { status }),
        })),
      );
    }
    // In the order of adding, which shows how ids are assigned and in which order they are listed.
    return [...added, ...additions].sort((a, b) => a.exchange.sentAt - b.exchange.sentAt);
  },
};
