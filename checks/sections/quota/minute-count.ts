/** Section 8: how many requests a minute admits, and the next one after the reset. */
import { overGiven, resetsApart } from '../../limits/refill.ts';
import { fellShortAlike, heldExplains, racingRemaining, showsEdges } from '../../limits/window-count.ts';
import type { Key } from '../../profile/key.ts';
import type { PlanName } from '../../profile/target-profile.ts';
import { type Check, check, type Judge, type Seen } from '../../run/check.ts';
import { notTold, type Reason } from '../../run/reason.ts';
import { IN_FLIGHT, playedOn } from '../../run/scene.ts';
import type { Trace } from '../../run/trace.ts';
import { type AnsweredExchange, type Exchange, header } from '../../wire/exchange.ts';
import { described } from '../../wire/pets.ts';
import { rateReading } from '../../wire/rate-headers.ts';
import { storedThoughRefused } from '../animals/add-checks.ts';
import { judgeAnswer } from '../answers.ts';
import { admittedOn, isAdmitted, neverRefused, refusesKey } from './key-spending.ts';
import { paidFor, usedInTurn } from './keys-apart.ts';
import {
  banOf,
  checkOfKeys,
  checkOfPlan,
  evidenceOf,
  givesBackGradually,
  interference,
  isRenewedEarly,
  lostAnswers,
  lostBefore,
  lostFirst,
} from './measurements.ts';
import { filledTwice, type MinuteMeasurement, MOST_FOR_SECOND_WINDOW, minute } from './minute.ts';
import type { FilledWindow } from './window-filling.ts';

/** A window that no other client disturbed, if there is one. */
const telling = ({ windows }: MinuteMeasurement): FilledWindow =>
  windows.find(({ count }) => count.verdict.kind === 'exact' || count.verdict.kind === 'more') ?? windows[0];

const hiddenEdge = (admitted: number, { name }: Key): string =>
  `${admitted} requests of key ${name} were admitted, but a new window may have begun between them, which the headers do not show`;

/** Evidence that more was refilled after the refusal than a minute allows. */
function gaveBackTooMuch(measurement: MinuteMeasurement, trace: Trace) {
  const { key, after } = measurement;
  if (after === undefined) return undefined;
  const { refill } = after;
  const length = resetsApart(refill, trace.targetClock);
  if (length !== undefined && isRenewedEarly(measurement)) {
    const actual = `${refill.perMinute} were admitted, and as many again after ${Math.round(length / 1000)} seconds`;
    const renewed = after.afterRetryAfter ?? after.afterReset;
    return { actual, evidence: renewed === undefined ? [] : [renewed] };
  }
  const { count } = measurement.windows[0];
  if (givesBackGradually(measurement) !== true || count.verdict.kind !== 'exact') return undefined;
  const since = admittedOn(trace, key, refill.refused.receivedAt);
  const given = overGiven(refill, count.admitted, since, after.asked.filter(isAdmitted).map(rateReading));
  return given && { actual: given.actual, evidence: after.asked.filter(({ id }) => id === given.id) };
}

/** Judges the number admitted in a minute. Another client on the key explains fewer, never more. */
function judgeCount(measurement: MinuteMeasurement, judge: Judge, seen: Seen): void {
  const { trace } = seen;
  const { key, windows } = measurement;
  const { perMinute } = key.limits;
  const window = telling(measurement);
  const { refusal, servedOver, closed, count } = window;
  const { verdict, admitted } = count;
  const evidence = evidenceOf(window);
  const expected = `${perMinute} requests admitted in a minute with a key of plan ${key.plan}`;
  const breaks = (actual: string, ...decisive: readonly Exchange[]) =>
    judge.breaks({ expected, actual }, ...decisive, ...evidence);
  const inconclusive = (reason: Reason | string) => judge.inconclusive(reason, ...evidence);

  // What was lost explains fewer, never more.
  const lost = verdict.kind === 'more' ? undefined : lostAnswers(measurement);
  if (lost !== undefined) return inconclusive(lost);
  if (refusal === undefined && closed === undefined)
    return verdict.kind === 'more'
      ? breaks(`${admitted.length} were admitted, and none was refused`)
      : inconclusive(`the target’s answers to key ${key.name} came too slowly to fill its minute`);
  const tooMuch = gaveBackTooMuch(measurement, trace);
  const shown = new Set(admitted.map(({ remaining }) => remaining));
  // Where it is the same for several requests each time, it does not tell what was given back.
  if (tooMuch !== undefined && verdict.kind === 'exact' && shown.size <= admitted.length / 2)
    return inconclusive(
      notTold(`X-RateLimit-Remaining of key ${key.name} does not tell each request`, 'rate-remaining-falls'),
    );
  if (tooMuch !== undefined) return breaks(tooMuch.actual, ...tooMuch.evidence);
  if (verdict.kind === 'exact') return judge.holds(...evidence);
  if (verdict.kind === 'more') {
    // It was refused, but not as the document has it.
    if (servedOver !== undefined && servedOver.outcome.status >= 400)
      return inconclusive(notTold(`the limit was met with ${described(servedOver)}`, 'rate-refused-429'));
    if (racingRemaining(count))
      return inconclusive(notTold(`${admitted.length} were admitted at once`, 'rate-concurrent'));
    // If the headers hide window edges, two windows in a row must show it.
    const isTold = showsEdges(count) || windows.every((one) => one.count.verdict.kind === 'more');
    if (!isTold) return inconclusive(`${admitted.length} were admitted in one of two windows`);
    return breaks(`${admitted.length} were admitted`);
  }
  const [once, again] = windows.slice(-2);
  // Other keys' minutes are filled meanwhile.
  if (paidFor(seen.maybe(usedInTurn)?.followed ?? []).length > 0)
    return inconclusive(notTold(`key ${key.name} may have paid for other keys`, 'rate-keys-apart'));
  if (measurement.spent !== undefined) return inconclusive(measurement.spent);
  if (refusal !== undefined && admitted.length === 0)
    return inconclusive(`no request of key ${key.name} was admitted: its daily quota may be used up`);
  if (once !== undefined && again !== undefined && fellShortAlike(once.count, again.count)) {
    const [first, second] = [once, again].map((window) => window.count.admitted.length);
    const wait = refusal && header(refusal.outcome.headers, 'retry-after');
    const told = wait === undefined ? '' : `, with Retry-After: ${wait}`;
    return breaks(
      first === second
        ? `${first} of ${perMinute} were admitted in each of two windows${told}`
        : `${first} and ${second} of ${perMinute} were admitted in two windows${told}`,
    );
  }
  if (admitted.length < count.all.length)
    return inconclusive(
      `${admitted.length} of ${count.all.length} requests that were admitted came after an edge that X-RateLimit-Reset shows`,
    );
  inconclusive(
    interference(key, `${admitted.length} of ${perMinute} requests of key ${key.name} were admitted`),
  );
}

/** 8: the plan's requests per minute, no fewer, no more. */
export const minuteRow = (plan: PlanName) => checkOfPlan(`rate-minute-${plan}`, plan, minute, judgeCount);

function judgeConcurrency(measurement: MinuteMeasurement, judge: Judge): void {
  const { key } = measurement;
  const window = telling(measurement);
  const lost = lostAnswers(measurement);
  if (lost !== undefined) return judge.inconclusive(lost);
  const { count } = window;
  if (count.verdict.kind === 'more' && racingRemaining(count))
    judge.breaks(
      {
        expected: `${key.limits.perMinute} requests admitted with ${IN_FLIGHT} in flight`,
        actual: `${count.admitted.length} were admitted, several with the same X-RateLimit-Remaining`,
      },
      ...evidenceOf(window),
    );
  else if (count.verdict.kind === 'exact') judge.holds(...evidenceOf(window));
  else {
    const what = `key ${key.name} could not be counted exactly`;
    judge.inconclusive(notTold(what, `rate-minute-${key.plan}`));
  }
}

/** 8: the limit is a number of requests, even if they are in flight at the same time. */
export const concurrent: Check = check('rate-concurrent', { scenes: [minute] }, (judge, seen) => {
  for (const measurement of playedOn(seen.on(minute))) judgeConcurrency(measurement, judge);
  const ban = banOf(seen);
  if (ban === undefined) return;
  const { count, key, refusals } = ban;
  const refused = refusals.slice(0, 1);
  if (count.verdict.kind === 'exact') judge.holds(...refused);
  if (count.verdict.kind !== 'more') return;
  const admitted = count.admitted.length;
  if (!showsEdges(count)) return judge.inconclusive(hiddenEdge(admitted, key));
  const expected = `${key.limits.perMinute} requests admitted while more are in flight`;
  judge.breaks({ expected, actual: `${admitted} were admitted` }, ...refused);
});

/** Says why the second minute of a key was not filled. */
function notFilledAgain({ key, windows: [first], after, spent }: MinuteMeasurement): Reason | string {
  if (spent !== undefined) return spent;
  if (first.refusal === undefined) return neverRefused(key);
  const { verdict, admitted } = first.count;
  if (verdict.kind !== 'exact')
    return notTold(
      `${admitted.length} requests were admitted in the first minute of key ${key.name}, not ${key.limits.perMinute}`,
      `rate-minute-${key.plan}`,
    );
  return (after?.afterReset ?? after?.afterRetryAfter) === undefined
    ? `the headers of key ${key.name} do not say when its minute ends`
    : notTold(`key ${key.name} was not admitted again once its limit had reset`, 'rate-reset-true');
}

function judgeNext(measurement: MinuteMeasurement, judge: Judge, { trace }: Seen): void {
  const lost = lostAnswers(measurement);
  if (lost !== undefined) return judge.inconclusive(lost);
  const { key, windows, after, next } = measurement;
  const [filled, ...again] = next;
  const isGradual = givesBackGradually(measurement) === true;
  if (filled === undefined) {
    // If the first count was unclear, it was repeated from rest: for a sliding window that is the next window.
    const fromRest = windows.slice(1).find(({ count }) => count.verdict.kind === 'exact');
    return isGradual && fromRest !== undefined
      ? judge.holds(...evidenceOf(fromRest))
      : judge.inconclusive(notFilledAgain(measurement));
  }
  const { count } = filled;
  const { verdict, admitted } = count;
  const evidence = evidenceOf(filled);
  const inconclusive = (reason: Reason | string) => judge.inconclusive(reason, ...evidence);
  if (
    verdict.kind === 'exact' ||
    (isGradual && heldExplains(count, admittedOn(trace, key, after?.refusal.receivedAt)))
  )
    return judge.holds(...evidence);
  const whole = again.find((window) => window.count.verdict.kind === 'exact');
  if (isGradual && verdict.kind === 'fewer' && whole !== undefined) return judge.holds(...evidenceOf(whole));
  if (verdict.kind === 'more' && !showsEdges(count)) return inconclusive(hiddenEdge(admitted.length, key));
  if (verdict.kind === 'more' || again.some((window) => fellShortAlike(count, window.count))) {
    const expected = `${key.limits.perMinute} requests admitted in the second window of key ${key.name}`;
    return judge.breaks({ expected, actual: `${admitted.length} were admitted` }, ...evidence);
  }
  if (filled.refusal === undefined)
    return inconclusive('the target’s answers came too slowly to fill the second minute');
  inconclusive(
    isGradual
      ? `${admitted.length} were admitted after a minute at rest: quota comes back too slowly, or another client is using key ${key.name}`
      : interference(
          key,
          `${admitted.length} of ${key.limits.perMinute} requests of key ${key.name} were admitted in the second window`,
        ),
  );
}

/** 8: after the reset exactly the whole quota is available again. */
export const nextWindow = checkOfKeys(
  'rate-next-window',
  { ...minute, keys: filledTwice, wanted: { role: 'exhaust', perMinuteAtMost: MOST_FOR_SECOND_WINDOW } },
  judgeNext,
);

const REFUSED = '429 for a request over the limit';

function judgeRefusal(refusal: AnsweredExchange, judge: Judge, trace: Trace): void {
  const lost = refusesKey(refusal) ? lostBefore(refusal, trace) : undefined;
  if (lost === undefined) return judgeAnswer(judge, refusal.outcome.status === 429, REFUSED, refusal);
  judge.inconclusive(lostFirst(refusal), lost, refusal);
}

function judgeLimit({ key, windows }: MinuteMeasurement, window: FilledWindow, judge: Judge, trace: Trace) {
  const { refusal, servedOver, closed, count } = window;
  // Refused before the limit, so not because of it: another client may have caused a ban.
  if (refusal !== undefined && refusesKey(refusal) && count.verdict.kind === 'fewer')
    return judge.inconclusive(`key ${key.name} was always refused, even before its limit`, refusal);
  if (servedOver !== undefined) judgeRefusal(servedOver, judge, trace);
  if (closed !== undefined) {
    const message = closed.outcome.kind === 'failure' ? closed.outcome.message : 'no answer';
    // A target that refuses by closing does so every time; a single window may be the network's fault.
    if (windows.length > 1 && windows.every((other) => other.closed !== undefined))
      judge.breaks({ expected: REFUSED, actual: `${message}, at the end of each window` }, closed);
    else judge.inconclusive(`${message} at the limit of key ${key.name}, in one window`, closed);
  } else if (refusal === undefined) judge.inconclusive(neverRefused(key));
  else judgeRefusal(refusal, judge, trace);
}

export const overLimitChecks: readonly Check[] = [
  // 8: a request over the limit receives 429 Too Many Requests; each key tries a different operation.
  check('rate-refused-429', { scenes: [minute] }, (judge, seen) => {
    const measured = playedOn(seen.on(minute));
    for (const measurement of measured)
      for (const window of [...measurement.windows, ...measurement.next])
        judgeLimit(measurement, window, judge, seen.trace);
    // On the key that may be banned, each operation is tried several times.
    const { refusals = [], served = [] } = banOf(seen) ?? {};
    for (const refusal of refusals) judgeRefusal(refusal, judge, seen.trace);
    const givesBackAtOnce = measured.every((measurement) => givesBackGradually(measurement) === false);
    for (const { exchange, mayBeRefill } of served) {
      if (mayBeRefill && !givesBackAtOnce) continue;
      const actual = `${described(exchange)}, between two refusals of the same window`;
      judge.breaks({ expected: REFUSED, actual }, exchange);
    }
  }),
  // 8: a refused request is to be sent again, so it must have had no effect.
  check('rate-refused-adds-nothing', { scenes: [minute], conclude: storedThoughRefused(429) }),
];
