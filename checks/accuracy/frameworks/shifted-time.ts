/**
 * Date ahead of the machine's, for a thread that shares a clock with a run in another one. Timers go on as they are: the
 * limiters look at Date whenever a request comes, and clear away by timers what that has shown to be over.
 */
export function shiftDate(ahead: Float64Array): void {
  const machine = Date.now;
  const now = () => machine() + (ahead[0] ?? 0);
  globalThis.Date = new Proxy(Date, {
    construct: (date, values, newTarget) =>
      Reflect.construct(date, values.length === 0 ? [now()] : values, newTarget),
    get: (date, property, receiver) => (property === 'now' ? now : Reflect.get(date, property, receiver)),
  });
}
