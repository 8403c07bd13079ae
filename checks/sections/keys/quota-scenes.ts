/** What keys pay while this run sends on all of them, or without any. */
import { contract } from '../../../spec/contract.ts';
import type { Key } from '../../profile/key.ts';
import type { NoKey, Probe } from '../../run/probe.ts';
import { scene } from '../../run/scene.ts';
import { Unsettled } from '../../run/unsettled.ts';
import type { AnsweredExchange } from '../../wire/exchange.ts';
import { rateReading } from '../../wire/rate-headers.ts';
import { nearMisses } from '../../wire/redaction.ts';
import { type ListQuery, listPets } from '../../wire/requests.ts';
import { restFromNow } from '../minute/key-at-rest.ts';

/** The answers to the first and the last request of a key in a round. */
export interface Span {
  readonly key: Key;
  readonly before: AnsweredExchange;
  readonly after: AnsweredExchange;
}

/** By how much X-RateLimit-Remaining fell; undefined where the headers do not tell. */
export function fallOf({ before, after }: Span): number | undefined {
  const [start, end] = [rateReading(before), rateReading(after)];
  return start.remaining === undefined || end.remaining === undefined
    ? undefined
    : start.remaining - end.remaining;
}

/** The same of two windows of one length: headers that tell now of the minute, now of the day are not compared. */
export const comparableFall = (span: Span) =>
  rateReading(span.before).limit === rateReading(span.after).limit ? fallOf(span) : undefined;

/** A request on each key in turn, and another one. */
async function askWithEach(probe: Probe): Promise<Span[]> {
  const ask = (key: Key, query: ListQuery) => probe.send(listPets(query), { key });
  const spans: Omit<Span, 'after'>[] = [];
  // Page sizes that are wrong on one plan only show here.
  for (const key of probe.keys)
    spans.push({ key, before: await ask(key, { limit: contract.limit.maximum }) });
  const whole: Span[] = [];
  for (const span of spans) whole.push({ ...span, after: await ask(span.key, {}) });
  return whole;
}

/** How many requests each other key sends between two of a key, one time after the other. */
const IN_BETWEEN: readonly number[] = [2, 0, 5, 1];
/** Other keys that send them. */
const MOST_OTHERS = 4;

/** What a key paid while others sent so many requests. */
export interface FollowedSpan extends Span {
  readonly others: number;
}

/** What was paid while all keys were used, and by a key that paid too much, while others sent more and fewer. */
export interface UsedInTurn {
  readonly once: readonly Span[];
  readonly followed: readonly FollowedSpan[];
}

/** Requests of a key, in between those of others, as many as all of them have quota for. */
async function follow(probe: Probe, key: Key): Promise<FollowedSpan[]> {
  const alike = (other: Key) => Number(other.plan === key.plan);
  const others = probe.keys
    .filter(({ name }) => name !== key.name)
    .sort((a, b) => alike(b) - alike(a))
    .slice(0, MOST_OTHERS);
  const ask = (payer: Key) => probe.send(listPets({ limit: 1 }), { key: payer });
  const needed = IN_BETWEEN.reduce((sum, times) => sum + times * others.length + 1, 1);
  if ([key, ...others].some((one) => probe.lane(one).left(probe.now()) < needed))
    await restFromNow(probe, key);
  const spans: FollowedSpan[] = [];
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
 * What each key paid while all were used. A key's Remaining falls by its own requests, and less where it is refilled.
 * More is others' doing: ours on other keys, or somebody else's on this one. Only ours follow what we send.
 */
export const usedInTurn = scene('keys-in-turn', { onEveryKey: 2 }, async (probe): Promise<UsedInTurn> => {
  if (probe.keys.length < 2) throw new Unsettled('fewer than two keys can be used');
  const once = await askWithEach(probe);
  // Of a small plan a bucket gives back little meanwhile.
  const [first] = once
    .filter((span) => (comparableFall(span) ?? 0) > 1)
    .sort((a, b) => a.key.limits.perMinute - b.key.limits.perMinute);
  return { once, followed: first === undefined ? [] : await follow(probe, first.key) };
});

/** Credentials that are no valid key, each resembling this one in another way. */
function invalidCredentials(key: Key): NoKey[] {
  const misses = nearMisses(key.value).map(({ label, value }) => ({
    header: `Bearer ${value}`,
    described: `Bearer and a key with ${label}`,
  }));
  const basic = {
    header: `Basic ${Buffer.from(`${key.value}:`).toString('base64')}`,
    described: 'Basic and a valid key',
  };
  // What a client sends that forgot to set its key.
  const unknown = { header: 'Bearer undefined', described: 'Bearer and the word undefined' };
  return [
    ...misses,
    basic,
    { header: key.value, described: 'a valid key without a scheme' },
    unknown,
    'none',
  ];
}

/** Invalid requests of every kind, each so many times, between two valid ones. */
async function askWithout(probe: Probe, key: Key, times: number): Promise<Span> {
  // Limits that no other list of the run has.
  const before = await probe.send(listPets({ status: 'sold', limit: 10 }), { key });
  for (let time = 0; time < times; time += 1) {
    for (const credentials of invalidCredentials(key))
      await probe.sendWithoutKey(listPets({ limit: 1 }), credentials);
  }
  return { key, before, after: await probe.send(listPets({ limit: 5, status: 'available' }), { key }) };
}

/**
 * What a key paid while requests were sent without one: once, and where it paid too much twice and three times as much,
 * which it does not where nobody else uses the key.
 */
export const countedInvalid = scene('rate-invalid-key-free', { requests: 2, anonymous: 7 }, async (probe) => {
  const [key] = probe.keys.toSorted((a, b) => b.limits.perMinute - a.limits.perMinute);
  if (key === undefined) throw new Unsettled('no key can be used');
  const once = await askWithout(probe, key, 1);
  return (fallOf(once) ?? 0) > 1
    ? [once, await askWithout(probe, key, 2), await askWithout(probe, key, 3)]
    : [once];
});
