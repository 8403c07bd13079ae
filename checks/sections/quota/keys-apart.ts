/** Sections 5 and 8: a request spends the caller's quota and nobody else's. */
import { LIMIT } from '../../../spec/operations.ts';
import type { Key } from '../../profile/key.ts';
import { type Check, check } from '../../run/check.ts';
import { Inconclusive, notTold, type Reason } from '../../run/reason.ts';
import { allOf, type NoKey, type SceneRun, scene } from '../../run/scene.ts';
import type { Trace } from '../../run/trace.ts';
import { type AnsweredExchange, isAnswered } from '../../wire/exchange.ts';
import { rateReading } from '../../wire/rate-headers.ts';
import { nearMisses } from '../../wire/redaction.ts';
import { listPets } from '../../wire/requests.ts';
import { REMAINING_SHOWN_BY } from '../answers.ts';
import { lostOn, restFromNow } from './key-spending.ts';
import { interference } from './measurements.ts';

/** The answers to the first and the last request of a key, between which it sent no other. */
interface Span {
  readonly key: Key;
  readonly before: AnsweredExchange;
  readonly after: AnsweredExchange;
}

/** One with the answers to the requests that others, or nobody, sent in between. */
interface SharedSpan extends Span {
  readonly between: readonly AnsweredExchange[];
}

/** One in which requests without a valid key were sent, and the row that is about each of them. */
interface InvalidSpan extends SharedSpan {
  readonly rows: readonly string[];
}

/** By how much X-RateLimit-Remaining fell; undefined if the headers do not say, or now tell of the minute, now of the day. */
function fallOf({ before, after }: Span): number | undefined {
  const [start, end] = [rateReading(before), rateReading(after)];
  return start.remaining === undefined || end.remaining === undefined || start.limit !== end.limit
    ? undefined
    : start.remaining - end.remaining;
}

/** Sends one request on each key, and when all are answered a second one. */
async function askWithEach(run: SceneRun): Promise<readonly Span[]> {
  // This also shows page sizes that are wrong on only one plan.
  const begun = await allOf(run.keysWithRequests, async (key) => ({
    key,
    before: await run.send(listPets({ limit: LIMIT.maximum }), { key }),
  }));
  return allOf(begun, async (span) => ({ ...span, after: await run.send(listPets(), { key: span.key }) }));
}

/** How many requests each other key in turn sends between two requests of a key, in successive rounds. */
const IN_BETWEEN: readonly number[] = [2, 0, 5];
/** At most this many other keys send them. */
const MOST_OTHERS = 4;

/** Sends requests of a key between those of one other key after the other. */
async function follow(run: SceneRun, key: Key): Promise<readonly SharedSpan[]> {
  const alike = (other: Key) => Number(other.plan === key.plan);
  const others = run.keysWithRequests
    .filter(({ name }) => name !== key.name)
    .sort((a, b) => alike(b) - alike(a))
    .slice(0, MOST_OTHERS);
  const ask = (payer: Key) => run.send(listPets({ limit: 1 }), { key: payer });
  const needed = IN_BETWEEN.reduce((sum, times) => sum + (times + 1) * others.length, 1);
  if ([key, ...others].some((one) => run.lane(one).left(run.now()) < needed)) await restFromNow(run, key);
  const spans: SharedSpan[] = [];
  let before = await ask(key);
  for (const times of IN_BETWEEN)
    for (const other of others) {
      const between = await allOf(Array<Key>(times).fill(other), ask);
      const after = await ask(key);
      spans.push({ key, before, after, between });
      before = after;
    }
  return spans;
}

/**
 * What each key paid while all were used. A key's Remaining falls by its own requests, or by less if it is refilled. A
 * larger fall has another cause: our requests on other keys, or another client on this key. Only the former follows
 * what we send, so a key that paid too much is asked again while others send more or fewer.
 */
export const usedInTurn = scene('keys-in-turn', {}, async (run) => {
  if (run.keysWithRequests.length < 2) throw new Inconclusive(run.lacksKeys);
  const once = await askWithEach(run);
  // The smallest plan first: its token bucket is refilled the least meanwhile.
  const [first] = once
    .filter((span) => (fallOf(span) ?? 0) > 1)
    .sort((a, b) => a.key.limits.perMinute - b.key.limits.perMinute);
  return { once, followed: first === undefined ? [] : await follow(run, first.key) };
});

/** Credentials that are sent as they are, and what they are. */
export const raw = (header: string, described: string) => ({ kind: 'raw', header, described }) as const;

export const basic = (key: string) =>
  raw(`Basic ${Buffer.from(`${key}:`).toString('base64')}`, 'Basic and a valid key');

export const nearMissesOf = (key: string) =>
  nearMisses(key).map(({ label, value }) => raw(`Bearer ${value}`, `Bearer and a key with ${label}`));

/** Invalid credentials, each resembling a key in a different way, by the row that is about them. */
const INVALID: readonly (readonly [row: string, credentials: (key: string) => readonly NoKey[]])[] = [
  ['auth-near-miss-key', (key) => nearMissesOf(key).slice(0, 1)],
  ['auth-other-scheme', (key) => [basic(key)]],
  // Sent by a client that forgot to set its key.
  ['auth-unknown-key', () => [raw('Bearer undefined', 'Bearer and the word undefined')]],
  ['auth-missing-key', () => [{ kind: 'none' }]],
];

/** Sends each kind of invalid request this many times, between two valid requests. */
async function askWithout(run: SceneRun, preferred: Key, times: number): Promise<InvalidSpan> {
  const before = await run.send(listPets({ status: 'available', limit: 10 }), { preferred });
  const key = run.keys.find(({ name }) => name === before.key) ?? preferred;
  const once = INVALID.flatMap(([row, of]) =>
    of(key.value).map((credentials) => [row, credentials] as const),
  );
  const all = Array.from({ length: times }, () => once).flat();
  const between = await allOf(all, ([, credentials]) =>
    run.send(listPets({ limit: 1 }), { key: credentials }),
  );
  // It would also show an addition that was refused for its key, but stored: as sold, where keys in turn list all.
  const filter = run.keys.length > 1 ? { status: 'sold' } : {};
  const after = await run.send(listPets({ limit: LIMIT.maximum, ...filter }), { key });
  return { key, before, after, between, rows: all.map(([row]) => row) };
}

/**
 * What a key paid while requests without a valid key were sent. If it paid too much, the invalid requests are sent
 * twice and three times as often, to see whether it pays for them.
 */
export const countedInvalid = scene('rate-invalid-key-free', {}, async (run) => {
  const [key] = run.keys.toSorted((a, b) => b.limits.perMinute - a.limits.perMinute);
  if (key === undefined) throw new Inconclusive(run.lacksKeys);
  const once = await askWithout(run, key, 1);
  return (fallOf(once) ?? 0) > 1
    ? [once, await askWithout(run, once.key, 2), await askWithout(run, once.key, 3)]
    : [once];
});

/** What a key paid beyond its own request. */
const beyondOwn = (span: Span): number => (fallOf(span) ?? Number.NaN) - 1;

/**
 * Whether what a key pays beyond its own request follows the varying number of suspected requests. Requests of other
 * clients do not arrive in that proportion.
 */
const followsOthers = ([first, ...spans]: readonly SharedSpan[]): boolean =>
  first !== undefined &&
  beyondOwn(first) > 0 &&
  spans.every((span) => beyondOwn(span) * first.between.length === beyondOwn(first) * span.between.length);

/** Whether a key paid for no more than the invalid requests that were served, which the rows about those are broken by. */
const paidForServed = (span: SharedSpan): boolean =>
  beyondOwn(span) <= span.between.filter(({ outcome }) => outcome.status < 400).length;

/** The keys whose requests a key pays too; none where what it paid does not follow from what they sent. */
export function paidFor(spans: readonly SharedSpan[]): readonly string[] {
  const quiet = spans.filter(({ between }) => between.length === 0);
  const others = spans.flatMap(({ between }) => between[0]?.key ?? []);
  const sentBy = (name: string) => spans.filter(({ between }) => between[0]?.key === name);
  const paid = [...new Set(others)].filter((name) => sentBy(name).some((span) => beyondOwn(span) !== 0));
  return paid.every((name) => followsOthers([...sentBy(name), ...quiet])) ? paid : [];
}

const NOT_TOLD = notTold('X-RateLimit-Remaining does not show what a key spent', ...REMAINING_SHOWN_BY);

/**
 * Requests without a valid key that were served all the same: the target may have counted them for a key of the run.
 * Undefined where none was.
 */
export function servedWithoutKey({ exchanges }: Trace): Reason | undefined {
  const served = exchanges.filter(
    (exchange) => exchange.key === null && isAnswered(exchange) && exchange.outcome.status < 400,
  );
  const [first] = served;
  if (first === undefined) return undefined;
  const what = `${served.length} of the requests without a valid key were served, and may have been counted`;
  return notTold(
    what,
    ...(first.sentBy === countedInvalid.id ? INVALID.map(([row]) => row) : [first.sentBy]),
  );
}

/** Why a key's X-RateLimit-Remaining fell by more than its answers show, other than for what this check looks for. */
function disturbed({ key, before, after }: Span, trace: Trace): Reason {
  const isLost = lostOn(trace, key.name, before.sentAt, after.receivedAt).length > 0;
  const fell = `X-RateLimit-Remaining of key ${key.name} fell by more than`;
  return isLost
    ? { kind: 'lost', what: `${fell} its answers, of which one was lost` }
    : interference(key, `${fell} our own requests`);
}

export const keysApartChecks: readonly Check[] = [
  // 8: the limit applies to the caller; what one key spends, no other key pays.
  check(
    'rate-keys-apart',
    {
      scenes: [usedInTurn],
      explainsShortage: true,
      notAsked: (keys) => (keys.length < 2 ? { kind: 'no-key', wanted: { count: 2 } } : undefined),
    },
    (judge, seen) => {
      const { once, followed } = seen.of(usedInTurn);
      if (once.every((span) => fallOf(span) === undefined)) judge.inconclusive(NOT_TOLD);
      for (const span of once) {
        const fall = fallOf(span);
        if (fall === undefined) continue;
        const sharers = followed[0]?.key.name === span.key.name ? paidFor(followed) : [];
        const shown = followed.find(({ between: [sent] }) => sharers.includes(sent?.key ?? ''));
        if (fall <= 1) judge.holds(span.after);
        else if (shown === undefined) judge.inconclusive(disturbed(span, seen.trace));
        else {
          const { key, between } = shown;
          const expected = `key ${key.name} pays only for its own requests`;
          const actual = `X-RateLimit-Remaining fell by ${fallOf(shown)} where it sent one request and key ${between[0]?.key} ${between.length}; it pays for ${sharers.join(', ')}`;
          judge.breaks({ expected, actual }, shown.after, shown.before);
        }
      }
    },
  ),
  // 5, 8: a request that names no valid key is no request of any key's plan.
  check('rate-invalid-key-free', { scenes: [countedInvalid], explainsShortage: true }, (judge, seen) => {
    const rounds = seen.of(countedInvalid);
    const [once] = rounds;
    const thrice = rounds.at(-1);
    // What a key paid beside them in another round was for something else, such as a request whose answer was lost.
    const free = rounds.find((span) => (fallOf(span) ?? Number.NaN) <= 1);
    const fall = once && fallOf(once);
    if (once === undefined || thrice === undefined || fall === undefined) judge.inconclusive(NOT_TOLD);
    else if (free !== undefined) judge.holds(free.after, free.before);
    else if (!followsOthers(rounds) || rounds.every(paidForServed))
      judge.inconclusive(servedWithoutKey(seen.trace) ?? disturbed(once, seen.trace));
    else
      judge.breaks(
        {
          expected: 'X-RateLimit-Remaining falls only for the valid request',
          actual: `it fell by ${fall} when each kind of invalid request was sent once, and by ${fallOf(thrice)} when it was sent three times`,
        },
        thrice.after,
        thrice.before,
      );
  }),
];
