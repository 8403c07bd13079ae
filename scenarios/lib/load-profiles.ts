/** Load profiles: how a rate changes over time, whatever is sent. */

import { sum } from './statistics.ts';

/** k6 takes only a whole number of requests in a unit of time. This unit, in seconds, is long enough for any rate. */
export const RATE_UNIT_SECONDS = 600;

type Shape = readonly (readonly [partOfTime: number, from: number, to: number])[];

/** Parts of the run's duration, and factors on its rate. */
const SHAPES = {
  constant: [[1, 1, 1]],
  'average-load': [
    [0.1, 0, 1],
    [0.8, 1, 1],
    [0.1, 1, 0],
  ],
  // Half, then twice the usual load in steps, then back: does it recover?
  stress: [
    [0.1, 0, 1],
    [0.2, 1, 1],
    [0.1, 1, 2],
    [0.4, 2, 2],
    [0.05, 2, 1],
    [0.15, 1, 1],
  ],
  spike: [
    [0.4, 0.1, 0.1],
    [0.02, 0.1, 1],
    [0.18, 1, 1],
    [0.02, 1, 0.1],
    [0.38, 0.1, 0.1],
  ],
  soak: [
    [0.02, 0, 1],
    [0.98, 1, 1],
  ],
  breakpoint: [[1, 0, 1]],
} as const satisfies Readonly<Record<string, Shape>>;

export type LoadProfileName = keyof typeof SHAPES;

/** A rate as k6 makes it: a whole number of requests in a unit of time, at least one unless the rate is 0. */
function asMade(rate: number): number {
  return rate === 0 ? 0 : Math.max(1, Math.round(rate * RATE_UNIT_SECONDS)) / RATE_UNIT_SECONDS;
}

/** A load over time. */
export interface Timing {
  /** Absent where no requests arrive at a rate. */
  readonly facts: { readonly profile?: LoadProfileName };
  /** Requests per second, the profile's usual rate: stress goes to twice that. */
  readonly rate: number;
  /** How long all of it lasts. */
  readonly seconds: number;
}

/** The rate over time, in parts in which it changes evenly from one that k6 can make to another. */
export const slopesOf = ({ facts: { profile }, rate, seconds }: Timing) =>
  (profile === undefined ? [] : SHAPES[profile]).map(([part, from, to]) => ({
    seconds: part * seconds,
    from: asMade(from * rate),
    to: asMade(to * rate),
  }));

/** Rounds up, but ignores the rounding error of floating-point sums. */
export const wholeRequests = (requests: number): number => Math.ceil(requests - 1e-6);

/** The most requests that arrive: the area under the rate. */
export const arrivalsOf = (timing: Timing): number =>
  wholeRequests(sum(slopesOf(timing).map(({ seconds, from, to }) => (seconds * (from + to)) / 2)));

/** Requests per second at the peak. */
export const peakOf = (timing: Timing): number =>
  Math.max(0, ...slopesOf(timing).flatMap(({ from, to }) => [from, to]));
