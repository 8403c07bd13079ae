import type { ApiKey } from '../../api-keys.ts';
import type { Gate } from '../../behaviour.ts';
import type { Problem } from '../../error-body.ts';
import { secondsUntil } from '../../headers.ts';
import { type Deviation, type Personality, together } from '../personality.ts';
import {
  admitting,
  answeringAs,
  answeringWith,
  header,
  headersAbsent,
  rewriting,
  type When,
} from '../shapes.ts';
import type { FaultTable } from './fault.ts';

const banned: When = (_answer, call) => call.refusedBy === 'ban';
const body = (text: string) => answeringWith(text, banned);

/** Bans are told apart from refusals of the limit by their status. */
const forbidden = together(
  rewriting(banned, (text) => text.replace('"status":429', '"status":403')),
  answeringAs(403, banned),
);

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

/** Bans by a rule of the fault's own, which may ask what the usual decision is. */
const banning =
  (rule: () => (key: ApiKey, now: number, usual: () => Gate) => OwnBan | null): Deviation =>
  ({ limiter }) => {
    const ownBan = rule();
    return admitting((usual, key, call) => {
      let gate: Gate | null = null;
      const ban = ownBan(key, call.now, () => {
        gate ??= usual(key, call);
        return gate;
      });
      if (ban === null || call.now >= ban.until) return gate ?? usual(key, call);
      const refusal = { ...BANNED, headers: ['Retry-After', secondsUntil(ban.told, call.now)] };
      return { quota: limiter.closed(key, call.now), refusedBy: 'ban', refusal };
    });
  };

const honest = (until: number): OwnBan => ({ until, told: until });

/** Once banned in the usual way, a key stays so for as long as the rule says. */
const prolonging = (ban: (firstBanned: number) => OwnBan): Deviation =>
  banning(() => {
    const since = new Map<string, number>();
    return (key, now, usual) => {
      if (!since.has(key.name) && usual().refusedBy === 'ban') since.set(key.name, now);
      const first = since.get(key.name);
      return first === undefined ? null : ban(first);
    };
  });

/** While one key is banned, others are too. */
const spreading = (to: (banned: ApiKey, other: ApiKey) => boolean): Deviation =>
  banning(() => {
    let ban: { key: ApiKey; until: number } | null = null;
    return (key, now, usual) => {
      if (ban !== null && now < ban.until && ban.key.name !== key.name)
        return to(ban.key, key) ? honest(ban.until) : null;
      if (usual().refusedBy === 'ban') ban = { key, until: now + 60_000 };
      return null;
    };
  });

/** Bans a key that did no wrong, by a rule about how often it was admitted, and refused before. */
const counting = (due: (admitted: number, refusedWindows: number) => boolean): Deviation =>
  banning(() => {
    const counts = new Map<string, { admitted: number; windows: number; refused: boolean; until: number }>();
    return (key, now, usual) => {
      const count = counts.get(key.name) ?? { admitted: 0, windows: 0, refused: false, until: 0 };
      counts.set(key.name, count);
      if (now < count.until) return honest(count.until);
      const { refusedBy } = usual();
      if (refusedBy === null) {
        count.admitted += 1;
        if (count.refused) count.windows += 1;
        count.refused = false;
      } else count.refused = true;
      if (!due(count.admitted, count.windows) || refusedBy !== null) return null;
      counts.set(key.name, { admitted: 0, windows: 0, refused: false, until: now + 60_000 });
      return honest(now + 60_000);
    };
  });

const retryAfter = (change: (seconds: number) => string): Personality =>
  header('Retry-After', banned, (value) => change(Number(value)));

/** A ban that every request within it prolongs by an hour. */
const untilSilent = banning(() => {
  const last = new Map<string, number>();
  return (key, now, usual) => {
    const before = last.get(key.name);
    if (before === undefined && usual().refusedBy !== 'ban') return null;
    if (before !== undefined && now - before > 3_600_000) {
      last.delete(key.name);
      return null;
    }
    last.set(key.name, now);
    return honest(now + 3_600_000);
  };
});

/** Section 8: the temporary ban. */
// biome-ignore format: a table, a line or two for each fault
export const BAN_FAULTS: FaultTable = {
  'ban-spares-polite': {
    'ban-after-waiting': ['A key that was refused and has waited as told is banned.',
      counting((_admitted, windows) => windows > 0)],
    'ban-of-the-fast': ['A key is banned after forty requests, whether refused or not.',
      counting((admitted) => admitted > 40)],
    'ban-on-first-429': ['The first request over the limit bans the key.', banning(() => {
      const bans = new Map<string, OwnBan>();
      return (key, now, usual) => {
        const ban = bans.get(key.name);
        if (ban !== undefined && now < ban.until) return ban;
        if (usual().refusedBy === 'minute') bans.set(key.name, { until: now + 120_000, told: now + 60_000 });
        return null;
      };
    })],
  },
  'ban-error-body': {
    'ban-empty': ['A banned key gets 403 and no body.', forbidden, body('')],
    'ban-text': ['A banned key gets 403 and the text "Forbidden".', forbidden, body('Forbidden')],
    'ban-without-code': ['A banned key gets 403 and an Error without code.',
      forbidden, body('{"message":"banned","status":403}')],
    'ban-html': ['A banned key gets 403 and a page of HTML.', forbidden,
      body('<html><body>Forbidden</body></html>'), header('Content-Type', banned, () => 'text/html')],
  },
  'ban-rate-headers': {
    'ban-without-headers': ['A banned key gets no rate headers.',
      forbidden, dropped('X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset')],
    'ban-without-reset': ['A banned key gets no X-RateLimit-Reset.', forbidden, dropped('X-RateLimit-Reset')],
    'ban-without-limit': ['A banned key gets no X-RateLimit-Limit.', forbidden, dropped('X-RateLimit-Limit')],
  },
  'ban-ends': {
    'ban-for-ever': ['A ban never ends, and says nothing about its end.',
      prolonging(() => honest(Number.POSITIVE_INFINITY)), dropped('Retry-After')],
    'ban-until-silent': ['A ban goes on until the key has been silent for an hour.',
      untilSilent, dropped('Retry-After')],
  },
  'ban-ends-as-told': {
    'ban-twice-as-long': ['A ban lasts twice as long as it says.',
      prolonging((first) => ({ until: first + 120_000, told: first + 60_000 }))],
    'ban-says-one-second': ['A ban says to retry after 1 second.', retryAfter(() => '1')],
    'ban-like-the-limit-says-one-second': [
      'A ban is answered as the limit is, and says to retry after 1 second.',
      body('{"code":"rate_limit_exceeded","message":"Too many requests.","status":429}'),
      retryAfter(() => '1')],
    'ban-says-half': ['A ban says to retry after half of its time.',
      retryAfter((seconds) => String(Math.ceil(seconds / 2)))],
    'ban-begins-anew': ['A ban begins anew with the first request after it.', banning(() => {
      const since = new Map<string, { until: number; renewed: boolean }>();
      return (key, now, usual) => {
        const ban = since.get(key.name);
        if (ban === undefined) {
          if (usual().refusedBy === 'ban') since.set(key.name, { until: now + 60_000, renewed: false });
          return null;
        }
        if (now >= ban.until && !ban.renewed) since.set(key.name, { until: now + 60_000, renewed: true });
        return honest(since.get(key.name)?.until ?? now);
      };
    })],
  },
  'ban-other-keys': {
    'ban-of-the-plan': ['While one key is banned, all keys of its plan are.',
      spreading((one, other) => one.plan === other.plan)],
    'ban-of-everybody': ['While one key is banned, every key is.', spreading(() => true)],
    'ban-of-all-but-itself': ['A ban hits the other Free keys, and not the one that earned it.',
      ({ limiter }) => {
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
      }],
  },
};
