/** What is said of a few answers of a key, and at which moment or number something else is said. */
import { join } from 'node:path';
import t from 'tap';
import { NOON } from '../run/testing/test-run.ts';
import {
  cameBackAtOnce,
  isRefilling,
  isWithinMinute,
  mayGiveTooMuch,
  needsLater,
  overGiven,
  resetBefore,
  resetsApart,
} from './refill.ts';
import { judgeRemaining, refillStep, stoodPastReset, surelyGivenBack } from './remaining-arithmetic.ts';
import { TargetClock, wentBack } from './target-clock.ts';
import { MODELS } from './testing/simulated-limits.ts';
import { assertSaid, inWords, ofGroups, type Written } from './testing/written-readings.ts';
import { givenAtOnce, SECOND } from './time.ts';
import {
  clockDoubt,
  exceededWindow,
  isForDay,
  latestEnd,
  toldDate,
  toldRetry,
  toldWait,
} from './told-time.ts';
import {
  areLeftThen,
  countWindow,
  fellShortAlike,
  fillingTime,
  heldExplains,
  isAdmittedStatus,
  minuteAsDay,
  movesOn,
  quotaLeft,
  racingRemaining,
  showsEdges,
  sinceEdge,
} from './window-count.ts';

const readings = (some: readonly Written[] = []) => some.map(({ reading }) => reading);
const clockOf = (some: readonly Written[] = []) => {
  const clock = new TargetClock();
  for (const { reading } of some) clock.learn(reading);
  return clock;
};
const sinceNoon = (time: number | undefined) => time && Math.round(time - NOON);
/** Those with the status 0 were lost. */
const counted = (some: readonly Written[] = [], perMinute: number) => {
  const kept = readings(some).filter(({ status }) => status !== 0);
  return countWindow(kept, perMinute, some.length - kept.length);
};
const limitsOf = (perMinute: number) => ({ perMinute, perDay: 1000 });

const says: Readonly<Record<string, Parameters<typeof ofGroups>[0]>> = {
  count([some = []], perMinute) {
    const count = counted(some, perMinute);
    const { kind, ...missing } = count.verdict;
    return inWords({
      [kind]: true,
      ...missing,
      admitted: count.admitted.length,
      left: quotaLeft(count.all, perMinute, 3),
      'a race': racingRemaining(count),
      'hidden edges': !showsEdges(count),
      'moves on': movesOn(count),
      'not left then': !areLeftThen(count.admitted, perMinute),
    });
  },
  took: ([some]) => fillingTime(readings(some)),
  edge: ([some]) => sinceEdge(readings(some)).length,
  alike: ([one, other], perMinute) => fellShortAlike(counted(one, perMinute), counted(other, perMinute)),
  held: ([own, window], perMinute) => heldExplains(counted(window, perMinute), readings(own)),
  status: ([some]) => readings(some).map(({ status }) => isAdmittedStatus(status)),
  // The number is a plan's.
  atOnce: ([some]) =>
    readings(some).map(({ sentAt }) =>
      [givenAtOnce(sentAt - NOON), givenAtOnce(sentAt - NOON, SECOND)].join(', '),
    ),
  minuteAsDay: ([some], perMinute) => minuteAsDay(readings(some), limitsOf(perMinute)).length,
  remaining([some], perMinute) {
    const verdict = judgeRemaining(readings(some), limitsOf(perMinute));
    const words = 'actual' in verdict ? verdict.actual : 'reason' in verdict ? verdict.reason : '';
    return `${verdict.kind} ${words}`.trim();
  },
  step: ([some], perMinute) => refillStep(readings(some), limitsOf(perMinute)),
  stood: ([some], perMinute) =>
    stoodPastReset(readings(some), limitsOf(perMinute), clockOf(some)).map(({ remaining }) => remaining),
  back([some = []]) {
    const [last] = readings(some).slice(-1);
    return last && sinceNoon(surelyGivenBack(last, clockOf(some)));
  },
  refill([some = [], known = some], perMinute) {
    const [refused, first, later] = readings(some);
    if (refused === undefined) return '';
    const refill = { perMinute, refused, first, later };
    const clock = clockOf(known);
    return inWords({
      'at once': cameBackAtOnce(refill),
      'bit by bit': isRefilling(refill),
      'not told': isRefilling(refill) === undefined,
      'needs later': needsLater(refill),
      'too much perhaps': mayGiveTooMuch(refill, 1),
      before: resetBefore(refill, clock),
      apart: resetsApart(refill, clock),
      'within a minute': isWithinMinute(refill, { sentAt: NOON }),
    });
  },
  given([before, refusal, since, shown = since], perMinute) {
    const [refused] = readings(refusal);
    if (refused === undefined) return '';
    const refill = { perMinute, refused, first: undefined };
    return overGiven(refill, readings(before), readings(since), readings(shown))?.actual ?? 'no more';
  },
  clock([some, of = some], _perMinute) {
    const clock = clockOf(some);
    const [last] = readings(of).slice(-1);
    const range = last && clock.at(last.sentAt);
    return inWords({
      known: clock.known,
      from: sinceNoon(range?.earliest),
      to: sinceNoon(range?.latest),
      reached: last && sinceNoon(clock.reached(last.sentAt)),
      dispute: clock.dispute,
      disagrees: clock.disagrees,
    });
  },
  setBack: ([some]) => {
    const [before, after] = readings(some);
    return before !== undefined && after !== undefined && wentBack(before, after);
  },
  told([refusals = [], asked = [], known = refusals], perMinute) {
    const clocked = { targetClock: clockOf(known) };
    const [refusal] = refusals.map(({ exchange }) => exchange);
    const [again] = asked.map(({ exchange }) => exchange);
    if (refusal === undefined) return '';
    const limits = limitsOf(perMinute);
    const date = toldDate(toldWait(refusal, limits));
    return inWords({
      'of the day': isForDay(clocked, refusal, limits),
      window: exceededWindow(readings(refusals)[0] ?? { limit: 0, remaining: 0 }, limits),
      retry: sinceNoon(toldRetry(clocked, limits, refusal)),
      end: sinceNoon(
        latestEnd(
          clocked,
          refusals.map(({ exchange }) => exchange),
        ),
      ),
      doubt: again && clockDoubt(clocked, date, refusal, again),
    });
  },
};

/** What a limit says to requests so many seconds after a full minute: `admitted or not/Remaining/Reset`. */
function models(line: string, capacity: number): string {
  const [name, ...seconds] = line.split(' ');
  const limit = Object.entries(MODELS).find(([one]) => one === name)?.[1](capacity);
  const said = seconds.map((at) => limit?.(NOON + Number(at) * SECOND));
  return said
    .map((one) => one && `${one.admitted ? 'yes' : 'no'}/${one.remaining}/${(one.reset - NOON) / SECOND}`)
    .join(' ');
}

t.test('what is said of them is as stored', { timeout: 120_000 }, (t) =>
  assertSaid(t, join(import.meta.dirname, 'testing', 'thresholds.txt'), {
    ...Object.fromEntries(Object.entries(says).map(([name, say]) => [name, ofGroups(say)])),
    models,
  }),
);
