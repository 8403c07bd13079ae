import type { Call } from '../../call.ts';
import { overLimit } from '../../conforming.ts';
import type { Plan } from '../../plans.ts';
import { WindowFromFirstRequest } from '../../rate-meter.ts';
import { type Personality, together } from '../personality.ts';
import { admitting, heldBack } from '../shapes.ts';
import type { FaultTable } from './fault.ts';
import { admitsOther, uncounted, windowCounter } from './windows.ts';

/** A minute of another length. */
const windowOf = (seconds: number): Personality => ({
  recipe: ({ minuteMeter }) => ({ minuteMeter: (limit) => minuteMeter(limit, seconds * 1000) }),
});

/** Admits everything, while the headers count down to 0. */
const unlimited = (plan: Plan) => admitsOther(plan, 'perMinute', 1_000_000_000);

/**
 * A limiter that reads the count on arrival and writes it with the answer: whoever arrives in between sees the old
 * count. Answers are held back for a moment, so that requests do meet.
 */
const racing = (races: (call: Call) => boolean) => () => {
  const underWay = new Map<string, { calls: number; quota: Call['quota'] }>();
  const counting = admitting((usual, key, call) => {
    const other = underWay.get(key.name);
    if (other !== undefined && other.calls > 0 && races(call)) {
      other.calls += 1;
      return { quota: other.quota, refusedBy: null, refusal: null };
    }
    const gate = usual(key, call);
    if (gate.refusal === null && races(call)) underWay.set(key.name, { calls: 1, quota: gate.quota });
    return gate;
  });
  const written = heldBack(
    (_answer, call) => (call.refusedBy === null && races(call) ? 3 : 0),
    ({ key }) => {
      const own = underWay.get(key?.name ?? '');
      if (own !== undefined) own.calls -= 1;
    },
  );
  return together(counting, written);
};

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

/** Section 8: how many requests a minute has. */
// biome-ignore format: a table, a line or two for each fault
export const MINUTE_LIMIT_FAULTS: FaultTable = {
  'rate-minute-free': {
    'free-50-a-minute': ['A Free key has 50 requests a minute.', admitsOther('free', 'perMinute', -10)],
    'free-59-a-minute': ['A Free key has 59 requests a minute.', admitsOther('free', 'perMinute', -1)],
    'free-61-a-minute': ['A Free key has 61 requests a minute.', admitsOther('free', 'perMinute', 1)],
    'free-70-a-minute': ['A Free key has 70 requests a minute.', admitsOther('free', 'perMinute', 10)],
    'free-unlimited': ['A Free key is never refused for its minute.', unlimited('free')],
    'free-minute-of-30-seconds': ['The minute of every key is over after 30 seconds.', windowOf(30)],
    'free-get-uncounted': ['Retrievals are not counted.',
      uncounted((call) => call.route.operation === 'getPet')],
    'free-add-uncounted': ['Additions are not counted.',
      uncounted((call) => call.route.operation === 'createPet')],
    'free-small-lists-uncounted': ['Lists with limit=1 are not counted.',
      uncounted((call) => /[?&]limit=1(?:&|$)/.test(call.target))],
  },
  'rate-minute-pro': {
    'pro-290-a-minute': ['A Pro key has 290 requests a minute.', admitsOther('pro', 'perMinute', -10)],
    'pro-299-a-minute': ['A Pro key has 299 requests a minute.', admitsOther('pro', 'perMinute', -1)],
    'pro-301-a-minute': ['A Pro key has 301 requests a minute.', admitsOther('pro', 'perMinute', 1)],
    'pro-310-a-minute': ['A Pro key has 310 requests a minute.', admitsOther('pro', 'perMinute', 10)],
    'pro-unlimited': ['A Pro key is never refused for its minute.', unlimited('pro')],
  },
  'rate-minute-business': {
    'business-990-a-minute': ['A Business key has 990 requests a minute.',
      admitsOther('business', 'perMinute', -10)],
    'business-999-a-minute': ['A Business key has 999 requests a minute.',
      admitsOther('business', 'perMinute', -1)],
    'business-1010-a-minute': ['A Business key has 1,010 requests a minute.',
      admitsOther('business', 'perMinute', 10)],
    'business-300-a-minute': ['A Business key has the 300 requests a minute of Pro.',
      admitsOther('business', 'perMinute', -700)],
  },
  'rate-minute-enterprise': {
    'enterprise-ten-too-few-a-minute': ['An Enterprise key has ten requests a minute too few.',
      admitsOther('enterprise', 'perMinute', -10)],
    'enterprise-ten-too-many-a-minute': ['An Enterprise key has ten requests a minute too many.',
      admitsOther('enterprise', 'perMinute', 10)],
    'enterprise-unlimited': ['An Enterprise key is never refused for its minute.', unlimited('enterprise')],
  },
  'rate-concurrent': {
    'limiter-races': ['Requests that are under way at the same moment count as one.', racing(() => true)],
    'limiter-races-on-lists': ['Lists that are under way at the same moment count as one.',
      racing(({ route }) => route.operation === 'listPets')],
  },
  'rate-next-window': {
    'second-window-half': ['From its second window on, a key has half of its requests.',
      laterWindows((limit) => Math.floor(limit / 2))],
    'second-window-ten-more': ['From its second window on, a key has ten requests more.',
      laterWindows((limit) => limit + 10)],
    'second-window-one-less': ['From its second window on, a key has one request less.',
      laterWindows((limit) => limit - 1)],
    'second-window-closed-after-429': ['The window after a refusal has ten requests fewer.',
      ({ limiter }) => {
        const windows = windowCounter();
        const used = new Map<
          string, { window: number; admitted: number; refused: boolean; short: boolean }>();
        return admitting((usual, key, call) => {
          const before = used.get(key.name);
          const quota = limiter.closed(key, call.now);
          const window = windows({ ...call, key, quota });
          const current = before?.window === window
            ? before
            : { window, admitted: 0, refused: false, short: before?.refused ?? false };
          used.set(key.name, current);
          if (current.short && current.admitted >= quota.limit - 10)
            return { quota, refusedBy: 'minute', refusal: overLimit('minute', quota.resetAt, call.now) };
          const gate = usual(key, call);
          if (gate.refusal === null) current.admitted += 1;
          else current.refused = true;
          return gate;
        });
      }],
  },
};
