/** The animals that a run adds: few, marked with its id, added once and shared by every check. */
import { LIMIT, PET_STATUSES } from '../../../spec/operations.ts';
import { otherKeys } from '../../profile/key.ts';
import { Inconclusive, NO_KEY_MAY_ADD } from '../../run/reason.ts';
import { drawNumber, type RunFacts } from '../../run/run-facts.ts';
import { type Payer, type SceneRun, scene } from '../../run/scene.ts';
import type { Trace } from '../../run/trace.ts';
import type { AnsweredExchange } from '../../wire/exchange.ts';
import { answeredPet, listedPets, type SeenPet } from '../../wire/pets.ts';
import { addPet, addText, listPets, type NewPet, type RequestSpec, repeatable } from '../../wire/requests.ts';

/** An animal that can be asked for. */
export type KnownPet = SeenPet & { readonly id: bigint };

/** Additions by what is special about them. */
export type Additions = Readonly<Record<string, AnsweredExchange>>;

/** The animal that an addition brought, if it can be asked for. */
export function createdBy(exchange: AnsweredExchange): KnownPet | undefined {
  const isAddition = exchange.request.operation === 'createPet' && exchange.outcome.status === 201;
  const pet = isAddition ? answeredPet(exchange) : undefined;
  return pet?.id === undefined ? undefined : { ...pet, id: pet.id };
}

/**
 * Names of a run's animals begin with this, and those of additions that must be refused say so. Unless a check is about
 * names, they are 20 letters long: which lengths and characters are allowed is "not shown".
 */
export const namePrefix = (runId: string) => `harness-${runId}`;
export const refusedPrefix = (runId: string) => `${namePrefix(runId)} refused`;

/** Writes a number in letters, counting from 0: a, b, … z, aa, ab, … */
export const inLetters = (number: number): string =>
  (number < 26 ? '' : inLetters(Math.floor(number / 26) - 1)) + String.fromCharCode(97 + (number % 26));

/**
 * Sends one addition, remembered by itself so that a resumed run does not add the animal twice.
 *
 * @param request builds the addition; its argument varies the name when it has to be repeated
 */
export const add = (
  run: SceneRun,
  label: string,
  request: (again: string) => RequestSpec,
  by: Payer = {},
): Promise<AnsweredExchange> =>
  run.remember(`${run.part.id}:${label}`, (part) => part.send(repeatable(request), by));

/** The store before anything was added: as many animals as one list can hold. */
export const storeSample = scene('store-sample', {}, async (run): Promise<AnsweredExchange> => {
  const sample = await run.send(listPets({ limit: LIMIT.maximum }));
  // Once the run has added its animals, every filter has a match. An empty result can be seen only now.
  const unmatched = PET_STATUSES.find((status) => !listedPets(sample)?.some((pet) => pet.status === status));
  if (run.facts.permissions.has('writes') && unmatched !== undefined)
    await run.send(listPets({ status: unmatched }));
  return sample;
});

/** A categoryId that exists: the profile's, or that of a listed animal; undefined if there is neither. */
export const knownCategoryId = (facts: RunFacts, sample: AnsweredExchange | undefined): bigint | undefined =>
  facts.sampleCategoryId ?? (sample && listedPets(sample))?.flatMap(({ categoryId }) => categoryId ?? [])[0];

/** A categoryId that exists as far as the run knows, otherwise 1. */
export const categoryOf = (facts: RunFacts, sample: AnsweredExchange | undefined): bigint =>
  knownCategoryId(facts, sample) ?? 1n;

/** Whether an addition may have been forbidden for its key, because that key never added anything. */
export const mayLackPermission = (exchange: AnsweredExchange, trace: Trace): boolean =>
  exchange.outcome.status === 403 &&
  !trace.readings.some(
    ({ key, operation, status }) => key === exchange.key && operation === 'createPet' && status < 300,
  );

/**
 * The same animal as another program might write it in JSON: members in another order, white space between them, a
 * letter, a slash and a character beyond the basic plane escaped (RFC 8259, 2, 4 and 7). Its label states the charset,
 * the only one that JSON has (11).
 */
function writtenOtherwise({ name, categoryId, status }: Required<NewPet>): RequestSpec {
  const escaped = JSON.stringify(name)
    .replace('h', '\\u0068')
    .replaceAll('/', '\\/')
    .replace(PARROT, '\\ud83e\\udd9c');
  return addText(
    `\n{ "status" : ${JSON.stringify(status)},\r\n\t"name" : ${escaped} ,\n\t"categoryId" : ${categoryId} }\n`,
    [
      ['content-type', 'application/json; charset=utf-8'],
      ['accept', '*/*'],
    ],
  );
}

/** Label of the animal that is identical to another one: only the id is unique in the document. */
export const TWIN = 'twin';
export const NO_STATUS = 'no-status';

/** The basic animals: one of each status, one without, and the twin of the first. */
const BASIC = PET_STATUSES.length + 2;

/** One animal of each status and one without: what most checks need. */
export const basicAnimals = scene('basic-animals', { permit: 'writes' }, async (run): Promise<Additions> => {
  const sample = await run.play(storeSample);
  const categoryId = categoryOf(run.facts, sample);
  // A defect of one plan shows only there.
  const others = otherKeys(run.keys, { name: sample.key });
  const prefix = namePrefix(run.facts.id);
  const additions: Record<string, AnsweredExchange> = {};
  for (const [index, status] of PET_STATUSES.entries()) {
    const write = index === 1 ? writtenOtherwise : addPet;
    const name = (again: string) => `${prefix}${again} ${status.slice(0, 3)}`;
    const request = (again: string) => write({ name: name(again), categoryId, status });
    additions[status] = await add(run, status, request, { preferred: others[index] });
  }
  const [first] = Object.values(additions);
  additions[NO_STATUS] = await add(run, NO_STATUS, (again) =>
    addPet({ name: `${prefix}${again} any`, categoryId }),
  );
  additions[TWIN] = await add(run, TWIN, () => addText(first?.request.body));
  return additions;
});

/**
 * Ends a scene whose additions would be in vain: if every one of the valid basic animals was forbidden, no key may add.
 *
 * @throws Inconclusive if at least that many additions were sent and all were answered 403
 */
export function throwIfNobodyMayAdd({ keys, trace }: SceneRun): void {
  const additions = keys
    .flatMap((key) => trace.readingsOf(key))
    .filter(({ operation }) => operation === 'createPet');
  if (additions.length >= BASIC && additions.every(({ status }) => status === 403))
    throw new Inconclusive(NO_KEY_MAY_ADD);
}

const PARROT = '🦜';

/**
 * A name that tests how text survives the wire. It has several scripts, letters whose length changes with their case,
 * characters beyond the basic plane, non-ASCII blanks, line ends and marks, and characters that HTML, JSON, SQL and
 * templates escape.
 */
const ANY_SCRIPT = `Žofie Ελλη Straße İz 猫 한 🐈‍⬛${PARROT}\u00a0\u2028\ufeff"<b>&amp;'\\/%20+\${7*7}{{7*7}}`;

/** Letters with combining accents: their composed form is a different text. */
const DECOMPOSED = 'Ame\u0301lie';

/** Longer than the usual columns and buffers that cut names off. */
const VERY_LONG = 1_100;

/** Animals with edge values, which a target may refuse for reasons that the document leaves open. */
export const edgeAnimals = scene('edge-animals', { permit: 'writes' }, async (run) => {
  const sample = await run.play(storeSample);
  throwIfNobodyMayAdd(run);
  // A list without parameters that shows a small store whole: later it must show more, or it is an old one.
  if ((listedPets(sample)?.length ?? 0) < LIMIT.default) await run.send(listPets());
  const categoryId = categoryOf(run.facts, sample);
  const prefix = namePrefix(run.facts.id);
  const edge = (
    label: string,
    status: string,
    name: (again: string) => string,
    { id, category = categoryId }: { readonly id?: bigint; readonly category?: bigint } = {},
  ) => add(run, label, (again) => addPet({ id, name: name(again), categoryId: category, status }));
  const ofCategory = (category: bigint, name: (again: string) => string) =>
    edge(`category-${category}`, 'pending', name, { category });
  return {
    anyScript: await add(run, 'any-script', (again) =>
      writtenOtherwise({ name: `${prefix}${again} ${ANY_SCRIPT}`, categoryId, status: 'sold' }),
    ),
    spaced: await edge('spaced', 'available', (again) => `  ${prefix}${again}\t${DECOMPOSED}\r\n `),
    // Beyond 2^53 a double loses the last digit, on either side of 0.
    beyondDouble: await ofCategory(9_007_199_254_740_993n, (again) => `${prefix}${again} big`),
    // A name that looks like another type, which is why it cannot begin with the run's id. A server that converts it
    // loses the name, or its leading 0.
    negative: await ofCategory(
      -9_223_372_036_854_775_807n,
      (again) => `0${10n ** 11n + drawNumber(run.facts, `name of digits${again}`, 9n * 10n ** 11n)}`,
    ),
    zero: await ofCategory(0n, () => 'null'),
    // The largest int64; and U+0000, which ends a string in some languages, but not a name.
    largest: await ofCategory(
      9_223_372_036_854_775_807n,
      (again) => `${`${prefix}${again} very long `.padEnd(VERY_LONG, 'abcdefghij')}\0end`,
    ),
    // Within 32 bits, but hardly an existing category: a target that accepts it does not check categories.
    unknownCategory: await ofCategory(
      10n ** 8n + drawNumber(run.facts, 'unknown category', 10n ** 9n),
      (again) => `${prefix}${again} new`,
    ),
    longName: await edge('long-name', 'sold', (again) => `${prefix}${again} long `.padEnd(255, 'abcdefghij')),
    // Pending, so that a filter shows the newest animal.
    ownId: await edge('own-id', 'pending', (again) => `${prefix}${again} own`, {
      id: 10n ** 16n + drawNumber(run.facts, 'own id', 9n * 10n ** 16n),
    }),
  };
});

/** One more than a list without limit may hold: with fewer animals the default would not show. */
const ENOUGH_FOR_DEFAULT = LIMIT.default + 1;
/** Labels of the animals that fill up the store begin with this. */
export const FILLER = 'filler-';

/** All additions, in order: those above, and more where the store would be no larger than the default page. */
export const enoughAnimals = scene(
  'enough-animals',
  { permit: 'writes' },
  async (run): Promise<Additions> => {
    const sample = await run.play(storeSample);
    const additions = { ...(await run.play(basicAnimals)), ...(await run.play(edgeAnimals)) };
    // Other keys may not be shown what a key adds.
    const created = Object.values(additions).filter((one) => one.key === sample.key && createdBy(one)).length;
    const stored = listedPets(sample)?.length ?? 0;
    const missing = created === 0 ? 0 : ENOUGH_FOR_DEFAULT - stored - created;
    const categoryId = categoryOf(run.facts, sample);
    const fillers: Record<string, AnsweredExchange> = {};
    for (let index = 0; index < missing; index += 1) {
      const letters = inLetters(index);
      const status = PET_STATUSES[index % PET_STATUSES.length];
      const name = (again: string) => `${namePrefix(run.facts.id)}${again} f${letters}`;
      const label = `${FILLER}${letters}`;
      fillers[label] = await add(run, label, (again) => addPet({ name: name(again), categoryId, status }));
    }
    return { ...additions, ...fillers };
  },
);
