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

/** Requests on every key in turn, each key so many times and once more. */
async function askWithEach(probe: Probe, times: number): Promise<Span[]> {
  const { keys } = probe;
  const ask = (key: Key, query: ListQuery) => probe.send(listPets(query), { key });
  const spans: Omit<Span, 'after'>[] = [];
  // Page sizes that are wrong on one plan only show here.
  for (const key of keys) spans.push({ key, before: await ask(key, { limit: contract.limit.maximum }) });
  for (const key of keys) for (let time = 1; time < times; time += 1) await ask(key, { limit: 1 });
  const whole: Span[] = [];
  for (const span of spans) whole.push({ ...span, after: await ask(span.key, {}) });
  return whole;
}

/** What each key paid while all were used: once, and where one paid too much twice and three times as much. */
export const usedInTurn = scene('rate-keys-apart', { onEveryKey: 2 }, async (probe) => {
  if (probe.keys.length < 2) throw new Unsettled('fewer than two keys can be used');
  const once = await askWithEach(probe, 1);
  // A key's Remaining falls by its own requests, and less where it is refilled. More is others' doing: ours on other
  // keys, or somebody else's on this one. Only ours grow with what we send.
  const isSuspicious = once.some((span) => (comparableFall(span) ?? 0) > 1);
  return isSuspicious ? [once, await askWithEach(probe, 2), await askWithEach(probe, 3)] : [once];
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
