/** Each divides the next, so that the ticks of a narrow axis are among those of a wide one and none collide. */
const STEPS = [1, 5, 10, 30, 60, 300, 600, 1800, 3600, 10_800, 21_600, 43_200, 86_400] as const;

/** Widths in CSS pixels at which something more finds room; each is a rule of the page's style. */
export const WIDTHS = [300, 600, 1200, 4800, 19_200] as const;

/** A mark on the time axis. */
export interface Tick {
  readonly at: number;
  readonly label: string;
  /** Width in CSS pixels that the whole axis must have for this tick to have room. */
  readonly needs: (typeof WIDTHS)[number];
}

/** Ticks for several widths at once: the page shows those that its width has room for, so no script is needed. */
export function timeTicks(until: number, from = 0): Tick[] {
  const ticks = new Map<number, Tick>();
  for (const needs of WIDTHS) {
    const step = stepFor(until - from, Math.min(needs, 9_600) / 60);
    for (let at = Math.ceil(from / step) * step; at <= until; at += step) {
      if (!ticks.has(at)) ticks.set(at, { at, label: clock(at), needs });
    }
  }
  return [...ticks.values()].sort((a, b) => a.at - b.at);
}

function stepFor(length: number, most: number): number {
  const fitting = STEPS.find((step) => length / step <= most);
  // Beyond some days, whole days.
  return fitting ?? 86_400 * Math.ceil(length / 86_400 / most);
}

/** `0:05`, `1:30`, `2:00:00`. */
function clock(seconds: number): string {
  const [hours, minutes, rest] = [
    Math.floor(seconds / 3600),
    Math.floor((seconds % 3600) / 60),
    seconds % 60,
  ];
  const two = (number: number) => String(number).padStart(2, '0');
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}
