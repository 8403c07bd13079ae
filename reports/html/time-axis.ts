import { clock } from '../facts.ts';
import type { Tick } from './chart-frame.ts';

/** Each divides the next. So the ticks of a narrow axis are among those of a wide one, and none collide. */
const STEPS = [1, 5, 10, 30, 60, 300, 600, 1800, 3600, 10_800, 21_600, 43_200, 86_400] as const;

/** Widths in CSS pixels from which on more is shown. Each is a rule in page.css. */
export const WIDTHS = [300, 600, 1200, 4800, 19_200] as const;

/** Ticks for several widths. The page shows those that it has room for, without a script. */
export function timeTicks(until: number, from = 0): Tick[] {
  const ticks = new Map<number, Tick>();
  for (const needs of WIDTHS) {
    const most = Math.min(needs, 9_600) / 60;
    // Beyond some days, whole days.
    const days = 86_400 * Math.ceil((until - from) / 86_400 / most);
    const step = STEPS.find((candidate) => (until - from) / candidate <= most) ?? days;
    for (let value = Math.ceil(from / step) * step; value <= until; value += step) {
      if (!ticks.has(value)) ticks.set(value, { value, text: clock(value), needs });
    }
  }
  return [...ticks.values()];
}
