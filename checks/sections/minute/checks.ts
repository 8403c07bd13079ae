/** Section 8: requests per minute: how many a window admits. */

import { racingRemaining } from '../../limits/window-count.ts';
import type { PlanName } from '../../profile/target-profile.ts';
import {
  type Check,
  type GapAnswer,
  type GapObserver,
  type History,
  type Judge,
  Unsettled,
} from '../../run/check.ts';
import type { Key } from '../../run/key-pool.ts';
import type { Exchange } from '../../wire/exchange.ts';
import { banKey, banOf } from '../ban/measurement.ts';
import { remainingExhausted, remainingFalls } from '../headers/remaining.ts';
import { keysApartChecks } from '../keys/apart.ts';
import { withoutNumbers } from './custom-plan.ts';
import { evidenceOf, forEveryKey, mayBan, measurements } from './measurements.ts';
import { overLimitChecks } from './over-limit.ts';
import { resetTrue, retryAfterChecks, retryAfterFormat } from './retry-after.ts';
import { heldExplains, type MinuteMeasurement, minuteScenes } from './scenes.ts';
import { tellsDay } from './told-time.ts';
import { type FilledWindow, IN_FLIGHT, showsEdges } from './window-filling.ts';

/**
 * Whether two windows fell short in the same way: as many admitted, nobody between our requests, and as much gone
 * before the first. A limit that is too low does that; whoever else spends the key does not, twice, by chance.
 */
function fellShortAlike(a: FilledWindow, b: FilledWindow): boolean {
  const [x, y] = [a.count, b.count];
  if (x.verdict.kind !== 'fewer' || y.verdict.kind !== 'fewer') return false;
  return (
    x.admitted.length === y.admitted.length &&
    x.verdict.before === y.verdict.before &&
    x.verdict.between === 0 &&
    y.verdict.between === 0
  );
}

/** The window that somebody else did not disturb, where there is one. */
const telling = (windows: readonly FilledWindow[]): FilledWindow | undefined =>
  windows.find(({ count }) => count.verdict.kind === 'exact' || count.verdict.kind === 'more') ?? windows[0];

/** Judges the number admitted in a minute. Another user of the key explains fewer, never more. */
function judgeCount(measurement: MinuteMeasurement, judge: Judge): void {
  const { key, windows } = measurement;
  const perMinute = key.limits.perMinute;
  const window = telling(windows);
  if (window === undefined) return judge.unsettled('no window was measured');
  const { verdict, admitted } = window.count;
  const expected = `${perMinute} requests admitted in a minute with a key of plan ${key.plan}`;
  if (window.refusal !== undefined && tellsDay(window.refusal, key.limits))
    return judge.unsettled(`nothing is left of the day of key ${key.name}`, ...evidenceOf(window));
  if (window.refusal === undefined && window.closed === undefined) {
    if (verdict.kind !== 'more')
      return judge.unsettled(
        `the requests were too slow to fill the minute of key ${key.name}`,
        ...evidenceOf(window),
      );
    return judge.breaks(
      { expected, actual: `${admitted.length} were, and none was refused` },
      ...evidenceOf(window),
    );
  }
  if (measurement.shortWindow !== undefined) {
    const { afterRetryAfter, afterReset } = measurement;
    const renewed = afterRetryAfter ?? afterReset;
    return judge.breaks(
      {
        expected,
        actual: `${perMinute} were, and as many again after ${Math.round(measurement.shortWindow / 1000)} seconds`,
      },
      ...(renewed === undefined ? [] : [renewed.exchange]),
      ...evidenceOf(window),
    );
  }
  if (measurement.overGiven !== undefined) {
    const { exchange, seconds, given, most } = measurement.overGiven;
    return judge.breaks(
      {
        expected,
        actual: `${perMinute} were, and ${given} more were given back after ${Math.round(seconds)} seconds, where a minute's window gives at most ${most}`,
      },
      exchange,
      ...evidenceOf(window),
    );
  }
  if (verdict.kind === 'exact') return judge.holds(...evidenceOf(window));
  if (verdict.kind === 'more') {
    if (racingRemaining(window.count))
      return judge.unsettled(
        `${admitted.length} were admitted at once (see rate-concurrent)`,
        ...evidenceOf(window),
      );
    // Where its edges are hidden, two windows in a row must say so.
    if (!showsEdges(window.count) && !windows.every(({ count }) => count.verdict.kind === 'more'))
      return judge.unsettled(`${admitted.length} were admitted in one of two windows`, ...evidenceOf(window));
    return judge.breaks({ expected, actual: `${admitted.length} were admitted` }, ...evidenceOf(window));
  }
  const [once, again] = windows;
  if (window.refusal !== undefined && admitted.length === 0)
    return judge.unsettled(
      `key ${key.name} was admitted nothing: its day may be over`,
      ...evidenceOf(window),
    );
  if (once !== undefined && again !== undefined && fellShortAlike(once, again)) {
    return judge.breaks(
      { expected, actual: `${admitted.length} were, in each of two windows` },
      ...evidenceOf(window),
    );
  }
  judge.unsettled(
    `${admitted.length} of ${perMinute} requests were admitted: somebody else seems to spend key ${key.name}`,
    ...evidenceOf(window),
  );
}

const hiddenEdge = (admitted: number, { name }: Key) =>
  `${admitted} requests of key ${name} were admitted, and a new window may have begun among them, which its headers hide`;

function minuteRow(plan: PlanName): Check {
  return {
    // 8: the plan's requests per minute, no fewer, no more.
    id: `rate-minute-${plan}`,
    permit: 'exhaust',
    notApplicable: withoutNumbers(plan),
    async run(probe, judge) {
      const measured = minuteScenes(probe).find(({ key }) => key.plan === plan);
      if (measured === undefined) {
        return judge.unsettled(`the profile has no ${plan} key with the role exhaust`);
      }
      judgeCount(await probe.play(measured.scene), judge);
    },
  };
}

function judgeConcurrency(measurement: MinuteMeasurement, judge: Judge): void {
  const window = telling(measurement.windows);
  if (window === undefined) return;
  const { count } = window;
  if (count.verdict.kind === 'more' && racingRemaining(count)) {
    judge.breaks(
      {
        expected: `${measurement.key.limits.perMinute} requests admitted with ${IN_FLIGHT} in flight`,
        actual: `${count.admitted.length} were, several with the same X-RateLimit-Remaining`,
      },
      ...evidenceOf(window),
    );
  } else if (count.verdict.kind === 'exact') judge.holds(...evidenceOf(window));
  else
    judge.unsettled(
      `no exact count of key ${measurement.key.name} was had (see rate-minute-${measurement.key.plan})`,
    );
}

/** Why the second minute of a key was not filled. */
function notFilledAgain({ key, windows: [first], afterReset }: MinuteMeasurement): string {
  if (first?.refusal === undefined) return `key ${key.name} was refused nothing`;
  const { verdict, admitted } = first.count;
  if (verdict.kind !== 'exact')
    return `${admitted.length} of ${key.limits.perMinute} requests were admitted in the first minute of key ${key.name} (see rate-minute-${key.plan})`;
  return afterReset === undefined
    ? `no exchange of this run shows it: the headers of key ${key.name} do not tell when its minute ends`
    : `key ${key.name} was not admitted again once its limit had reset (see rate-reset-true)`;
}

function judgeNext(measurement: MinuteMeasurement, judge: Judge): void {
  const { key, windows, next, refilling, heldBefore } = measurement;
  const [filled, ...again] = next;
  if (filled === undefined) {
    // Counted again from rest because something blurred the first count: what looks back has its next window then.
    const fromRest = windows.slice(1).find(({ count }) => count.verdict.kind === 'exact');
    return refilling === true && fromRest !== undefined
      ? judge.holds(...evidenceOf(fromRest))
      : judge.unsettled(notFilledAgain(measurement));
  }
  const { verdict, admitted } = filled.count;
  const expected = `${key.limits.perMinute} requests admitted in the second window of key ${key.name}`;
  const whole = [filled, ...again].find(({ count }) => count.verdict.kind === 'exact');
  if (verdict.kind === 'exact' || (refilling === true && heldExplains(filled, heldBefore)))
    judge.holds(...evidenceOf(filled));
  else if (refilling === true && verdict.kind === 'fewer' && whole !== undefined)
    judge.holds(...evidenceOf(whole));
  else if (verdict.kind === 'more' && !showsEdges(filled.count))
    judge.unsettled(hiddenEdge(admitted.length, key), ...evidenceOf(filled));
  else if (verdict.kind === 'more' || again.some((window) => fellShortAlike(filled, window))) {
    judge.breaks({ expected, actual: `${admitted.length} were` }, ...evidenceOf(filled));
  } else if (filled.refusal === undefined)
    judge.unsettled('the requests were too slow to fill the second minute', ...evidenceOf(filled));
  else if (refilling === true)
    judge.unsettled(
      `${admitted.length} were admitted after a minute at rest: quota comes back too slowly, or somebody else spends key ${key.name}`,
      ...evidenceOf(filled),
    );
  else
    judge.unsettled(
      `${admitted.length} were admitted in the second window: somebody else seems to spend key ${key.name}`,
      ...evidenceOf(filled),
    );
}

/** In the order of their subjects, those of other files in between. */
export const rateLimitChecks: readonly Check[] = [
  remainingFalls,
  ...keysApartChecks,
  minuteRow('free'),
  minuteRow('pro'),
  minuteRow('business'),
  minuteRow('enterprise'),
  {
    // 8: the limit is a number of requests, also of requests that are in flight at the same time.
    id: 'rate-concurrent',
    permit: 'exhaust',
    async run(probe, judge) {
      await forEveryKey(judgeConcurrency)(probe, judge);
      // The key that may be banned is sent more than its limit at the same moment, which no other key may be.
      if (!mayBan(probe)) return;
      const { count, key, refusals } = await probe.play(banOf(banKey(probe)));
      if (count.verdict.kind === 'exact') judge.holds(...refusals.slice(0, 1));
      else if (count.verdict.kind === 'more' && !showsEdges(count))
        judge.unsettled(hiddenEdge(count.admitted.length, key));
      else if (count.verdict.kind === 'more') {
        judge.breaks(
          {
            expected: `${key.limits.perMinute} requests admitted where more are in flight`,
            actual: `${count.admitted.length} were`,
          },
          ...refusals.slice(0, 1),
        );
      }
    },
  },
  ...overLimitChecks,
  remainingExhausted,
  resetTrue,
  {
    // 8: after the reset the whole quota is there again, and not more.
    id: 'rate-next-window',
    permit: 'exhaust',
    async run(probe, judge) {
      const scenes = minuteScenes(probe);
      if (scenes.length === 0) throw new Unsettled('no usable key has the role exhaust');
      const second = scenes.find(({ again }) => again);
      if (second === undefined) judge.unsettled('no key’s plan is small enough to be filled twice');
      else judgeNext(await probe.play(second.scene), judge);
    },
  },
  ...retryAfterChecks,
];

const answer = (text: string, detail: string, exchange: Exchange | undefined): GapAnswer => ({
  answer: text,
  detail,
  evidence: exchange === undefined ? [] : [exchange],
});

const cap = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

function windowsShown(history: History): GapAnswer | undefined {
  const shown = new Map<string, Exchange | undefined>();
  for (const { key: name, limit, id } of history.readings) {
    const key = history.keys.find((candidate) => candidate.name === name);
    if (key === undefined || limit === undefined) continue;
    if (limit === key.limits.perMinute && !shown.has('minute')) shown.set('minute', history.find(id));
    if (limit === key.limits.perDay && !shown.has('day')) shown.set('day', history.find(id));
  }
  const [only, other] = [...shown.keys()];
  if (only === undefined) return undefined;
  return other === undefined
    ? answer(only, `${cap(only)} figures in X-RateLimit-Limit`, shown.get(only))
    : answer('both', 'minute figures on some responses, day figures on others', shown.get(only));
}

export const rateLimitGaps: readonly GapObserver[] = [
  { id: 'rate-headers-window', conclude: windowsShown },
  {
    id: 'rate-window-kind',
    permit: 'exhaust',
    async run(probe) {
      const measured = (await measurements(probe)).find(({ refilling }) => refilling !== undefined);
      if (measured === undefined) return undefined;
      return answer(
        measured.refilling === true ? 'refilling' : 'fixed',
        measured.refilling === true
          ? 'the first request after the wait found little quota: it is given back bit by bit'
          : 'the first request after the wait found the whole quota',
        measured.afterRetryAfter?.exchange ?? measured.afterReset?.exchange,
      );
    },
  },
  retryAfterFormat,
];
