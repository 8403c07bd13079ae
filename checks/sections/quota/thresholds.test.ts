/** What is read from the answers to a key, and at which moment or number something else is; and what whole runs wait for. */
import { join } from 'node:path';
import t from 'tap';
import { sentence } from '../../../reports/reasons.ts';
import { currentId } from '../../../spec/contract.ts';
import { MODELS } from '../../limits/testing/simulated-limits.ts';
import {
  assertSaid,
  inWords,
  ofGroups,
  type Says,
  type Written,
} from '../../limits/testing/written-readings.ts';
import { Findings } from '../../run/findings.ts';
import { judgeCheck } from '../../run/judge.ts';
import { scene } from '../../run/scene.ts';
import { NOON, testKey, testRun } from '../../run/testing/test-run.ts';
import { quotaChecks } from '../all-checks.ts';
import { readBan } from './ban-reading.ts';
import type { Tally } from './day.ts';
import { isAdmitted, knownAgain, knownSince } from './key-spending.ts';
import { countedInvalid, usedInTurn } from './keys-apart.ts';
import { type LimitedTarget, limitedRun, reset, verdictsOn } from './testing/limited-target.ts';
import { exact, exhaustKey, minuteMeasured, windowOf } from './testing/measured.ts';

const sinceNoon = (time: number | undefined) => time && Math.round(time - NOON);
const exchanges = (some: readonly Written[] = []) => some.map(({ exchange }) => exchange);
const planOf = (perMinute: number) => ({ limits: { perMinute, perDay: 1000 } });

/** A run in which these answers came. */
function runAfter(some: readonly Written[], perMinute: number) {
  const innocent = testKey({ name: 'pro-1', plan: 'pro', ...planOf(perMinute) });
  const keys = [exhaustKey(planOf(perMinute)), innocent] as const;
  const test = testRun(() => ({}), { keys, permissions: new Set(['exhaust', 'day'] as const) });
  for (const { exchange, reading } of some)
    test.run.sender.trace.admit(reading.status === 0 ? { ...exchange, outcome: reset } : exchange, 'in-full');
  return { ...test, keys };
}

/** What a row says of a scene's outcome. */
function judged(
  id: string,
  outcome: readonly [id: string, unknown],
  some: readonly Written[],
  perMinute: number,
) {
  const check = quotaChecks.find((one) => one.id === currentId(id));
  if (check === undefined) throw new Error(`there is no ${id}`);
  const { run } = runAfter(some, perMinute);
  run.assume(...outcome);
  const { verdict, violation, reasons } = judgeCheck(check, new Findings(), run).weigh();
  return `${verdict}: ${violation?.actual ?? sentence(reasons)}`;
}

/** What came between two requests of a key: its own two, and those in between. */
const spansOf = (groups: readonly Written[][], perMinute: number) =>
  groups.flatMap((group) => {
    const [before, after, ...between] = exchanges(group);
    const { keys } = runAfter([], perMinute);
    const key = keys.find(({ name }) => name === before?.key);
    return before && after && key ? [{ key, before, after, between, rows: [] }] : [];
  });

const says: Readonly<Record<string, Says>> = {
  ban: ofGroups(([burst = [], ...others], perMinute) => {
    const [later, innocent, ...rounds] = others.toReversed();
    const { run, keys } = runAfter([burst, ...others].flat(), perMinute);
    const [key, other] = keys;
    const reading = readBan(
      {
        key,
        admitted: burst.flatMap(({ exchange, reading }) => (isAdmitted(exchange) ? [reading] : [])),
        refused: exchanges(burst).filter((exchange) => !isAdmitted(exchange)),
        rounds: rounds.toReversed().map(exchanges),
        others: exchanges(innocent).map((exchange) => ({ key: other, exchange })),
        later: exchanges(later),
      },
      run.sender.trace,
    );
    const { ban } = reading;
    return inWords({
      [reading.count.verdict.kind]: true,
      refusals: reading.refusals.length,
      bans: reading.bans.length,
      'over at': sinceNoon(reading.end),
      enough: reading.enough,
      served:
        reading.served.map(({ mayBeRefill }) => (mayBeRefill ? 'refilled' : 'over')).join(' ') || undefined,
      'after requests': ban?.after,
      'told end': sinceNoon(ban?.toldEnd),
      answers: ban?.answers.length,
      'at the end': ban?.atEnd?.outcome.status,
      'served again': sinceNoon(ban?.servedAgain?.sentAt),
      'not waited': ban?.notWaited,
      others: reading.others.map(({ banned }) => (banned ? 'banned' : 'not')).join(' ') || undefined,
    });
  }),
  rest: ofGroups(async ([some = [], at = []], perMinute) => {
    const { run, keys, clock, waits } = runAfter(some, perMinute);
    const [key] = keys;
    clock.pass((at[0]?.reading.sentAt ?? NOON) - NOON);
    const known = await run.play(scene('known', {}, (played) => knownSince(played, key)));
    const how = { took: 1000, isSecond: false, minutes: 2 } as const;
    const again = await run.play(scene('again', {}, (played) => knownAgain(played, key, how)));
    return `${sinceNoon(known)}, ${sinceNoon(again)}; ${waits().join('; ')}`;
  }),
  apart: ofGroups((groups, perMinute) => {
    const [once, ...followed] = [groups.slice(0, 1), groups.slice(1)].map((some) => spansOf(some, perMinute));
    return judged('rate-keys-apart', [usedInTurn.id, { once, followed: followed.flat() }], [], perMinute);
  }),
  invalid: ofGroups((groups, perMinute) =>
    judged('rate-invalid-key-free', [countedInvalid.id, spansOf(groups, perMinute)], [], perMinute),
  ),
  readable: ofGroups(([some = []], perMinute) => {
    const [refusal] = exchanges(some);
    const measured = minuteMeasured(exhaustKey(planOf(perMinute)), {
      windows: [windowOf(exact, 6, { refusal })],
    });
    return judged('retry-after-readable', ['minute:free-1', measured], some, perMinute);
  }),
  retry: ofGroups(([some = []], perMinute) => {
    const answers = some.filter(({ reading }) => reading.status !== 0);
    const [refusal, retry] = exchanges(answers);
    const measured = minuteMeasured(exhaustKey(planOf(perMinute)), {
      windows: [windowOf(exact, 6, { refusal })],
      afterRetryAfter: retry,
      afterReset: retry,
    });
    return ['retry-after-honest', 'rate-reset-true', 'ban-spares-polite']
      .map((id) => judged(id, ['minute:free-1', measured], some, perMinute))
      .join('; ');
  }),
  day: ofGroups(([some = [], refused, again], perMinute) => {
    const kept = some.filter(({ reading }) => reading.status !== 0);
    const [[refusal], [refusedAgain]] = [exchanges(refused), exchanges(again)];
    const measured = {
      key: exhaustKey({ limits: { perMinute, perDay: 100 } }),
      admitted: kept.map(({ reading: { sentAt, receivedAt } }): Tally => [sentAt, receivedAt, 1]),
      ...{ refusal, refusedAgain, waitsInVain: again?.length ?? 0, lost: some.length - kept.length },
    };
    return ['rate-day-free', 'rate-day-refusal']
      .map((id) => judged(id, ['day:free-1', measured], [...kept.slice(0, 1), ...(refused ?? [])], perMinute))
      .join('; ');
  }),
  async run(line, perMinute) {
    const [model = '', ...words] = line.split(' ');
    const given = new Map(words.map((word) => [word.split(':')[0], word.split(/[:,]/).slice(1).map(Number)]));
    const number = (name: string) => given.get(name)?.[0];
    const [refusals = 10, seconds = 40] = given.get('ban') ?? [];
    const target: LimitedTarget = {
      keys: [
        exhaustKey(planOf(perMinute)),
        exhaustKey({ name: 'free-ban', roles: ['ban'], ...planOf(perMinute) }),
      ],
      permissions: ['exhaust', 'ban', ...(given.has('spend') ? (['day'] as const) : [])],
      ban: { refusals, seconds },
      limit: Object.entries(MODELS).find(([name]) => name === model)?.[1] ?? MODELS.fixedWindow,
      neighbour: (sent) => given.get('neighbours')?.includes(sent) === true,
      tells: ({ number, banned }) => {
        if (given.get('lost')?.includes(number)) return reset;
        return banned && given.has('untold') ? { retryAfter: undefined } : undefined;
      },
      takes: () => number('takes') ?? 0,
      later: number('later') ?? 0,
      shared: given.has('shared'),
      clockAhead: number('ahead') ?? 'none',
      day: number('day'),
      admits: number('admits'),
    };
    const test = limitedRun(target);
    const verdicts = [...(await verdictsOn(target, test)).values()];
    const said = verdicts.map(
      ({ verdict, violation, reasons }) => `${verdict}: ${violation?.actual ?? sentence(reasons)}`,
    );
    const telling = said.filter((one) => !/^(pass|skipped|not-applicable)/.test(one));
    // One is asked again and again.
    const waits = test.waits().filter((wait) => !wait.includes('another key'));
    return [`${test.sent.length} requests`, ...waits, ...new Set(telling)].join('; ');
  },
};

t.test('what is said of them is as stored', { timeout: 120_000 }, (t) =>
  assertSaid(t, join(import.meta.dirname, 'testing', 'thresholds.txt'), says),
);
