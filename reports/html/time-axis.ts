import { clock } from '../facts.ts';
import type { Tick } from './chart-frame.ts';

/** Each divides the next, so that the ticks of a narrow axis are among those of a wide one and none collide. */
const STEPS = [1, 5, 10, 30, 60, 300, 600, 1800, 3600, 10_800, 21_600, 43_200, 86_400] as const;

/** Widths in CSS pixels at which something more finds room; each is a rule of the page's style. */
export const WIDTHS = [300, 600, 1200, 4800, 19_200] as const;

/** Ticks for several widths at once: the page shows those that its width has room for, so no script is needed. */
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
