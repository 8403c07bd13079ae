import { refused } from '../../conforming.ts';
import { httpDate } from '../../headers.ts';
import type { Quota } from '../../rate-limiter.ts';
import type { Parts } from '../../recipe.ts';
import { renewedWindow, slidingLog } from '../meters.ts';
import { type Personality, together } from '../personality.ts';
import {
  admitting,
  answers,
  asksForStatus,
  header,
  headersAbsent,
  minuteBy,
  onPlan,
  queried,
  sendingHeaders,
  succeeds,
  type When,
  where,
} from '../shapes.ts';
import { headersOfTheDay } from '../variants/limits.ts';
import type { FaultTable } from './fault.ts';
import { fromSecondWindow, toValidKey, uncounted, whenAdmitted, whenOverLimit } from './windows.ts';

const LIMIT = 'X-RateLimit-Limit';
const REMAINING = 'X-RateLimit-Remaining';
const RESET = 'X-RateLimit-Reset';

const allAbsent = (when: When) => headersAbsent(when, LIMIT, REMAINING, RESET);

/** Renames the three headers. */
const renamed = (when: When, prefix: string) =>
  sendingHeaders((usual, answer, call) => {
    const headers = usual(answer, call);
    return when(answer, call) ? headers.map((text) => text.replace(/^X-RateLimit-/i, prefix)) : headers;
  });

const onOther: When = (answer, call) =>
  ![200, 201, 400, 401, 404, 429].includes(answer.status) && call.route.operation !== 'none';
const on429: When = (answer, call) => answer.status === 429 && call.refusedBy !== 'ban';
const onMissingKey: When = (answer, call) => answer.status === 401 && call.authorization === null;

const limitShown = (when: When, change: (limit: string) => string) =>
  header('X-RateLimit-Limit', when, change);

/** A deviation that shows once a key has been refused. */
const afterRefusal = (deviation: (when: When) => Personality) => () => {
  const refused = new Set<string>();
  return deviation((_answer, { key, refusedBy }) => {
    if (refusedBy !== null && key !== null) refused.add(key.name);
    return key !== null && refusedBy === null && refused.has(key.name);
  });
};

const admittedGet = where(whenAdmitted, ({ route }) => route.operation === 'getPet');

const remainingShown = (when: When, change: (remaining: number, quota: Quota) => string) =>
  header('X-RateLimit-Remaining', when, (value, { quota }) => change(Number(value), quota));

/** Shows a Remaining that a rule of its own arrives at, key by key. */
const remainingBy =
  (rule: (remaining: number, last: number | undefined, requests: number) => number) => () => {
    const keys = new Map<string, { shown: number; requests: number }>();
    return header('X-RateLimit-Remaining', whenAdmitted, (value, { key }) => {
      const known = keys.get(key?.name ?? '');
      const requests = (known?.requests ?? 0) + 1;
      const shown = rule(Number(value), known?.shown, requests);
      keys.set(key?.name ?? '', { shown, requests });
      return String(shown);
    });
  };

const resetShown = (when: When, change: (seconds: number, now: number) => string) =>
  header('X-RateLimit-Reset', when, (value, call) => change(Number(value), call.now));

/** Once a key has been refused, the end of its window moves away with every further refusal. */
const penalty = ({ limiter }: Parts) => {
  const closedUntil = new Map<string, number>();
  return admitting((usual, key, call) => {
    const { now } = call;
    const isClosed = now < (closedUntil.get(key.name) ?? 0);
    const gate = isClosed
      ? {
          quota: limiter.closed(key, now),
          refusedBy: 'minute' as const,
          refusal: refused('minute', limiter.freeAt(key, now), now),
        }
      : usual(key, call);
    if (gate.refusedBy === 'minute') closedUntil.set(key.name, now + 60_000);
    return gate;
  });
};

/** Section 8: the three headers on every response, what they say, and whether it is true. */
// biome-ignore format: a table, a line or two for each fault
export const RATE_HEADER_FAULTS: FaultTable = {
  'rate-headers-on-200': {
    'headers-absent-on-200': ['A 200 has no rate headers.', allAbsent(answers(200))],
    'headers-absent-on-get': ['A retrieved animal has no rate headers.', allAbsent(succeeds('getPet'))],
    'remaining-absent-on-list': ['A list has no X-RateLimit-Remaining.',
      headersAbsent(succeeds('listPets'), REMAINING)],
    'reset-absent-on-get': ['A retrieved animal has no X-RateLimit-Reset.',
      headersAbsent(succeeds('getPet'), RESET)],
    'headers-absent-on-filtered-list': ['A list with a status has no rate headers.',
      allAbsent(where(succeeds('listPets'), asksForStatus))],
    'headers-absent-on-sold-list': ['Only the list of sold animals has no X-RateLimit-Limit.',
      headersAbsent((_answer, call) => queried(call, 'status=sold'), LIMIT)],
    'headers-of-the-draft-on-200': ['A 200 has RateLimit-Limit, -Remaining and -Reset instead.',
      renamed(answers(200), 'RateLimit-')],
    'headers-hyphenated-on-200': ['A 200 has X-Rate-Limit-Limit, -Remaining and -Reset instead.',
      renamed(answers(200), 'X-Rate-Limit-')],
  },
  'rate-headers-on-201': {
    'headers-absent-on-201': ['A 201 has no rate headers.', allAbsent(answers(201))],
    'reset-absent-on-201': ['A 201 has no X-RateLimit-Reset.', headersAbsent(answers(201), RESET)],
    'limit-absent-on-201': ['A 201 has no X-RateLimit-Limit.', headersAbsent(answers(201), LIMIT)],
  },
  'rate-headers-on-400': {
    'headers-absent-on-400': ['A 400 has no rate headers.', allAbsent(answers(400))],
    'headers-absent-on-400-malformed': ['Only malformed JSON is refused without rate headers.',
      allAbsent((answer) => answer.status === 400 && answer.text.includes('malformed_json'))],
    'remaining-absent-on-400': ['A 400 has no X-RateLimit-Remaining.', headersAbsent(answers(400), REMAINING)],
  },
  'rate-headers-on-401': {
    'headers-absent-on-401': ['A 401 has no rate headers.', allAbsent(answers(401))],
    'headers-absent-on-401-for-add': ['An addition refused with 401 has no rate headers.',
      allAbsent(answers(401, 'createPet'))],
    'headers-absent-on-401-without-key': ['Only without any key a 401 has no rate headers.',
      allAbsent(onMissingKey)],
    'reset-absent-on-401': ['A 401 has no X-RateLimit-Reset.', headersAbsent(answers(401), RESET)],
  },
  'rate-headers-on-404': {
    'headers-absent-on-404': ['A 404 has no rate headers.', allAbsent(answers(404))],
    'limit-absent-on-404': ['A 404 has no X-RateLimit-Limit.', headersAbsent(answers(404), LIMIT)],
  },
  'rate-headers-on-429': {
    'headers-absent-on-429': ['A 429 has no rate headers.', allAbsent(on429)],
    'remaining-absent-on-429': ['A 429 has no X-RateLimit-Remaining.', headersAbsent(on429, REMAINING)],
    'reset-absent-on-429': ['A 429 has no X-RateLimit-Reset.', headersAbsent(on429, RESET)],
    'headers-absent-on-429-for-add': ['An addition refused with 429 has no rate headers.',
      allAbsent((answer, call) => on429(answer, call) && call.route.operation === 'createPet')],
  },
  'rate-headers-on-other': {
    'headers-absent-on-wrong-method': ['A method that a path does not have is answered without rate headers.',
      allAbsent(answers(405))],
    'headers-absent-on-other': ['Statuses that the document does not name have no rate headers.',
      allAbsent(onOther)],
    'reset-absent-on-other': ['Statuses that the document does not name have no X-RateLimit-Reset.',
      headersAbsent(onOther, RESET)],
  },
  'rate-limit-value': {
    'limit-shown-plus-one': ['X-RateLimit-Limit is one above the plan.',
      limitShown(toValidKey, (limit) => String(Number(limit) + 1))],
    'limit-of-25': ['A Free key has 25 requests a minute, and X-RateLimit-Limit says so.', { recipe: ({ limitsOf }) => ({
      limitsOf: (key) => ({ ...limitsOf(key), ...(key.plan === 'free' ? { perMinute: 25 } : {}) }) }) }],
    'limit-shown-per-second': ['X-RateLimit-Limit is the number per second.',
      limitShown(toValidKey, (limit) => String(Math.ceil(Number(limit) / 60)))],
    'limit-shown-of-other-plan': ['X-RateLimit-Limit of a Pro key is that of Business.',
      limitShown(where(toValidKey, onPlan('pro')), () => '1000')],
    'limit-shown-with-window': ['X-RateLimit-Limit carries the window too, as in "60;w=60".',
      limitShown(toValidKey, (limit) => `${limit};w=60`)],
    'limit-shown-unlimited': ['X-RateLimit-Limit says "unlimited".',
      limitShown(toValidKey, () => 'unlimited')],
    'limit-shown-otherwise-on-429': ['Only on a 429 X-RateLimit-Limit is 0.',
      limitShown(whenOverLimit, () => '0')],
    'limit-shown-otherwise-in-second-window': [
      'From the second window on X-RateLimit-Limit is half the plan.',
      fromSecondWindow((when) => limitShown(when, (limit) => String(Math.floor(Number(limit) / 2))))],
    'limit-shown-otherwise-after-429': ['Once a key was refused, X-RateLimit-Limit is one below the plan.',
      afterRefusal((when) => limitShown(when, (limit) => String(Number(limit) - 1)))],
    'limit-shown-as-remaining': ['X-RateLimit-Limit shows what is left.',
      admitting((usual, key, call) => {
        const { quota, ...gate } = usual(key, call);
        return { ...gate, quota: { ...quota, limit: quota.remaining } };
      })],
    'limit-shown-in-thousands': ['X-RateLimit-Limit has a comma in every thousand, and ".0" below.',
      limitShown(toValidKey, (limit) =>
        Number(limit) < 1000 ? `${limit}.0` : Number(limit).toLocaleString('en'))],
    'limit-shown-otherwise-on-add': ['Only on additions X-RateLimit-Limit is ten times the plan.',
      limitShown(where(toValidKey, (call) => call.route.operation === 'createPet'), (limit) => `${limit}0`)],
    'limit-shown-of-the-day': ['X-RateLimit-Limit is that of the day, the other headers are those of the minute.',
      sendingHeaders((usual, answer, call, { limiter }) => {
        if (call.key !== null) call.quota = { ...call.quota, limit: limiter.metersOf(call.key).day.limit };
        return usual(answer, call);
      })],
  },
  'rate-remaining-value': {
    'remaining-negative-on-429': ['X-RateLimit-Remaining of a 429 is -1.',
      remainingShown(whenOverLimit, () => '-1')],
    'remaining-as-text': ['X-RateLimit-Remaining is "many" above ten.',
      remainingShown(toValidKey, (left) => (left > 10 ? 'many' : String(left)))],
    'remaining-negative-at-end': ['X-RateLimit-Remaining is -1 on the last admitted request.',
      remainingShown(whenAdmitted, (left) => (left === 0 ? '-1' : String(left)))],
    'remaining-as-fraction': ['X-RateLimit-Remaining is a fraction of the limit.',
      remainingShown(toValidKey, (left, { limit }) => (left / limit).toFixed(3))],
    'remaining-above-limit': ['X-RateLimit-Remaining is the limit and a half too many.',
      admitting((usual, key, call) => {
        const { quota, ...gate } = usual(key, call);
        const more = gate.refusal === null ? Math.ceil(quota.limit / 2) : 0;
        return { ...gate, quota: { ...quota, remaining: quota.remaining + more } };
      })],
  },
  'rate-remaining-exhausted': {
    'remaining-one-on-429': ['X-RateLimit-Remaining of a 429 is 1.',
      remainingShown(whenOverLimit, () => '1')],
    'remaining-full-on-429': ['X-RateLimit-Remaining of a 429 is the limit.',
      remainingShown(whenOverLimit, (_left, { limit }) => String(limit))],
  },
  'rate-remaining-falls': {
    'remaining-constant': ['X-RateLimit-Remaining is always one below the limit.',
      remainingShown(whenAdmitted, (_left, { limit }) => String(limit - 1))],
    'remaining-of-the-day-constant': ['The headers describe the day, and X-RateLimit-Remaining stands still.',
      headersOfTheDay, remainingShown(whenAdmitted, (_left, { limit }) => String(limit - 1))],
    'each-request-costs-two': ['Each request takes two from the quota.', admitting((usual, key, call) => {
      const gate = usual(key, call);
      return gate.refusal === null && gate.quota.remaining > 0 ? usual(key, call) : gate;
    })],
    'remaining-one-too-few': ['X-RateLimit-Remaining is one too low.',
      remainingShown(whenAdmitted, (left) => String(Math.max(0, left - 1)))],
    'remaining-before-the-request': [
      'A minute that looks back shows in X-RateLimit-Remaining what was left before the request.',
      together(minuteBy(slidingLog), remainingShown(whenAdmitted, (left) => String(left + 1)))],
    'remaining-in-tens': ['X-RateLimit-Remaining is rounded down to a multiple of ten.',
      remainingShown(whenAdmitted, (left) => String(left - (left % 10)))],
    'remaining-stuck-at-zero': [
      'X-RateLimit-Remaining stays at 0, also after the reset, once the limit was reached.',
      remainingBy((left, last) => (last === 0 ? 0 : left))],
    'remaining-stuck-at-five': ['X-RateLimit-Remaining stays at 5 until the limit is reached.',
      remainingShown(whenAdmitted, (left) => String(Math.max(left, 5)))],
    'remaining-every-other': ['X-RateLimit-Remaining falls with every second request, by two.',
      remainingBy((left, last = left, requests) => requests % 2 === 0 && last > left ? last : left)],
    'remaining-rises': ['X-RateLimit-Remaining counts up from 0.',
      remainingShown(whenAdmitted, (left, { limit }) => String(limit - 1 - left))],
    'bucket-per-operation': ['Each operation has the whole quota for itself.',
      admitting((usual, key, call) => usual({ ...key, name: `${key.name} ${call.route.operation}` }, call))],
    'remaining-zero-on-404': ['X-RateLimit-Remaining of every 404 is 0.',
      remainingShown(where(answers(404), ({ key }) => key !== null), () => '0')],
    'long-list-costs-five': ['A list with limit=100 takes five from the quota.',
      admitting((usual, key, call) => {
        const gate = usual(key, call);
        const more = queried(call, 'limit=100') ? Math.min(4, gate.quota.remaining) : 0;
        return Array.from({ length: more }).reduce<typeof gate>(() => usual(key, call), gate);
      })],
    'remaining-same-on-400': [
      'A request that is answered with 400 shows the X-RateLimit-Remaining of one more.',
      remainingShown(where(answers(400), ({ key }) => key !== null), (left) => String(left + 1))],
    'remaining-same-on-get': ['X-RateLimit-Remaining does not fall on retrievals.', () => {
      const free = new Map<string, number>();
      return header('X-RateLimit-Remaining', whenAdmitted, (value, { key, route, quota }) => {
        const name = key?.name ?? '';
        if (Number(value) === quota.limit - 1) free.delete(name);
        if (route.operation === 'getPet') free.set(name, (free.get(name) ?? 0) + 1);
        return String(Math.min(quota.limit, Number(value) + (free.get(name) ?? 0)));
      });
    }],
    'get-shows-whole-limit': ['A retrieval is not counted, and shows a whole minute that begins with it.',
      () => together(
        uncounted(({ route }) => route.operation === 'getPet')(),
        remainingShown(admittedGet, (_left, { limit }) => String(limit)),
        header(RESET, admittedGet, (_reset, { now }) => String(Math.ceil(now / 1000) + 60)),
      )],
    'remaining-falls-by-two-on-add': ['An addition takes two from X-RateLimit-Remaining, and from the quota.',
      admitting((usual, key, call) => {
        const gate = usual(key, call);
        const isServed = gate.refusal === null && gate.quota.remaining > 0;
        return isServed && call.route.operation === 'createPet' ? usual(key, call) : gate;
      })],
  },
  'rate-reset-value': {
    'reset-empty': ['X-RateLimit-Reset is empty.', resetShown(toValidKey, () => '')],
    'reset-in-milliseconds': ['X-RateLimit-Reset is in milliseconds.',
      resetShown(toValidKey, (reset) => String(reset * 1000))],
    'reset-in-seconds-to-go': ['X-RateLimit-Reset is the number of seconds to wait.',
      resetShown(toValidKey, (reset, now) => String(Math.max(0, reset - Math.floor(now / 1000))))],
    'reset-in-the-past': ['X-RateLimit-Reset is when the window began.',
      resetShown(toValidKey, (reset) => String(reset - 60 - 30))],
    'reset-an-hour-late': ['X-RateLimit-Reset is an hour beyond the end of the minute.',
      resetShown(toValidKey, (reset) => String(reset + 3600))],
    'reset-a-minute-later-each-time': ['X-RateLimit-Reset is a minute later with every answer.', () => {
      let minutes = 0;
      return resetShown(toValidKey, (reset) => String(reset + 60 * minutes++));
    }],
    'reset-as-date': ['X-RateLimit-Reset is a date in words.',
      resetShown(toValidKey, (reset) => httpDate(reset * 1000))],
    'reset-as-iso-date': ['X-RateLimit-Reset is a date as in ISO 8601.',
      resetShown(toValidKey, (reset) => new Date(reset * 1000).toISOString())],
    'reset-zero': ['X-RateLimit-Reset is 0.', resetShown(toValidKey, () => '0')],
    'reset-in-milliseconds-on-429': ['Only on a 429 X-RateLimit-Reset is in milliseconds.',
      resetShown(whenOverLimit, (reset) => String(reset * 1000))],
    'reset-of-earlier-window': ['From the second window on X-RateLimit-Reset is that of two windows before.',
      fromSecondWindow((when) => resetShown(when, (reset) => String(reset - 120)))],
    'reset-in-local-time': ['X-RateLimit-Reset is off by the hours of a time zone.',
      resetShown(toValidKey, (reset) => String(reset + 7 * 3600))],
  },
  'rate-reset-true': {
    'reset-ten-seconds-early': ['X-RateLimit-Reset is ten seconds too early.',
      resetShown(toValidKey, (reset, now) => String(Math.max(reset - 10, Math.ceil(now / 1000))))],
    'reset-two-windows-ahead': ['X-RateLimit-Reset is the end of the window after the current one.',
      resetShown(toValidKey, (reset) => String(reset + 60))],
    'reset-four-seconds-early': ['X-RateLimit-Reset is four seconds too early.',
      resetShown(toValidKey, (reset, now) => String(Math.max(reset - 4, Math.ceil(now / 1000))))],
    'reset-half-way': ['X-RateLimit-Reset of a 429 is half of the time that is left.',
      resetShown(whenOverLimit, (reset, now) => String(Math.ceil((reset + now / 1000) / 2)))],
    'reset-now-on-429': ['X-RateLimit-Reset of a 429 is the current second.',
      resetShown(whenOverLimit, (_reset, now) => String(Math.floor(now / 1000)))],
    'reset-always-now': ['X-RateLimit-Reset is always the current second.',
      resetShown(toValidKey, (_reset, now) => String(Math.ceil(now / 1000)))],
    'reset-now-unless-refused': ['X-RateLimit-Reset is the current second, except on a 429.',
      resetShown(whenAdmitted, (_reset, now) => String(Math.ceil(now / 1000)))],
    'minute-renews-itself': ['The minute of a key ends a minute after its last request, served or refused.',
      minuteBy(renewedWindow)],
    'reset-pushed-back': ['A refused request lets the window begin anew, though the headers say otherwise.',
      penalty],
  },
};
