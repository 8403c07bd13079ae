/**
 * What answers say of the rows of this room. Faults are the accuracy run's; here stands in words what is wrong, what
 * cannot be told, what binds nobody, and which rows explain another one.
 */

import { join } from 'node:path';
import t from 'tap';
import { sentence } from '../../../reports/reasons.ts';
import { PLANS } from '../../../spec/plans.ts';
import { judgeRun } from '../../run/judge.ts';
import { NOON, testKey, testRun } from '../../run/testing/test-run.ts';
import { assertAsStored } from '../../testing/as-stored.ts';
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

const SECOND = 1000;
const at = (seconds: number) => ({
  sentAt: NOON + seconds * SECOND,
  receivedAt: NOON + seconds * SECOND + 10,
});
const dated = (seconds: number) => ['Date', new Date(NOON + seconds * SECOND).toUTCString()] as const;
const resets = (seconds: number) =>
  ['X-RateLimit-Reset', String((NOON + seconds * SECOND) / SECOND)] as const;
const JSON_TYPE = ['Content-Type', 'application/json'] as const;
const rates = (limit: number, remaining: number, reset = 60) =>
  [
    JSON_TYPE,
    ['X-RateLimit-Limit', String(limit)],
    ['X-RateLimit-Remaining', String(remaining)],
    resets(reset),
  ] as const;
/** What another plan admits. */
const { perMinute, perDay } = PLANS.pro;
const ERROR = (status: number) => JSON.stringify({ code: 'a', message: 'b', status });
/** Deeper than the harness reads. */
const TOO_DEEP = '['.repeat(100_000);

const CASES: Readonly<Record<string, readonly Answer[]>> = {
  'a body that the harness cannot read is not held against the target': [{ body: TOO_DEEP }],
  'the Error of a body that the harness cannot read': [{ status: 404, body: TOO_DEEP }],
  'an answer without a body has no media type': [{ body: '', status: 404 }],
  'what is no JSON is another row’s': [{ body: '<h1>', headers: [['Content-Type', 'text/html']] }],
  'JSON with a parameter': [{ headers: [['Content-Type', 'application/json; charset=utf-8']] }],
  'no 404 came, which other rows explain': [{ status: 200 }],
  'no other status came': [{ status: 404, body: ERROR(404) }],
  'an answer on a path that nobody knows is nobody’s': [
    { operation: 'other', path: '/else', status: 418, body: 'tea' },
  ],
  'an error on a known path for another method is': [
    { operation: 'other', method: 'PATCH', path: '/pets', status: 405, body: ERROR(405) },
  ],
  'an Error without a status is judged by its schema alone': [
    { status: 404, body: '{"code":"a","message":"b"}' },
  ],
  'a limit of the day': [{ headers: rates(1000, 999) }],
  'a limit of another plan': [{ headers: rates(perMinute, 0) }],
  'a limit that is no number is no other plan’s': [{ headers: [['X-RateLimit-Limit', '60 a minute']] }],
  'any limit on a 401, whose caller is nobody': [{ status: 401, headers: rates(300, 299) }],
  'a Reset within two minutes': [{ ...at(0), headers: [...rates(60, 59, 120), dated(0)] }],
  'a Reset beyond two minutes by both clocks': [{ ...at(0), headers: [...rates(60, 59, 130), dated(0)] }],
  'a Reset beyond them by a Date that our clock contradicts': [
    { ...at(100), headers: [...rates(60, 59, 150), dated(0)] },
  ],
  'a Reset that is off by less than Date and our clock are apart': [
    { ...at(260), headers: [...rates(60, 59, -40), dated(0)] },
  ],
  'a Reset that is off by more': [{ ...at(260), headers: [...rates(60, 59, -300), dated(0)] }],
  'a Reset of the day': [{ ...at(0), headers: [...rates(1000, 999, 40_000), dated(0)] }],
  'a ban may tell a longer wait than the minute': ['600', '172800', '172800000'].map((wait) => ({
    ...at(0),
    status: 429,
    intent: 'ban',
    headers: [...rates(60, 0, wait === '600' ? 600 : 172_800), dated(0), ['Retry-After', wait]],
  })),
  'the first refusal of a minute may not': [
    { ...at(0), status: 429, intent: 'fill', headers: [...rates(60, 0, 600), dated(0)] },
  ],
  'a Remaining that cannot be read': [{ ...at(0) }, { ...at(1) }],
  'a Remaining that falls by one': [0, 1, 2, 3].map((index) => ({
    ...at(index),
    headers: rates(60, 59 - index),
  })),
  'a Remaining that falls once by more, as if by a stranger': [59, 58, 55, 54, 53, 52].map((left, index) => ({
    ...at(index),
    headers: rates(60, left),
  })),
  'a valid key that is refused after a 429 may be banned': [
    { ...at(0), status: 429 },
    { ...at(1), status: 401 },
    { ...at(2) },
  ],
  'a valid key that is refused once and served next': [{ ...at(0) }, { ...at(1), status: 401 }, { ...at(2) }],
  'a valid key that is refused in the end': [{ ...at(0) }, { ...at(1), status: 401 }],
  'what the first question of a run is refused': [
    { ...at(0), status: 401, intent: 'preflight' },
    { ...at(1) },
  ],
  'an Error whose texts are empty': [
    { status: 404, body: '{"code":"","message":"b","status":404}' },
    { status: 404, body: '{"code":"a","message":"","status":404}' },
  ],
  'an Error of another status': [{ status: 404, body: ERROR(400) }],
  'an Error under a success': [{ body: ERROR(404) }, { operation: 'getPet', body: ERROR(399) }],
  'an Error that is no object, or lacks a field': [
    { status: 400, body: '[]' },
    { status: 500, body: '{"code":7,"message":"b","status":500}' },
  ],
  'JSON with another media type, or with two': [
    { headers: [['Content-Type', 'text/html']] },
    { headers: [JSON_TYPE, ['Content-Type', 'text/plain']] },
    { headers: [] },
  ],
  'a success that is no JSON': [
    { body: '<h1>' },
    { operation: 'createPet', status: 201, body: '' },
    { operation: 'getPet', status: 202, body: 'x' },
  ],
  'no rate headers, or some': [
    {},
    { status: 401, headers: [resets(60)] },
    { status: 429 },
    { status: 500, body: ERROR(500) },
  ],
  'the day of another plan': [{ headers: rates(perDay, 0) }],
  'a limit of another plan on an error': [{ status: 404, body: ERROR(404), headers: rates(300, 299) }],
  'a limit of nobody': [
    { key: null, status: 401, headers: rates(7, 6) },
    { key: null, headers: rates(-1, -1) },
  ],
  'a Remaining beyond its limit': [{ headers: rates(60, 61) }, { headers: rates(60, -1) }],
  'a limit of the day with what the minute leaves': [0, 1, 2, 3, 4].map((index) => ({
    ...at(index),
    headers: rates(1000, 59 - index),
  })),
  'a Reset without any Date': [
    { ...at(0), headers: rates(60, 59, 60) },
    { ...at(1), headers: rates(60, 58, 86_000) },
    { ...at(2), headers: rates(60, 57, 90_000) },
    { ...at(3), headers: rates(60, 56, -90_000) },
  ],
  'a Reset in milliseconds, or in seconds that are left': [
    { ...at(0), headers: [...rates(60, 59).slice(0, 3), ['X-RateLimit-Reset', String(NOON)], dated(0)] },
    { ...at(1), headers: [...rates(60, 58).slice(0, 3), ['X-RateLimit-Reset', '59'], dated(1)] },
  ],
  'a Reset that has passed, and one that has just': [
    { ...at(10), headers: [...rates(60, 59, 8), dated(10)] },
    { ...at(10), headers: [...rates(60, 58, 9), dated(10)] },
  ],
  'a Reset beyond the day': [{ ...at(0), headers: [...rates(1000, 999, 86_500), dated(0)] }],
  'a second refusal may tell a longer wait': [1, 2].map((second) => ({
    ...at(second),
    status: 429,
    headers: [...rates(60, 0, 600 + second), dated(second), ['Retry-After', '600'] as const],
  })),
  'a refusal of the key may': [
    { ...at(0), status: 403, body: ERROR(403), headers: [...rates(60, 0, 600), dated(0)] },
    { ...at(1), status: 404, body: ERROR(404), headers: [...rates(60, 0, 600), dated(1)] },
  ],
  'of another client’s request nobody knows what went before': [
    { ...at(0), status: 429, intent: 'foreign', headers: [...rates(60, 0, 600), dated(0)] },
  ],
  'a Remaining that stands still': [59, 59, 59, 59, 59, 59].map((left, index) => ({
    ...at(index / 10),
    headers: rates(60, left),
  })),
  'a Remaining that falls by two': [58, 56, 54, 52, 50, 48].map((left, index) => ({
    ...at(index / 10),
    headers: rates(60, left),
  })),
  'a Remaining that rises': [59, 38, 37, 59, 58, 57].map((left, index) => ({
    ...at(index / 10),
    headers: rates(60, left),
  })),
  'a day that slides': [600, 599, 995, 994, 999, 998].map((left, index) => ({
    ...at(index / 10),
    headers: rates(1000, left, 40_000 + 10 * index),
  })),
  'a day that does not': [600, 599, 995, 994, 999, 998].map((left, index) => ({
    ...at(index / 10),
    headers: rates(1000, left, 40_000),
  })),
  'a valid key that is refused twice': [{ ...at(0) }, { ...at(1), status: 401 }, { ...at(2), status: 401 }],
  'a valid key that a ban refuses': [{ ...at(0), status: 401, intent: 'ban' }, { ...at(1) }],
};

/** What is said of each row where answers come like these, in order. */
function said(answers: readonly Answer[]): readonly string[] {
  const { run } = testRun(undefined, { checks: CHECKS, keys: [testKey()] });
  for (const [index, { intent = 'ordinary', ...parts }] of answers.entries()) {
    const exchange = answered({ id: `check#${index + 1}`, headers: [JSON_TYPE], ...parts });
    run.trace.admit({ ...exchange, intent }, 'in-full');
  }
  const { requirements } = judgeRun({ checks: CHECKS, gapObservers: [] }, run);
  return [...requirements].map(([id, { verdict, reasons, violation, evidence }]) => {
    const { expected, actual, at: places = [] } = violation ?? { expected: '', actual: '' };
    const broken =
      violation === undefined ? [] : [expected, `${actual} at ${places.join(', ') || 'no place'}`];
    const shown = evidence.map((exchange) => ` [${exchange.id}]`).join('');
    const told = [verdict, ...broken, sentence(reasons)].join(' / ');
    return `${id}: ${told.replace(/[\d,]+(?=, as in plan)/, 'N')}${shown}`;
  });
}

t.test('what answers say of each row is as stored', async (t) => {
  const usual = said([]);
  // Each row is a text by itself: a new one is not stored yet, and reddens none.
  const texts = Object.entries(CASES).flatMap(([what, answers]) => {
    const rows = said(answers).filter((row) => !usual.includes(row));
    return rows.map((row): [string, string] => [`${what}: ${row}`, '']);
  });
  assertAsStored(t, join(import.meta.dirname, 'testing', 'answers.txt'), Object.fromEntries(texts));
});
