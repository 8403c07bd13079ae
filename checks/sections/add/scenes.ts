/** The animals that a run adds: few, marked with its id, added once and shared by every check. */
import { contract } from '../../../spec/contract.ts';
import type { Probe } from '../../run/probe.ts';
import type { RunFacts } from '../../run/run-facts.ts';
import { drawNumber } from '../../run/run-facts.ts';
import { optional, scene } from '../../run/scene.ts';
import { NO_KEY_MAY_ADD } from '../../run/sending/functional-keys.ts';
import type { Trace } from '../../run/trace.ts';
import { Unsettled } from '../../run/unsettled.ts';
import { type AnsweredExchange, type Exchange, isAnswered } from '../../wire/exchange.ts';
import { answeredPet, listedPets, type SeenPet, sentPet } from '../../wire/pets.ts';
import { addPet, addText, listPets, type NewPet, type RequestSpec, repeatable } from '../../wire/requests.ts';

/** An addition that was sent, and the animal that came back, if any. */
export interface Addition {
  /** Unique within its scene. */
  readonly label: string;
  readonly exchange: AnsweredExchange;
  /** The fields of the request body. */
  readonly sent: Partial<SeenPet>;
  /** The created animal; undefined where the target did not answer 201 with one. */
  readonly pet: (SeenPet & { readonly id: bigint }) | undefined;
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
 * Sends one addition of a scene, stored as a part of its own so that a resumed run does not add the animal twice.
 *
 * @param request builds the addition; its argument varies the name when it has to be repeated
 */
async function add(
  probe: Probe,
  sceneId: string,
  label: string,
  request: (again: string) => RequestSpec,
): Promise<Addition> {
  const play = (part: Probe) => part.send(repeatable(request));
  const exchange = await probe.part({ id: `${sceneId}:${label}`, play });
  const seen = exchange.outcome.status === 201 ? answeredPet(exchange) : undefined;
  const pet = seen?.id === undefined ? undefined : { ...seen, id: seen.id };
  return { label, exchange, sent: sentPet(exchange) ?? {}, pet };
}

/** Those beside which no other one was under way: their order is known. */
export const addedInTurn = <A extends Pick<Addition, 'exchange'>>(all: readonly A[]): readonly A[] =>
  all.filter(({ exchange: one }) =>
    all.every(
      ({ exchange: other }) =>
        one === other || other.receivedAt <= one.sentAt || other.sentAt >= one.receivedAt,
    ),
  );

/** Ids that two additions got, or that an older animal already had: which of the two is shown is unknown. */
export function sharedIds(exchanges: readonly Exchange[]): ReadonlySet<bigint> {
  const known = new Set<bigint>();
  const shared = new Set<bigint>();
  let hasAdded = false;
  const answers = exchanges.filter(isAnswered);
  const isAddition = ({ request, outcome }: AnsweredExchange) =>
    request.operation === 'createPet' && outcome.status === 201;
  // Large lists are read anew each time: not where nothing was added that could share.
  if (!answers.some((exchange) => isAddition(exchange) && answeredPet(exchange)?.id !== undefined))
    return shared;
  for (const exchange of answers) {
    hasAdded ||= isAddition(exchange);
    const added = isAddition(exchange) ? answeredPet(exchange)?.id : undefined;
    if (added !== undefined && known.has(added)) shared.add(added);
    if (added !== undefined) known.add(added);
    // Later lists also show the run's own animals.
    if (!hasAdded && exchange.request.operation === 'listPets')
      for (const { id } of listedPets(exchange) ?? []) if (id !== undefined) known.add(id);
  }
  return shared;
}

/** The animals that the run created, by id, except those that share an id. */
export function createdAnimals(
  exchanges: readonly Exchange[],
): ReadonlyMap<bigint, { readonly pet: SeenPet; readonly exchange: AnsweredExchange }> {
  const created = new Map<bigint, { pet: SeenPet; exchange: AnsweredExchange }>();
  const shared = sharedIds(exchanges);
  for (const exchange of exchanges.filter(isAnswered)) {
    if (exchange.request.operation !== 'createPet' || exchange.outcome.status !== 201) continue;
    const pet = answeredPet(exchange);
    if (pet?.id !== undefined && !shared.has(pet.id)) created.set(pet.id, { pet, exchange });
  }
  return created;
}

/** The store before anything was added: as many animals as one list can hold. */
export interface StoreSample {
  readonly exchange: AnsweredExchange;
  readonly pets: readonly SeenPet[];
}

export const storeSample = scene('store-sample', { requests: 2 }, async (probe): Promise<StoreSample> => {
  const exchange = await probe.send(listPets({ limit: contract.limit.maximum }));
  const pets = listedPets(exchange) ?? [];
  // Once the run has added its animals, every filter has a match. An empty result can be seen only now.
  const unmatched = contract.statuses.find((status) => !pets.some((pet) => pet.status === status));
  if (probe.run.permissions.has('writes') && unmatched !== undefined)
    await probe.send(listPets({ status: unmatched }));
  return { exchange, pets };
});

/** A categoryId that exists: the profile's, or that of a listed animal; undefined if there is neither. */
export const knownCategoryId = (run: RunFacts, sample: StoreSample | undefined): bigint | undefined =>
  run.sampleCategoryId ?? sample?.pets.find(({ categoryId }) => categoryId !== undefined)?.categoryId;

/** A categoryId that exists as far as the run knows, otherwise 1. */
export const categoryOf = (run: RunFacts, sample: StoreSample | undefined): bigint =>
  knownCategoryId(run, sample) ?? 1n;

/** Whether an addition may have been forbidden for its key, because that key never added anything. */
export const mayLackPermission = (exchange: AnsweredExchange, trace: Trace): boolean =>
  exchange.outcome.status === 403 &&
  !trace.readings.some(
    ({ key, operation, status }) => key === exchange.key && operation === 'createPet' && status < 300,
  );

/**
 * The same animal as another program might write it in JSON: members in another order, white space between them,
 * letters escaped (RFC 8259, 2, 4 and 7). Its label states the charset, the only one that JSON has (11).
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

/** The same animal with optional JSON escapes: of a slash, and of a character beyond the basic plane. */
function escapedMore({ name, categoryId, status }: Required<NewPet>): RequestSpec {
  const escaped = JSON.stringify(name).replaceAll('/', '\\/').replace(PARROT, '\\ud83e\\udd9c');
  return addText(`{"name":${escaped},"categoryId":${categoryId},"status":${JSON.stringify(status)}}`);
}

/**
 * Label of the animal that is identical to another one. It is added at the same moment as the one without a status, so
 * the order of the two is undefined.
 */
export const TWIN = 'twin';
const NO_STATUS = 'no-status';

/** The basic animals: one of each status, one without, and the twin of the first. */
const BASIC = contract.statuses.length + 2;

/** One animal of each status and one without: what most checks need. */
export const basicAnimals = scene(
  'basic-animals',
  { permit: 'writes', needs: { sample: storeSample }, requests: BASIC, animals: BASIC },
  async (probe, { sample }): Promise<readonly Addition[]> => {
    const categoryId = categoryOf(probe.run, sample);
    const prefix = namePrefix(probe.run.id);
    const additions: Addition[] = [];
    for (const [index, status] of contract.statuses.entries()) {
      const write = index === 1 ? writtenOtherwise : addPet;
      additions.push(
        await add(probe, 'basic-animals', status, (again) =>
          write({ name: `${prefix}${again} ${status.slice(0, 3)}`, categoryId, status }),
        ),
      );
    }
    const atOnce = await Promise.all([
      add(probe, 'basic-animals', NO_STATUS, (again) =>
        addPet({ name: `${prefix}${again} any`, categoryId }),
      ),
      // Only the id is unique in the document: an identical animal is another animal.
      add(probe, 'basic-animals', TWIN, () => addText(additions[0]?.exchange.request.body)),
    ]);
    return [...additions, ...atOnce];
  },
);

/** Whether the run adds animals: it has the permission, and so has one of its keys. */
export const mayAddAnimals = (run: RunFacts, basic: readonly Addition[] | undefined): boolean =>
  run.permissions.has('writes') && basic?.some(({ exchange }) => exchange.outcome.status !== 403) === true;

/**
 * Ends a scene whose additions would be in vain: if every one of the valid basic animals was forbidden, no key may add.
 *
 * @throws Unsettled if at least that many additions were sent and all were answered 403
 */
export function throwIfNobodyMayAdd(probe: Probe): void {
  const additions = probe.keys
    .flatMap((key) => probe.trace.readingsOf(key))
    .filter(({ operation }) => operation === 'createPet');
  if (additions.length >= BASIC && additions.every(({ status }) => status === 403))
    throw new Unsettled(NO_KEY_MAY_ADD);
}

const PARROT = '🦜';

/**
 * A name that tests how text survives the wire. It has several scripts, letters whose length changes with their case,
 * characters beyond the basic plane, non-ASCII blanks, line ends and marks, and characters that HTML, JSON, SQL and
 * templates escape.
 */
export const ANY_SCRIPT = `Žofie Ελλη Straße İz 猫 한 🐈‍⬛${PARROT}\u00a0\u2028\ufeff"<b>&amp;'\\/%20+\${7*7}{{7*7}}`;

/** Letters with combining accents: their composed form is a different text. */
export const DECOMPOSED = 'Ame\u0301lie';

/** Longer than the usual columns and buffers that cut names off. */
const VERY_LONG = 1_100;

/** A list without parameters that shows a small store whole: later it must show more, or it is an old one. */
const usualListBefore = scene(
  'usual-list-before',
  { permit: 'writes', needs: { sample: storeSample }, requests: 1 },
  async (probe, { sample }) => {
    throwIfNobodyMayAdd(probe);
    if (sample.pets.length < contract.limit.default) await probe.send(listPets());
  },
);

/** Animals with edge values, which a target may refuse for reasons that the document leaves open. */
export const edgeAnimals = scene(
  'edge-animals',
  {
    permit: 'writes',
    needs: { sample: storeSample, usual: optional(usualListBefore) },
    requests: 10,
    animals: 10,
  },
  async (probe, { sample }) => {
    throwIfNobodyMayAdd(probe);
    const categoryId = categoryOf(probe.run, sample);
    const prefix = namePrefix(probe.run.id);
    const edge = (label: string, request: (again: string) => RequestSpec) =>
      add(probe, 'edge-animals', label, request);
    const ofCategory = (value: bigint, name: (again: string) => string) =>
      edge(`category-${value}`, (again) =>
        addPet({ name: name(again), categoryId: value, status: 'pending' }),
      );
    // Names that look like another type, which is why they cannot begin with the run's id. A server that converts them
    // loses the name, or its leading 0.
    const digits = (again: string) =>
      `0${10n ** 11n + drawNumber(probe.run, `name of digits${again}`, 9n * 10n ** 11n)}`;
    // Within 32 bits, but hardly an existing category: a target that accepts it does not check categories.
    const unknown = 10n ** 8n + drawNumber(probe.run, 'unknown category', 10n ** 9n);
    const [anyScript, spaced, beyondDouble, negative, zero, largest, unknownCategory] = await Promise.all([
      edge('any-script', (again) =>
        escapedMore({ name: `${prefix}${again} ${ANY_SCRIPT}`, categoryId, status: 'sold' }),
      ),
      edge('spaced', (again) =>
        addPet({ name: `  ${prefix}${again}\t${DECOMPOSED}\r\n `, categoryId, status: 'available' }),
      ),
      // Beyond 2^53 a double loses the last digit, on either side of 0.
      ofCategory(9_007_199_254_740_993n, (again) => `${prefix}${again} big`),
      ofCategory(-9_223_372_036_854_775_807n, digits),
      ofCategory(0n, () => 'null'),
      // The largest int64; and U+0000, which ends a string in some languages, but not a name.
      ofCategory(
        9_223_372_036_854_775_807n,
        (again) => `${`${prefix}${again} very long `.padEnd(VERY_LONG, 'abcdefghij')}\0end`,
      ),
      ofCategory(unknown, (again) => `${prefix}${again} new`),
    ]);
    // The others one by one: their order shows how ids are assigned and lists are sorted, and what each costs.
    const longName = await edge('long-name', (again) =>
      addPet({ name: `${prefix}${again} long `.padEnd(255, 'abcdefghij'), categoryId, status: 'sold' }),
    );
    const sentId = 10n ** 16n + drawNumber(probe.run, 'own id', 9n * 10n ** 16n);
    const ownId = await edge('own-id', (again) =>
      addPet({ id: sentId, name: `${prefix}${again} own`, categoryId, status: 'available' }),
    );
    const harnessNote = 'not a field of NewPet';
    // Pending, so that a filter shows the newest animal.
    const unknownField = await edge('unknown-field', (again) =>
      addPet({ name: `${prefix}${again} odd`, categoryId, harnessNote, status: 'pending' }),
    );
    const together = { anyScript, spaced, beyondDouble, negative, zero, largest, unknownCategory };
    return { ...together, longName, ownId, unknownField };
  },
);

/** One more than a list without limit may hold: with fewer animals the default would not show. */
const ENOUGH_FOR_DEFAULT = contract.limit.default + 1;
/** How many animals the basic and the edge animals are, if none is refused. */
const ADDED_ANYWAY = 15;
/** Labels of the animals that fill up the store begin with this. */
export const FILLER = 'filler-';

/** Fills up a small store to one animal more than the default page. */
export const enoughAnimals = scene(
  'enough-animals',
  {
    permit: 'writes',
    needs: { sample: storeSample, basic: basicAnimals, edge: edgeAnimals },
    requests: ENOUGH_FOR_DEFAULT - 1,
    animals: ENOUGH_FOR_DEFAULT - ADDED_ANYWAY,
  },
  async (probe, { sample, basic, edge }): Promise<readonly Addition[]> => {
    const added = [...basic, ...Object.values(edge)];
    const created = added.filter(({ pet }) => pet !== undefined).length;
    const missing = created === 0 ? 0 : ENOUGH_FOR_DEFAULT - sample.pets.length - created;
    const additions: Addition[] = [];
    for (let index = 0; index < missing; index += 1) {
      const letters = inLetters(index);
      additions.push(
        await add(probe, 'enough-animals', `${FILLER}${letters}`, (again) =>
          addPet({
            name: `${namePrefix(probe.run.id)}${again} f${letters}`,
            categoryId: categoryOf(probe.run, sample),
            status: contract.statuses[index % contract.statuses.length],
          }),
        ),
      );
    }
    // In the order of adding: it shows how ids are assigned and how lists are sorted.
    return [...added, ...additions].sort((a, b) => a.exchange.sentAt - b.exchange.sentAt);
  },
);
