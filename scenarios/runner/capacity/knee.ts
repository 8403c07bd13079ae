/**
 * Estimates the rate at which a step holds its objective with a probability of one half. The estimate is Bayesian, from
 * steps that held or broke.
 *
 * Model: a step at rate r holds with probability lapse/2 + (1 - lapse) / (1 + (r/θ)^(1/σ)). The capacity θ and the width
 * σ of the transition are unknown. A lapse is a step that came out wrong for another reason, such as a pause of the
 * machine.
 */
import { sum } from '../../lib/statistics.ts';

/** One step: at this rate the objective was held or broken. */
export interface StepOutcome {
  /** Requests per second. */
  readonly rate: number;
  readonly held: boolean;
}

export interface KneeEstimate {
  /** Median of what θ may be, requests per second. */
  readonly capacity: number;
  /** 95 % of what θ may be. */
  readonly low: number;
  readonly high: number;
}

const LAPSE = 0.04;
const GRID = 800;
/** Widths of the transition as parts of the rate, from sharp to soft. All are equally likely at first. */
const WIDTHS = [0.0005, 0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064];
/** The next steps are taken where the capacity lies below with these probabilities, in turn. */
const TRIED = [0.5, 0.25, 0.75];

/** What is known of the capacity. */
export class Knee {
  readonly #logCapacities: readonly number[];
  /** How likely each pair of width and capacity is. All weights add up to 1. */
  #weights: readonly (readonly number[])[];
  #turn = 0;

  /**
   * @param low a rate that is certainly below the capacity, requests per second
   * @param high one that is certainly above
   */
  constructor(low: number, high: number) {
    const [from, to] = [Math.log(low), Math.log(high)];
    this.#logCapacities = Array.from({ length: GRID + 1 }, (_, place) => from + ((to - from) * place) / GRID);
    const even = this.#logCapacities.map(() => 1 / (GRID + 1) / WIDTHS.length);
    this.#weights = WIDTHS.map(() => even);
  }

  /** Takes in the outcome of a step. */
  learn({ rate, held }: StepOutcome): void {
    const likely = this.#weights.map((weights, index) =>
      weights.map((weight, place) => {
        const above = (Math.log(rate) - (this.#logCapacities[place] ?? 0)) / (WIDTHS[index] ?? 1);
        const holding = LAPSE / 2 + (1 - LAPSE) / (1 + Math.exp(above));
        return weight * (held ? holding : 1 - holding);
      }),
    );
    const all = sum(likely.map(sum));
    this.#weights = likely.map((weights) => weights.map((weight) => weight / all));
  }

  /** The rate below which the capacity lies with this probability. */
  #quantile(probability: number): number {
    let reached = 0;
    const logCapacity = this.#logCapacities.find((_, place) => {
      reached += sum(this.#weights.map((weights) => weights[place] ?? 0));
      return reached >= probability;
    });
    return Math.exp(logCapacity ?? this.#logCapacities.at(-1) ?? 0);
  }

  estimate(): KneeEstimate {
    return { low: this.#quantile(0.025), capacity: this.#quantile(0.5), high: this.#quantile(0.975) };
  }

  /** Where to take one more step. */
  nextRate(): number {
    this.#turn += 1;
    return this.#quantile(TRIED[this.#turn % TRIED.length] ?? 0.5);
  }
}
