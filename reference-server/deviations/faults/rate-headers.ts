import type { Call } from '../../call.ts';
import { httpDate } from '../../headers.ts';
import { type MeterKind, type Quota, windowFromFirst } from '../../rate-limiter.ts';
import { forgottenAfter, renewedWindow, slidingLog } from '../meters.ts';
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

/** Takes more than one from the quota for some requests, as far as it goes. */
const costing = (price: number, which: (call: Call) => boolean) =>
  admitting((usual, key, call) => {
    let gate = usual(key, call);
    const more = gate.refusal === null && which(call) ? Math.min(price - 1, gate.quota.remaining) : 0;
    for (let taken = 0; taken < more; taken += 1) gate = usual(key, call);
    return gate;
  });

const resetShown = (when: When, change: (seconds: number, now: number) => string) =>
  header('X-RateLimit-Reset', when, (value, call) => change(Number(value), call.now));

/** Once a key has been refused, the end of its window moves away with every further refusal, and nothing says so. */
const penalty: MeterKind = (limit, windowMs) => {
  const window = windowFromFirst(limit, windowMs);
  let closedUntil = 0;
  return {
    ...window,
    left: (now) => (now < closedUntil ? 0 : window.left(now)),
    refused(now) {
      closedUntil = now + windowMs;
    },
  };
};

/** Section 8: the three headers on every response, what they say, and whether it is true. */
// biome-ignore format: a table, a line for most faults
export const RATE_HEADER_FAULTS: FaultTable = {
  'rate-headers-on-200': {
    'headers-absent-on-200': allAbsent(answers(200)),
    'headers-absent-on-get': allAbsent(succeeds('getPet')),
    'remaining-absent-on-list': headersAbsent(succeeds('listPets'), REMAINING),
    'reset-absent-on-get': headersAbsent(succeeds('getPet'), RESET),
    'headers-absent-on-filtered-list': allAbsent(where(succeeds('listPets'), asksForStatus)),
    'headers-absent-on-sold-list': headersAbsent((_answer, call) => queried(call, 'status=sold'), LIMIT),
    'headers-of-the-draft-on-200': renamed(answers(200), 'RateLimit-'),
    'headers-hyphenated-on-200': renamed(answers(200), 'X-Rate-Limit-'),
  },
  'rate-headers-on-201': {
    'headers-absent-on-201': allAbsent(answers(201)),
    'reset-absent-on-201': headersAbsent(answers(201), RESET),
    'limit-absent-on-201': headersAbsent(answers(201), LIMIT),
  },
  'rate-headers-on-400': {
    'headers-absent-on-400': allAbsent(answers(400)),
    'headers-absent-on-400-malformed':
      allAbsent((answer) => answer.status === 400 && answer.text.includes('malformed_json')),
    'remaining-absent-on-400': headersAbsent(answers(400), REMAINING),
  },
  'rate-headers-on-401': {
    'headers-absent-on-401': allAbsent(answers(401)),
    'headers-absent-on-401-for-add': allAbsent(answers(401, 'createPet')),
    'headers-absent-on-401-without-key': allAbsent(onMissingKey),
    'reset-absent-on-401': headersAbsent(answers(401), RESET),
  },
  'rate-headers-on-404': {
    'headers-absent-on-404': allAbsent(answers(404)),
    'limit-absent-on-404': headersAbsent(answers(404), LIMIT),
  },
  'rate-headers-on-429': {
    'headers-absent-on-429': allAbsent(on429),
    'remaining-absent-on-429': headersAbsent(on429, REMAINING),
    'reset-absent-on-429': headersAbsent(on429, RESET),
    'headers-absent-on-429-for-add':
      allAbsent((answer, call) => on429(answer, call) && call.route.operation === 'createPet'),
  },
  'rate-headers-on-other': {
    'headers-absent-on-wrong-method': allAbsent(answers(405)),
    'headers-absent-on-other': allAbsent(onOther),
    'reset-absent-on-other': headersAbsent(onOther, RESET),
  },
  'rate-limit-value': {
    'limit-shown-plus-one': limitShown(toValidKey, (limit) => String(Number(limit) + 1)),
    'limit-of-25': { recipe: ({ limitsOf }) => ({
      limitsOf: (key) => ({ ...limitsOf(key), ...(key.plan === 'free' ? { perMinute: 25 } : {}) }) }) },
    'limit-shown-per-second': limitShown(toValidKey, (limit) => String(Math.ceil(Number(limit) / 60))),
    'limit-shown-of-other-plan': limitShown(where(toValidKey, onPlan('pro')), () => '1000'),
    'limit-shown-with-window': limitShown(toValidKey, (limit) => `${limit};w=60`),
    'limit-shown-unlimited': limitShown(toValidKey, () => 'unlimited'),
    'limit-shown-otherwise-on-429': limitShown(whenOverLimit, () => '0'),
    'limit-shown-otherwise-in-second-window':
      fromSecondWindow((when) => limitShown(when, (limit) => String(Math.floor(Number(limit) / 2)))),
    'limit-shown-otherwise-after-429':
      afterRefusal((when) => limitShown(when, (limit) => String(Number(limit) - 1))),
    // X-RateLimit-Limit shows what is left.
    'limit-shown-as-remaining': admitting((usual, key, call) => {
      const { quota, ...gate } = usual(key, call);
      return { ...gate, quota: { ...quota, limit: quota.remaining } };
    }),
    'limit-shown-in-thousands': limitShown(toValidKey, (limit) =>
        Number(limit) < 1000 ? `${limit}.0` : Number(limit).toLocaleString('en')),
    'limit-shown-otherwise-on-add':
      limitShown(where(toValidKey, (call) => call.route.operation === 'createPet'), (limit) => `${limit}0`),
    // X-RateLimit-Limit is that of the day, the other headers are those of the minute.
    'limit-shown-of-the-day': sendingHeaders((usual, answer, call, { limiter }) => {
      if (call.key !== null) call.quota = { ...call.quota, limit: limiter.metersOf(call.key).day.limit };
      return usual(answer, call);
    }),
  },
  'rate-remaining-value': {
    'remaining-negative-on-429': remainingShown(whenOverLimit, () => '-1'),
    'remaining-as-text': remainingShown(toValidKey, (left) => (left > 10 ? 'many' : String(left))),
    'remaining-negative-at-end': remainingShown(whenAdmitted, (left) => (left === 0 ? '-1' : String(left))),
    'remaining-as-fraction': remainingShown(toValidKey, (left, { limit }) => (left / limit).toFixed(3)),
    // X-RateLimit-Remaining is the limit and a half too many.
    'remaining-above-limit': admitting((usual, key, call) => {
      const { quota, ...gate } = usual(key, call);
      const more = gate.refusal === null ? Math.ceil(quota.limit / 2) : 0;
      return { ...gate, quota: { ...quota, remaining: quota.remaining + more } };
    }),
  },
  'rate-remaining-exhausted': {
    'remaining-one-on-429': remainingShown(whenOverLimit, () => '1'),
    'remaining-full-on-429': remainingShown(whenOverLimit, (_left, { limit }) => String(limit)),
  },
  'rate-remaining-falls': {
    'minute-forgotten-when-idle': minuteBy(forgottenAfter(10_000)),
    'remaining-constant': remainingShown(whenAdmitted, (_left, { limit }) => String(limit - 1)),
    'remaining-of-the-day-constant':
      [headersOfTheDay, remainingShown(whenAdmitted, (_left, { limit }) => String(limit - 1))],
    'each-request-costs-two': costing(2, () => true),
    'remaining-one-too-few': remainingShown(whenAdmitted, (left) => String(Math.max(0, left - 1))),
    'remaining-before-the-request':
      together(minuteBy(slidingLog), remainingShown(whenAdmitted, (left) => String(left + 1))),
    'remaining-in-tens': remainingShown(whenAdmitted, (left) => String(left - (left % 10))),
    'remaining-stuck-at-zero': remainingBy((left, last) => (last === 0 ? 0 : left)),
    'remaining-stuck-at-five': remainingShown(whenAdmitted, (left) => String(Math.max(left, 5))),
    'remaining-every-other':
      remainingBy((left, last = left, requests) => requests % 2 === 0 && last > left ? last : left),
    'remaining-rises': remainingShown(whenAdmitted, (left, { limit }) => String(limit - 1 - left)),
    'bucket-per-operation':
      admitting((usual, key, call) => usual({ ...key, name: `${key.name} ${call.route.operation}` }, call)),
    'remaining-zero-on-404': remainingShown(where(answers(404), ({ key }) => key !== null), () => '0'),
    'long-list-costs-five': costing(5, (call) => queried(call, 'limit=100')),
    'remaining-same-on-400':
      remainingShown(where(answers(400), ({ key }) => key !== null), (left) => String(left + 1)),
    // X-RateLimit-Remaining does not fall on retrievals.
    'remaining-same-on-get': () => {
      const free = new Map<string, number>();
      return header('X-RateLimit-Remaining', whenAdmitted, (value, { key, route, quota }) => {
        const name = key?.name ?? '';
        if (Number(value) === quota.limit - 1) free.delete(name);
        if (route.operation === 'getPet') free.set(name, (free.get(name) ?? 0) + 1);
        return String(Math.min(quota.limit, Number(value) + (free.get(name) ?? 0)));
      });
    },
    // A retrieval is not counted, and shows a whole minute that begins with it.
    'get-shows-whole-limit': () => together(
      uncounted(({ route }) => route.operation === 'getPet')(),
      remainingShown(admittedGet, (_left, { limit }) => String(limit)),
      header(RESET, admittedGet, (_reset, { now }) => String(Math.ceil(now / 1000) + 60)),
    ),
    'remaining-falls-by-two-on-add': costing(2, (call) => call.route.operation === 'createPet'),
  },
  'rate-reset-value': {
    'reset-empty': resetShown(toValidKey, () => ''),
    'reset-in-milliseconds': resetShown(toValidKey, (reset) => String(reset * 1000)),
    'reset-in-seconds-to-go':
      resetShown(toValidKey, (reset, now) => String(Math.max(0, reset - Math.floor(now / 1000)))),
    'reset-in-the-past': resetShown(toValidKey, (reset) => String(reset - 60 - 30)),
    'reset-an-hour-late': resetShown(toValidKey, (reset) => String(reset + 3600)),
    // X-RateLimit-Reset is a minute later with every answer.
    'reset-a-minute-later-each-time': () => {
      let minutes = 0;
      return resetShown(toValidKey, (reset) => String(reset + 60 * minutes++));
    },
    'reset-as-date': resetShown(toValidKey, (reset) => httpDate(reset * 1000)),
    'reset-as-iso-date': resetShown(toValidKey, (reset) => new Date(reset * 1000).toISOString()),
    'reset-zero': resetShown(toValidKey, () => '0'),
    'reset-in-milliseconds-on-429': resetShown(whenOverLimit, (reset) => String(reset * 1000)),
    'reset-of-earlier-window': fromSecondWindow((when) => resetShown(when, (reset) => String(reset - 120))),
    'reset-in-local-time': resetShown(toValidKey, (reset) => String(reset + 7 * 3600)),
  },
  'rate-reset-true': {
    'reset-ten-seconds-early':
      resetShown(toValidKey, (reset, now) => String(Math.max(reset - 10, Math.ceil(now / 1000)))),
    'reset-two-windows-ahead': resetShown(toValidKey, (reset) => String(reset + 60)),
    'reset-four-seconds-early':
      resetShown(toValidKey, (reset, now) => String(Math.max(reset - 4, Math.ceil(now / 1000)))),
    'reset-half-way': resetShown(whenOverLimit, (reset, now) => String(Math.ceil((reset + now / 1000) / 2))),
    'reset-now-on-429': resetShown(whenOverLimit, (_reset, now) => String(Math.floor(now / 1000))),
    'reset-always-now': resetShown(toValidKey, (_reset, now) => String(Math.ceil(now / 1000))),
    'reset-now-unless-refused': resetShown(whenAdmitted, (_reset, now) => String(Math.ceil(now / 1000))),
    'minute-renews-itself': minuteBy(renewedWindow),
    'reset-pushed-back': minuteBy(penalty),
  },
};
