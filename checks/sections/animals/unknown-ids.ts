/** Ids that no animal has, and texts that are not ids. */
import { inTurn, NOTHING_TRIED, scene } from '../../run/scene.ts';
import { getPet } from '../../wire/requests.ts';
import { otherKeys } from '../quota/other-keys.ts';
import { lists } from './lists.ts';
import { BEYOND_DOUBLE, idAsked, playExisting, retrievals, retrievedAgain } from './retrievals.ts';

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

export const unknownIdsRetrieved = scene('unknown-ids', {}, async (run) => {
  const { all } = await run.play(lists);
  const retrieved = await run.play(retrievals);
  const [first] = (await run.play(retrievedAgain)).unknown.done;
  if (first === undefined) return NOTHING_TRIED;
  // Dropping bits or signs goes unnoticed with small ids, so the smallest known ids are tried.
  const known = [...retrieved.done.map((retrieval) => retrieval.known), ...(all.pets ?? [])]
    .flatMap(({ id }) => id ?? [])
    .sort((a, b) => Number(magnitude(a) - magnitude(b)));
  // Each is requested with a different key while there are any: errors may differ from plan to plan.
  const others = otherKeys(run.keys, { name: first.key });
  const ids = [
    ...unknownIds(known).map((id) => ({ id, mayBeMalformed: false })),
    ...doubtfulIds(known).map((id) => ({ id, mayBeMalformed: true })),
    // Requesting an id must not create an animal.
    { id: idAsked(first), mayBeMalformed: false },
  ];
  return inTurn(ids.entries(), async ([index, { id, mayBeMalformed }]) => {
    const key = others[index];
    const exchange = await run.send(getPet(id), { key });
    // What a key may do is open (section 5, scopes).
    const isForbidden = key !== undefined && exchange.outcome.status === 403;
    return { exchange: isForbidden ? await run.send(getPet(id)) : exchange, mayBeMalformed };
  });
});

export const malformedIds = scene('malformed-ids', {}, async (run) => {
  const [first] = await playExisting(run);
  if (first === undefined) return NOTHING_TRIED;
  const { id } = first.known;
  const hexadecimal = `${id < 0n ? '-' : ''}0x${magnitude(id).toString(16)}`;
  // One is beyond int64, and truncated to 64 bits it is the animal's id.
  const ids = ['abc', `${id}x`, `${id}.5`, id + 2n ** 64n, hexadecimal];
  return inTurn(ids, (one) => run.send(getPet(one)));
});
