import type { ApiKey } from '../../api-keys.ts';
import { bearerToken } from '../../api-keys.ts';
import type { Call } from '../../call.ts';
import type { Personality } from '../personality.ts';
import { type Fault, type FaultTable, fault, faultsOf } from './fault.ts';

const APART = 'rate-keys-apart';
const INVALID = 'rate-invalid-key-free';

const account = (accountOf: (key: ApiKey) => string): Personality => ({ recipe: () => ({ accountOf }) });

/** Spends a request of a key that did not make it. */
const spending = (
  whose: (call: Call, keys: readonly { value: string; name: string }[]) => string | undefined,
): Personality => ({
  behaviour: (usual, parts, { keys }) => ({
    identify(call) {
      const key = usual.identify(call);
      if (key !== null) return key;
      const name = whose(call, keys);
      const payer = keys.find((candidate) => candidate.name === name);
      if (payer !== undefined) parts.limiter.admit({ name: payer.name, plan: payer.plan }, call.now);
      return null;
    },
  }),
});

// biome-ignore format: a table, a line or two for each fault
const TABLE: FaultTable = {
  'rate-keys-apart': {
    'free-keys-share': ['The Free keys share one quota.',
      account((key) => (key.plan === 'free' ? 'free' : key.name))],
    'all-keys-share': ['Keys of the same plan share one quota.', account((key) => key.plan)],
  },
};

/** Sections 5 and 8: whose quota a request takes from. */
export const KEYS_APART_FAULTS: readonly Fault[] = [
  ...faultsOf(TABLE),
  fault('free-key-spends-pro', APART, 'What a Free key spends, the Pro keys pay too.', {
    behaviour: (usual, { keys, limiter }) => ({
      admit(key, call) {
        if (key.plan === 'free')
          for (const other of keys.all()) if (other.plan === 'pro') limiter.admit(other, call.now);
        return usual.admit(key, call);
      },
    }),
  }),
  fault(
    'near-miss-spends',
    INVALID,
    'A request with a key that is almost right spends the quota of the key that it resembles.',
    spending((call, keys) => {
      const token = bearerToken(call.authorization);
      return token === null || token.length < 8
        ? undefined
        : keys.find(
            ({ value }) =>
              value.slice(0, 8) === token.slice(0, 8) ||
              value.toLowerCase().startsWith(token.toLowerCase().slice(0, 8)),
          )?.name;
    }),
  ),
  fault(
    'other-scheme-spends',
    INVALID,
    'A request with a valid key in another scheme is refused and spends its quota.',
    spending((call, keys) => {
      const sent = /(\S+)$/.exec(call.authorization ?? '')?.[1] ?? '';
      const decoded = Buffer.from(sent, 'base64').toString();
      return sent === ''
        ? undefined
        : keys.find(({ value }) => value === sent || decoded.includes(value))?.name;
    }),
  ),
  fault(
    'missing-key-spends',
    INVALID,
    'A request without a key spends the quota of the key that came before it.',
    {
      behaviour: (usual, { limiter }) => {
        let last: ApiKey | null = null;
        return {
          identify(call) {
            const key = usual.identify(call);
            if (key !== null) last = key;
            else if (last !== null && call.authorization === null) limiter.admit(last, call.now);
            return key;
          },
        };
      },
    },
  ),
  fault('unknown-key-spends-all', INVALID, 'A request with an unknown key spends the quota of every key.', {
    behaviour: (usual, { keys, limiter }) => ({
      identify(call) {
        const key = usual.identify(call);
        if (key === null && bearerToken(call.authorization) !== null) {
          for (const other of keys.all()) limiter.admit(other, call.now);
        }
        return key;
      },
    }),
  }),
];
