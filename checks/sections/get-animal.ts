/** Section 4.3: GET /pets/{petId}, for as long as it exists. */
import { type Check, type GapObserver, type Judge, type Scene, Unsettled } from '../harness/check.ts';
import { type AnsweredExchange, isAnswered } from '../harness/exchange.ts';
import { answeredPet, bodyOf, described, type SeenPet } from '../harness/pets.ts';
import type { Probe } from '../harness/probe.ts';
import { getPet } from '../harness/requests.ts';
import { schemaProblem } from '../harness/schema.ts';
import { enoughAnimals } from './added-animals.ts';
import { differences } from './list-animals.ts';
import { lists, take } from './lists.ts';
import { removal } from './removal.ts';

/** An animal that the run knows, and what the target returned for its id. */
interface Retrieval {
  readonly known: SeenPet & { readonly id: bigint };
  /** The exchange that showed the animal: its creation, or a list. */
  readonly shownBy: AnsweredExchange;
  readonly own: boolean;
  readonly exchange: AnsweredExchange;
}

const NO_NUMBER = 'abc';
const BEYOND_DOUBLE = 2n ** 53n;
/** Own animals that are retrieved: the basic ones, then those with edge values. */
const OWN_RETRIEVED = 8;
/** Pauses before an added animal is asked for again: the document promises no instant at which it is served. */
const VISIBLE_WITHIN = [250, 750, 2000, 4000];

/** Animals of the run, one of somebody else's, and one whose id a double cannot hold, by their ids. */
export const retrievals: Scene<readonly Retrieval[]> = {
  id: 'retrievals',
  spends: { requests: OWN_RETRIEVED + 2 },
  scenes: [lists],
  async play(probe) {
    const { all } = await probe.play(lists);
    const additions = probe.permits('writes') ? await probe.play(enoughAnimals) : [];
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
      return id === undefined || own.some(({ known }) => known.id === id)
        ? []
        : [{ known: { ...pet, id }, shownBy: all.exchange, own: false }];
    });
    const [first] = foreign;
    const large = foreign.find(({ known }) => known.id > BEYOND_DOUBLE && known !== first?.known);
    const asked = [...own, ...(first === undefined ? [] : [first]), ...(large === undefined ? [] : [large])];
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
  const again = await take(probe, { limit: 100 });
  return again.pets?.find(({ id }) => id === known.id);
}

/** Ids that no animal has: two at random far above what a store counts to, and the largest int64. */
function unknownIds(
  probe: Probe,
  known: readonly bigint[],
): { readonly id: bigint; readonly mayExist: boolean }[] {
  const random = [1, 2].map((turn) => 2n ** 61n + probe.random(`unknown id ${turn}`, 2n ** 61n));
  // Next to an id beyond 2^53 lies one that a double cannot tell from it.
  const neighbours = known
    .filter((id) => id > BEYOND_DOUBLE && id < 2n ** 63n - 2n)
    .map((id) => (id % 2n === 0n ? id + 1n : id - 1n));
  const possible = [2n ** 63n - 1n, ...neighbours.filter((id) => !known.includes(id)).slice(0, 1)];
  return [
    ...random.map((id) => ({ id, mayExist: false })),
    ...possible.map((id) => ({ id, mayExist: true })),
  ];
}

export const getAnimalChecks: readonly Check[] = [
  {
    // 4.3: success is 200.
    id: 'get-answers-200',
    scenes: [retrievals],
    run: whileItExists(async (probe, judge) => {
      for (const retrieval of await probe.play(retrievals)) {
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
    }),
    conclude(history, judge) {
      // Nobody but this run knows its animals: one that was served once is served again.
      const own = new Set<bigint>();
      const served = new Map<bigint, AnsweredExchange>();
      for (const exchange of history.exchanges.filter(isAnswered)) {
        const pet = answeredPet(exchange);
        if (exchange.request.operation === 'createPet' && pet?.id !== undefined) own.add(pet.id);
        if (exchange.request.operation !== 'getPet' || exchange.key === null) continue;
        const asked = /^\/pets\/(-?\d{1,19})$/.exec(exchange.request.path)?.[1];
        if (asked === undefined || !own.has(BigInt(asked))) continue;
        const before = served.get(BigInt(asked));
        if (exchange.outcome.status === 200) served.set(BigInt(asked), exchange);
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
        let changed = differences(known, pet);
        if (changed.length > 0 && !own) {
          // Somebody may have changed it in between: the list must still show it as it was.
          const now = await stillListed(probe, retrieval);
          changed = now === undefined ? [] : differences(now, pet);
        }
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
  },
  {
    // 4.3, 7: 404 when the requested animal cannot be found.
    id: 'get-unknown-404',
    spends: { requests: 7 },
    scenes: [retrievals],
    run: whileItExists(async (probe, judge) => {
      const known = (await probe.play(retrievals)).map((retrieval) => retrieval.known.id);
      for (const { id, mayExist } of unknownIds(probe, known)) {
        const exchange = await probe.send(getPet(id));
        const { status } = exchange.outcome;
        // Somebody else's animal may have that very id; at random nobody hits one.
        const exists = mayExist && status === 200 && answeredPet(exchange)?.id === id;
        if (status === 404 || exists) judge.holds(exchange);
        else judge.breaks({ expected: `404 for id ${id}`, actual: described(exchange) }, exchange);
      }
      // Ids that a target may call malformed rather than unknown: the document sets no minimum, and no animal need have them.
      for (const id of [0n, -1n, -(2n ** 63n)]) {
        const exchange = await probe.send(getPet(id));
        const { status } = exchange.outcome;
        if (status === 404 || status === 400 || (status === 200 && answeredPet(exchange)?.id === id))
          judge.holds(exchange);
        else judge.breaks({ expected: `404 for id ${id}`, actual: described(exchange) }, exchange);
      }
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
      for (const malformed of [NO_NUMBER, `${id}x`, `${id}.5`, '9223372036854775808']) {
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
