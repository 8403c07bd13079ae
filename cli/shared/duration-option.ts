import { InvalidArgumentError } from 'commander';

const UNIT_SECONDS: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3600 };
const LONGEST_SECONDS = 86_400;

/** Seconds in a text such as 90s, 1h30m or 500ms: the value of an option. */
export function durationSeconds(text: string): number {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)];
  const seconds = parts.reduce(
    (sum, [, value, unit = '']) => sum + Number(value) * (UNIT_SECONDS[unit] ?? 0),
    0,
  );
  const whole = parts.map(([part]) => part).join('') === text;
  if (whole && seconds >= 1 && seconds <= LONGEST_SECONDS) return seconds;
  throw new InvalidArgumentError('Write it like 30s, 5m or 1h30m, from 1s to 24h.');
}
