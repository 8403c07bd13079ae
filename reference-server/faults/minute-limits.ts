import type { ApiKey } from '../api-keys.ts';
import { bearerToken } from '../api-keys.ts';
import type { Call } from '../call.ts';
import { admitting, answering, type When, withBody, withError } from '../deviations.ts';
import type { Problem } from '../error-body.ts';
import type { Personality } from '../personality.ts';
import type { Plan } from '../plans.ts';
import { WindowFromFirstRequest } from '../rate-meters.ts';
import { type Fault, fault } from './fault.ts';
import { admitsOther, uncounted, whenOverLimit, windowCounter } from './windows.ts';

const FREE = 'rate-minute-free';
const PRO = 'rate-minute-pro';
const BUSINESS = 'rate-minute-business';
const ENTERPRISE = 'rate-minute-enterprise';
const CONCURRENT = 'rate-concurrent';
const NEXT = 'rate-next-window';
const APART = 'rate-keys-apart';
const INVALID = 'rate-invalid-key-free';
const REFUSED = 'rate-refused-429';

/** A minute of another length. */
const windowOf = (seconds: number): Personality => ({
  recipe: ({ minuteMeter }) => ({ minuteMeter: (limit) => minuteMeter(limit, seconds * 1000) }),
});

/** Lets everything through that would be refused and matches. */
const letThrough = (when: (key: ApiKey, call: Call) => boolean): Personality =>
  admitting((usual, key, call) => {
    const gate = usual(key, call);
    return gate.refusedBy === 'minute' && when(key, call)
      ? { ...gate, refusedBy: null, refusal: null }
      : gate;
  });

/** Admits everything, while the headers count down to 0. */
const unlimited = (plan: Plan) => admitsOther(plan, 'perMinute', 1_000_000_000);

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

/** Refusals of the limit with another status. */
const refusedWith = (status: number, when: When = whenOverLimit): Personality =>
  answering(
    (answer, call) => whenOverLimit(answer, call) && when(answer, call),
    (answer) => withError(answer, status),
  );

/**
 * A limiter that reads the count on arrival and writes it with the answer: whoever arrives in between sees the old
 * count. Answers are held back for a moment, so that requests do meet.
 */
function racing(operation?: string): Personality {
  return {
    behaviour: (usual) => {
      const underWay = new Map<string, { calls: number; quota: Call['quota'] }>();
      const races = (call: Call) => operation === undefined || call.route.operation === operation;
      return {
        admit(key, call) {
          const other = underWay.get(key.name);
          if (other !== undefined && other.calls > 0 && races(call)) {
            other.calls += 1;
            return { quota: other.quota, refusedBy: null, refusal: null };
          }
          const gate = usual.admit(key, call);
          if (gate.refusal === null && races(call)) underWay.set(key.name, { calls: 1, quota: gate.quota });
          return gate;
        },
        deliver(response, answer, headers, call) {
          const name = call.key?.name ?? '';
          if (call.refusedBy !== null || !races(call)) return usual.deliver(response, answer, headers, call);
          setTimeout(() => {
            const own = underWay.get(name);
            if (own !== undefined) own.calls -= 1;
            usual.deliver(response, answer, headers, call);
          }, 3);
        },
      };
    },
  };
}

/** Another limit from the second window of a key on. */
const laterWindows = (change: (limit: number) => number): Personality => ({
  recipe: () => ({
    minuteMeter(limit, windowMs) {
      const first = new WindowFromFirstRequest(limit, windowMs);
      const later = new WindowFromFirstRequest(change(limit), windowMs);
      let firstEnds = Number.POSITIVE_INFINITY;
      const current = (now: number) => (now >= firstEnds ? later : first);
      return {
        limit,
        left: (now) => current(now).left(now),
        spend(now) {
          current(now).spend(now);
          if (firstEnds === Number.POSITIVE_INFINITY) firstEnds = first.resetAt(now);
        },
        freeAt: (now) => current(now).freeAt(now),
        resetAt: (now) => current(now).resetAt(now),
      };
    },
  }),
});

const NOTHING_LEFT: Problem = { status: 429, code: 'rate_limit_exceeded', message: 'Too many requests.' };

/** Section 8: requests per minute. */
export const MINUTE_LIMIT_FAULTS: readonly Fault[] = [
  fault(
    'free-50-a-minute',
    FREE,
    'A Free key has 50 requests a minute.',
    admitsOther('free', 'perMinute', -10),
  ),
  fault(
    'free-59-a-minute',
    FREE,
    'A Free key has 59 requests a minute.',
    admitsOther('free', 'perMinute', -1),
  ),
  fault(
    'free-61-a-minute',
    FREE,
    'A Free key has 61 requests a minute.',
    admitsOther('free', 'perMinute', 1),
  ),
  fault(
    'free-70-a-minute',
    FREE,
    'A Free key has 70 requests a minute.',
    admitsOther('free', 'perMinute', 10),
  ),
  fault('free-unlimited', FREE, 'A Free key is never refused for its minute.', unlimited('free')),
  fault('free-minute-of-30-seconds', FREE, 'The minute of every key is over after 30 seconds.', windowOf(30)),
  fault(
    'free-get-uncounted',
    FREE,
    'Retrievals are not counted.',
    uncounted((call) => call.route.operation === 'getPet'),
  ),
  fault(
    'free-add-uncounted',
    FREE,
    'Additions are not counted.',
    uncounted((call) => call.route.operation === 'createPet'),
  ),
  fault(
    'free-small-lists-uncounted',
    FREE,
    'Lists with limit=1 are not counted.',
    uncounted((call) => /[?&]limit=1(?:&|$)/.test(call.target)),
  ),
  fault(
    'pro-290-a-minute',
    PRO,
    'A Pro key has 290 requests a minute.',
    admitsOther('pro', 'perMinute', -10),
  ),
  fault('pro-299-a-minute', PRO, 'A Pro key has 299 requests a minute.', admitsOther('pro', 'perMinute', -1)),
  fault('pro-301-a-minute', PRO, 'A Pro key has 301 requests a minute.', admitsOther('pro', 'perMinute', 1)),
  fault('pro-310-a-minute', PRO, 'A Pro key has 310 requests a minute.', admitsOther('pro', 'perMinute', 10)),
  fault('pro-unlimited', PRO, 'A Pro key is never refused for its minute.', unlimited('pro')),
  fault(
    'business-990-a-minute',
    BUSINESS,
    'A Business key has 990 requests a minute.',
    admitsOther('business', 'perMinute', -10),
  ),
  fault(
    'business-999-a-minute',
    BUSINESS,
    'A Business key has 999 requests a minute.',
    admitsOther('business', 'perMinute', -1),
  ),
  fault(
    'business-1010-a-minute',
    BUSINESS,
    'A Business key has 1,010 requests a minute.',
    admitsOther('business', 'perMinute', 10),
  ),
  fault(
    'business-300-a-minute',
    BUSINESS,
    'A Business key has the 300 requests a minute of Pro.',
    admitsOther('business', 'perMinute', -700),
  ),
  fault(
    'enterprise-ten-too-few-a-minute',
    ENTERPRISE,
    'An Enterprise key has ten requests a minute too few.',
    admitsOther('enterprise', 'perMinute', -10),
  ),
  fault(
    'enterprise-ten-too-many-a-minute',
    ENTERPRISE,
    'An Enterprise key has ten requests a minute too many.',
    admitsOther('enterprise', 'perMinute', 10),
  ),
  fault(
    'enterprise-unlimited',
    ENTERPRISE,
    'An Enterprise key is never refused for its minute.',
    unlimited('enterprise'),
  ),

  fault(
    'limiter-races',
    CONCURRENT,
    'Requests that are under way at the same moment count as one.',
    racing(),
  ),
  fault(
    'limiter-races-on-lists',
    CONCURRENT,
    'Lists that are under way at the same moment count as one.',
    racing('listPets'),
  ),

  fault(
    'second-window-half',
    NEXT,
    'From its second window on, a key has half of its requests.',
    laterWindows((limit) => Math.floor(limit / 2)),
  ),
  fault(
    'second-window-ten-more',
    NEXT,
    'From its second window on, a key has ten requests more.',
    laterWindows((limit) => limit + 10),
  ),
  fault(
    'second-window-one-less',
    NEXT,
    'From its second window on, a key has one request less.',
    laterWindows((limit) => limit - 1),
  ),
  fault('second-window-closed-after-429', NEXT, 'The window after a refusal has ten requests fewer.', {
    behaviour: (usual, { limiter }) => {
      const windows = windowCounter();
      const used = new Map<string, { window: number; admitted: number; refused: boolean; short: boolean }>();
      return {
        admit(key, call) {
          const before = used.get(key.name);
          const quota = limiter.closed(key, call.now);
          const window = windows({ ...call, key, quota });
          const same = before !== undefined && before.window === window;
          const current = same
            ? before
            : { window, admitted: 0, refused: false, short: before?.refused ?? false };
          used.set(key.name, current);
          if (current.short && current.admitted >= quota.limit - 10) {
            const wait = String(Math.max(1, Math.ceil((quota.resetAt - call.now) / 1000)));
            return {
              quota,
              refusedBy: 'minute',
              refusal: { ...NOTHING_LEFT, headers: ['Retry-After', wait] },
            };
          }
          const gate = usual.admit(key, call);
          if (gate.refusal === null) current.admitted += 1;
          else current.refused = true;
          return gate;
        },
      };
    },
  }),

  fault(
    'free-keys-share',
    APART,
    'The Free keys share one quota.',
    account((key) => (key.plan === 'free' ? 'free' : key.name)),
  ),
  fault(
    'all-keys-share',
    APART,
    'Keys of the same plan share one quota.',
    account((key) => key.plan),
  ),
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

  fault('refused-503', REFUSED, 'A request over the limit is refused with 503.', refusedWith(503)),
  fault('refused-403', REFUSED, 'A request over the limit is refused with 403.', refusedWith(403)),
  fault(
    'refused-400-on-add',
    REFUSED,
    'An addition over the limit is refused with 400.',
    refusedWith(400, (_answer, call) => call.route.operation === 'createPet'),
  ),
  fault(
    'refused-503-on-get',
    REFUSED,
    'A retrieval over the limit is refused with 503.',
    refusedWith(503, (_answer, call) => call.route.operation === 'getPet'),
  ),
  fault(
    'refused-empty-list',
    REFUSED,
    'A list over the limit is answered with 200 and no animals.',
    answering(
      (answer, call) => whenOverLimit(answer, call) && call.route.operation === 'listPets',
      (answer) => ({ ...withBody(answer, '[]'), status: 200, headers: [] }),
    ),
  ),
  fault(
    'refused-get-served',
    REFUSED,
    'A retrieval over the limit is served.',
    letThrough((_key, call) => call.route.operation === 'getPet'),
  ),
  fault(
    'refused-add-served',
    REFUSED,
    'An addition over the limit is served.',
    letThrough((_key, call) => call.route.operation === 'createPet'),
  ),
  fault(
    'refused-connection-closed',
    REFUSED,
    'A request over the limit gets no answer; the connection is closed.',
    {
      behaviour: (usual) => ({
        deliver(response, answer, headers, call) {
          if (whenOverLimit(answer, call)) response.destroy();
          else usual.deliver(response, answer, headers, call);
        },
      }),
    },
  ),
  fault('refused-every-other-served', REFUSED, 'Every third request over the limit is served.', {
    behaviour: (usual) => {
      let refusals = 0;
      return {
        admit(key, call) {
          const gate = usual.admit(key, call);
          if (gate.refusedBy !== 'minute' || ++refusals % 3 !== 0) return gate;
          return { ...gate, refusedBy: null, refusal: null };
        },
      };
    },
  }),

  fault(
    'refused-add-stored',
    'rate-refused-adds-nothing',
    'An addition that is refused with 429 is stored.',
    {
      behaviour: (usual, { store }) => ({
        deliver(response, answer, headers, call) {
          if (answer.status !== 429 || call.route.operation !== 'createPet')
            return usual.deliver(response, answer, headers, call);
          const chunks: Buffer[] = [];
          call.request.on('data', (chunk: Buffer) => chunks.push(chunk));
          call.request.on('end', () => {
            const read = usual.readNewPet(Buffer.concat(chunks).toString(), call);
            if ('animal' in read) store.add(read.animal);
            usual.deliver(response, answer, headers, call);
          });
        },
      }),
    },
  ),
];
