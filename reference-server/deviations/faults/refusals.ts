import { refusal } from '../../answer.ts';
import type { ApiKey } from '../../api-keys.ts';
import type { Call, Gate } from '../../design.ts';
import { httpDate, secondsUntil } from '../../headers.ts';
import type { OperationName } from '../../operations.ts';
import { quotaOf } from '../../rate-limiter.ts';
import { admitting, gating, letThrough, onPlan, overLimit, refusedBy } from '../admission.ts';
import { answering, answers, closing, failing, restated } from '../answers.ts';
import type { Deviation, DeviationTable } from '../deviation.ts';
import { addedHeader, header, headersAbsent, RATE_HEADERS, type Rewrite, retryAfter } from '../headers.ts';
import { slidingCounter } from '../meters.ts';
import { asksForStatus, everyTime, ofEach, on, queried, where } from '../when.ts';
import { storedThoughRefused } from './additions.ts';

/** Refusals of the limit with another status. */
const refusedWith = (status: number, operation?: OperationName) => failing(status, overLimit, on(operation));

/** From a key's second refusal in a row on. */
const fromSecondRefusal = (change: Rewrite<number>) => () => {
  const refusals = ofEach(() => ({ inRow: 0 }));
  return retryAfter(change, (call) => {
    const refused = refusals(call.key?.name);
    refused.inRow = call.refusedBy === null ? 0 : refused.inRow + 1;
    return call.refusedBy === 'minute' && refused.inRow > 1;
  });
};

const isBan = refusedBy('ban');
const body = (text: string) => answering(isBan, { text });

/** Bans are told apart from refusals of the limit by their status. */
const forbidden = answering(isBan, (answer) => restated(answer, 403));

const closed = (key: ApiKey, { now, service }: Call, until: number): Gate => ({
  quota: quotaOf(service.limiter.metersOf(key).minute, 0, now),
  refusedBy: 'ban',
  refusal: refusal(403, 'key_banned', 'This key is banned.', 'Retry-After', secondsUntil(until, now)),
});

/**
 * Bans each key by a rule of the fault's own: given until when it was banned, the rule may ask what the usual decision is,
 * and says until when it is banned now. A refusal for the minute stays one, also where it begins a ban.
 */
const banning =
  (rule: () => (until: number, now: number, usual: () => Gate) => number): Deviation =>
  () => {
    const ofKey = ofEach(() => ({ until: 0, rule: rule() }));
    return admitting((usual, key, call) => {
      const ban = ofKey(key.name);
      let gate: Gate | undefined;
      ban.until = ban.rule(ban.until, call.now, () => (gate ??= usual(key, call)));
      if (call.now < ban.until && gate?.refusedBy !== 'minute') return closed(key, call, ban.until);
      return gate ?? usual(key, call);
    });
  };

/** Once banned in the usual way, a key stays so for longer. */
const prolonged = (milliseconds: number): Deviation =>
  banning(
    () => (until, now, usual) => (until === 0 && usual().refusedBy === 'ban' ? now + milliseconds : until),
  );

const toldMinuteLess = retryAfter((seconds) => Math.max(1, seconds - 60), answers(403));

/** While one key is banned, others are too. */
const spreading =
  (to: (banned: ApiKey, other: ApiKey) => boolean): Deviation =>
  () => {
    let ban: { key: ApiKey; until: number } | null = null;
    return admitting((usual, key, call) => {
      if (ban !== null && call.now < ban.until && ban.key.name !== key.name)
        return to(ban.key, key) ? closed(key, call, ban.until) : usual(key, call);
      const gate = usual(key, call);
      if (gate.refusedBy === 'ban') ban = { key, until: call.now + 60_000 };
      return gate;
    });
  };

/** Bans a key that did no wrong, by a rule about how often it was admitted, and refused before. */
const counting = (due: (admitted: number, refusedWindows: number) => boolean): Deviation =>
  banning(() => {
    let [admitted, windows, refused] = [0, 0, false];
    return (until, now, usual) => {
      if (now < until) return until;
      const wasRefused = refused;
      refused = usual().refusedBy !== null;
      if (refused) return 0;
      admitted += 1;
      if (wasRefused) windows += 1;
      if (!due(admitted, windows)) return 0;
      [admitted, windows] = [0, 0];
      return now + 60_000;
    };
  });

/** Sections 7 and 8: a request over the limit is refused, has no effect, and is told to wait; the temporary ban. */
// biome-ignore format: a table, a line for most faults
export const REFUSAL_FAULTS: DeviationTable = {
  'rate-refused-429': {
    'ban-sixth-served': () => letThrough('ban', everyTime(6)),
    'refused-503': refusedWith(503),
    'refused-403': refusedWith(403),
    'refused-400-on-add': refusedWith(400, 'createPet'),
    'refused-503-on-get': refusedWith(503, 'getPet'),
    'refused-get-served': letThrough('minute', on('getPet')),
    'refused-add-served': letThrough('minute', on('createPet')),
    'refused-filtered-list-served': letThrough('minute', asksForStatus),
    'refused-long-list-served': letThrough('minute', queried('limit=100')),
    'refused-empty-list': answering(where(overLimit, on('listPets')), { text: '[]', status: 200, headers: [] }),
    'refused-every-other-served': () => letThrough('minute', everyTime(3)),
    'refused-connection-closed': closing(overLimit),
    'refused-connection-closed-by-counter': [{ minuteMeter: slidingCounter }, closing(overLimit)],
  },
  'rate-refused-adds-nothing': {
    'refused-add-stored': storedThoughRefused(answers(429)),
    'banned-add-stored': storedThoughRefused(isBan),
  },
  'retry-after-present': {
    'retry-after-absent': retryAfter(() => null),
    'retry-after-absent-on-add': retryAfter(() => null, where(refusedBy('minute'), on('createPet'))),
    'retry-after-absent-from-second': fromSecondRefusal(() => null),
    'retry-after-under-other-name': [retryAfter(() => null), addedHeader('X-Retry-After', '30', refusedBy('minute'))],
  },
  'retry-after-readable': {
    'retry-after-soon': retryAfter(() => 'soon'),
    'retry-after-negative': retryAfter((seconds) => `-${seconds}`),
    'retry-after-zero': retryAfter(() => '0'),
    'retry-after-empty': retryAfter(() => ''),
    'retry-after-past-date': retryAfter((seconds, { now }) => httpDate(now - seconds * 1000 - 60_000)),
    'retry-after-a-year': retryAfter(() => '31536000'),
    'retry-after-not-a-number': retryAfter(() => 'NaN'),
    'retry-after-zero-from-second': fromSecondRefusal(() => '0'),
  },
  'retry-after-honest': {
    'retry-after-one-second': retryAfter(() => '1'),
    'retry-after-half': retryAfter((seconds) => Math.max(1, Math.floor(seconds / 2))),
    'retry-after-five-short': retryAfter((seconds) => Math.max(1, seconds - 5)),
    'retry-after-date-too-early': retryAfter((seconds, { now }) => httpDate(now + 1000 + seconds * 333)),
    'retry-after-short-for-free': retryAfter((seconds) => Math.min(seconds, 10),
        where(refusedBy('minute'), onPlan('free'))),
  },
  'ban-spares-polite': {
    'ban-after-waiting': counting((_admitted, windows) => windows > 0),
    'ban-of-the-fast': counting((admitted) => admitted > 40),
    'ban-on-first-429': [banning(() => (until, now, usual) =>
        now >= until && usual().refusedBy === 'minute' ? now + 120_000 : until), toldMinuteLess],
  },
  'ban-error-body': {
    'ban-empty': [forbidden, body('')],
    'ban-text': [forbidden, body('Forbidden')],
    'ban-without-code': [forbidden, body('{"message":"banned","status":403}')],
    'ban-html': [forbidden, body('<html><body>Forbidden</body></html>'), header('Content-Type', isBan, () => 'text/html')],
  },
  'ban-rate-headers': {
    'ban-without-headers': [forbidden, headersAbsent(isBan, ...RATE_HEADERS)],
    'ban-without-reset': [forbidden, headersAbsent(isBan, 'X-RateLimit-Reset')],
    'ban-without-limit': [forbidden, headersAbsent(isBan, 'X-RateLimit-Limit')],
  },
  'ban-ends': {
    'ban-twice-as-long': [prolonged(120_000), toldMinuteLess],
    'ban-told-and-never-lifted': [prolonged(Number.POSITIVE_INFINITY), retryAfter(() => '20', isBan)],
    'ban-says-one-second': retryAfter(() => '1', isBan),
    'ban-like-the-limit-says-one-second': [body('{"code":"rate_limit_exceeded","message":"Too many requests.","status":429}'), retryAfter(() => '1', isBan)],
    'ban-says-half': retryAfter((seconds) => Math.ceil(seconds / 2), isBan),
    // A ban begins anew with the first request after it.
    'ban-begins-anew': banning(() => {
      let [until, renewed] = [0, false];
      return (_until, now, usual) => {
        if (until === 0) {
          if (usual().refusedBy === 'ban') until = now + 60_000;
          return 0;
        }
        if (now >= until && !renewed) [until, renewed] = [now + 60_000, true];
        return until;
      };
    }),
  },
  'ban-other-keys': {
    'ban-of-the-plan': spreading((one, other) => one.plan === other.plan),
    'ban-of-everybody': spreading(() => true),
    'ban-of-all-but-itself': () => {
      let ban = { key: '', until: 0 };
      return gating((gate, key, call) => {
        const { now } = call;
        const hits = now < ban.until && key.name !== ban.key && key.plan === 'free';
        if (gate.refusedBy !== 'ban') return hits ? closed(key, call, now + 60_000) : gate;
        ban = { key: key.name, until: now + 60_000 };
        return { ...gate, refusedBy: 'minute' };
      });
    },
  },
};
