/**
 * Estimates the rate at which a step holds its objective with a probability of one half. The estimate is Bayesian, from
 * steps that held or broke. It also names the rate at which one more step would say most (the Psi method of Kontsevich
 * and Tyler, 1999).
 *
 * Model: a step at rate r holds with probability lapse/2 + (1 - lapse) * Φ((log θ - log r) / σ). The capacity θ and
 * the width σ of the transition are unknown. A lapse is a step that came out wrong for another reason, such as a pause
 * of the machine.
 */
import { cumulativeStdNormalProbability } from 'simple-statistics';

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

function probabilityOfHolding(logRate: number, logCapacity: number, width: number): number {
  return LAPSE / 2 + (1 - LAPSE) * cumulativeStdNormalProbability((logCapacity - logRate) / width);
}

/** What is known of the capacity. */
export class Knee {
  readonly #logCapacities: readonly number[];
  /** How likely each pair of width and capacity is. All weights add up to 1. */
  readonly #weights: readonly Float64Array[];

  /**
   * @param low a rate that is certainly below the capacity, requests per second
   * @param high one that is certainly above
   */
  constructor(low: number, high: number) {
    const [from, to] = [Math.log(low), Math.log(high)];
    this.#logCapacities = Array.from({ length: GRID + 1 }, (_, place) => from + ((to - from) * place) / GRID);
    this.#weights = WIDTHS.map(() => new Float64Array(GRID + 1).fill(1 / (GRID + 1) / WIDTHS.length));
  }

  /** Takes in the outcome of a step. */
  learn({ rate, held }: StepOutcome): void {
    const after = this.#after(Math.log(rate), held);
    for (const [index, weights] of after.weights.entries()) {
      this.#weights[index]?.set(weights.map((weight) => weight / after.chance));
    }
  }

  /** The weights after a step at this rate had this outcome, and how likely that is. */
  #after(logRate: number, held: boolean): { weights: Float64Array[]; chance: number } {
    let chance = 0;
    const weights = this.#weights.map((before, index) => {
      const width = WIDTHS[index] ?? 1;
      return before.map((weight, place) => {
        const holding = probabilityOfHolding(logRate, this.#logCapacities[place] ?? 0, width);
        const product = weight * (held ? holding : 1 - holding);
        chance += product;
        return product;
      });
    });
    return { weights, chance };
  }

  #marginal(weights: readonly Float64Array[]): Float64Array {
    const sums = new Float64Array(GRID + 1);
    for (const row of weights)
      for (const [place, weight] of row.entries()) sums[place] = (sums[place] ?? 0) + weight;
    return sums;
  }

  /** The rates below which the capacity lies with these probabilities. */
  quantiles(probabilities: readonly number[]): number[] {
    const marginal = this.#marginal(this.#weights);
    return probabilities.map((probability) => {
      let reached = 0;
      const place = marginal.findIndex((weight) => {
        reached += weight;
        return reached >= probability;
      });
      return Math.exp(this.#logCapacities.at(place) ?? 0);
    });
  }

  estimate(): KneeEstimate {
    const [low = 0, capacity = 0, high = 0] = this.quantiles([0.025, 0.5, 0.975]);
    return { low, capacity, high };
  }

  /** The rate at which one more step is expected to leave the least uncertainty. */
  nextRate(): number {
    const candidates = this.quantiles([0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95, 0.98]);
    let best = { rate: candidates[5] ?? 0, entropy: Number.POSITIVE_INFINITY };
    for (const rate of new Set(candidates)) {
      const entropy = this.#expectedEntropy(rate);
      if (entropy < best.entropy) best = { rate, entropy };
    }
    return best.rate;
  }

  #expectedEntropy(rate: number): number {
    const logRate = Math.log(rate);
    const [held, broken] = [this.#after(logRate, true), this.#after(logRate, false)];
    return [held, broken].reduce(
      (sum, { weights, chance }) => sum + chance * entropyOf(this.#marginal(weights), chance),
      0,
    );
  }
}

function entropyOf(weights: Float64Array, sum: number): number {
  return weights.reduce((entropy, weight) => {
    const part = weight / sum;
    return part > 0 ? entropy - part * Math.log(part) : entropy;
  }, 0);
}
