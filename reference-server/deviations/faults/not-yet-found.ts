import { renewedWindow } from '../meters.ts';
import { together } from '../personality.ts';
import { admitting, answers, failing, header, minuteBy, sendingHeaders, where } from '../shapes.ts';
import type { FaultTable } from './fault.ts';
import { everyTime, letThrough, whenAdmitted } from './windows.ts';

/** Faults for which a check is still to be written. The matrix leaves them out; `serve --fault` has them. */
// biome-ignore format: a table, a line or two for each fault
export const NOT_YET_FOUND: FaultTable = {
  'auth-missing-key': {
    'auth-missing-403-in-a-ban': ['While any key is banned, a request without one is refused with 403.', () => {
      let bannedUntil = 0;
      return together(admitting((usual, key, call) => {
        const gate = usual(key, call);
        if (gate.refusedBy === 'ban') bannedUntil = call.now + 10_000;
        return gate;
      }), failing(403, where(answers(401), ({ authorization, now }) => authorization === null && now < bannedUntil)));
    }],
  },
  'rate-limit-value': {
    'limit-shown-of-the-day': ['X-RateLimit-Limit is that of the day, the other headers are those of the minute.',
      sendingHeaders((usual, answer, call, { limiter }) => {
        if (call.key !== null) call.quota = { ...call.quota, limit: limiter.metersOf(call.key).day.limit };
        return usual(answer, call);
      })],
  },
  'rate-reset-true': {
    'reset-now-unless-refused': ['X-RateLimit-Reset is the current second, except on a 429.',
      header('X-RateLimit-Reset', whenAdmitted, (_reset, { now }) => String(Math.ceil(now / 1000)))],
    'minute-renews-itself': ['The minute of a key ends a minute after its last request, served or refused.',
      minuteBy(renewedWindow)],
  },
  'rate-refused-429': {
    'ban-sixth-served': ['Every sixth request of a banned key is served.',
      () => letThrough('ban', everyTime(6))],
  },
};
