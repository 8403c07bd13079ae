/** Ids that no animal has, and texts that are not ids. */
import { firstInTurn, joined, NOTHING_TRIED, scene, sideBySide } from '../../run/scene.ts';
import { getPet } from '../../wire/requests.ts';
import { otherKeys } from '../keys/other-keys.ts';
import { lists } from '../list/scenes.ts';
import { BEYOND_DOUBLE, idAsked, retrievals, retrievedAgain, whileExisting } from './scenes.ts';

export const NO_NUMBER = 'abc';
const LARGEST = 2n ** 63n - 1n;
const SMALLEST = -(2n ** 63n);

const magnitude = (id: bigint) => (id < 0n ? -id : id);

/** Ids that hardly any animal has: the largest int64, and ids that sloppy parsing confuses with a known one. */
function unknownIds(known: readonly bigint[]): bigint[] {
  // A double cannot tell an id beyond 2^53 from its neighbour.
  const neighbours = known
    .filter((id) => id > BEYOND_DOUBLE && id < LARGEST - 1n)
    .map((id) => (id % 2n === 0n ? id + 1n : id - 1n));
  // Truncated to 32 bits these are equal to a known id.
  const alike = known.map((id) => (id < 0n ? id - 2n ** 32n : id + 2n ** 32n));
  return [[LARGEST], neighbours, alike].flatMap((ids) =>
    ids.filter((id) => id <= LARGEST && id >= SMALLEST && !known.includes(id)).slice(0, 1),
  );
}

/** Ids that a target may call malformed rather than unknown: the document sets no minimum. */
function doubtfulIds(known: readonly bigint[]): bigint[] {
  const negated = known.map((id) => -id).filter((id) => id <= LARGEST && !known.includes(id));
  return [...new Set([0n, -1n, SMALLEST, ...negated.slice(0, 1)])];
}

export const unknownIdsRetrieved = scene(
  'unknown-ids',
  { needs: { lists, retrievals, retrievedAgain }, requests: 7, onEveryKey: 1 },
  async (probe, { lists, retrievals, retrievedAgain: { unknown } }) => {
    const [first] = unknown.done;
    if (first === undefined) return NOTHING_TRIED;
    // Dropping bits or signs goes unnoticed with small ids, so the smallest known ids are tried.
    const known = [...retrievals.done.map((retrieval) => retrieval.known), ...(lists.all.pets ?? [])]
      .flatMap(({ id }) => id ?? [])
      .sort((a, b) => Number(magnitude(a) - magnitude(b)));
    // Each is requested with a different key while there are any: errors may differ from plan to plan.
    const others = otherKeys(probe.keys, { name: first.key });
    const ids = [
      ...unknownIds(known).map((id) => ({ id, mayBeMalformed: false })),
      ...doubtfulIds(known).map((id) => ({ id, mayBeMalformed: true })),
      // Requesting an id must not create an animal.
      { id: idAsked(first), mayBeMalformed: false },
    ].map((asked, index) => ({ ...asked, key: others[index] }));
    const ask = async ({ id, mayBeMalformed, key }: (typeof ids)[number]) => {
      const exchange = await probe.send(getPet(id), { key });
      // What a key may do is open (section 5, scopes).
      const isForbidden = key !== undefined && exchange.outcome.status === 403;
      return { exchange: isForbidden ? await probe.send(getPet(id)) : exchange, mayBeMalformed };
    };
    return joined(
      await Promise.all([
        sideBySide(ids.slice(0, others.length), ask),
        firstInTurn(ids.slice(others.length), ask),
      ]),
    );
  },
);

export const malformedIds = scene(
  'malformed-ids',
  { needs: { retrievals }, requests: 5, beside: true },
  (probe, { retrievals }) => {
    const ids = whileExisting(retrievals.done, probe.trace.targetClock)
      .slice(0, 1)
      // One is beyond int64, and truncated to 64 bits it is the animal's id.
      .flatMap(({ known: { id } }) => [
        NO_NUMBER,
        `${id}x`,
        `${id}.5`,
        id + 2n ** 64n,
        `${id < 0n ? '-' : ''}0x${magnitude(id).toString(16)}`,
      ]);
    return sideBySide(ids, (id) => probe.send(getPet(id)));
  },
);
