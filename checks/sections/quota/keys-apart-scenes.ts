/** What keys pay while the run sends requests on all keys, or on none. */
import { contract } from '../../../spec/contract.ts';
import { SECOND } from '../../limits/time.ts';
import type { Key } from '../../profile/key.ts';
import { Inconclusive } from '../../run/inconclusive.ts';
import { allOf, scene } from '../../run/scene.ts';
import type { NoKey, SceneRun } from '../../run/scene-run.ts';
import { type AnsweredExchange, isAnswered } from '../../wire/exchange.ts';
import { rateReading } from '../../wire/rate-headers.ts';
import { nearMisses } from '../../wire/redaction.ts';
import { type ListQuery, listPets } from '../../wire/requests.ts';
import { restFromNow } from './key-at-rest.ts';

/** The answers to the first and the last request of a key, between which it sent no other. */
export interface Span {
  readonly key: Key;
  readonly before: AnsweredExchange;
  readonly after: AnsweredExchange;
  /** The answers to the requests that others, or nobody, sent in between. */
  readonly between: readonly AnsweredExchange[];
}

/** By how much X-RateLimit-Remaining fell; undefined if the headers do not say, or now tell of the minute, now of the day. */
export function fallOf({ before, after }: Span): number | undefined {
  const [start, end] = [rateReading(before), rateReading(after)];
  return start.remaining === undefined || end.remaining === undefined || start.limit !== end.limit
    ? undefined
    : start.remaining - end.remaining;
}

/** Sends one request on each key, and when all are answered a second one. */
async function askWithEach(run: SceneRun): Promise<readonly Span[]> {
  const answers: AnsweredExchange[] = [];
  const ask = async (key: Key, query: ListQuery) => {
    const answer = await run.send(listPets(query), { key });
    answers.push(answer);
    return answer;
  };
  // This also shows page sizes that are wrong on only one plan.
  const begun = await allOf(run.keys, async (key) => ({
    key,
    before: await ask(key, { limit: contract.limit.maximum }),
  }));
  return allOf(begun, async (span) => {
    const between = answers.slice(answers.indexOf(span.before) + 1);
    return { ...span, between, after: await ask(span.key, {}) };
  });
}

/** How many requests each other key in turn sends between two requests of a key, in successive rounds. */
const IN_BETWEEN: readonly number[] = [2, 0, 5];
/** At most this many other keys send them. */
const MOST_OTHERS = 4;

/** Sends requests of a key between those of one other key after the other. */
async function follow(run: SceneRun, key: Key): Promise<readonly Span[]> {
  const alike = (other: Key) => Number(other.plan === key.plan);
  const others = run.keys
    .filter(({ name }) => name !== key.name)
    .sort((a, b) => alike(b) - alike(a))
    .slice(0, MOST_OTHERS);
  const ask = (payer: Key) => run.send(listPets({ limit: 1 }), { key: payer });
  const needed = IN_BETWEEN.reduce((sum, times) => sum + (times + 1) * others.length, 1);
  if ([key, ...others].some((one) => run.lane(one).left(run.now()) < needed)) await restFromNow(run, key);
  const spans: Span[] = [];
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
  if (run.keys.length < 2) throw new Inconclusive(run.lacksKeys);
  const once = await askWithEach(run);
  // The smallest plan first: its token bucket is refilled the least meanwhile.
  const [first] = once
    .filter((span) => (fallOf(span) ?? 0) > 1)
    .sort((a, b) => a.key.limits.perMinute - b.key.limits.perMinute);
  return { once, followed: first === undefined ? [] : await follow(run, first.key) };
});

/** Invalid credentials, each resembling this key in a different way. */
function invalidCredentials(key: Key): NoKey[] {
  const misses = nearMisses(key.value)
    .slice(0, 3)
    .map(({ label, value }) => ({
      header: `Bearer ${value}`,
      described: `Bearer and a key with ${label}`,
    }));
  const basic = {
    header: `Basic ${Buffer.from(`${key.value}:`).toString('base64')}`,
    described: 'Basic and a valid key',
  };
  // Sent by a client that forgot to set its key.
  const unknown = { header: 'Bearer undefined', described: 'Bearer and the word undefined' };
  return [...misses, basic, unknown, 'none'];
}

/** A key's last answer can be counted from if it is no older than this. */
const FRESH = SECOND;

/** The last answer of the run, where it is this key's and shows what the key has left now. */
function lastAnswer(run: SceneRun, key: Key): AnsweredExchange | undefined {
  const last = run.trace.readings.at(-1);
  if (last?.key !== key.name || last.status >= 300 || last.receivedAt < run.now() - FRESH) return undefined;
  const exchange = run.trace.find(last.id);
  return exchange !== undefined && isAnswered(exchange) ? exchange : undefined;
}

/** Sends each kind of invalid request this many times, between two valid requests. */
async function askWithout(run: SceneRun, key: Key, times: number): Promise<Span> {
  const before =
    lastAnswer(run, key) ?? (await run.send(listPets({ status: 'available', limit: 10 }), { key }));
  const all = Array.from({ length: times }, () => invalidCredentials(key)).flat();
  const between = await allOf(all, (credentials) => run.sendWithoutKey(listPets({ limit: 1 }), credentials));
  // It would also show an addition that was refused for its key, but stored: as sold, where keys in turn list all.
  const filter = run.keys.length > 1 ? { status: 'sold' } : {};
  const after = await run.send(listPets({ limit: contract.limit.maximum, ...filter }), { key });
  return { key, before, after, between };
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
    ? [once, await askWithout(run, key, 2), await askWithout(run, key, 3)]
    : [once];
});
