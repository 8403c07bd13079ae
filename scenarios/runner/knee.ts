/**
 * Where the probability that a step holds its objective falls through one half: a Bayesian estimate from steps that
 * held or broke, and the rate at which one more step tells most (the Psi method of Kontsevich and Tyler, 1999).
 *
 * Model: a step at rate r holds with probability lapse/2 + (1 - lapse) * Φ((log θ - log r) / σ). The capacity θ and
 * the width σ of the transition are unknown; a lapse is a step that came out wrong for a reason of its own (a pause of
 * the machine).
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
const GRID = 600;
/** The transition's width as a part of the rate: from razor-sharp to soft. Each as likely as the next. */
const WIDTHS = [0.0005, 0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064];

function probabilityOfHolding(logRate: number, logCapacity: number, width: number): number {
  return LAPSE / 2 + (1 - LAPSE) * cumulativeStdNormalProbability((logCapacity - logRate) / width);
}

interface Cell {
  readonly logCapacity: number;
  readonly width: number;
  weight: number;
}

/** What is known of the capacity. */
export class Knee {
  readonly #cells: Cell[] = [];

  /**
   * @param low a rate that is certainly below the capacity, requests per second
   * @param high one that is certainly above
   */
  constructor(low: number, high: number) {
    const [from, to] = [Math.log(low), Math.log(high)];
    for (const width of WIDTHS) {
      for (let place = 0; place <= GRID; place += 1) {
        this.#cells.push({ logCapacity: from + ((to - from) * place) / GRID, width, weight: 1 });
      }
    }
    this.#normalise();
  }

  #normalise(): void {
    const sum = this.#cells.reduce((total, { weight }) => total + weight, 0);
    for (const cell of this.#cells) cell.weight /= sum;
  }

  /** Takes in what a step told. */
  learn({ rate, held }: StepOutcome): void {
    const logRate = Math.log(rate);
    for (const cell of this.#cells) {
      const holding = probabilityOfHolding(logRate, cell.logCapacity, cell.width);
      cell.weight *= held ? holding : 1 - holding;
    }
    this.#normalise();
  }

  #marginal(): { logCapacity: number; weight: number }[] {
    const sums = new Map<number, number>();
    for (const { logCapacity, weight } of this.#cells) {
      sums.set(logCapacity, (sums.get(logCapacity) ?? 0) + weight);
    }
    return [...sums].toSorted(([a], [b]) => a - b).map(([logCapacity, weight]) => ({ logCapacity, weight }));
  }

  /** The rates below which the capacity lies with these probabilities. */
  quantiles(probabilities: readonly number[]): number[] {
    const marginal = this.#marginal();
    return probabilities.map((probability) => {
      let reached = 0;
      for (const { logCapacity, weight } of marginal) {
        reached += weight;
        if (reached >= probability) return Math.exp(logCapacity);
      }
      return Math.exp(marginal.at(-1)?.logCapacity ?? 0);
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
    const [held, broken] = [new Map<number, number>(), new Map<number, number>()];
    let chance = 0;
    for (const { logCapacity, width, weight } of this.#cells) {
      const holding = probabilityOfHolding(logRate, logCapacity, width) * weight;
      chance += holding;
      held.set(logCapacity, (held.get(logCapacity) ?? 0) + holding);
      broken.set(logCapacity, (broken.get(logCapacity) ?? 0) + weight - holding);
    }
    return chance * entropyOf(held, chance) + (1 - chance) * entropyOf(broken, 1 - chance);
  }
}

function entropyOf(weights: ReadonlyMap<number, number>, sum: number): number {
  let entropy = 0;
  for (const weight of weights.values()) {
    const part = weight / sum;
    if (part > 0) entropy -= part * Math.log(part);
  }
  return entropy;
}
