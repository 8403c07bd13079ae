/** Small models of rate limits and of a client that runs into them, for the tests of what judges readings. */

import type { RateReading } from '../../wire/rate-headers.ts';
import { MINUTE } from '../time.ts';

/** What a limit says to one request that arrives at a moment. */
interface Said {
  readonly admitted: boolean;
  readonly remaining: number;
  /** Milliseconds since 1970, before rounding. */
  readonly reset: number;
}

/** A limit of `capacity` requests a minute; arrivals never go back in time. */
export type SimulatedLimit = (capacity: number) => (now: number) => Said;

/** A minute that opens with the first request. */
export const fixedWindow: SimulatedLimit = (capacity) => {
  let endsAt = 0;
  let used = 0;
  return (now) => {
    if (now >= endsAt) [endsAt, used] = [now + MINUTE, 0];
    const admitted = used < capacity;
    if (admitted) used += 1;
    return { admitted, remaining: capacity - used, reset: endsAt };
  };
};

/** Every full minute of the clock. */
export const alignedWindow: SimulatedLimit = (capacity) => {
  let endsAt = 0;
  let used = 0;
  return (now) => {
    if (now >= endsAt) [endsAt, used] = [(Math.floor(now / MINUTE) + 1) * MINUTE, 0];
    const admitted = used < capacity;
    if (admitted) used += 1;
    return { admitted, remaining: capacity - used, reset: endsAt };
  };
};

/** The last minute, whose requests leave together with all of a slot of time; Reset is when the oldest leaves. */
const sliding =
  (slot: number): SimulatedLimit =>
  (capacity) => {
    const times: number[] = [];
    return (now) => {
      while (times[0] !== undefined && times[0] <= now - MINUTE) times.shift();
      const admitted = times.length < capacity;
      if (admitted) times.push(now - (now % slot));
      return { admitted, remaining: capacity - times.length, reset: (times[0] ?? now) + MINUTE };
    };
  };
export const slidingLog = sliding(1);
export const slidingSlots = sliding(10_000);

/** Every full minute of the clock, less the part of the minute before that a minute that looks back still holds. */
export const slidingCounter: SimulatedLimit = (capacity) => {
  let endsAt = 0;
  let used = 0;
  let usedBefore = 0;
  return (now) => {
    if (now >= endsAt) {
      const end = (Math.floor(now / MINUTE) + 1) * MINUTE;
      usedBefore = end === endsAt + MINUTE ? used : 0;
      [endsAt, used] = [end, 0];
    }
    const held = Math.ceil((usedBefore * (endsAt - now)) / MINUTE);
    const admitted = used + held < capacity;
    if (admitted) used += 1;
    return { admitted, remaining: Math.max(0, capacity - used - held), reset: endsAt };
  };
};

/** Tokens that come back evenly, `perMinute` a minute; Reset is when the bucket is full, or when a token is there. */
const bucket =
  (resetIs: 'full' | 'next token', every = 1): SimulatedLimit =>
  (capacity) => {
    const refill = capacity / MINUTE;
    let tokens = capacity;
    let at = 0;
    return (arrivesAt) => {
      const now = arrivesAt - (arrivesAt % every);
      tokens = Math.min(capacity, tokens + (now - at) * refill);
      at = now;
      const admitted = tokens >= 1;
      if (admitted) tokens -= 1;
      const missing = resetIs === 'full' ? capacity - tokens : Math.max(0, 1 - tokens);
      return { admitted, remaining: Math.floor(tokens), reset: now + missing / refill };
    };
  };
export const tokenBucket = bucket('full');
export const tokenBucketByNextToken = bucket('next token');
/** What ten seconds bring comes at their end, all at once. */
export const tokenBucketInSteps = bucket('full', 10_000);

/** Every kind of limit. */
export const MODELS = {
  ...{ fixedWindow, alignedWindow, slidingLog, slidingSlots, slidingCounter },
  ...{ tokenBucket, tokenBucketByNextToken, tokenBucketInSteps },
};

/** How a client sends its requests. */
export interface Burst {
  readonly startsAt: number;
  /** How many are in flight at once. */
  readonly inFlight: number;
  /** Of each request in turn, over and over: milliseconds until it arrives, and from there until the answer is here. */
  readonly latencies: readonly (readonly [there: number, back: number])[];
  /** Milliseconds between an answer and the next request on the same connection. */
  readonly pause: number;
  /** How far the target's clock is ahead of the client's, in milliseconds. */
  readonly clockAhead?: number;
  /** Gives up after this many requests. */
  readonly most: number;
  /** Whether a request of somebody else arrives right before the one of ours that arrives as this number, from 0. */
  readonly neighbour?: (arrival: number) => boolean;
}

/** What the headers show where they do not show the truth. */
export type Shown = (said: Said) => Said;

/**
 * Sends requests until one is refused and everything in flight is answered. Returns every answer, in the order of
 * sending; the first request is alone in flight.
 */
export function burstInto(
  limit: (now: number) => Said,
  shownLimit: number,
  burst: Burst,
  shown: Shown = (said) => said,
): RateReading[] {
  const { inFlight, latencies, pause, most, neighbour, clockAhead = 0 } = burst;
  const sent: { readonly sentAt: number; readonly index: number }[] = [];
  const answers: RateReading[] = [];
  const freeAt = Array.from({ length: inFlight }, () => burst.startsAt);
  // Requests reach the limit in the order of arrival, which with several in flight is not that of sending.
  const underWay: {
    readonly arrivesAt: number;
    readonly sentAt: number;
    readonly back: number;
    readonly index: number;
    readonly worker: number;
  }[] = [];
  let arrived = 0;
  let refusedAt = Number.POSITIVE_INFINITY;
  const arrive = (): void => {
    underWay.sort((a, b) => a.arrivesAt - b.arrivesAt);
    const request = underWay.shift();
    if (request === undefined) return;
    const { arrivesAt, sentAt, back, index, worker } = request;
    if (neighbour?.(arrived) === true) limit(arrivesAt);
    arrived += 1;
    const said = shown(limit(arrivesAt));
    const receivedAt = arrivesAt + back;
    if (!said.admitted) refusedAt = Math.min(refusedAt, receivedAt);
    freeAt[worker] = receivedAt + pause;
    answers[index] = reading({
      sentAt,
      receivedAt,
      status: said.admitted ? 200 : 429,
      limit: shownLimit,
      remaining: said.remaining,
      reset: Math.ceil((said.reset + clockAhead) / 1000) * 1000,
      date: Math.floor((arrivesAt + clockAhead) / 1000) * 1000,
    });
  };
  while (sent.length < most) {
    const busy = new Set(underWay.map(({ worker }) => worker));
    // The first request is answered before the others start.
    const idle = freeAt.flatMap((at, worker) =>
      busy.has(worker) ? [] : [{ at: Math.max(at, answers[0]?.receivedAt ?? at), worker }],
    );
    const next =
      idle.length === 0 || (sent.length === 1 && answers.length === 0)
        ? undefined
        : idle.reduce((a, b) => (b.at < a.at ? b : a));
    const firstArrival = underWay.reduce(
      (least, { arrivesAt }) => Math.min(least, arrivesAt),
      Number.POSITIVE_INFINITY,
    );
    if (next === undefined || firstArrival <= next.at) {
      arrive();
      continue;
    }
    if (next.at >= refusedAt) break;
    const index = sent.length;
    const [there, back] = latencies[index % latencies.length] ?? [1, 1];
    sent.push({ sentAt: next.at, index });
    underWay.push({ arrivesAt: next.at + there, sentAt: next.at, back, index, worker: next.worker });
  }
  while (underWay.length > 0) arrive();
  return answers;
}

/** A reading of a list with a 200 at a round time, but for what is given. */
export function reading(given: Partial<RateReading> = {}): RateReading {
  const { sentAt = 0 } = given;
  return {
    id: `test#${sentAt}`,
    intent: 'ordinary',
    key: 'free-1',
    operation: 'listPets',
    path: '/pets',
    status: 200,
    sentAt,
    receivedAt: sentAt + 10,
    limit: 60,
    remaining: undefined,
    reset: undefined,
    date: undefined,
    ...given,
  };
}
