import type { ApiKey } from '../../api-keys.ts';
import type { Gate } from '../../behaviour.ts';
import type { Problem } from '../../error-body.ts';
import { secondsUntil } from '../../headers.ts';
import type { RateLimiter } from '../../rate-limiter.ts';
import type { Deviation } from '../personality.ts';
import {
  admitting,
  answeringWith,
  header,
  headersAbsent,
  ofEachKey,
  restated,
  type When,
} from '../shapes.ts';
import type { FaultTable } from './fault.ts';
import { retryAfter } from './windows.ts';

const banned: When = (_answer, call) => call.refusedBy === 'ban';
const body = (text: string) => answeringWith(text, banned);

/** Bans are told apart from refusals of the limit by their status. */
const forbidden = restated(403, banned);

const dropped = (...names: readonly string[]) => headersAbsent(banned, ...names);

const BANNED: Problem = {
  status: 403,
  code: 'key_banned',
  message: 'This key is banned.',
  headers: ['Retry-After', '60'],
};

/** When a ban of the fault's own ends, and when it says so. */
interface OwnBan {
  readonly until: number;
  readonly told: number;
}

const closed = (limiter: RateLimiter, key: ApiKey, now: number, told: number): Gate => {
  const refusal = { ...BANNED, headers: ['Retry-After', secondsUntil(told, now)] };
  return { quota: limiter.closed(key, now), refusedBy: 'ban', refusal };
};

/** Bans each key by a rule of the fault's own, which may ask what the usual decision is. */
const banning =
  (rule: () => (now: number, usual: () => Gate) => OwnBan | null): Deviation =>
  ({ limiter }) => {
    const ruleFor = ofEachKey(rule);
    return admitting((usual, key, call) => {
      let gate: Gate | null = null;
      const ban = ruleFor(key)(call.now, () => {
        gate ??= usual(key, call);
        return gate;
      });
      if (ban === null || call.now >= ban.until) return gate ?? usual(key, call);
      return closed(limiter, key, call.now, ban.told);
    });
  };

const honest = (until: number): OwnBan => ({ until, told: until });

/** Once banned in the usual way, a key stays so for as long as the rule says. */
const prolonging = (ban: (firstBanned: number) => OwnBan): Deviation =>
  banning(() => {
    let first: number | undefined;
    return (now, usual) => {
      if (first === undefined && usual().refusedBy === 'ban') first = now;
      return first === undefined ? null : ban(first);
    };
  });

/** While one key is banned, others are too. */
const spreading =
  (to: (banned: ApiKey, other: ApiKey) => boolean): Deviation =>
  ({ limiter }) => {
    let ban: { key: ApiKey; until: number } | null = null;
    return admitting((usual, key, call) => {
      if (ban !== null && call.now < ban.until && ban.key.name !== key.name)
        return to(ban.key, key) ? closed(limiter, key, call.now, ban.until) : usual(key, call);
      const gate = usual(key, call);
      if (gate.refusedBy === 'ban') ban = { key, until: call.now + 60_000 };
      return gate;
    });
  };

/** Bans a key that did no wrong, by a rule about how often it was admitted, and refused before. */
const counting = (due: (admitted: number, refusedWindows: number) => boolean): Deviation =>
  banning(() => {
    let [admitted, windows, until] = [0, 0, 0];
    let refused = false;
    return (now, usual) => {
      if (now < until) return honest(until);
      const wasRefused = refused;
      refused = usual().refusedBy !== null;
      if (refused) return null;
      admitted += 1;
      if (wasRefused) windows += 1;
      if (!due(admitted, windows)) return null;
      [admitted, windows, until] = [0, 0, now + 60_000];
      return honest(until);
    };
  });

/** Section 8: the temporary ban. */
// biome-ignore format: a table, a line for most faults
export const BAN_FAULTS: FaultTable = {
  'ban-spares-polite': {
    'ban-after-waiting': counting((_admitted, windows) => windows > 0),
    'ban-of-the-fast': counting((admitted) => admitted > 40),
    // The first request over the limit bans the key.
    'ban-on-first-429': banning(() => {
      let ban = honest(0);
      return (now, usual) => {
        if (now < ban.until) return ban;
        if (usual().refusedBy === 'minute') ban = { until: now + 120_000, told: now + 60_000 };
        return null;
      };
    }),
  },
  'ban-error-body': {
    'ban-empty': [forbidden, body('')],
    'ban-text': [forbidden, body('Forbidden')],
    'ban-without-code': [forbidden, body('{"message":"banned","status":403}')],
    'ban-html': [forbidden, body('<html><body>Forbidden</body></html>'), header('Content-Type', banned, () => 'text/html')],
  },
  'ban-rate-headers': {
    'ban-without-headers':
      [forbidden, dropped('X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset')],
    'ban-without-reset': [forbidden, dropped('X-RateLimit-Reset')],
    'ban-without-limit': [forbidden, dropped('X-RateLimit-Limit')],
  },
  'ban-ends': {
    'ban-twice-as-long': prolonging((first) => ({ until: first + 120_000, told: first + 60_000 })),
    'ban-told-and-never-lifted':
      [prolonging(() => honest(Number.POSITIVE_INFINITY)), retryAfter(() => '20', banned)],
    'ban-says-one-second': retryAfter(() => '1', banned),
    'ban-like-the-limit-says-one-second': [body('{"code":"rate_limit_exceeded","message":"Too many requests.","status":429}'), retryAfter(() => '1', banned)],
    'ban-says-half': retryAfter((seconds) => String(Math.ceil(seconds / 2)), banned),
    // A ban begins anew with the first request after it.
    'ban-begins-anew': banning(() => {
      let [until, renewed] = [0, false];
      return (now, usual) => {
        if (until === 0) {
          if (usual().refusedBy === 'ban') until = now + 60_000;
          return null;
        }
        if (now >= until && !renewed) [until, renewed] = [now + 60_000, true];
        return honest(until);
      };
    }),
  },
  'ban-other-keys': {
    'ban-of-the-plan': spreading((one, other) => one.plan === other.plan),
    'ban-of-everybody': spreading(() => true),
    // A ban hits the other Free keys, and not the one that earned it.
    'ban-of-all-but-itself': ({ limiter }) => {
      let ban = { key: '', until: 0 };
      return admitting((usual, key, call) => {
        const gate = usual(key, call);
        if (gate.refusedBy === 'ban') {
          ban = { key: key.name, until: call.now + 60_000 };
          return { ...gate, refusedBy: 'minute' };
        }
        if (call.now >= ban.until || key.name === ban.key || key.plan !== 'free') return gate;
        return { quota: limiter.closed(key, call.now), refusedBy: 'ban', refusal: BANNED };
      });
    },
  },
};
