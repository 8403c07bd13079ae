import { type MeterKind, windowUntil } from '../rate-limiter.ts';

/** A fixed window aligned to the clock: it ends with every full minute, or at midnight UTC. */
export const windowByClock = windowUntil((now, windowMs) => now - (now % windowMs) + windowMs);

/** A sliding log: each request is given back once it is as old as the window is long. */
export const slidingLog: MeterKind = (limit, windowMs) => {
  const times: number[] = [];
  const left = (now: number) => {
    while ((times[0] ?? now) + windowMs <= now) times.shift();
    return Math.max(0, limit - times.length);
  };
  return {
    left,
    spend: (now) => void times.push(now),
    freeAt: (now) => (times.at(-limit) ?? now) + windowMs,
    /** When the oldest request is given back. */
    resetAt(now) {
      left(now);
      return (times.at(-limit) ?? times[0] ?? now) + windowMs;
    },
  };
};

/** A sliding window of slots of ten seconds: what a slot spent is given back together, a window after it began. */
export const slidingSlots: MeterKind = (limit, windowMs) => {
  const log = slidingLog(limit, windowMs);
  return { ...log, spend: (now) => log.spend(now - (now % 10_000)) };
};

/** A sliding log that also counts refused requests: a client that keeps sending waits longer. */
export const slidingLogOfAll: MeterKind = (limit, windowMs) => {
  const log = slidingLog(limit, windowMs);
  return { ...log, refused: log.spend };
};

/**
 * A sliding window counter. Windows are aligned to the clock. The previous one counts in proportion to its overlap with
 * the sliding window, as if its requests were spread evenly.
 */
export const slidingCounter: MeterKind = (limit, windowMs) => {
  let startsAt = 0;
  let used = 0;
  let usedBefore = 0;
  const left = (now: number) => {
    const start = now - (now % windowMs);
    if (start !== startsAt) {
      usedBefore = start === startsAt + windowMs ? used : 0;
      startsAt = start;
      used = 0;
    }
    return limit - used - Math.ceil((usedBefore * (start + windowMs - now)) / windowMs);
  };
  /** When so few of the window's requests still count that there is room for another. */
  const freedAt = (start: number, room: number, requests: number) =>
    start + Math.ceil(windowMs - (room * windowMs) / Math.max(requests, 1));
  return {
    left,
    spend(now) {
      left(now);
      used += 1;
    },
    freeAt() {
      const room = limit - 1 - used;
      if (room >= 0) return freedAt(startsAt, room, usedBefore);
      const next = startsAt + windowMs;
      return Math.max(next, freedAt(next, limit - 1, used));
    },
    resetAt(now) {
      left(now);
      return startsAt + windowMs;
    },
  };
};

/** A token bucket of `limit` tokens that refills evenly over the window. */
export const tokenBucket: MeterKind = (limit, windowMs) => {
  const msPerToken = windowMs / limit;
  // When the bucket will be full again; all other values follow from this one.
  let fullAt = 0;
  return {
    left: (now) => limit - Math.ceil(Math.max(0, fullAt - now) / msPerToken),
    spend(now) {
      fullAt = Math.max(fullAt, now) + msPerToken;
    },
    freeAt: () => fullAt - (limit - 1) * msPerToken,
    resetAt: (now) => Math.max(now, fullAt),
  };
};

/** A token bucket that is given what a step of time brings once a step, by the clock. */
export const bucketInSteps =
  (stepMs: number): MeterKind =>
  (limit, windowMs) => {
    const bucket = tokenBucket(limit, windowMs);
    const begun = (now: number) => now - (now % stepMs);
    const fromStep = (now: number, time: number) => Math.max(now, Math.ceil(time / stepMs) * stepMs);
    return {
      left: (now) => bucket.left(begun(now)),
      spend: (now) => bucket.spend(begun(now)),
      freeAt: (now) => fromStep(now, bucket.freeAt(now)),
      resetAt: (now) => fromStep(now, bucket.resetAt(begun(now))),
    };
  };

/** A sliding log that is lost where nothing was asked for ten seconds: a table's entry that expires. */
export const forgottenWhenIdle: MeterKind = (limit, windowMs) => {
  let [log, keptUntil] = [slidingLog(limit, windowMs), 0];
  const kept = (now: number) => (now < keptUntil ? log : slidingLog(limit, windowMs));
  return {
    left: (now) => kept(now).left(now),
    spend(now) {
      log = kept(now);
      log.spend(now);
      keptUntil = now + 10_000;
    },
    freeAt: (now) => kept(now).freeAt(now),
    resetAt: (now) => kept(now).resetAt(now),
  };
};

/** A window that ends a whole window after the last request, served or refused, as of a counter with a new time to live. */
export const renewedWindow: MeterKind = (limit, windowMs) => {
  let [endsAt, used] = [0, 0];
  const left = (now: number) => (now < endsAt ? limit - used : limit);
  return {
    left,
    spend(now) {
      [endsAt, used] = [now + windowMs, limit - left(now) + 1];
    },
    refused(now) {
      endsAt = now + windowMs;
    },
    freeAt: () => endsAt,
    resetAt: (now) => Math.max(now, endsAt),
  };
};
