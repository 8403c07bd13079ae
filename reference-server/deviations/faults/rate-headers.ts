import type { Call } from '../../design.ts';
import { httpDate } from '../../headers.ts';
import { type MeterKind, windowFromFirst } from '../../rate-limiter.ts';
import { admitted, admitting, gating, onPlan, overLimit, withKey, withoutKey } from '../admission.ts';
import { answers, otherErrors, succeeds } from '../answers.ts';
import type { Deviation, DeviationTable } from '../deviation.ts';
import { headersAbsent, headersAs, numberIn, RATE_HEADERS } from '../headers.ts';
import { forgottenWhenIdle, renewedWindow, slidingLog } from '../meters.ts';
import { headersOfTheDay } from '../variants/limits.ts';
import { always, asksForStatus, ofEach, on, queried, type When, where } from '../when.ts';
import { uncounted } from './limits.ts';

const [LIMIT, REMAINING, RESET] = RATE_HEADERS;
const ABSENT = { headers: RATE_HEADERS, limit: [LIMIT], remaining: [REMAINING], reset: [RESET] };

const limitShown = numberIn(LIMIT);
const remainingShown = numberIn(REMAINING);
const resetShown = numberIn(RESET);

/** Faults of all three headers, or one of them, that are absent: headers-absent-on-200, limit-absent-on-201. */
const absent = (place: string, when: When, ...which: readonly (keyof typeof ABSENT)[]) =>
  Object.fromEntries(which.map((name) => [`${name}-absent-${place}`, headersAbsent(when, ...ABSENT[name])]));

/** Renames the three headers. */
const renamed = (when: When, prefix: string) =>
  headersAs((headers, answer, call) =>
    when(call, answer) ? headers.map((text) => text.replace(/^X-RateLimit-/i, prefix)) : headers,
  );

const admittedGet = where(admitted, on('getPet'));

const oneLess = (_left: number, { quota }: Call) => quota.limit - 1;

/** Shows a Remaining that a rule of its own arrives at, key by key. */
const remainingBy =
  (rule: (remaining: number, last: number | undefined, requests: number) => number) => () => {
    const known = ofEach((): { shown?: number; requests: number } => ({ requests: 0 }));
    return remainingShown(admitted, (left, { key }) => {
      const own = known(key?.name);
      own.requests += 1;
      own.shown = rule(left, own.shown, own.requests);
      return own.shown;
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

/** A deviation that shows from a key's second window on. A new one has begun where its end lies later than before. */
const fromSecondWindow = (deviation: (when: When) => Deviation) => () => {
  const seen = ofEach(() => ({ resetAt: Number.NEGATIVE_INFINITY, windows: 0 }));
  return deviation(({ key, quota: { resetAt } }) => {
    if (key === null) return false;
    const known = seen(key.name);
    if (resetAt > known.resetAt + 1_000) Object.assign(known, { resetAt, windows: known.windows + 1 });
    return known.windows > 1;
  });
};

/** Section 8: the three headers on every response, what they say, and whether it is true. */
// biome-ignore format: a table, a line for most faults
export const RATE_HEADER_FAULTS: DeviationTable = {
  'rate-headers-on-200': {
    ...absent('on-200', answers(200), 'headers'),
    ...absent('on-get', succeeds('getPet'), 'headers', 'reset'),
    ...absent('on-list', succeeds('listPets'), 'remaining'),
    ...absent('on-filtered-list', where(succeeds('listPets'), asksForStatus), 'headers'),
    'headers-absent-on-sold-list': headersAbsent(queried('status=sold'), LIMIT),
    'headers-of-the-draft-on-200': renamed(answers(200), 'RateLimit-'),
    'headers-hyphenated-on-200': renamed(answers(200), 'X-Rate-Limit-'),
  },
  'rate-headers-on-201': absent('on-201', answers(201), 'headers', 'limit', 'reset'),
  'rate-headers-on-400': {
    ...absent('on-400', answers(400), 'headers', 'remaining'),
    ...absent('on-400-malformed', where(answers(400), (_call, { text }) => text.includes('malformed_json')), 'headers'),
  },
  'rate-headers-on-401': {
    ...absent('on-401', answers(401), 'headers', 'reset'),
    ...absent('on-401-for-add', answers(401, 'createPet'), 'headers'),
    ...absent('on-401-without-key', where(answers(401), withoutKey), 'headers'),
  },
  'rate-headers-on-404': absent('on-404', answers(404), 'headers', 'limit'),
  'rate-headers-on-429': {
    ...absent('on-429', overLimit, 'headers', 'remaining', 'reset'),
    ...absent('on-429-for-add', where(overLimit, on('createPet')), 'headers'),
  },
  'rate-headers-on-other': {
    ...absent('on-wrong-method', answers(405), 'headers'),
    ...absent('on-other', otherErrors, 'headers', 'reset'),
  },
  'rate-limit-value': {
    'limit-shown-plus-one': limitShown(withKey, (limit) => limit + 1),
    'limit-of-25': ({ limitsOf }) => ({
      limitsOf: (key) => ({ ...limitsOf(key), ...(key.plan === 'free' ? { perMinute: 25 } : {}) }) }),
    'limit-shown-per-second': limitShown(withKey, (limit) => Math.ceil(limit / 60)),
    'limit-shown-of-other-plan': limitShown(where(withKey, onPlan('pro')), () => '1000'),
    'limit-shown-with-window': limitShown(withKey, (limit) => `${limit};w=60`),
    'limit-shown-unlimited': limitShown(withKey, () => 'unlimited'),
    'limit-shown-otherwise-on-429': limitShown(overLimit, () => '0'),
    'limit-shown-otherwise-in-second-window':
      fromSecondWindow((when) => limitShown(when, (limit) => Math.floor(limit / 2))),
    'limit-shown-otherwise-after-429': () => {
      const known = ofEach(() => ({ isRefused: false }));
      return limitShown(({ key, refusedBy }) => {
        known(key?.name).isRefused ||= refusedBy !== null;
        return refusedBy === null && known(key?.name).isRefused;
      }, (limit) => limit - 1);
    },
    'limit-shown-as-remaining':
      gating(({ quota, ...gate }) => ({ ...gate, quota: { ...quota, limit: quota.remaining } })),
    'limit-shown-in-thousands': limitShown(withKey, (limit) =>
        limit < 1000 ? `${limit}.0` : limit.toLocaleString('en')),
    'limit-shown-otherwise-on-add': limitShown(where(withKey, on('createPet')), (limit) => `${limit}0`),
    'limit-shown-of-the-day': gating((gate, key, { service }) =>
      ({ ...gate, quota: { ...gate.quota, limit: service.limiter.metersOf(key).day.limit } })),
  },
  'rate-remaining-value': {
    'remaining-negative-on-429': remainingShown(overLimit, () => '-1'),
    'remaining-as-text': remainingShown(withKey, (left) => (left > 10 ? 'many' : left)),
    'remaining-negative-at-end': remainingShown(admitted, (left) => (left === 0 ? '-1' : left)),
    'remaining-as-fraction': remainingShown(withKey, (left, { quota }) => (left / quota.limit).toFixed(3)),
    'remaining-above-limit': gating(({ quota, ...gate }) => {
      const more = gate.refusal === null ? Math.ceil(quota.limit / 2) : 0;
      return { ...gate, quota: { ...quota, remaining: quota.remaining + more } };
    }),
  },
  'rate-remaining-exhausted': {
    'remaining-one-on-429': remainingShown(overLimit, () => '1'),
    'remaining-full-on-429': remainingShown(overLimit, (_left, { quota }) => quota.limit),
  },
  'rate-remaining-falls': {
    'minute-forgotten-when-idle': { minuteMeter: forgottenWhenIdle },
    'remaining-constant': remainingShown(admitted, oneLess),
    'remaining-of-the-day-constant': [headersOfTheDay, remainingShown(admitted, oneLess)],
    'each-request-costs-two': costing(2, always),
    'remaining-one-too-few': remainingShown(admitted, (left) => Math.max(0, left - 1)),
    'remaining-before-the-request':
      [{ minuteMeter: slidingLog }, remainingShown(admitted, (left) => left + 1)],
    'remaining-in-tens': remainingShown(admitted, (left) => left - (left % 10)),
    'remaining-stuck-at-zero': remainingBy((left, last) => (last === 0 ? 0 : left)),
    'remaining-stuck-at-five': remainingShown(admitted, (left) => Math.max(left, 5)),
    'remaining-every-other':
      remainingBy((left, last = left, requests) => requests % 2 === 0 && last > left ? last : left),
    'remaining-rises': remainingShown(admitted, (left, { quota }) => quota.limit - 1 - left),
    'bucket-per-operation':
      admitting((usual, key, call) => usual({ ...key, name: `${key.name} ${call.route.operation}` }, call)),
    'remaining-zero-on-404': remainingShown(where(answers(404), withKey), () => '0'),
    'long-list-costs-five': costing(5, queried('limit=100')),
    'remaining-same-on-400': remainingShown(where(answers(400), withKey), (left) => left + 1),
    'remaining-same-on-get': () => {
      const free = ofEach(() => ({ gets: 0 }));
      return remainingShown(admitted, (left, { key, route, quota }) => {
        const own = free(key?.name);
        if (left === quota.limit - 1) own.gets = 0;
        if (route.operation === 'getPet') own.gets += 1;
        return Math.min(quota.limit, left + own.gets);
      });
    },
    // A retrieval is not counted, and shows a whole minute that begins with it.
    'get-shows-whole-limit': [
      uncounted(on('getPet'), true),
      remainingShown(admittedGet, (_left, { quota }) => quota.limit),
      resetShown(admittedGet, (_reset, { now }) => Math.ceil(now / 1000) + 60),
    ],
    'unknown-animal-costs-nothing': uncounted(
      (call) => /^-?\d+$/.test(call.route.petId) && call.service.findPet(call.route.petId, call) === null, false),
    'remaining-falls-by-two-on-add': costing(2, on('createPet')),
  },
  'rate-reset-value': {
    'reset-empty': resetShown(withKey, () => ''),
    'reset-in-milliseconds': resetShown(withKey, (reset) => reset * 1000),
    'reset-in-seconds-to-go':
      resetShown(withKey, (reset, { now }) => Math.max(0, reset - Math.floor(now / 1000))),
    'reset-in-the-past': resetShown(withKey, (reset) => reset - 60 - 30),
    'reset-an-hour-late': resetShown(withKey, (reset) => reset + 3600),
    'reset-a-minute-later-each-time': () => {
      let minutes = 0;
      return resetShown(withKey, (reset) => reset + 60 * minutes++);
    },
    'reset-as-date': resetShown(withKey, (reset) => httpDate(reset * 1000)),
    'reset-as-iso-date': resetShown(withKey, (reset) => new Date(reset * 1000).toISOString()),
    'reset-zero': resetShown(withKey, () => '0'),
    'reset-in-milliseconds-on-429': resetShown(overLimit, (reset) => reset * 1000),
    'reset-of-earlier-window': fromSecondWindow((when) => resetShown(when, (reset) => reset - 120)),
    'reset-in-local-time': resetShown(withKey, (reset) => reset + 7 * 3600),
  },
  'rate-reset-true': {
    'reset-ten-seconds-early':
      resetShown(withKey, (reset, { now }) => Math.max(reset - 10, Math.ceil(now / 1000))),
    'reset-two-windows-ahead': resetShown(withKey, (reset) => reset + 60),
    'reset-four-seconds-early':
      resetShown(withKey, (reset, { now }) => Math.max(reset - 4, Math.ceil(now / 1000))),
    'reset-half-way': resetShown(overLimit, (reset, { now }) => Math.ceil((reset + now / 1000) / 2)),
    'reset-now-on-429': resetShown(overLimit, (_reset, { now }) => Math.floor(now / 1000)),
    'reset-always-now': resetShown(withKey, (_reset, { now }) => Math.ceil(now / 1000)),
    'reset-always-in-a-minute': resetShown(withKey, (_reset, { now }) => Math.ceil(now / 1000) + 60),
    'reset-now-unless-refused': resetShown(admitted, (_reset, { now }) => Math.ceil(now / 1000)),
    'minute-renews-itself': { minuteMeter: renewedWindow },
    'reset-pushed-back': { minuteMeter: penalty },
  },
};
