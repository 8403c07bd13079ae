/** What is said of what came of a key: the verdict, why, and the rows and keys that explain it. */

import { join } from 'node:path';
import t from 'tap';
import { sentenceOf } from '../../../reports/reasons.ts';
import { currentId } from '../../../spec/contract.ts';
import { SECOND } from '../../limits/time.ts';
import type { Key } from '../../profile/key.ts';
import { type Finding, Findings } from '../../run/findings.ts';
import { judgeCheck } from '../../run/judge.ts';
import { NOON, testKey, testRun } from '../../run/testing/test-run.ts';
import { assertAsStored } from '../../testing/as-stored.ts';
import { quotaChecks } from '../all-checks.ts';
import type { BanMeasurement } from './ban-reading.ts';
import type { MinuteMeasurement } from './minute.ts';
import { reset } from './testing/limited-target.ts';
import {
  admittedReadings,
  banMeasured,
  exact,
  exchangeAt,
  exhaustKey,
  fewer,
  type Measured,
  minuteMeasured,
  more,
  PER_MINUTE,
  retryOf,
  type Told,
  windowOf,
} from './testing/measured.ts';
import type { FilledWindow } from './window-filling.ts';

const free = exhaustKey();
const toBan = testKey({ name: 'free-ban', roles: ['ban'], limits: free.limits });
const other = testKey({ name: 'pro-1', plan: 'pro', roles: ['functional'] });

/** What came of the keys. */
interface Came {
  readonly minute?: Measured;
  readonly ban?: Partial<BanMeasurement>;
  readonly keys?: readonly Key[];
  /** When an answer was lost, in seconds. */
  readonly lostAt?: number;
}

/** What one row says of it, without what it sees in answers as they come. */
function said(id: string, { minute, ban, keys = [free, toBan, other], lostAt }: Came): Finding {
  const check = quotaChecks.find((one) => one.id === currentId(id));
  if (check === undefined) throw new Error(`there is no ${id}`);
  const permissions = ['exhaust', ...(ban === undefined ? [] : ['ban'])] as const;
  const { run } = testRun(() => ({}), { keys, permissions: new Set(permissions as readonly 'exhaust'[]) });
  if (lostAt !== undefined)
    run.sender.trace.admit({ ...exchangeAt('lost', lostAt), outcome: reset }, 'in-full');
  run.assume('minute:free-1', minuteMeasured(free, minute));
  if (ban !== undefined) run.assume('ban:free-ban', banMeasured(toBan, ban));
  return judgeCheck(check, new Findings(), run).weigh();
}

type Row = readonly [what: string, id: string, came: Came, verdict: Finding['verdict']];

/** What is said of each row of the tables, and who explains it. */
const texts: Record<string, string> = {};

function table(title: string, rows: readonly Row[]): void {
  for (const [what, id, came, verdict] of rows) {
    const finding = said(id, came);
    t.equal(finding.verdict, verdict, `${id}: ${what}`);
    const { violation, reasons } = finding;
    const broken = violation === undefined ? '' : `${violation.expected} / ${violation.actual}; `;
    const words = reasons
      .map((reason) => [reason.kind, 'key' in reason ? `(${reason.key})` : '', sentenceOf(reason)].join(' '))
      .join('; ');
    texts[`${title}: ${id}: ${what}`] = `${finding.verdict}: ${broken}${words}`;
  }
}

const windows = (...of: MinuteMeasurement['windows']): Came => ({ minute: { windows: of } });
const short = (before = 0, between = 0, admitted = 5, given: Partial<FilledWindow> = {}) =>
  windowOf(fewer(before, between), admitted, given);
const refusedWith = (told: Told, seconds = 1) =>
  windowOf(exact, 6, { refusal: exchangeAt('refusal', seconds, told) });
const unrefused = { refusal: undefined, last: exchangeAt('last', 30, { status: 200 }) };
const hidden = (count: number) => admittedReadings(count, { limit: 1000 });
const raced = windowOf(more, [...admittedReadings(6), ...admittedReadings(3)]);
const lost = { lost: { ...exchangeAt('lost', 1), outcome: reset } };
const spent = { kind: 'day-spent', what: 'no day left', key: 'free-1' } as const;
const MINUTE_ROW = 'rate-minute-free';
const given = (remaining: number, window = windowOf(exact), more: Told = {}): Came => ({
  minute: { windows: [window], afterRetryAfter: retryOf('given', 10.7, { remaining, reset: 61, ...more }) },
});
const inSteps = windowOf(exact, admittedReadings(PER_MINUTE, { remaining: 0 }));

table('how many requests a minute admits', [
  ['one was exact', MINUTE_ROW, windows(short(1), windowOf(exact)), 'pass'],
  ['more after fewer', MINUTE_ROW, windows(short(1), windowOf(more, 7)), 'fail'],
  [
    'more, where headers hide the edge of a window',
    MINUTE_ROW,
    windows(windowOf(more, hidden(7)), windowOf(fewer(), hidden(5))),
    'inconclusive',
  ],
  ['more, in both', MINUTE_ROW, windows(windowOf(more, hidden(7)), windowOf(more, hidden(8))), 'fail'],
  ['a race', MINUTE_ROW, windows(raced), 'inconclusive'],
  ['none refused', MINUTE_ROW, windows(windowOf(fewer(), 6, unrefused)), 'inconclusive'],
  ['answers were lost', MINUTE_ROW, windows(windowOf(exact, 6, lost)), 'inconclusive'],
  ['the day ran out', MINUTE_ROW, { minute: { windows: [short(1)], spent } }, 'inconclusive'],
  ['none was admitted', MINUTE_ROW, windows(windowOf(fewer(), 0)), 'inconclusive'],
  ['short once', MINUTE_ROW, windows(short()), 'inconclusive'],
  [
    'nothing in the last two',
    MINUTE_ROW,
    windows(short(0, 1), windowOf(fewer(), 0), windowOf(fewer(), 0)),
    'inconclusive',
  ],
  ['the last two alike', MINUTE_ROW, windows(short(0, 0, 4), short(), short()), 'fail'],
  ['short twice, not alike', MINUTE_ROW, windows(short(), short(0, 0, 4)), 'inconclusive'],
  ['somebody between', MINUTE_ROW, windows(short(0, 1), short()), 'inconclusive'],
  [
    'an edge within',
    MINUTE_ROW,
    windows({ ...short(), count: { ...short().count, all: admittedReadings(9) } }),
    'inconclusive',
  ],
  ['three given back after ten seconds', MINUTE_ROW, given(3), 'fail'],
  [
    'three given back by a clock set back',
    MINUTE_ROW,
    given(3, refusedWith({ date: 1 }), { date: -20 }),
    'pass',
  ],
  ['three given back, told in steps', MINUTE_ROW, given(3, inSteps), 'inconclusive'],
  ['two given back', MINUTE_ROW, given(2), 'pass'],
  ['another plan', 'rate-minute-pro', {}, 'skipped'],
  ['a plan of custom numbers', 'rate-minute-enterprise', {}, 'not-applicable'],
]);

const banBurst = (admitted: number, limit = PER_MINUTE): Partial<BanMeasurement> => ({
  admitted: admittedReadings(admitted, { limit }),
  refused: [exchangeAt('over-1', 1), exchangeAt('over-2', 1)],
});

table('requests in flight together', [
  ['short', 'rate-concurrent', windows(short()), 'inconclusive'],
  ['more, no race', 'rate-concurrent', windows(windowOf(more, 7)), 'inconclusive'],
  ['lost', 'rate-concurrent', windows(windowOf(exact, 6, lost)), 'inconclusive'],
  ['a key that goes on', 'rate-concurrent', { ...windows(windowOf(exact)), ban: banBurst(6) }, 'pass'],
  ['eight of it', 'rate-concurrent', { ban: banBurst(8) }, 'fail'],
  ['hidden edges', 'rate-concurrent', { ban: banBurst(8, 1000) }, 'inconclusive'],
]);

const next = (...of: readonly FilledWindow[]): Came => ({ minute: { next: of } });
const NEXT = 'rate-next-window';

table('the minute after the reset', [
  ['nothing was refused before', NEXT, windows(windowOf(more, 7, unrefused)), 'inconclusive'],
  ['the first was short', NEXT, windows(short(1)), 'inconclusive'],
  ['no end told', NEXT, { minute: { afterReset: undefined, afterRetryAfter: undefined } }, 'inconclusive'],
  [
    'not admitted again',
    NEXT,
    { minute: { afterReset: retryOf('again', 61, { status: 429 }) } },
    'inconclusive',
  ],
  ['the day ran out', NEXT, { minute: { spent } }, 'inconclusive'],
  ['lost', NEXT, next(windowOf(exact, 6, lost)), 'inconclusive'],
  ['more, hidden', NEXT, next(windowOf(more, hidden(7))), 'inconclusive'],
  ['short once', NEXT, next(short(0, 0, 4)), 'inconclusive'],
  ['not alike', NEXT, next(short(0, 0, 4), short(0, 0, 5)), 'inconclusive'],
  ['every other', NEXT, next(short(0, 0, 4), windowOf(exact), short(0, 0, 4)), 'fail'],
  ['slow', NEXT, next(short(0, 0, 4, unrefused)), 'inconclusive'],
  ['bit by bit, short', NEXT, { minute: { next: [short(0, 0, 4)], refilling: true } }, 'inconclusive'],
  [
    'bit by bit, whole from rest',
    NEXT,
    { minute: { refilling: true, windows: [short(1), windowOf(exact)] } },
    'pass',
  ],
]);

const refusal = (status: number, verdict = exact) =>
  windows(windowOf(verdict, 6, { refusal: exchangeAt('refusal', 1, { status }) }));
const closed = windowOf(exact, 6, {
  closed: { ...exchangeAt('closed', 1), outcome: reset },
  refusal: undefined,
});
const REFUSED = 'rate-refused-429';
const servedAfter = (seconds: number): Partial<BanMeasurement> => ({
  refused: [exchangeAt('over', 2)],
  rounds: [
    [exchangeAt('first', 3, { status: 200 })],
    [exchangeAt('served', 3 + seconds, { status: 200 })],
    [exchangeAt('over-again', 40)],
  ],
});

table('a request over the limit', [
  ['401 before the limit', REFUSED, refusal(401, fewer()), 'inconclusive'],
  ['none', REFUSED, windows(windowOf(exact, 6, unrefused)), 'inconclusive'],
  [
    'one served',
    REFUSED,
    windows(windowOf(exact, 6, { servedOver: exchangeAt('served', 1, { status: 201 }) })),
    'fail',
  ],
  ['closed once', REFUSED, windows(closed), 'inconclusive'],
  ['so it may be given back', REFUSED, { minute: { refilling: true }, ban: servedAfter(20) }, 'pass'],
  ['not so soon', REFUSED, { minute: { refilling: true }, ban: servedAfter(1) }, 'fail'],
]);

const told = (what: Told) => windows(refusedWith(what));
const httpDate = (seconds: number) => new Date(NOON + seconds * SECOND).toUTCString();
const READABLE = 'retry-after-readable';
const HONEST = 'retry-after-honest';
const again = (what: Told, of: MinuteMeasurement['windows'] = [windowOf(exact)]): Came => {
  const retry = retryOf('again', 60, what);
  return { minute: { windows: of, afterRetryAfter: retry, afterReset: retry } };
};

table('the time to wait', [
  ['none', READABLE, told({}), 'inconclusive'],
  ['of a ban', READABLE, { ban: { refused: [exchangeAt('over', 2, { retryAfter: 90_000 })] } }, 'pass'],
  ['none', HONEST, { minute: { afterRetryAfter: undefined } }, 'inconclusive'],
  ['banned', HONEST, again({ status: 403 }), 'inconclusive'],
  ['somebody else', HONEST, again({ status: 429 }, [short(1)]), 'inconclusive'],
  [
    'lost before',
    HONEST,
    { ...again({ status: 429 }, [windowOf(fewer(0, 1), 5, lost)]), lostAt: 0.5 },
    'fail',
  ],
  ['lost meanwhile', HONEST, { ...again({ status: 429 }), lostAt: 30 }, 'inconclusive'],
  ['the day ran out', HONEST, again({ status: 429, retryAfter: 50_000 }), 'inconclusive'],
  ['perhaps the day', HONEST, again({ status: 429 }, [short()]), 'inconclusive'],
  [
    'our clock is behind',
    HONEST,
    again({ status: 429, date: 160 }, [refusedWith({ retryAfter: httpDate(99), date: 1 })]),
    'inconclusive',
  ],
  [
    'Reset, our clock is behind',
    'rate-reset-true',
    again({ status: 429, date: 160 }, [refusedWith({ reset: 99, date: 1 })]),
    'inconclusive',
  ],
  [
    'Reset, a clock set back',
    'rate-reset-true',
    again({ status: 429, date: 30 }, [refusedWith({ reset: 59, date: 1 })]),
    'inconclusive',
  ],
  ...(
    [
      [30, 'inconclusive'],
      [0, 'fail'],
    ] as const
  ).map(
    ([behind, verdict]): Row => [
      `no Date, a clock set back by ${behind}`,
      'rate-reset-true',
      again({ status: 429, date: undefined, reset: 120, retryAfter: 60 + behind }, [
        refusedWith({ date: undefined, reset: 60, retryAfter: 59 }),
      ]),
      verdict,
    ],
  ),
  ['no Reset to wait for', 'rate-reset-true', { minute: { afterReset: undefined } }, 'inconclusive'],
  [
    'Reset of the day',
    'rate-reset-true',
    { minute: { windows: [refusedWith({ limit: 1000 })], afterReset: undefined } },
    'not-applicable',
  ],
  ['nothing refused', 'rate-reset-true', windows(windowOf(exact, 6, unrefused)), 'inconclusive'],
  ['of the day', 'rate-remaining-exhausted', told({ limit: 1000, remaining: 2 }), 'not-applicable'],
]);

const forbidden = { status: 403, code: 'banned', retryAfter: 20 };
const answer = exchangeAt('ban', 60, forbidden);
const untold = exchangeAt('ban', 60, { ...forbidden, retryAfter: undefined });
const served = exchangeAt('served', 81, { status: 200 });
const still = exchangeAt('still', 81, { ...forbidden, date: undefined });
const over = [1, 2, 3].map((second) => exchangeAt(`over-${second}`, second));
const banOf = (given: Partial<BanMeasurement> = {}): Came => ({
  ban: {
    admitted: admittedReadings(PER_MINUTE),
    refused: over,
    rounds: [[answer]],
    later: [served],
    ...given,
  },
});
const noBan: Partial<BanMeasurement> = {
  rounds: Array.from({ length: 60 }, (_, index) => [exchangeAt(`over-${index + 4}`, 4)]),
};
const somebodyElse = { admitted: admittedReadings(PER_MINUTE - 1) };
const got = (status: number) => [{ key: other, exchange: exchangeAt('other', 61, { status }) }];
const banned = again(forbidden);

table('a ban', [
  ['none', 'ban-provoked', banOf(noBan), 'not-applicable'],
  ['too slow', 'ban-provoked', banOf({ rounds: [] }), 'inconclusive'],
  [
    'not held to its limit',
    'ban-provoked',
    banOf({ admitted: admittedReadings(9), ...noBan }),
    'not-applicable',
  ],
  ['ends', 'ban-ends', banOf({ rounds: [[untold]] }), 'pass'],
  ['goes on, untold', 'ban-ends', banOf({ rounds: [[untold]], later: [still] }), 'inconclusive'],
  [
    'too long',
    'ban-ends',
    banOf({ rounds: [[exchangeAt('ban', 60, { ...forbidden, retryAfter: 3600 })]], later: [] }),
    'inconclusive',
  ],
  ['prolonged', 'ban-ends', banOf({ later: [still], ...somebodyElse }), 'inconclusive'],
  [
    'a clock set back',
    'ban-ends',
    banOf({
      rounds: [[exchangeAt('ban', 60, { ...forbidden, date: 60 })]],
      later: [exchangeAt('still', 81, { ...forbidden, date: 70 })],
    }),
    'inconclusive',
  ],
  ['the wrong one', 'ban-other-keys', banOf({ ...noBan, others: got(403) }), 'fail'],
  ['one that was withdrawn', 'ban-other-keys', banOf({ others: got(401) }), 'inconclusive'],
  ['nobody was asked', 'ban-other-keys', banOf(), 'inconclusive'],
  ['there is nobody', 'ban-other-keys', { ...banOf(), keys: [toBan] }, 'skipped'],
  ['polite, but an answer was lost', 'ban-spares-polite', { ...banned, lostAt: 0.5 }, 'inconclusive'],
  ['refused again', 'ban-spares-polite', again({ status: 429 }), 'inconclusive'],
  [
    'polite, a clock set back',
    'ban-spares-polite',
    again({ ...forbidden, date: 30 }, [refusedWith({ retryAfter: 59, date: 1 })]),
    'inconclusive',
  ],
  [
    'not told how long',
    'ban-spares-polite',
    { minute: { afterReset: undefined, afterRetryAfter: undefined } },
    'inconclusive',
  ],
  [
    'somebody else may have earned it',
    'ban-spares-polite',
    again(forbidden, [windowOf(exact), short()]),
    'inconclusive',
  ],
  [
    'several were in flight',
    'ban-spares-polite',
    again(forbidden, [windowOf(exact, 6, { refusals: [over[0] ?? answer, over[1] ?? answer] })]),
    'inconclusive',
  ],
  ['banned although it had waited', 'ban-spares-polite', again(forbidden), 'fail'],
  ['banned below the limit', 'ban-spares-polite', refusal(403, fewer()), 'fail'],
  ['the day ran out', 'ban-spares-polite', again({ status: 429, retryAfter: 50_000 }), 'inconclusive'],
  [
    'a ban of another key hits it',
    HONEST,
    { ...again({ ...forbidden, retryAfter: 40 }), ...banOf({ others: got(403) }) },
    'inconclusive',
  ],
]);

t.test('what is said of them is as stored', async (t) =>
  assertAsStored(t, join(import.meta.dirname, 'testing', 'judges.txt'), texts),
);
