/** Section 4.3: GET /pets/{petId}, for as long as it exists. */
import { contract } from '../../../spec/contract.ts';
import { type Check, type GapObserver, type Judge, type Scene, Unsettled } from '../../run/check.ts';
import type { Key } from '../../run/key-pool.ts';
import type { Probe } from '../../run/probe.ts';
import { type AnsweredExchange, isAnswered } from '../../wire/exchange.ts';
import { answeredPet, bodyOf, described, type SeenPet } from '../../wire/pets.ts';
import { getPet } from '../../wire/requests.ts';
import { schemaProblem } from '../../wire/schema.ts';
import { adds, createdAnimals, enoughAnimals } from '../add/scenes.ts';
import { otherKeys } from '../keys/other-keys.ts';
import { differences, judgeUnchanged } from '../list/checks.ts';
import { lists, shows, take, VISIBLE_WITHIN } from '../list/scenes.ts';
import { removal } from './removal.ts';

/** An animal that the run knows, and what the target returned for its id. */
interface Retrieval {
  readonly known: SeenPet & { readonly id: bigint };
  /** The exchange that showed the animal: its creation, or a list. */
  readonly shownBy: AnsweredExchange;
  readonly own: boolean;
  readonly exchange: AnsweredExchange;
}

const LONGEST = { limit: contract.limit.maximum };
const NO_NUMBER = 'abc';
const BEYOND_DOUBLE = 2n ** 53n;
const LARGEST = 2n ** 63n - 1n;
const SMALLEST = -(2n ** 63n);
/** Own animals that are retrieved: the basic ones, then those with edge values. */
const OWN_RETRIEVED = 8;

/**
 * Animals of the run by their ids, and of somebody else's the first and the last of a list, of which one is older, and
 * one whose id a double cannot hold.
 */
export const retrievals: Scene<readonly Retrieval[]> = {
  id: 'retrievals',
  spends: { requests: OWN_RETRIEVED + 3 },
  scenes: [lists],
  async play(probe) {
    const { all } = await probe.play(lists);
    const additions = (await adds(probe)) ? await probe.play(enoughAnimals) : [];
    const own = additions
      .filter(
        ({ label, sent }) =>
          label === 'any script' || label.startsWith('categoryId') || label === (sent.status ?? 'no status'),
      )
      .flatMap(({ pet, exchange }) =>
        pet === undefined ? [] : [{ known: pet, shownBy: exchange, own: true }],
      )
      .slice(0, OWN_RETRIEVED);
    const foreign = (all.pets ?? []).flatMap((pet) => {
      const { id } = pet;
      return id === undefined || additions.some((addition) => addition.pet?.id === id)
        ? []
        : [{ known: { ...pet, id }, shownBy: all.exchange, own: false }];
    });
    const ends = [...foreign.slice(0, 1), ...foreign.slice(1).slice(-1)];
    const large = foreign.find((animal) => animal.known.id > BEYOND_DOUBLE && !ends.includes(animal));
    const asked = [...own, ...ends, ...(large === undefined ? [] : [large])];
    if (asked.length === 0) throw new Unsettled('the store is empty, and nothing could be added');
    const retrieved: Retrieval[] = [];
    // One patience for all: the first that is late waits for those that were added after it as well.
    const pauses = [...VISIBLE_WITHIN];
    for (const animal of asked) {
      let exchange = await probe.send(getPet(animal.known.id));
      while (animal.own && exchange.outcome.status === 404) {
        const pause = pauses.shift();
        if (pause === undefined) break;
        await probe.waitUntil(probe.now() + pause, 'an animal that was just added to be served');
        exchange = await probe.send(getPet(animal.known.id));
      }
      retrieved.push({ ...animal, exchange });
    }
    return retrieved;
  },
};

/** An id that no animal has, at random far above what a store counts to, and then a retrieved animal once more. */
const retrievedAgain: Scene<{
  readonly unknown: AnsweredExchange;
  readonly again: Retrieval | undefined;
}> = {
  id: 'retrieved-again',
  spends: { requests: 2 },
  scenes: [retrievals],
  async play(probe) {
    const retrieved = await probe.play(retrievals);
    const served = retrieved.find(({ exchange }) => exchange.outcome.status === 200);
    const unknown = await probe.send(getPet(2n ** 61n + probe.random('unknown id', 2n ** 61n)));
    if (served === undefined) return { unknown, again: undefined };
    const exchange = await probe.send(getPet(served.known.id));
    return { unknown, again: { ...served, shownBy: served.exchange, exchange } };
  },
};

/** Answers of an operation that does not exist: gone, moved, not allowed, not implemented. */
export function isGone({ outcome }: AnsweredExchange): boolean {
  return [405, 410, 501].includes(outcome.status) || (outcome.status >= 300 && outcome.status < 400);
}

/** Runs a judgement of GET /pets/{petId} only while the document says that the operation exists. */
export function whileItExists(run: (probe: Probe, judge: Judge) => Promise<void>) {
  return async (probe: Probe, judge: Judge) => {
    const retrieved = await probe.play(retrievals);
    const phase = removal(probe.targetClock.at(probe.now()));
    if (phase !== 'before')
      return judge.notApplicable('the operation is past its removal date by the target’s clock');
    if (retrieved.every(({ exchange }) => isGone(exchange)))
      return judge.unsettled('the operation is gone (see get-until-removal)');
    await run(probe, judge);
  };
}

/** Whether somebody else changed or removed an animal since it was listed, as the list may still show. */
async function stillListed(probe: Probe, { known }: Retrieval): Promise<SeenPet | undefined> {
  const again = await take(probe, LONGEST);
  return again.pets?.find(({ id }) => id === known.id);
}

/**
 * Whether lists go on to show somebody else's animal as they did, and retrievals another one as they did: where either
 * changes, somebody else is at work on it.
 */
async function staysDifferent(probe: Probe, retrieval: Retrieval, retrieved: SeenPet): Promise<boolean> {
  const { known } = retrieval;
  const before = await stillListed(probe, retrieval);
  const again = answeredPet(await probe.send(getPet(known.id)));
  const after = await stillListed(probe, retrieval);
  if (before === undefined || again === undefined || after === undefined) return false;
  const isSame = (a: SeenPet, b: SeenPet) => differences(a, b).length === 0;
  return isSame(known, before) && isSame(before, after) && isSame(retrieved, again);
}

/** Whether a key finds an animal within a client's patience. */
async function isServedLate(probe: Probe, id: bigint, key: Key): Promise<boolean> {
  for (const pause of VISIBLE_WITHIN) {
    await probe.waitUntil(probe.now() + pause, `animal ${id} to be served with key ${key.name}`);
    const { outcome } = await probe.send(getPet(id), { key });
    if (outcome.status !== 404) return true;
  }
  return false;
}

/**
 * Retrieves one animal with every other key. What a key may see is open (5, scopes), so that an animal that a key does
 * not find is held against the target only where the same key goes on listing it.
 */
async function asOtherKeys(probe: Probe, judge: Judge, retrieved: readonly Retrieval[]): Promise<void> {
  const served = retrieved.find(({ exchange }) => exchange.outcome.status === 200);
  if (served === undefined) return;
  const { id } = served.known;
  for (const key of probe.keys.filter(({ name }) => name !== served.exchange.key)) {
    const list = async () => take(probe, LONGEST, { key });
    const exchange = await probe.send(getPet(id), { key });
    if (exchange.outcome.status === 200) judge.holds(exchange);
    if (exchange.outcome.status !== 404 || !shows(await list(), id)) continue;
    if (await isServedLate(probe, id, key)) continue;
    const listed = await list();
    if (!shows(listed, id)) continue;
    judge.breaks(
      { expected: `200 for animal ${id}, which key ${key.name} lists`, actual: described(exchange) },
      exchange,
      listed.exchange,
    );
  }
}

const magnitude = (id: bigint) => (id < 0n ? -id : id);

/** Ids that hardly any animal has: the largest int64, and ids that a careless reading takes for a known one. */
function unknownIds(known: readonly bigint[]): bigint[] {
  // Next to an id beyond 2^53 lies one that a double cannot tell from it.
  const neighbours = known
    .filter((id) => id > BEYOND_DOUBLE && id < LARGEST - 1n)
    .map((id) => (id % 2n === 0n ? id + 1n : id - 1n));
  // Cut to 32 bits these are the same.
  const alike = known.map((id) => (id < 0n ? id - 2n ** 32n : id + 2n ** 32n));
  return [[LARGEST], neighbours, alike].flatMap((ids) =>
    ids.filter((id) => id <= LARGEST && id >= SMALLEST && !known.includes(id)).slice(0, 1),
  );
}

/** Ids that a target may call malformed rather than unknown: the document sets no minimum, and no animal need have them. */
function doubtfulIds(known: readonly bigint[]): bigint[] {
  const negated = known.map((id) => -id).filter((id) => id <= LARGEST && !known.includes(id));
  return [...new Set([0n, -1n, SMALLEST, ...negated.slice(0, 1)])];
}

export const getAnimalChecks: readonly Check[] = [
  {
    // 4.3: success is 200.
    id: 'get-answers-200',
    scenes: [retrievals, retrievedAgain],
    run: whileItExists(async (probe, judge) => {
      const { again } = await probe.play(retrievedAgain);
      for (const retrieval of [...(await probe.play(retrievals)), ...(again === undefined ? [] : [again])]) {
        const { exchange, known, own, shownBy } = retrieval;
        if (exchange.outcome.status === 200) judge.holds(exchange);
        else if (own || (await stillListed(probe, retrieval)) !== undefined) {
          judge.breaks(
            { expected: `200 for animal ${known.id}`, actual: described(exchange) },
            exchange,
            shownBy,
          );
        }
      }
      await asOtherKeys(probe, judge, await probe.play(retrievals));
    }),
    conclude(history, judge) {
      // Nobody but this run knows its animals: one that was served once is served again. With another key it need not
      // be: what a key may see is open (5, scopes).
      const own = new Set<bigint>();
      const served = new Map<string, AnsweredExchange>();
      for (const exchange of history.exchanges.filter(isAnswered)) {
        const pet = answeredPet(exchange);
        if (exchange.request.operation === 'createPet' && pet?.id !== undefined) own.add(pet.id);
        if (exchange.request.operation !== 'getPet' || exchange.key === null) continue;
        if (exchange.sentBy === retrievedAgain.id) continue;
        if (removal(history.targetClock.at(exchange.receivedAt)) !== 'before') continue;
        const asked = /^\/pets\/(-?\d{1,19})$/.exec(exchange.request.path)?.[1];
        if (asked === undefined || !own.has(BigInt(asked))) continue;
        const seen = `${asked} ${exchange.key}`;
        const before = served.get(seen);
        if (exchange.outcome.status === 200) served.set(seen, exchange);
        else if (exchange.outcome.status === 404 && before !== undefined) {
          judge.breaks(
            { expected: `200 for animal ${asked}, as before`, actual: described(exchange) },
            exchange,
            before,
          );
        }
      }
    },
  },
  {
    // 4.3: petId is the identifier of the animal.
    id: 'get-returns-requested-id',
    scenes: [retrievals],
    observe(exchange, judge) {
      if (exchange.request.operation !== 'getPet' || exchange.outcome.status !== 200) return;
      const asked = decodeURIComponent(exchange.request.path.slice('/pets/'.length));
      const id = answeredPet(exchange)?.id;
      // What an id that is no integer may find is get-malformed-id-refused's subject.
      if (id === undefined || !/^-?\d+$/.test(asked)) return;
      if (id === BigInt(asked)) judge.holds(exchange);
      else judge.breaks({ expected: `animal ${asked}`, actual: `animal ${id}` }, exchange);
    },
    run: whileItExists(async () => undefined),
  },
  {
    // 2: the retrieved animal has the fields of a Pet.
    id: 'get-pet-schema',
    scenes: [retrievals],
    observe(exchange, judge) {
      if (exchange.request.operation !== 'getPet' || exchange.outcome.status !== 200) return;
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
    run: whileItExists(async () => undefined),
  },
  {
    // 4.3: the body is the Pet: the one that was created or listed.
    id: 'get-same-animal',
    scenes: [retrievals],
    run: whileItExists(async (probe, judge) => {
      for (const retrieval of await probe.play(retrievals)) {
        const { exchange, known, own, shownBy } = retrieval;
        const pet = answeredPet(exchange);
        if (exchange.outcome.status !== 200 || pet?.id !== known.id) continue;
        const changed = differences(known, pet);
        if (changed.length > 0 && !own && !(await staysDifferent(probe, retrieval, pet))) continue;
        if (changed.length === 0) judge.holds(exchange, shownBy);
        else
          judge.breaks(
            {
              expected: `animal ${known.id} as it was ${own ? 'created' : 'listed'}`,
              actual: changed.join(', '),
            },
            exchange,
            shownBy,
          );
      }
    }),
    conclude(history, judge) {
      // Nobody but this run knows its animals, and no operation changes one: each retrieval, with any key, shows it so.
      const created = createdAnimals(history.exchanges);
      for (const exchange of history.exchanges.filter(isAnswered)) {
        const pet = exchange.request.operation === 'getPet' ? answeredPet(exchange) : undefined;
        const own = pet?.id === undefined ? undefined : created.get(pet.id);
        if (pet !== undefined && own !== undefined) judgeUnchanged(judge, own, pet, exchange);
      }
    },
  },
  {
    // 4.3, 7: 404 when the requested animal cannot be found.
    id: 'get-unknown-404',
    spends: { requests: 8 },
    scenes: [retrievals, retrievedAgain],
    run: whileItExists(async (probe, judge) => {
      const { all } = await probe.play(lists);
      // Whoever drops bits or signs does so unnoticed with the smallest ids: these are tried.
      const known = [
        ...(await probe.play(retrievals)).map((retrieval) => retrieval.known),
        ...(all.pets ?? []),
      ]
        .flatMap(({ id }) => id ?? [])
        .sort((a, b) => Number(magnitude(a) - magnitude(b)));
      const { unknown } = await probe.play(retrievedAgain);
      if (unknown.outcome.status === 404) judge.holds(unknown);
      else judge.breaks({ expected: '404 for an id at random', actual: described(unknown) }, unknown);
      // Each is asked for with another key, as long as there are some: an Error may differ from plan to plan.
      const others = otherKeys(probe, { name: unknown.key });
      const ask = async (id: bigint, refusals: readonly number[]) => {
        const key = others.shift();
        const first = await probe.send(getPet(id), key === undefined ? {} : { key });
        // What a key may do is open (5, scopes).
        const isForbidden = key !== undefined && first.outcome.status === 403;
        const exchange = isForbidden ? await probe.send(getPet(id)) : first;
        const { status } = exchange.outcome;
        // Somebody else's animal may have that very id.
        const exists = status === 200 && answeredPet(exchange)?.id === id;
        if (refusals.includes(status) || exists) judge.holds(exchange);
        else judge.breaks({ expected: `404 for id ${id}`, actual: described(exchange) }, exchange);
      };
      for (const id of unknownIds(known)) await ask(id, [404]);
      for (const id of doubtfulIds(known)) await ask(id, [404, 400]);
      // To have been asked for makes no animal.
      await ask(BigInt(unknown.request.path.slice('/pets/'.length)), [404]);
    }),
  },
  {
    // 4.3: petId is an int64, so that nothing else names an animal. Which client error answers it is left open.
    id: 'get-malformed-id-refused',
    spends: { requests: 4 },
    scenes: [retrievals],
    run: whileItExists(async (probe, judge) => {
      const [first] = await probe.play(retrievals);
      const id = first?.known.id ?? 1n;
      // The last one is beyond int64, and cut to 64 bits it is the animal's.
      for (const malformed of [NO_NUMBER, `${id}x`, `${id}.5`, String(id + 2n ** 64n)]) {
        const exchange = await probe.send(getPet(malformed));
        const { status } = exchange.outcome;
        if (status >= 400 && status < 500) judge.holds(exchange);
        else
          judge.breaks(
            { expected: `a client error for petId ${malformed}`, actual: described(exchange) },
            exchange,
          );
      }
    }),
  },
];

export const getAnimalGaps: readonly GapObserver[] = [
  {
    id: 'malformed-id',
    conclude(history) {
      const exchange = history.exchanges
        .filter(isAnswered)
        .find(({ request }) => request.path === `/pets/${NO_NUMBER}`);
      if (exchange === undefined) return undefined;
      const { status } = exchange.outcome;
      return {
        answer: status === 404 ? 'not-found-404' : status < 400 ? 'accepted' : `rejected-${status}`,
        detail: `GET /pets/${NO_NUMBER}: ${described(exchange)}`,
        evidence: [exchange],
      };
    },
  },
];
