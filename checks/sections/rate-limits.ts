/** Section 8: requests per minute, what a refusal says, and what Remaining counts. */
import type { Check, GapAnswer, GapObserver, History, Judge } from '../harness/check.ts';
import { Unsettled } from '../harness/check.ts';
import type { AnsweredExchange, Exchange } from '../harness/exchange.ts';
import type { Key } from '../harness/key-pool.ts';
import { described } from '../harness/pets.ts';
import type { NoKey, Probe } from '../harness/probe.ts';
import {
  numberOf,
  type RateReading,
  type RetryAfter,
  rateHeaders,
  rateReading,
  retryAfter,
} from '../harness/rate-headers.ts';
import { nearMisses } from '../harness/redaction.ts';
import { judgeRemaining } from '../harness/remaining-arithmetic.ts';
import { listPets } from '../harness/requests.ts';
import type { PlanName } from '../harness/target-profile.ts';
import { racingRemaining } from '../harness/window-count.ts';
import { banKey, banOf } from './bans.ts';
import { type MinuteMeasurement, minuteScenes } from './minute-windows.ts';
import { storedThoughRefused } from './refused-additions.ts';
import { type FilledWindow, IN_FLIGHT } from './window-filling.ts';

/** The measurements of all keys that could be made; throws where none could. */
async function measurements(probe: Probe): Promise<MinuteMeasurement[]> {
  const scenes = minuteScenes(probe);
  if (scenes.length === 0) throw new Unsettled('no usable key has the role exhaust');
  const played = await Promise.allSettled(scenes.map(({ scene }) => probe.play(scene)));
  const made = played.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  if (made.length > 0) return made;
  const [failed] = played;
  throw failed?.status === 'rejected' ? failed.reason : new Unsettled('no window could be measured');
}

/** Whether a key may be driven beyond its limit. */
const mayBan = (probe: Probe) =>
  probe.permits('ban') && probe.keys.some(({ roles }) => roles.includes('ban'));

/** Runs a judgement for every key's measurement. */
function forEveryKey(judgeOne: (measurement: MinuteMeasurement, judge: Judge) => void) {
  return async (probe: Probe, judge: Judge) => {
    for (const measurement of await measurements(probe)) judgeOne(measurement, judge);
  };
}

const evidenceOf = (window: FilledWindow): Exchange[] =>
  [window.refusal, window.last].filter((exchange) => exchange !== undefined);

const first = ({ windows }: MinuteMeasurement): FilledWindow | undefined => windows[0];

/** Whether somebody else spent a part of what the target admitted. */
const othersSpent = ({ count: { verdict } }: FilledWindow) =>
  verdict.kind === 'fewer' && verdict.before + verdict.between > 0;

const disturbed = ({ windows, next }: MinuteMeasurement) => [...windows, ...next].some(othersSpent);

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

/** Judges the number admitted in a minute. Another user of the key explains fewer, never more. */
function judgeCount(measurement: MinuteMeasurement, judge: Judge): void {
  const { key, windows } = measurement;
  const perMinute = key.limits.perMinute;
  const window =
    windows.find(({ count }) => count.verdict.kind === 'exact' || count.verdict.kind === 'more') ??
    windows[0];
  if (window === undefined) return judge.unsettled('no window was measured');
  const { verdict, admitted } = window.count;
  const expected = `${perMinute} requests admitted in a minute with a key of plan ${key.plan}`;
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
    // Headers that do not describe the minute hide its edges: two windows in a row must say so.
    const edgesShown = admitted.every(({ limit }) => limit === perMinute);
    if (!edgesShown && !windows.every(({ count }) => count.verdict.kind === 'more'))
      return judge.unsettled(`${admitted.length} were admitted in one of two windows`, ...evidenceOf(window));
    return judge.breaks({ expected, actual: `${admitted.length} were admitted` }, ...evidenceOf(window));
  }
  const [once, again] = windows;
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

function minuteRow(plan: PlanName): Check {
  return {
    // 8: the plan's requests per minute, no fewer, no more.
    id: `rate-minute-${plan}`,
    permit: 'exhaust',
    async run(probe, judge) {
      const measured = minuteScenes(probe).find(({ key }) => key.plan === plan);
      if (measured === undefined) {
        if (plan === 'enterprise' && !probe.keys.some((candidate) => candidate.plan === plan)) {
          return judge.notApplicable(
            'the profile names no Enterprise key, and the document leaves its numbers custom',
          );
        }
        return judge.unsettled(`the profile has no ${plan} key with the role exhaust`);
      }
      judgeCount(await probe.play(measured.scene), judge);
    },
  };
}

/** What is wrong with a Retry-After as a time to wait; undefined where nothing is. */
function unreadableWait(told: RetryAfter, refusal: AnsweredExchange, probe: Probe): string | undefined {
  if (told.kind === 'absent') return undefined;
  if (told.kind === 'unreadable') return `Retry-After: ${told.text}`;
  // A bound of ten windows: "of the order of the window" leaves room for a generous target, not for another unit.
  const longest = 600_000;
  if (told.kind === 'delay') {
    if (told.milliseconds <= 0) return `Retry-After: ${told.text}, which is no time to wait`;
    return told.milliseconds > longest ? `Retry-After: ${told.text}, for a window of a minute` : undefined;
  }
  const now = probe.targetClock.at(refusal.receivedAt);
  if (now === undefined) return undefined;
  if (told.time < now.earliest - 1000) return `Retry-After: ${told.text}, which is past`;
  return told.time > now.latest + longest ? `Retry-After: ${told.text}, for a window of a minute` : undefined;
}

/** Credentials that are no valid key, each resembling this one in another way. */
function invalidCredentials(key: Key): NoKey[] {
  const misses = nearMisses(key.value).map(({ label, value }) => ({
    header: `Bearer ${value}`,
    described: `Bearer and a key with ${label}`,
  }));
  const basic = {
    header: `Basic ${Buffer.from(`${key.value}:`).toString('base64')}`,
    described: 'Basic and a valid key',
  };
  const unknown = { header: 'Bearer unknown-to-everybody', described: 'Bearer and an unknown key' };
  return [
    ...misses,
    basic,
    { header: key.value, described: 'a valid key without a scheme' },
    unknown,
    'none',
  ];
}

/** Requests on every key in turn: what one spends must not show on another. */
async function neighbours(probe: Probe, judge: Judge): Promise<void> {
  const { keys } = probe;
  if (keys.length < 2) return judge.unsettled('needs a second key');
  const ask = async (key: Key) => rateReading(await probe.send(listPets({ limit: 1 }), { key }));
  const spent = async (rounds: number) => {
    const before = new Map<string, RateReading>();
    for (const key of keys) before.set(key.name, await ask(key));
    for (const key of keys) for (let round = 1; round < rounds; round += 1) await ask(key);
    const falls: { key: Key; fall: number; after: RateReading }[] = [];
    for (const key of keys) {
      const start = before.get(key.name);
      const after = await ask(key);
      if (start?.remaining === undefined || after.remaining === undefined || start.limit !== after.limit)
        continue;
      falls.push({ key, fall: start.remaining - after.remaining, after });
    }
    return falls;
  };
  // A key's Remaining falls by its own requests, and less where it is refilled. More is others' doing: ours on other
  // keys, or somebody else's on this one. Only ours grow with what we send.
  const once = await spent(1);
  if (once.length === 0) return judge.unsettled('X-RateLimit-Remaining does not tell what a key spent');
  const suspicious = once.filter(({ fall }) => fall > 1);
  for (const { after, fall } of once) {
    const exchange = probe.find(after.id);
    if (fall <= 1 && exchange !== undefined) judge.holds(exchange);
  }
  if (suspicious.length === 0) return;
  const twice = await spent(2);
  const thrice = await spent(3);
  const extra = (falls: typeof once, name: string, own: number) => {
    const fall = falls.find(({ key }) => key.name === name)?.fall;
    return fall === undefined ? undefined : fall - own;
  };
  for (const { key, fall } of suspicious) {
    const last = thrice.find((later) => later.key.name === key.name);
    const evidence = last === undefined ? undefined : probe.find(last.after.id);
    const inProportion =
      extra(twice, key.name, 2) === 2 * (fall - 1) && extra(thrice, key.name, 3) === 3 * (fall - 1);
    if (inProportion && last !== undefined && evidence !== undefined) {
      judge.breaks(
        {
          expected: `key ${key.name} spends only its own requests`,
          actual: `X-RateLimit-Remaining fell by ${last.fall} after 3 requests of its own and ${(keys.length - 1) * 3} of other keys`,
        },
        evidence,
      );
    } else judge.unsettled(`somebody else seems to spend key ${key.name}`);
  }
}

function judgeConcurrency(measurement: MinuteMeasurement, judge: Judge): void {
  const window = first(measurement);
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
      `the count of key ${measurement.key.name} is not exact (see rate-minute-${measurement.key.plan})`,
    );
}

/** 401 and 403 for a valid key are the forms of a ban beside 429. */
const bansKey = ({ outcome }: AnsweredExchange) => outcome.status === 401 || outcome.status === 403;

function judgeRefusal(refusal: AnsweredExchange, judge: Judge): void {
  if (refusal.outcome.status === 429) judge.holds(refusal);
  else judge.breaks({ expected: '429 for a request over the limit', actual: described(refusal) }, refusal);
}

const cap = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

export const rateLimitChecks: readonly Check[] = [
  {
    // 8: requests left in the current window; every admitted request of any operation takes one.
    id: 'rate-remaining-falls',
    async afterwards(probe, judge) {
      if (!probe.permits('exhaust')) return;
      // A window that was counted exactly shows every value from the limit less one down to 0, each once.
      for (const { key, windows, refilling } of await measurements(probe)) {
        const [window] = windows;
        if (window?.count.verdict.kind !== 'exact' || refilling !== false) continue;
        const { admitted } = window.count;
        if (
          admitted.length !== key.limits.perMinute ||
          admitted.some(({ limit }) => limit !== key.limits.perMinute)
        )
          continue;
        const values = new Set(admitted.flatMap(({ remaining }) => remaining ?? []));
        if (values.has(0) && values.size >= key.limits.perMinute - 1) judge.holds(...evidenceOf(window));
        else {
          judge.breaks(
            {
              expected: `${key.limits.perMinute} requests that leave ${key.limits.perMinute - 1} down to 0`,
              actual: `they left ${values.size} different values, the lowest ${Math.min(...values)}`,
            },
            ...evidenceOf(window),
          );
        }
      }
    },
    conclude(history, judge) {
      for (const key of history.keys) {
        const readings = history.readings
          .filter((reading) => reading.key === key.name)
          .sort((a, b) => a.sentAt - b.sentAt);
        const verdict = judgeRemaining(readings, key.limits.perMinute, key.limits.perDay);
        if (verdict.kind === 'broken') {
          judge.breaks(verdict, ...verdict.readings.flatMap(({ id }) => history.find(id) ?? []));
        } else if (verdict.kind === 'disturbed') judge.unsettled(`key ${key.name}: ${verdict.reason}`);
        else if (verdict.kind === 'falls')
          judge.holds(...readings.slice(0, 2).flatMap(({ id }) => history.find(id) ?? []));
      }
    },
  },
  {
    // 8: the limit applies to the caller.
    id: 'rate-keys-apart',
    spends: { requests: 0 },
    run: neighbours,
  },
  {
    // 5, 8: a request without a valid key is no caller's.
    id: 'rate-invalid-key-free',
    // Three times as many where the first fall is odd, which it is not where nobody else uses the key.
    spends: { requests: 2, anonymous: 7 },
    async run(probe, judge) {
      const [key] = [...probe.keys].sort((a, b) => b.limits.perMinute - a.limits.perMinute);
      if (key === undefined) throw new Unsettled('no key can be used');
      const spent = async (rounds: number) => {
        const before = await probe.send(listPets({ limit: 1 }), { key });
        for (let round = 0; round < rounds; round += 1) {
          for (const credentials of invalidCredentials(key))
            await probe.sendWithoutKey(listPets({ limit: 1 }), credentials);
        }
        const after = await probe.send(listPets({ limit: 1 }), { key });
        const from = numberOf(rateHeaders(before.outcome.headers).remaining);
        const to = numberOf(rateHeaders(after.outcome.headers).remaining);
        return { fall: from === undefined || to === undefined ? undefined : from - to, after, before };
      };
      const once = await spent(1);
      if (once.fall === undefined)
        return judge.unsettled('X-RateLimit-Remaining does not tell what a key spent');
      if (once.fall <= 1) return judge.holds(once.after, once.before);
      const twice = await spent(2);
      const thrice = await spent(3);
      // Somebody else's requests do not come in proportion to our invalid ones.
      const extra = once.fall - 1;
      if (twice.fall === 1 + 2 * extra && thrice.fall === 1 + 3 * extra) {
        judge.breaks(
          {
            expected: 'a fall of X-RateLimit-Remaining by the valid request only',
            actual: `it fell by ${once.fall} where each kind of invalid request came once, and by ${thrice.fall} where it came three times`,
          },
          thrice.after,
          thrice.before,
        );
      } else judge.unsettled(`somebody else seems to spend key ${key.name}`);
    },
  },
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
  {
    // 8: a request over the limit receives 429 Too Many Requests; one key each tries another operation.
    id: 'rate-refused-429',
    permit: 'exhaust',
    async run(probe, judge) {
      for (const { windows, next, key } of await measurements(probe)) {
        for (const { refusal, servedOver, closed, count } of [...windows, ...next]) {
          // Refused before the limit, and not for it: somebody else may have earned the key a ban.
          if (refusal !== undefined && bansKey(refusal) && count.verdict.kind === 'fewer') {
            judge.unsettled(`key ${key.name} was refused altogether before its limit`, refusal);
            continue;
          }
          if (servedOver !== undefined)
            judge.breaks(
              { expected: '429 for a request over the limit', actual: described(servedOver) },
              servedOver,
            );
          if (closed !== undefined) {
            const message = closed.outcome.kind === 'failure' ? closed.outcome.message : 'no answer';
            judge.breaks(
              { expected: '429 for a request over the limit', actual: `${message}, twice` },
              closed,
            );
          } else if (refusal === undefined) judge.unsettled(`key ${key.name} was refused nothing`);
          else judgeRefusal(refusal, judge);
        }
      }
      if (!mayBan(probe)) return;
      // On the key that may be banned, every operation is refused several times.
      const { refusals, served } = await probe.play(banOf(banKey(probe)));
      for (const refusal of refusals) judgeRefusal(refusal, judge);
      for (const exchange of served) {
        judge.breaks(
          {
            expected: '429 for a request over the limit',
            actual: `${described(exchange)}, between two refusals of the same window`,
          },
          exchange,
        );
      }
    },
  },
  {
    // 8: a refused request is to be sent again, so it has had no effect.
    id: 'rate-refused-adds-nothing',
    permit: 'exhaust',
    async run(probe) {
      await measurements(probe);
    },
    conclude: storedThoughRefused(429, 'no addition was refused with 429'),
  },
  {
    // 8: requests left in the current window: none, when a request was refused for the minute.
    id: 'rate-remaining-exhausted',
    permit: 'exhaust',
    run: forEveryKey(({ windows, key }, judge) => {
      for (const { refusal } of windows) {
        if (refusal?.outcome.status !== 429) continue;
        const { limit, remaining } = rateReading(refusal);
        if (limit !== key.limits.perMinute || remaining === undefined)
          judge.notApplicable('the headers of the refusal do not describe the minute');
        else if (remaining === 0) judge.holds(refusal);
        else
          judge.breaks(
            {
              expected: 'X-RateLimit-Remaining: 0 when refused',
              actual: `X-RateLimit-Remaining: ${remaining}`,
            },
            refusal,
          );
      }
    }),
  },
  {
    // 8: at the time in X-RateLimit-Reset the limit resets.
    id: 'rate-reset-true',
    permit: 'exhaust',
    run: forEveryKey((measurement, judge) => {
      const { afterReset, key } = measurement;
      const refusal = first(measurement)?.refusal;
      if (afterReset === undefined) {
        if (refusal === undefined) judge.unsettled(`key ${key.name} was refused nothing`);
        else if (rateReading(refusal).limit !== key.limits.perMinute)
          judge.notApplicable('the headers do not describe the minute');
        else
          judge.unsettled(
            `X-RateLimit-Reset of the refusal could not be waited for (see rate-reset-value)`,
            refusal,
          );
      } else if ([401, 403].includes(afterReset.exchange.outcome.status))
        judge.unsettled(`key ${key.name} seems to be banned (see ban-spares-polite)`, afterReset.exchange);
      else if (afterReset.admitted)
        judge.holds(afterReset.exchange, ...(refusal === undefined ? [] : [refusal]));
      else if (disturbed(measurement))
        judge.unsettled(`somebody else seems to spend key ${key.name}`, afterReset.exchange);
      else
        judge.breaks(
          {
            expected: 'a request admitted once X-RateLimit-Reset has passed',
            actual: described(afterReset.exchange),
          },
          afterReset.exchange,
          ...(refusal === undefined ? [] : [refusal]),
        );
    }),
  },
  {
    // 8: after the reset the whole quota is there again, and not more.
    id: 'rate-next-window',
    permit: 'exhaust',
    run: forEveryKey(({ key, next, refilling, heldBefore }, judge) => {
      const [filled, ...again] = next;
      if (filled === undefined) return;
      const { verdict, admitted } = filled.count;
      const expected = `${key.limits.perMinute} requests admitted in the second window of key ${key.name}`;
      const held =
        refilling === true &&
        verdict.kind === 'fewer' &&
        verdict.between === 0 &&
        verdict.before <= heldBefore &&
        admitted.length + verdict.before === key.limits.perMinute;
      if (verdict.kind === 'exact' || held) judge.holds(...evidenceOf(filled));
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
    }),
  },
  {
    // 7, 8: the time to wait is given in Retry-After.
    id: 'retry-after-present',
    observe(exchange, judge) {
      if (exchange.outcome.status !== 429) return;
      if (retryAfter(exchange.outcome.headers, 60).kind === 'absent')
        judge.breaks({ expected: 'Retry-After on a 429', actual: 'none' }, exchange);
      else judge.holds(exchange);
    },
  },
  {
    // 8: a time to wait: neither none at all nor unreadable nor out of all proportion to the window.
    id: 'retry-after-readable',
    permit: 'exhaust',
    async run(probe, judge) {
      const filled = (await measurements(probe)).flatMap(({ windows, next }) => [...windows, ...next]);
      const refusals = filled.flatMap(({ refusal }) => refusal ?? []);
      if (mayBan(probe)) refusals.push(...(await probe.play(banOf(banKey(probe)))).refusals);
      for (const refusal of refusals) {
        if (refusal.outcome.status !== 429) continue;
        const told = retryAfter(refusal.outcome.headers, 60);
        const problem = unreadableWait(told, refusal, probe);
        if (problem !== undefined)
          judge.breaks(
            { expected: 'a number or a date that lies ahead, of the order of a minute', actual: problem },
            refusal,
          );
        else if (told.kind !== 'absent') judge.holds(refusal);
      }
    },
  },
  {
    // 8: the client waits for the time indicated, and then retries.
    id: 'retry-after-honest',
    permit: 'exhaust',
    run: forEveryKey((measurement, judge) => {
      const { afterRetryAfter, told, key } = measurement;
      const refusal = first(measurement)?.refusal;
      const evidence = refusal === undefined ? [] : [refusal];
      if (afterRetryAfter === undefined)
        judge.unsettled(
          `key ${key.name}: no Retry-After that can be waited for (see retry-after-readable)`,
          ...evidence,
        );
      else if (afterRetryAfter.admitted) judge.holds(afterRetryAfter.exchange, ...evidence);
      else if ([401, 403].includes(afterRetryAfter.exchange.outcome.status))
        judge.unsettled(
          `key ${key.name} seems to be banned (see ban-spares-polite)`,
          afterRetryAfter.exchange,
        );
      else if (disturbed(measurement))
        judge.unsettled(`somebody else seems to spend key ${key.name}`, afterRetryAfter.exchange);
      else
        judge.breaks(
          {
            expected: `a request admitted after Retry-After: ${told.kind === 'absent' ? '' : told.text}`,
            actual: described(afterRetryAfter.exchange),
          },
          afterRetryAfter.exchange,
          ...evidence,
        );
    }),
  },
];

const answer = (text: string, detail: string, exchange: Exchange | undefined): GapAnswer => ({
  answer: text,
  detail,
  evidence: exchange === undefined ? [] : [exchange],
});

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
  {
    id: 'retry-after-format',
    permit: 'exhaust',
    async run(probe) {
      const measured = (await measurements(probe)).find(
        ({ told }) => told.kind === 'delay' || told.kind === 'date',
      );
      if (measured === undefined || (measured.told.kind !== 'delay' && measured.told.kind !== 'date'))
        return undefined;
      return answer(measured.told.format, `Retry-After: ${measured.told.text}`, first(measured)?.refusal);
    },
  },
];
