/** Pages of every length and with every filter, and lists with invalid values. */
import { contract } from '../../../spec/contract.ts';
import type { Key } from '../../profile/key.ts';
import type { Probe } from '../../run/probe.ts';
import { inTurn, scene, sideBySide } from '../../run/scene.ts';
import { accepting, type ListQuery, percentEncoded } from '../../wire/requests.ts';
import { otherKeys } from '../keys/other-keys.ts';
import { isShort, isShortThroughout, known, type Page } from './lengths.ts';
import { queryOf } from './queries.ts';
import {
  type Asking,
  type LongestLists,
  leavesOutOthers,
  limitOf,
  lists,
  SETTLED,
  take,
  takeAll,
} from './scenes.ts';

const { minimum, maximum, default: defaultLimit } = contract.limit;

/**
 * Takes a page. If it is shorter than earlier lists allow, takes all lists again; if it is also shorter than these
 * allow, takes the page once more.
 */
export async function takePage(
  probe: Probe,
  before: LongestLists,
  query: ListQuery,
  asking: Asking = {},
): Promise<readonly Page[]> {
  const once = async (): Promise<Page> => {
    const list = await take(probe, query, asking);
    return isShort(list, before) ? { list, after: await takeAll(probe, asking.key) } : { list };
  };
  const page = await once();
  return isShortThroughout(page, before) ? [page, await once()] : [page];
}

/** Each limit in a different spelling that another client might use; the meaning is the same. */
const LIMITS: readonly (readonly [limit: number, written?: Asking['written']])[] = [
  [minimum, (spec) => ({ ...spec, acceptsAnything: true })],
  [defaultLimit],
  [defaultLimit + 1, percentEncoded],
  [maximum - 1, accepting('application/json;q=0.9')],
];

/** Pages of several limits; the longest one only if it was short before. */
export const fullPages = scene(
  'full-pages',
  { needs: { lists }, requests: LIMITS.length + 1, beside: true },
  (probe, { lists }) => {
    const wasShort = lists.all.pets === undefined || isShort(lists.all, lists);
    const limits = [...LIMITS, ...(wasShort ? [[maximum] as const] : [])];
    return sideBySide(known(lists) === 0 ? [] : limits, ([limit, written]) =>
      takePage(probe, lists, { limit }, { written }),
    );
  },
);

/** Lists without a limit. A filter must work without a limit too, for every status and plan. */
export const defaultPages = scene(
  'default-pages',
  // One of the lists is requested with every key.
  { needs: { lists }, requests: contract.statuses.length, onEveryKey: 1, beside: true },
  (probe, { lists }) => {
    const others = otherKeys(probe.keys, { name: lists.all.exchange.key });
    return sideBySide([undefined, ...lists.byStatus.keys()], (status) =>
      status === undefined
        ? takePage(probe, lists, {}, { written: accepting('*/*') })
        : takePage(probe, lists, { status }, { key: others.shift() }),
    );
  },
);

/** For each status with any match, a page with a limit below the number of matches. */
export const filteredPages = scene(
  'filtered-pages',
  { needs: { lists }, requests: contract.statuses.length, beside: true },
  (probe, { lists }) => {
    // If the filter is ignored, a list of one shows the very first animal, so that one should not match.
    const first = lists.all.pets?.[0]?.status;
    const byStatus = [...lists.byStatus].sort(([a], [b]) => Number(a === first) - Number(b === first));
    const filtered = byStatus.flatMap(([status, { pets = [] }], index) => {
      const limit = Math.min(pets.length, index + minimum);
      // The last one is percent-encoded, with the same meaning.
      const written = index === byStatus.length - 1 ? percentEncoded : undefined;
      return pets.length === 0 ? [] : [{ query: { status, limit }, asking: { written } }];
    });
    return sideBySide(filtered, ({ query, asking }) => takePage(probe, lists, query, asking));
  },
);

/** Takes the list with a status again if it omitted foreign animals, once the newest of them should be listed. */
export const completePages = scene(
  'complete-pages',
  { needs: { lists }, beside: true },
  async (probe, { lists }) => {
    const incomplete = [...lists.byStatus].filter(([status, list]) => leavesOutOthers(status, list, lists));
    if (incomplete.length > 0)
      await probe.waitUntil(probe.now() + SETTLED, 'other clients’ animals to be listed with their status');
    return inTurn(incomplete, async ([status]) => {
      const pages = await takePage(probe, lists, { status, limit: maximum });
      return [status, pages] as const;
    });
  },
);

/** A list shorter than an earlier list of the run allows. */
interface ShortList {
  readonly query: ListQuery;
  readonly key: Key | undefined;
}

/** All lists of the run count, whatever their key and limit. */
function shortLists(probe: Probe): readonly ShortList[] {
  const short = new Map<string, ShortList>();
  const longest = new Map<string, number>();
  const readings = probe.run.keys
    .flatMap((key) => probe.trace.readingsOf(key))
    .sort((a, b) => a.receivedAt - b.receivedAt);
  for (const { operation, path, listed, key } of readings) {
    // Another operation may also answer with an array.
    const query = operation === 'listPets' ? queryOf(path) : undefined;
    if (query === undefined || listed === undefined) continue;
    const filter = query.status ?? '';
    const before = longest.get(filter) ?? 0;
    if (listed < Math.min(limitOf(query), before))
      short.set(`${key} ${path}`, { query, key: probe.keys.find(({ name }) => name === key) });
    longest.set(filter, Math.max(before, listed));
  }
  return [...short.values()].slice(0, 3);
}

/** Takes short lists again, after everything else. */
export const shortPages = scene('short-pages', { needs: { lists }, afterwards: true }, (probe, { lists }) =>
  inTurn(shortLists(probe), async ({ query, key }) => {
    // What a key may see is open (section 5, scopes): a list is compared with others of the same key.
    const before = key === undefined ? lists : await takeAll(probe, key);
    return { before, pages: await takePage(probe, before, query, { key }) };
  }),
);

/** Limits and a status that the document does not allow. */
export const limitsOutOfRange = scene('limits-out-of-range', { requests: 2, beside: true }, async (probe) => {
  const [below, above] = await Promise.all([
    take(probe, { limit: minimum - 1 }),
    take(probe, { limit: maximum + 1 }),
  ]);
  return { below, above };
});
export const limitNotANumber = scene('limit-not-a-number', { requests: 1, beside: true }, (probe) =>
  take(probe, { limit: 'ten' }),
);
export const unknownStatus = scene('unknown-status', { requests: 1, beside: true }, (probe) =>
  take(probe, { status: 'unheard-of' }),
);
