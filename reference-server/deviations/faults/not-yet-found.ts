import { renewedWindow } from '../meters.ts';
import { together } from '../personality.ts';
import { admitting, answers, failing, header, minuteBy, sendingHeaders, where } from '../shapes.ts';
import type { FaultTable } from './fault.ts';
import { byDay, everyTime, letThrough, whenAdmitted } from './windows.ts';

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
  'rate-day-free': {
    'day-every-fourth-served': ['After the end of its day every fourth request is served.',
      () => letThrough('day', everyTime(4))],
    'day-add-served': ['After the end of its day additions are served.',
      letThrough('day', ({ route }) => route.operation === 'createPet')],
    'day-open-again-after-a-minute': ['A minute after the end of its day a key is served again.', () => {
      const ended = new Map<string, number>();
      return letThrough('day', ({ now }, { name }) => {
        ended.set(name, ended.get(name) ?? now);
        return now >= (ended.get(name) ?? now) + 60_000;
      });
    }],
  },
  'rate-day-refusal': {
    'day-refusal-402': ["The day's refusal is a 402.", failing(402, byDay)],
  },
};
