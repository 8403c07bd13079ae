/**
 * Clients at their own pace, whose behaviour or effect is measured. k6 calls one of these functions for each client of a
 * scenario, by its name (lib/catalogue.ts). Times by the target's clock are in seconds.
 */
import { sleep } from 'k6';
import exec from 'k6/execution';
import { retryAfter } from '../checks/wire/rate-headers.ts';
import { drain, facts, plan, targetNow, tell } from './lib/run.ts';
import { type Answer, add, type Caller, caller, list, listRequest, listTogether } from './lib/target.ts';

const WINDOW = 60;
const plain = listRequest();

const targetSeconds = () => targetNow(Date.now()) / 1000;

const TRIED_SECONDS = 0.02;

/**
 * Returns only if k6 still lets this VU run. One that is being cut off no longer sleeps and gets no answers; it must
 * conclude nothing from that, and k6 ends it within moments.
 */
function goOn(): void {
  let began: number;
  do {
    began = Date.now();
    sleep(TRIED_SECONDS);
  } while (Date.now() - began < TRIED_SECONDS * 500);
}

/** Sleeps for seconds of the target's clock. First it reports what was measured, as k6 may end meanwhile. */
function rest(seconds: number): void {
  if (seconds <= 0) return;
  drain();
  const until = Date.now() + (seconds * 1000) / plan.clock.speed;
  sleep(seconds / plan.clock.speed);
  if (Date.now() < until - TRIED_SECONDS * 1000) goOn();
}

/** How long a refusal asks to wait, in seconds of the target's clock; undefined if it does not say. */
function wait(answer: Answer): number | undefined {
  const asked = retryAfter(Object.entries(answer.headers), 10 * WINDOW);
  if (asked.kind === 'delay') return asked.milliseconds / 1000;
  return asked.kind === 'date' ? asked.time / 1000 - targetSeconds() : undefined;
}

/** Tells whether something held; null where that could not be told. */
function assertion(who: Caller, name: string, held: boolean | null, expected: string, actual: string): void {
  if (held !== true) goOn();
  tell({ threshold: { kind: 'client', name, key: who.key.name, held, expected, actual } });
}

function measurement(who: Caller, name: string, value: number, unit: string): void {
  tell({ measurement: { name, key: who.key.name, value: Math.round(value * 100) / 100, unit } });
}

const LAST_WAIT = 5 * WINDOW;

/** Just under two windows. In this time every kind of window admits the same number of requests. */
const POLITE_SECONDS = 115;

/**
 * Section 8's client: after a 429 it waits for Retry-After, then backs off exponentially with full jitter. It must
 * never be banned, and must get at least 95 % of what the plan sells in the time.
 */
function keepWithinTheQuota(who: Caller): void {
  const began = targetSeconds();
  const elapsed = () => targetSeconds() - began;
  // A target without a limit would let it exceed its bill.
  const most = facts.personas?.most(who.key.perMinute, 0) ?? 0;
  let [admitted, refused, refusedInARow, banned] = [0, 0, 0, ''];
  for (let sent = 0; elapsed() < POLITE_SECONDS && banned === '' && sent < most; sent += 1) {
    const answer = list(who, plain);
    if (answer.status === 200) {
      admitted += 1;
      refusedInARow = 0;
    } else if (answer.status === 429) {
      const asked = wait(answer) ?? 1;
      refused += 1;
      refusedInARow += 1;
      const pause = asked + (refusedInARow > 1 ? Math.random() * 2 ** refusedInARow : Math.random() * 0.1);
      if (asked > LAST_WAIT || refusedInARow > 8)
        banned = `429 with ${asked} s to wait, ${refusedInARow} in a row`;
      // It never waits beyond the end: k6 would cut the client off before it reported what it got.
      else rest(Math.min(pause, POLITE_SECONDS - elapsed()));
    } else if (answer.status === 0) rest(1);
    else banned = `status ${answer.status}`;
  }
  assertion(who, 'a polite client is never banned', banned === '', 'no ban', banned || 'no ban');
  // Of the moments before a ban no quota can be told.
  if (banned !== '') return;
  const seconds = elapsed();
  const sold = (who.key.perMinute * Math.min(POLITE_SECONDS, seconds)) / WINDOW;
  const isEnough = admitted >= 0.95 * sold;
  measurement(who, 'part of the quota reached', (100 * admitted) / sold, '%');
  // Where it sent one request at a time and nothing was refused, the target was too slow to reach the quota.
  const isSlow = refused === 0 && !isEnough;
  assertion(
    who,
    'a polite client gets 95 % of its quota',
    isSlow ? null : isEnough,
    `at least ${Math.floor(0.95 * sold)} in ${Math.round(seconds)} s`,
    isSlow ? `${admitted}, and no refusal: the target answers too slowly to reach the quota` : `${admitted}`,
  );
}

/** Identifies a kind of refusal. A ban differs from the 429 before it, or asks for a much longer wait. */
function refusalKind(answer: Answer): string {
  const code = /"code"\s*:\s*"([^"]*)"/.exec(answer.body ?? '')?.[1] ?? '';
  return `${answer.status} ${code}`;
}

const MOST_AFTER_429 = 60;
const LONGEST_BAN_SECONDS = 180;

/** Goes on after 429 until the answer changes, then stops and measures how long it is shut out. */
function goOnAfterRefusals(who: Caller): void {
  const began = targetSeconds();
  const elapsed = () => targetSeconds() - began;
  let first = list(who, plain);
  let admitted = 0;
  for (; first.status !== 429; admitted += 1) {
    if (admitted >= who.key.perMinute * 2 || elapsed() >= 2 * WINDOW) {
      const isTooSlow = elapsed() >= WINDOW;
      const why = isTooSlow ? ', which took more than a minute: it was not over its limit' : '';
      const [expected, actual] = [`429 after ${who.key.perMinute}`, `${admitted + 1} admitted${why}`];
      return assertion(who, 'a key over its limit is refused', isTooSlow ? null : false, expected, actual);
    }
    first = list(who, plain);
  }
  const firstAt = targetSeconds();
  measurement(who, 'first 429 after', firstAt - began, 's');
  const longest = (wait(first) ?? 0) + WINDOW / 2;
  const isBan = (answer: Answer) =>
    answer.status !== 200 && (refusalKind(answer) !== refusalKind(first) || (wait(answer) ?? 0) > longest);
  let after = 1;
  let ban = list(who, plain);
  for (; ban.status !== 200 && !isBan(ban) && after < MOST_AFTER_429; after += 1) ban = list(who, plain);
  if (!isBan(ban)) return measurement(who, 'requests after the first 429, no ban seen', after, 'requests');
  const banAt = targetSeconds();
  const length = wait(ban);
  measurement(who, 'requests after the first 429 until the ban', after, 'requests');
  measurement(who, 'time from the first 429 to the ban', banAt - firstAt, 's');
  if (length !== undefined) measurement(who, 'ban as told', length, 's');
  if ((length ?? WINDOW) > LONGEST_BAN_SECONDS) return;
  rest((length ?? WINDOW) + 0.5);
  let answer = list(who, plain);
  for (let tries = 0; answer.status !== 200 && tries < 3; tries += 1) {
    rest(Math.max(1, wait(answer) ?? WINDOW / 2));
    answer = list(who, plain);
  }
  const { status } = answer;
  if (status === 200)
    measurement(who, 'ban as measured, to the next admitted request', targetSeconds() - banAt, 's');
  assertion(who, 'a ban ends', status === 200, 'served again', `status ${status}`);
}

const TOGETHER = 20;

/** Offers requests just below, at and over the plan's limit, each in a window of its own, many at once. */
function offerAroundTheLimit(who: Caller): void {
  const limit = who.key.perMinute;
  // Bursts are a minute apart: no minute has more than one.
  let nextBurst = 0;
  for (const offered of [limit - 1, limit, limit + 3]) {
    // A new window begins with the next request; the answer to the one that found out is spent.
    const { headers } = list(who, plain);
    const shownForMinute = Number(headers['X-Ratelimit-Limit']) === limit;
    const reset = Number(headers['X-Ratelimit-Reset']);
    const left = shownForMinute && reset > 0 ? reset - targetSeconds() : WINDOW;
    // A bucket that refills says when it is full again; a window when it ends. The second covers rounding.
    rest(Math.max(left, nextBurst - targetSeconds(), 0) + 1);
    const began = targetSeconds();
    nextBurst = began + WINDOW;
    let admitted = 0;
    for (let sent = 0; sent < offered; sent += TOGETHER)
      for (const { status } of listTogether(who, plain, Math.min(TOGETHER, offered - sent)))
        if (status === 200) admitted += 1;
    const seconds = targetSeconds() - began;
    const least = Math.min(offered, limit);
    // A refilling bucket that was full admits what flowed in meanwhile; a window does not. Both conform.
    const most = Math.min(offered, limit + Math.floor((seconds * limit) / WINDOW));
    const place = offered >= limit ? 'at or over' : 'below';
    const expected = least === most ? `${least} admitted` : `${least} to ${most} admitted`;
    const name = `${place} the limit: ${offered} offered to ${who.key.plan}`;
    assertion(who, name, admitted >= least && admitted <= most, expected, `${admitted} admitted`);
  }
}

/** Ten requests a second, as in the bill; a Free key has one. */
const NOISE_PAUSE_SECONDS = 0.1;

/** Sends far more than its limit for the second half of the run. */
function makeNoise(who: Caller): void {
  const request = listRequest({ limit: 100 });
  const end = exec.scenario.startTime + plan.seconds * 500;
  while (Date.now() < end) {
    list(who, request);
    sleep(NOISE_PAUSE_SECONDS);
  }
}

const ADDITIONS = 12;

/** Adds animals at the same moment as all other clients of the burst. */
function addTogether(who: Caller): void {
  sleep(Math.max(0, exec.scenario.startTime + 500 - Date.now()) / 1000);
  for (let addition = 0; addition < ADDITIONS; addition += 1) add(who);
}

/** What the rate headers say to the key of a burst. */
function reading(): { readonly remaining: number; readonly reset: number } | undefined {
  const [keyIndex] = plan.clients;
  if (keyIndex === undefined || facts.personas?.name !== 'burst') return undefined;
  const { headers } = list(caller(keyIndex), listRequest({ limit: 1 }));
  drain();
  return { remaining: Number(headers['X-Ratelimit-Remaining']), reset: Number(headers['X-Ratelimit-Reset']) };
}

/** k6 runs it before the clients, and hands what it returns to `teardown`. */
export const setup = reading;

/** Whether X-RateLimit-Remaining counted every request of a burst, if its window lasted so long. */
export function teardown(before: ReturnType<typeof reading>): void {
  const after = reading();
  if (before === undefined || after === undefined || Math.abs(after.reset - before.reset) >= 1) return;
  const spent = before.remaining - after.remaining;
  const due = plan.clients.length * ADDITIONS + 1;
  const name = 'X-RateLimit-Remaining counts every request of the burst';
  assertion(caller(plan.clients[0] ?? 0), name, spent === due, `${due} fewer`, `${spent} fewer`);
}

/** A client as k6 calls it: the n-th has the n-th of the clients' keys. What it measured is written at its end. */
const client = (behave: (who: Caller) => void) => () => {
  behave(caller(plan.clients[exec.scenario.iterationInTest] ?? 0));
  drain();
};

export const polite = client(keepWithinTheQuota);
export const abuser = client(goOnAfterRefusals);
export const edge = client(offerAroundTheLimit);
export const noise = client(makeNoise);
export const burst = client(addTogether);
