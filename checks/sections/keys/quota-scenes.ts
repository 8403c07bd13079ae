/** What keys pay while the run sends requests on all keys, or on none. */
import { contract } from '../../../spec/contract.ts';
import { MINUTE, SECOND } from '../../limits/time.ts';
import type { Key } from '../../profile/key.ts';
import type { NoKey, Probe } from '../../run/probe.ts';
import { allOf, scene } from '../../run/scene.ts';
import { Unsettled } from '../../run/unsettled.ts';
import { type AnsweredExchange, isAnswered } from '../../wire/exchange.ts';
import { rateReading } from '../../wire/rate-headers.ts';
import { nearMisses } from '../../wire/redaction.ts';
import { type ListQuery, listPets } from '../../wire/requests.ts';
import { restFromNow } from '../minute/key-at-rest.ts';

/** The answers to the first and the last request of a key, between which it sent no other. */
export interface Span {
  readonly key: Key;
  readonly before: AnsweredExchange;
  readonly after: AnsweredExchange;
  /** How many requests of others, or rounds of invalid ones, were sent in between. */
  readonly others: number;
}

/** By how much X-RateLimit-Remaining fell; undefined if the headers do not say, or now tell of the minute, now of the day. */
export function fallOf({ before, after }: Span): number | undefined {
  const [start, end] = [rateReading(before), rateReading(after)];
  return start.remaining === undefined || end.remaining === undefined || start.limit !== end.limit
    ? undefined
    : start.remaining - end.remaining;
}

/** Sends one request on each key, and when all are answered a second one. */
async function askWithEach(probe: Probe): Promise<readonly Span[]> {
  const others = probe.keys.length - 1;
  const ask = (key: Key, query: ListQuery) => probe.send(listPets(query), { key });
  // This also shows page sizes that are wrong on only one plan.
  const begun = await allOf(probe.keys, async (key) => ({
    key,
    before: await ask(key, { limit: contract.limit.maximum }),
  }));
  return allOf(begun, async (span) => ({ ...span, others, after: await ask(span.key, {}) }));
}

/** How many requests each other key sends between two requests of a key, in successive rounds. */
const IN_BETWEEN: readonly number[] = [2, 0, 5, 1];
/** At most this many other keys send them. */
const MOST_OTHERS = 4;

/** Sends requests of a key between those of others, as many as their quotas allow. */
async function follow(probe: Probe, key: Key): Promise<readonly Span[]> {
  const alike = (other: Key) => Number(other.plan === key.plan);
  const others = probe.keys
    .filter(({ name }) => name !== key.name)
    .sort((a, b) => alike(b) - alike(a))
    .slice(0, MOST_OTHERS);
  const ask = (payer: Key) => probe.send(listPets({ limit: 1 }), { key: payer });
  const needed = IN_BETWEEN.reduce((sum, times) => sum + times * others.length + 1, 1);
  if ([key, ...others].some((one) => probe.lane(one).left(probe.now()) < needed))
    await restFromNow(probe, key);
  const spans: Span[] = [];
  let before = await ask(key);
  for (const times of IN_BETWEEN) {
    for (const other of others) for (let time = 0; time < times; time += 1) await ask(other);
    const after = await ask(key);
    spans.push({ key, before, after, others: times * others.length });
    before = after;
  }
  return spans;
}

/**
 * What each key paid while all were used. A key's Remaining falls by its own requests, or by less if it is refilled. A
 * larger fall has another cause: our requests on other keys, or another client on this key. Only the former follows
 * what we send, so a key that paid too much is asked again while others send more or fewer.
 */
export const usedInTurn = scene('keys-in-turn', { onEveryKey: 2 }, async (probe) => {
  if (probe.keys.length < 2) throw new Unsettled('fewer than two keys can be used');
  const once = await askWithEach(probe);
  // The smallest plan first: its token bucket is refilled the least meanwhile.
  const [first] = once
    .filter((span) => (fallOf(span) ?? 0) > 1)
    .sort((a, b) => a.key.limits.perMinute - b.key.limits.perMinute);
  return { once, followed: first === undefined ? [] : await follow(probe, first.key) };
});

/** Invalid credentials, each resembling this key in a different way. */
function invalidCredentials(key: Key): NoKey[] {
  const misses = nearMisses(key.value).map(({ label, value }) => ({
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

/** The last answer of a key, where it shows what the key has left now: nothing was under way beside it. */
function lastAnswer(probe: Probe, key: Key): AnsweredExchange | undefined {
  const readings = [...probe.trace.readingsOf(key, probe.now() - MINUTE)];
  const last = readings.pop();
  if (last === undefined || last.status >= 300 || last.receivedAt < probe.now() - FRESH) return undefined;
  if (readings.some(({ receivedAt }) => receivedAt > last.sentAt)) return undefined;
  const exchange = probe.trace.find(last.id);
  return exchange !== undefined && isAnswered(exchange) ? exchange : undefined;
}

/** Sends each kind of invalid request this many times, between two valid requests. */
async function askWithout(probe: Probe, key: Key, times: number): Promise<Span> {
  const before =
    lastAnswer(probe, key) ?? (await probe.send(listPets({ status: 'available', limit: 10 }), { key }));
  const all = Array.from({ length: times }, () => invalidCredentials(key)).flat();
  await allOf(all, (credentials) => probe.sendWithoutKey(listPets({ limit: 1 }), credentials));
  // It would also show an addition that was refused for its key, but stored: as sold, where keys in turn list all.
  const filter = probe.keys.length > 1 ? { status: 'sold' } : {};
  const after = await probe.send(listPets({ limit: contract.limit.maximum, ...filter }), { key });
  return { key, before, after, others: times };
}

/**
 * What a key paid while requests without a valid key were sent. If it paid too much, the invalid requests are sent
 * twice and three times as often, to see whether it pays for them.
 */
export const countedInvalid = scene('rate-invalid-key-free', { requests: 2, anonymous: 6 }, async (probe) => {
  const [key] = probe.keys.toSorted((a, b) => b.limits.perMinute - a.limits.perMinute);
  if (key === undefined) throw new Unsettled('no key can be used');
  const once = await askWithout(probe, key, 1);
  return (fallOf(once) ?? 0) > 1
    ? [once, await askWithout(probe, key, 2), await askWithout(probe, key, 3)]
    : [once];
});
