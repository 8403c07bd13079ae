import { type ApiKey, bearerToken, type IssuedKey } from '../../api-keys.ts';
import type { Call } from '../../call.ts';
import type { Personality } from '../personality.ts';
import { admitting, identifying } from '../shapes.ts';
import type { FaultTable } from './fault.ts';

const account = (accountOf: (key: ApiKey) => string): Personality => ({ recipe: () => ({ accountOf }) });

/** Has other keys pay too. */
const payingToo = (pays: (key: ApiKey, other: ApiKey) => boolean): Personality =>
  admitting((usual, key, call, { limiter }, { keys }) => {
    for (const other of keys) if (pays(key, other)) limiter.admit(other, call.now);
    return usual(key, call);
  });

/** Spends a request of keys that did not make it. */
const spending = (whose: (call: Call, keys: readonly IssuedKey[]) => readonly IssuedKey[]): Personality =>
  identifying((usual, call, { limiter }, { keys }) => {
    if (usual === null)
      for (const { name, plan } of whose(call, keys)) limiter.admit({ name, plan }, call.now);
    return usual;
  });

/** Sections 5 and 8: whose quota a request takes from. */
// biome-ignore format: a table, a line for most faults
export const KEYS_APART_FAULTS: FaultTable = {
  'rate-keys-apart': {
    'free-keys-share': account((key) => (key.plan === 'free' ? 'free' : key.name)),
    'address-shares': payingToo((key, other) => other.name !== key.name),
    'all-keys-share': account((key) => key.plan),
    'free-key-spends-pro': payingToo((key, other) => key.plan === 'free' && other.plan === 'pro'),
  },
  'rate-invalid-key-free': {
    'unknown-key-spends-all': spending((call, keys) => bearerToken(call.authorization) === null ? [] : keys),
    // A request with a key that is almost right spends the quota of the key that it resembles.
    'near-miss-spends': spending((call, keys) => {
      const beginning = bearerToken(call.authorization)?.slice(0, 8).toLowerCase() ?? '';
      return beginning.length < 8
        ? []
        : keys.filter(({ value }) => value.toLowerCase().startsWith(beginning)).slice(0, 1);
    }),
    // A request with a valid key in another scheme is refused and spends its quota.
    'other-scheme-spends': spending((call, keys) => {
      const sent = /(\S+)$/.exec(call.authorization ?? '')?.[1] ?? '';
      const decoded = Buffer.from(sent, 'base64').toString();
      return keys
        .filter(({ value }) => sent !== '' && (value === sent || decoded.includes(value)))
        .slice(0, 1);
    }),
    // A request without a key spends the quota of the key that came before it.
    'missing-key-spends': ({ limiter }) => {
      let last: ApiKey | null = null;
      return identifying((usual, call) => {
        if (usual !== null) last = usual;
        else if (last !== null && call.authorization === null) limiter.admit(last, call.now);
        return usual;
      });
    },
  },
};
