/**
 * Shifts Date ahead of the machine's clock, for a thread that shares a clock with a run in another thread. Timers are
 * not shifted: the limiters consult Date for every request, and use timers only to clean up expired entries.
 */
export function shiftDate(ahead: Float64Array): void {
  // Cut to milliseconds at last, as a machine's Date is: cut before, a minute could be a millisecond short of the run's.
  const now = () => Math.floor(performance.timeOrigin + performance.now() + (ahead[0] ?? 0));
  globalThis.Date = new Proxy(Date, {
    construct: (date, values, newTarget) =>
      Reflect.construct(date, values.length === 0 ? [now()] : values, newTarget),
    get: (date, property, receiver) => (property === 'now' ? now : Reflect.get(date, property, receiver)),
  });
}
