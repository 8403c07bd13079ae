/** The server's own clock, the source of every time that it sends, including the Date header. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Seconds of this clock in one real second; 1 is real time. */
  readonly speed: number;
}

/** The system's clock, or one that starts at the system's time and runs `speed` times as fast. */
export function systemClock(speed = 1): Clock {
  if (speed === 1) return { now: Date.now, speed };
  const startedAt = Date.now();
  const origin = performance.now();
  return { now: () => Math.floor(startedAt + (performance.now() - origin) * speed), speed };
}
