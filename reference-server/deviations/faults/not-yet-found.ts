import { renewedWindow } from '../meters.ts';
import { header, minuteBy, sendingHeaders } from '../shapes.ts';
import type { FaultTable } from './fault.ts';
import { whenAdmitted } from './windows.ts';

/** Faults for which a check is still to be written. The matrix leaves them out; `serve --fault` has them. */
// biome-ignore format: a table, a line or two for each fault
export const NOT_YET_FOUND: FaultTable = {
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
};
