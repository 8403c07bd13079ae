/** Section 4.1, limit: how many animals a list holds. */
import { contract } from '../../../spec/contract.ts';
import type { Check, Judge } from '../../run/check.ts';
import type { Key } from '../../run/key-pool.ts';
import type { Probe } from '../../run/probe.ts';
import { described, listedPets } from '../../wire/pets.ts';
import { accepting, type ListQuery, percentEncoded } from '../../wire/requests.ts';
import { otherKeys } from '../keys/other-keys.ts';
import { allowedQuery, isOwnAnswer, pets, queryOf, REFUSED_AS_INVALID } from './queries.ts';
import { type Asking, type Lists, limitOf, lists, type TakenList, take, takeAll } from './scenes.ts';

const { minimum, maximum, default: defaultLimit } = contract.limit;

const query = ({ query: { status, limit } }: TakenList) =>
  [
    ...(status === undefined ? [] : [`status=${status}`]),
    ...(limit === undefined ? ['no limit'] : [`limit=${limit}`]),
  ].join(', ');

type Shown = Pick<Lists, 'all' | 'byStatus'>;

/** The ids of the animals that match: those that the lists showed together, whatever they were asked for. */
function matchingIds({ all, byStatus }: Shown, status: string | undefined): Set<bigint> {
  const taken = [all, ...byStatus.values()].flatMap((list) => list.pets ?? []);
  const matching = taken.filter((pet) => status === undefined || pet.status === status);
  return new Set(matching.flatMap(({ id }) => id ?? []));
}

/** How many animals match at least. */
export const known = (all: Shown, status: string | undefined): number => matchingIds(all, status).size;

/**
 * How many animals matched at one time and at another, and were shown with no other status: others may go on changing
 * theirs, and which of these matched in between nobody knows.
 */
function knownThroughout(before: Shown, after: Shown, status: string | undefined): number {
  const then = matchingIds(before, status);
  const changing = new Set(
    contract.statuses
      .filter((other) => status !== undefined && other !== status)
      .flatMap((other) => [...matchingIds(before, other), ...matchingIds(after, other)]),
  );
  return [...matchingIds(after, status)].filter((id) => then.has(id) && !changing.has(id)).length;
}

/**
 * Takes a list and judges its length: exactly limit where more match, all of them where not. Others may add animals
 * meanwhile, so that the number that matches is taken before and, where the length is off, after the list as well.
 *
 * @param asking with which key the list is taken, and in which bytes
 */
export async function judgeLength(
  probe: Probe,
  judge: Judge,
  all: Lists,
  wanted: TakenList['query'],
  asking: Asking = {},
): Promise<void> {
  const before = known(all, wanted.status);
  for (let attempt = 1; ; attempt += 1) {
    const list = await take(probe, wanted, asking);
    if (list.pets === undefined)
      return judge.unsettled(
        `a list with ${query(list)} was answered ${described(list.exchange)}`,
        list.exchange,
      );
    const most = limitOf(wanted);
    const least = Math.min(most, before);
    if (list.pets.length >= least) return judge.holds(list.exchange);
    // Once more what all lists together show, since others may have taken some away or changed them meanwhile.
    const after = await takeAll(probe, asking.key);
    const matching = Math.max(
      knownThroughout(all, after, wanted.status),
      wanted.status === undefined ? (after.all.pets?.length ?? 0) : 0,
    );
    const confirmed = Math.min(most, matching);
    if (list.pets.length >= confirmed) return judge.holds(list.exchange);
    if (attempt === 2) {
      return judge.breaks(
        {
          expected: `${pets(confirmed)} with ${query(list)}, since lists show ${matching} that match`,
          actual: pets(list.pets.length),
        },
        list.exchange,
        after.all.exchange,
      );
    }
  }
}

export const listLimitChecks: readonly Check[] = [
  {
    // 8, page size: limit may be any integer from 1 to 100.
    id: 'list-limit-range',
    scenes: [lists],
    observe(exchange, judge) {
      const asked = allowedQuery(exchange);
      if (asked?.limit === undefined || !isOwnAnswer(exchange)) return;
      if (exchange.outcome.status === 200) judge.holds(exchange);
      else if (REFUSED_AS_INVALID.includes(exchange.outcome.status))
        judge.breaks({ expected: `200 for limit=${asked.limit}`, actual: described(exchange) }, exchange);
    },
    async run(probe) {
      await probe.play(lists);
    },
  },
  {
    // 4.1: limit sets the maximum number of animals returned.
    id: 'list-limit-maximum',
    scenes: [lists],
    observe(exchange, judge) {
      const asked = allowedQuery(exchange);
      const listed = listedPets(exchange);
      if (asked?.limit === undefined || listed === undefined) return;
      if (listed.length <= asked.limit) judge.holds(exchange);
      else
        judge.breaks(
          { expected: `at most ${pets(asked.limit)} with limit=${asked.limit}`, actual: pets(listed.length) },
          exchange,
        );
    },
    async run(probe) {
      await probe.play(lists);
    },
  },
  {
    // 4.1: as many as exist, up to limit.
    id: 'list-limit-fills',
    spends: { requests: 5 },
    scenes: [lists],
    async run(probe, judge) {
      const all = await probe.play(lists);
      if (known(all, undefined) === 0)
        return judge.unsettled('the store is empty, and nothing could be added');
      // Each of them as another client would write it: what it asks for is the same.
      const limits: readonly (readonly [limit: number, written?: Asking['written']])[] = [
        [minimum + 1, (spec) => ({ ...spec, acceptsAnything: true })],
        [defaultLimit],
        [defaultLimit + 1, percentEncoded],
        [maximum - 1, accepting('application/json;q=0.9')],
      ];
      for (const [limit, written] of limits) await judgeLength(probe, judge, all, { limit }, { written });
      // The longest list was taken before: it is taken again where it was shorter than what all lists show.
      if ((all.all.pets?.length ?? 0) >= Math.min(maximum, known(all, undefined)))
        judge.holds(all.all.exchange);
      else await judgeLength(probe, judge, all, { limit: maximum });
    },
    async afterwards(probe, judge, history) {
      // Every list of the run counts, with whichever key and limit: one that was shorter than an earlier list showed
      // possible is suspicious.
      const suspicious = new Map<string, { query: ListQuery; key: Key | undefined }>();
      const most = new Map<string, number>();
      for (const { operation, path, listed, key } of history.readings) {
        // Another operation may answer with an array as well.
        if (operation !== 'listPets' || listed === undefined) continue;
        const query = queryOf(path);
        if (query === undefined) continue;
        const filter = query.status ?? '';
        const earlier = most.get(filter) ?? 0;
        if (listed < Math.min(limitOf(query), earlier))
          suspicious.set(`${key} ${path}`, { query, key: probe.keys.find(({ name }) => name === key) });
        most.set(filter, Math.max(earlier, listed));
      }
      if (suspicious.size === 0) return;
      const all = await probe.play(lists);
      for (const { query, key } of [...suspicious.values()].slice(0, 3)) {
        // What a key may see is open (5, scopes): one list is measured by others of the same key.
        const shown = key === undefined ? all : { ...all, ...(await takeAll(probe, key)) };
        await judgeLength(probe, judge, shown, query, { key });
      }
    },
  },
  {
    // 8, page size: default 20.
    id: 'list-limit-default',
    // One of them on every key.
    spends: { requests: contract.statuses.length },
    scenes: [lists],
    observe(exchange, judge) {
      const asked = allowedQuery(exchange);
      const listed = listedPets(exchange);
      if (asked === undefined || asked.limit !== undefined || listed === undefined) return;
      if (listed.length > defaultLimit)
        judge.breaks(
          { expected: `at most ${defaultLimit} animals without limit`, actual: pets(listed.length) },
          exchange,
        );
    },
    async run(probe, judge) {
      const all = await probe.play(lists);
      if (known(all, undefined) <= defaultLimit) {
        judge.unsettled(
          `the store shows ${pets(known(all, undefined))}, and ${defaultLimit + 1} are needed to see the default; adding them needs the permission writes`,
        );
      }
      await judgeLength(probe, judge, all, {}, { written: accepting('*/*') });
      // A filter alone is as good as one beside a limit, whichever status it names and whichever plan asks.
      const others = otherKeys(probe, { name: all.all.exchange.key });
      for (const status of all.byStatus.keys())
        await judgeLength(probe, judge, all, { status }, { key: others.shift() });
    },
  },
];
