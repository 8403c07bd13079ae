import type { Histogram } from 'hdr-histogram-js';
import { sum } from 'simple-statistics';
import { isOperation, type OperationName } from '../../../spec/operations.ts';
import type { PlanName } from '../../../spec/plans.ts';
import { isOutcome, type Outcome } from '../../lib/scenario.ts';
import { blockOf, errorsIn, figuresOf, isError, newHistogram, noOutcomes } from './figures.ts';
import type { LoadBlock, LoadSeries } from './load-result.ts';
import type { EventOf } from './messages.ts';

/** What the positions of streams and keys in a sample stand for. */
export interface SampleNames {
  readonly streams: readonly { readonly name: string }[];
  readonly keys: readonly { readonly name: string; readonly plan: PlanName }[];
}

interface Block {
  readonly histogram: Histogram;
  errors: number;
  refused: number;
}

interface Series {
  readonly stream: string;
  readonly operation: OperationName;
  readonly plan: PlanName;
  readonly statuses: Map<number, number>;
  readonly outcomes: Record<Outcome, number>;
  readonly histogram: Histogram;
  /** By their start. */
  readonly blocks: Map<number, Block>;
}

interface Paid {
  sent: number;
  refused: number;
}

/** What samples have in common. */
interface Meaning {
  readonly series: Series;
  readonly paid: Paid;
  readonly status: number;
  readonly outcome: Outcome;
}

/** Takes in samples, and keeps counts, histograms and time blocks, so that memory does not grow with their number. */
export class Samples {
  readonly #names: SampleNames;
  readonly #blockMs: number;
  readonly #series = new Map<string, Series>();
  readonly #keys = new Map<string, Paid>();
  #first = Number.POSITIVE_INFINITY;
  #last = 0;

  /** @param blockSeconds length of a time block */
  constructor(names: SampleNames, blockSeconds: number) {
    this.#names = names;
    this.#blockMs = blockSeconds * 1000;
  }

  /** Takes in samples; false if one has a meaning that the plan does not know. */
  add({ since, samples }: Pick<EventOf<'samples'>, 'since' | 'samples'>): boolean {
    let isKnown = true;
    for (const [name, numbers] of Object.entries(samples)) {
      const meaning = this.#meaningOf(name);
      if (meaning === undefined || numbers.length % 2 !== 0) isKnown = false;
      else
        for (let place = 0; place < numbers.length; place += 2)
          this.#add(meaning, since + (numbers[place] ?? 0), numbers[place + 1] ?? 0);
    }
    return isKnown;
  }

  #meaningOf(name: string): Meaning | undefined {
    const [streamIndex, keyIndex, operation = '', status, outcome = ''] = name.split(' ');
    const stream = this.#names.streams[Number(streamIndex)]?.name;
    const key = this.#names.keys[Number(keyIndex)];
    if (stream === undefined || key === undefined || !isOperation(operation) || !isOutcome(outcome))
      return undefined;
    const { plan } = key;
    const id = `${stream} ${operation} ${plan}`;
    const series = this.#series.get(id) ?? {
      ...{ stream, operation, plan },
      statuses: new Map(),
      outcomes: noOutcomes(),
      histogram: newHistogram(),
      blocks: new Map(),
    };
    this.#series.set(id, series);
    const paid = this.#keys.get(key.name) ?? { sent: 0, refused: 0 };
    this.#keys.set(key.name, paid);
    return { series, paid, status: Number(status), outcome };
  }

  #add({ series, paid, status, outcome }: Meaning, at: number, microseconds: number): void {
    series.outcomes[outcome] += 1;
    series.statuses.set(status, (series.statuses.get(status) ?? 0) + 1);
    series.histogram.recordValue(microseconds);
    paid.sent += 1;
    if (status === 429) paid.refused += 1;
    this.#first = Math.min(this.#first, at);
    this.#last = Math.max(this.#last, at + microseconds / 1000);
    const start = Math.floor(at / this.#blockMs) * this.#blockMs;
    const block = series.blocks.get(start) ?? { histogram: newHistogram(), errors: 0, refused: 0 };
    series.blocks.set(start, block);
    block.histogram.recordValue(microseconds);
    if (isError(outcome)) block.errors += 1;
    if (outcome === 'refused') block.refused += 1;
  }

  /** What the keys have paid for so far. */
  keys(): ReadonlyMap<string, Readonly<Paid>> {
    return this.#keys;
  }

  /** Start of the first request and end of the last one, in milliseconds since 1970; undefined if there was none. */
  span(): { readonly first: number; readonly last: number } | undefined {
    return this.#last === 0 ? undefined : { first: this.#first, last: this.#last };
  }

  /** Requests so far, and errors among them. */
  counts(): { readonly requests: number; readonly errors: number } {
    const all = [...this.#series.values()].map(({ outcomes }) => outcomes);
    return {
      requests: sum([...this.#keys.values()].map(({ sent }) => sent)),
      errors: sum(all.map(errorsIn)),
    };
  }

  /** The durations and errors in blocks that began since `time`, as far as they have arrived. */
  since(time: number): { readonly histogram: Histogram; readonly errors: number } {
    const histogram = newHistogram();
    let errors = 0;
    for (const { blocks } of this.#series.values())
      for (const [at, block] of blocks) {
        if (at < time) continue;
        histogram.add(block.histogram);
        errors += block.errors;
      }
    return { histogram, errors };
  }

  /** Everything so far, as the result has it. More samples may follow. */
  series(): LoadSeries[] {
    const seconds = Math.max((this.#last - this.#first) / 1000, 0.001);
    return [...this.#series.values()].map(({ stream, operation, plan, blocks, ...sums }) => ({
      ...{ stream, operation, plan },
      ...figuresOf(sums, seconds),
      blockSeconds: this.#blockMs / 1000,
      blocks: [...blocks].map(([at, block]): LoadBlock => blockOf(at, block)).toSorted((a, b) => a.at - b.at),
    }));
  }
}
