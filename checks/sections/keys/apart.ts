/** Sections 5 and 8: a request takes from the caller's quota, and from nobody else's. */
import { contract } from '../../../spec/contract.ts';
import { type Check, type Judge, Unsettled } from '../../run/check.ts';
import type { Key } from '../../run/key-pool.ts';
import type { NoKey, Probe } from '../../run/probe.ts';
import { numberOf, type RateReading, rateHeaders, rateReading } from '../../wire/rate-headers.ts';
import { nearMisses } from '../../wire/redaction.ts';
import { type ListQuery, listPets } from '../../wire/requests.ts';

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

/** Requests on every key in turn: what one spends must not show on another. */
async function neighbours(probe: Probe, judge: Judge): Promise<void> {
  const { keys } = probe;
  if (keys.length < 2) return judge.unsettled('needs a second key');
  const ask = async (key: Key, query: ListQuery) => rateReading(await probe.send(listPets(query), { key }));
  const spent = async (rounds: number) => {
    const before = new Map<string, RateReading>();
    // Page sizes that are wrong on one plan only show here.
    for (const key of keys) before.set(key.name, await ask(key, { limit: contract.limit.maximum }));
    for (const key of keys) for (let round = 1; round < rounds; round += 1) await ask(key, { limit: 1 });
    const falls: { key: Key; fall: number; after: RateReading }[] = [];
    for (const key of keys) {
      const start = before.get(key.name);
      const after = await ask(key, {});
      if (start?.remaining === undefined || after.remaining === undefined || start.limit !== after.limit)
        continue;
      falls.push({ key, fall: start.remaining - after.remaining, after });
    }
    return falls;
  };
  // A key's Remaining falls by its own requests, and less where it is refilled. More is others' doing: ours on other
  // keys, or somebody else's on this one. Only ours grow with what we send.
  const once = await spent(1);
  if (once.length === 0) return judge.unsettled('X-RateLimit-Remaining does not tell what a key spent');
  const suspicious = once.filter(({ fall }) => fall > 1);
  for (const { after, fall } of once) {
    const exchange = probe.find(after.id);
    if (fall <= 1 && exchange !== undefined) judge.holds(exchange);
  }
  if (suspicious.length === 0) return;
  const twice = await spent(2);
  const thrice = await spent(3);
  const extra = (falls: typeof once, name: string, own: number) => {
    const fall = falls.find(({ key }) => key.name === name)?.fall;
    return fall === undefined ? undefined : fall - own;
  };
  for (const { key, fall } of suspicious) {
    const last = thrice.find((later) => later.key.name === key.name);
    const evidence = last === undefined ? undefined : probe.find(last.after.id);
    const inProportion =
      extra(twice, key.name, 2) === 2 * (fall - 1) && extra(thrice, key.name, 3) === 3 * (fall - 1);
    if (inProportion && last !== undefined && evidence !== undefined) {
      judge.breaks(
        {
          expected: `key ${key.name} spends only its own requests`,
          actual: `X-RateLimit-Remaining fell by ${last.fall} after 3 requests of its own and ${(keys.length - 1) * 3} of other keys`,
        },
        evidence,
      );
    } else judge.unsettled(`somebody else seems to spend key ${key.name}`);
  }
}

export const keysApartChecks: readonly Check[] = [
  {
    // 8: the limit applies to the caller.
    id: 'rate-keys-apart',
    spends: { requests: 0 },
    run: neighbours,
  },
  {
    // 5, 8: a request without a valid key is no caller's.
    id: 'rate-invalid-key-free',
    // Three times as many where the first fall is odd, which it is not where nobody else uses the key.
    spends: { requests: 2, anonymous: 7 },
    async run(probe, judge) {
      const [key] = [...probe.keys].sort((a, b) => b.limits.perMinute - a.limits.perMinute);
      if (key === undefined) throw new Unsettled('no key can be used');
      const spent = async (rounds: number) => {
        // Limits that no other list of the run has.
        const before = await probe.send(listPets({ status: 'sold', limit: 10 }), { key });
        for (let round = 0; round < rounds; round += 1) {
          for (const credentials of invalidCredentials(key))
            await probe.sendWithoutKey(listPets({ limit: 1 }), credentials);
        }
        const after = await probe.send(listPets({ limit: 5, status: 'available' }), { key });
        const from = numberOf(rateHeaders(before.outcome.headers).remaining);
        const to = numberOf(rateHeaders(after.outcome.headers).remaining);
        return { fall: from === undefined || to === undefined ? undefined : from - to, after, before };
      };
      const once = await spent(1);
      if (once.fall === undefined)
        return judge.unsettled('X-RateLimit-Remaining does not tell what a key spent');
      if (once.fall <= 1) return judge.holds(once.after, once.before);
      const twice = await spent(2);
      const thrice = await spent(3);
      // Somebody else's requests do not come in proportion to our invalid ones.
      const extra = once.fall - 1;
      if (twice.fall === 1 + 2 * extra && thrice.fall === 1 + 3 * extra) {
        judge.breaks(
          {
            expected: 'a fall of X-RateLimit-Remaining by the valid request only',
            actual: `it fell by ${once.fall} where each kind of invalid request came once, and by ${thrice.fall} where it came three times`,
          },
          thrice.after,
          thrice.before,
        );
      } else judge.unsettled(`somebody else seems to spend key ${key.name}`);
    },
  },
];
