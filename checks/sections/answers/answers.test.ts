/**
 * What answers say of the rows of this room where it is neither a fault nor its absence, which the accuracy run shows:
 * what cannot be told, what binds nobody, and which rows explain another one.
 */

import t from 'tap';
import { currentId } from '../../../spec/contract.ts';
import type { Finding } from '../../run/findings.ts';
import { judgeRun } from '../../run/judge.ts';
import { NOON, testKey, testRun } from '../../run/testing/test-run.ts';
import type { Intent } from '../../wire/exchange.ts';
import { type AnswerParts, answered } from '../../wire/testing/answered.ts';
import { errorBodyChecks } from './by-status.ts';
import { keyChecks } from './key-checks.ts';
import { rateHeaderChecks, remainingExhausted, remainingFalls } from './rate-headers.ts';
import { serviceChecks } from './service.ts';

const CHECKS = [
  ...serviceChecks,
  ...errorBodyChecks,
  ...rateHeaderChecks,
  ...keyChecks,
  remainingFalls,
  remainingExhausted,
];

interface Answer extends AnswerParts {
  readonly intent?: Intent;
}

interface Case {
  readonly row: string;
  readonly answers: readonly Answer[];
  readonly comes: Finding['verdict'];
  readonly because?: Readonly<Record<string, unknown>>;
}

const SECOND = 1000;
const at = (seconds: number) => ({
  sentAt: NOON + seconds * SECOND,
  receivedAt: NOON + seconds * SECOND + 10,
});
const dated = (seconds: number) => ['Date', new Date(NOON + seconds * SECOND).toUTCString()] as const;
const resets = (seconds: number) =>
  ['X-RateLimit-Reset', String((NOON + seconds * SECOND) / SECOND)] as const;
const rates = (limit: number, remaining: number, reset = 60) =>
  [
    ['X-RateLimit-Limit', String(limit)],
    ['X-RateLimit-Remaining', String(remaining)],
    resets(reset),
  ] as const;
const JSON_TYPE = ['Content-Type', 'application/json'] as const;
const ERROR = (status: number) => JSON.stringify({ code: 'a', message: 'b', status });
/** Deeper than the harness reads. */
const TOO_DEEP = '['.repeat(100_000);

const CASES: Readonly<Record<string, Case>> = {
  'a body that the harness cannot read is not held against the target': {
    row: 'json-well-formed',
    answers: [{ body: TOO_DEEP }],
    comes: 'inconclusive',
    because: { kind: 'not-told' },
  },
  'the Error of a body that the harness cannot read': {
    row: 'error-body-404',
    answers: [{ status: 404, body: TOO_DEEP }],
    comes: 'inconclusive',
    because: { kind: 'not-told' },
  },
  'an answer without a body has no media type': {
    row: 'media-type-json',
    answers: [{ body: '', status: 404 }],
    comes: 'inconclusive',
    because: { kind: 'not-shown' },
  },
  'what is no JSON is another row’s': {
    row: 'media-type-json',
    answers: [{ body: '<h1>', headers: [['Content-Type', 'text/html']] }],
    comes: 'inconclusive',
    because: { kind: 'not-shown' },
  },
  'JSON with a parameter': {
    row: 'media-type-json',
    answers: [{ headers: [['Content-Type', 'application/json; charset=utf-8']] }],
    comes: 'pass',
  },
  'no 404 came, which other rows explain': {
    row: 'error-body-404',
    answers: [{ status: 200 }],
    comes: 'inconclusive',
    // None of them was judged here, so that none is named.
    because: { kind: 'not-shown', blames: [] },
  },
  'no other status came': {
    row: 'error-body-other',
    answers: [{ status: 404, body: ERROR(404) }],
    comes: 'not-applicable',
  },
  'an answer on a path that nobody knows is nobody’s': {
    row: 'error-body-other',
    answers: [{ operation: 'other', path: '/else', status: 418, body: 'tea' }],
    comes: 'not-applicable',
  },
  'an error on a known path for another method is': {
    row: 'error-body-other',
    answers: [{ operation: 'other', method: 'PATCH', path: '/pets', status: 405, body: ERROR(405) }],
    comes: 'pass',
  },
  'an Error without a status is judged by its schema alone': {
    row: 'error-status-matches',
    answers: [{ status: 404, body: '{"code":"a","message":"b"}' }],
    comes: 'inconclusive',
    because: { kind: 'not-shown' },
  },
  'a limit of the day': {
    row: 'rate-limit-value',
    answers: [{ headers: rates(1000, 999) }],
    comes: 'pass',
  },
  'a limit of another plan': {
    row: 'rate-limit-value',
    answers: [{ headers: rates(300, 299) }],
    comes: 'fail',
  },
  'a limit that is no number is no other plan’s': {
    row: 'rate-limit-value',
    answers: [{ headers: [['X-RateLimit-Limit', '60 a minute']] }],
    comes: 'fail',
    because: { actual: /a minute$/ },
  },
  'any limit on a 401, whose caller is nobody': {
    row: 'rate-limit-value',
    answers: [{ status: 401, headers: rates(300, 299) }],
    comes: 'pass',
  },
  'a Reset within two minutes': {
    row: 'rate-reset-value',
    answers: [{ ...at(0), headers: [...rates(60, 59, 120), dated(0)] }],
    comes: 'pass',
  },
  'a Reset beyond two minutes by both clocks': {
    row: 'rate-reset-value',
    answers: [{ ...at(0), headers: [...rates(60, 59, 130), dated(0)] }],
    comes: 'fail',
  },
  'a Reset beyond them by a Date that our clock contradicts': {
    row: 'rate-reset-value',
    answers: [{ ...at(100), headers: [...rates(60, 59, 150), dated(0)] }],
    comes: 'inconclusive',
    because: { kind: 'not-told', what: /one of the two is wrong/ },
  },
  'a Reset that is off by less than Date and our clock are apart': {
    row: 'rate-reset-value',
    answers: [{ ...at(260), headers: [...rates(60, 59, -40), dated(0)] }],
    comes: 'inconclusive',
    because: { kind: 'not-told', what: /one of the two is wrong/ },
  },
  'a Reset that is off by more': {
    row: 'rate-reset-value',
    answers: [{ ...at(260), headers: [...rates(60, 59, -300), dated(0)] }],
    comes: 'fail',
  },
  'a Reset of the day': {
    row: 'rate-reset-value',
    answers: [{ ...at(0), headers: [...rates(1000, 999, 40_000), dated(0)] }],
    comes: 'pass',
  },
  'a ban may tell a longer wait than the minute': {
    row: 'rate-reset-value',
    answers: ['600', '172800', '172800000'].map((wait) => ({
      ...at(0),
      status: 429,
      intent: 'ban',
      headers: [...rates(60, 0, wait === '600' ? 600 : 172_800), dated(0), ['Retry-After', wait]],
    })),
    comes: 'pass',
  },
  'the first refusal of a minute may not': {
    row: 'rate-reset-value',
    answers: [{ ...at(0), status: 429, intent: 'fill', headers: [...rates(60, 0, 600), dated(0)] }],
    comes: 'fail',
  },
  'a Remaining that cannot be read': {
    row: 'rate-remaining-falls',
    answers: [{ ...at(0) }, { ...at(1) }],
    comes: 'inconclusive',
    because: { kind: 'not-shown' },
  },
  'a Remaining that falls by one': {
    row: 'rate-remaining-falls',
    answers: [0, 1, 2, 3].map((index) => ({ ...at(index), headers: rates(60, 59 - index) })),
    comes: 'pass',
  },
  'a Remaining that falls once by more, as if by a stranger': {
    row: 'rate-remaining-falls',
    answers: [59, 58, 55, 54, 53, 52].map((left, index) => ({ ...at(index), headers: rates(60, left) })),
    comes: 'inconclusive',
    because: { what: /free-1/ },
  },
  'a valid key that is refused after a 429 may be banned': {
    row: 'auth-valid-key',
    answers: [{ ...at(0), status: 429 }, { ...at(1), status: 401 }, { ...at(2) }],
    comes: 'pass',
  },
  'a valid key that is refused once and served next': {
    row: 'auth-valid-key',
    answers: [{ ...at(0) }, { ...at(1), status: 401 }, { ...at(2) }],
    comes: 'fail',
  },
  'a valid key that is refused in the end': {
    row: 'auth-valid-key',
    answers: [{ ...at(0) }, { ...at(1), status: 401 }],
    comes: 'pass',
  },
  'what the first question of a run is refused': {
    row: 'auth-valid-key',
    answers: [{ ...at(0), status: 401, intent: 'preflight' }, { ...at(1) }],
    comes: 'pass',
  },
};

for (const [what, { row, answers, comes, because }] of Object.entries(CASES))
  t.test(`${row}: ${what}`, async (t) => {
    const { run } = testRun(undefined, { checks: CHECKS, keys: [testKey()] });
    for (const [index, { intent = 'ordinary', ...parts }] of answers.entries()) {
      const exchange = answered({ id: `check#${index + 1}`, headers: [JSON_TYPE], ...parts });
      run.trace.admit({ ...exchange, intent }, 'in-full');
    }
    const { requirements } = judgeRun(
      { checks: CHECKS.filter(({ id }) => id === currentId(row)), gapObservers: [] },
      run,
    );
    const finding = requirements.get(currentId(row));
    t.equal(finding?.verdict, comes);
    if (because !== undefined) t.match({ ...finding?.violation, ...finding?.reasons[0] }, because);
  });
