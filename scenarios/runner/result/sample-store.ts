import type { Histogram } from 'hdr-histogram-js';
import { decodeSample, GAP_FACTOR, type Outcome } from '../../lib/sample.ts';
import type { LoadOperation, PlanName } from '../../lib/scenario.ts';
import { blockOf, errorsIn, figuresOf, mergedHistogram, newHistogram, noOutcomes } from './figures.ts';
import type { LoadBlock, LoadSeries } from './load-result.ts';

/** What the numbers of streams and keys in a sample stand for. */
export interface SampleNames {
  readonly streams: readonly string[];
  readonly keys: readonly { readonly name: string; readonly plan: PlanName }[];
}

/** A time block: as it was when last asked for, and the durations since then in microseconds. */
interface OpenBlock {
  since: number[];
  errors: number;
  refused: number;
  made?: LoadBlock;
}

interface OpenSeries {
  readonly stream: string;
  readonly operation: LoadOperation;
  readonly plan: PlanName;
  readonly statuses: Map<number, number>;
  readonly outcomes: ReturnType<typeof noOutcomes>;
  readonly histogram: ReturnType<typeof newHistogram>;
  /** By their start. */
  readonly blocks: Map<number, OpenBlock>;
}

interface Paid {
  sent: number;
  refused: number;
}

/** What the first number of a sample stands for. */
interface Meaning {
  readonly series: OpenSeries;
  readonly paid: Paid;
  readonly status: number;
  readonly outcome: Outcome;
  readonly isError: boolean;
}

/**
 * Takes in samples, and keeps counts, histograms and time blocks. Durations are kept only until the figures are asked
 * for. This happens every few seconds, so that memory does not grow with the rate.
 */
export class SampleStore {
  readonly #names: SampleNames;
  readonly #blockMs: number;
  readonly #series = new Map<string, OpenSeries>();
  readonly #meanings = new Map<number, Meaning>();
  readonly #keys = new Map<string, Paid>();
  #first = Number.POSITIVE_INFINITY;
  #last = 0;

  /** @param blockSeconds length of a time block */
  constructor(names: SampleNames, blockSeconds: number) {
    this.#names = names;
    this.#blockMs = blockSeconds * 1000;
  }

  /** Takes in one line of samples without its mark; false if it cannot be read. */
  addLine(line: string): boolean {
    const [base = 0, ...numbers] = line.split(',').map(Number);
    if (!(base > 0) || !numbers.every(Number.isSafeInteger)) return false;
    let at = base;
    let meaning: Meaning | undefined;
    for (let place = 0; place < numbers.length; ) {
      const first = numbers[place] ?? 0;
      const isLikeBefore = first < 0;
      const gap = isLikeBefore ? Math.floor((-1 - first) / GAP_FACTOR) : numbers[place + 1];
      const microseconds = isLikeBefore ? (-1 - first) % GAP_FACTOR : numbers[place + 2];
      if (gap === undefined || microseconds === undefined || microseconds < 0) return false;
      if (!isLikeBefore) meaning = this.#meaningOf(first);
      if (meaning === undefined) return false;
      place += isLikeBefore ? 1 : 3;
      at += gap;
      this.#add(meaning, at, microseconds);
    }
    return true;
  }

  #meaningOf(code: number): Meaning | undefined {
    const known = this.#meanings.get(code);
    if (known !== undefined) return known;
    const sample = decodeSample(code);
    const stream = sample && this.#names.streams[sample.stream];
    const key = sample && this.#names.keys[sample.key];
    if (sample === undefined || stream === undefined || key === undefined) return undefined;
    const { operation, status, outcome } = sample;
    const series = this.#seriesOf(stream, operation, key.plan);
    const paid = this.#keys.get(key.name) ?? { sent: 0, refused: 0 };
    this.#keys.set(key.name, paid);
    const isError = errorsIn({ ...noOutcomes(), [outcome]: 1 }) > 0;
    const meaning = { series, paid, status, outcome, isError };
    this.#meanings.set(code, meaning);
    return meaning;
  }

  #seriesOf(stream: string, operation: LoadOperation, plan: PlanName): OpenSeries {
    const id = `${stream} ${operation} ${plan}`;
    const series = this.#series.get(id) ?? {
      stream,
      operation,
      plan,
      statuses: new Map(),
      outcomes: noOutcomes(),
      histogram: newHistogram(),
      blocks: new Map(),
    };
    this.#series.set(id, series);
    return series;
  }

  #add({ series, paid, status, outcome, isError }: Meaning, at: number, microseconds: number): void {
    series.outcomes[outcome] += 1;
    series.statuses.set(status, (series.statuses.get(status) ?? 0) + 1);
    series.histogram.recordValue(microseconds);
    paid.sent += 1;
    if (status === 429) paid.refused += 1;
    this.#first = Math.min(this.#first, at);
    this.#last = Math.max(this.#last, at + microseconds / 1000);
    const start = Math.floor(at / this.#blockMs) * this.#blockMs;
    const block = series.blocks.get(start) ?? { since: [], errors: 0, refused: 0 };
    series.blocks.set(start, block);
    block.since.push(microseconds);
    if (isError) block.errors += 1;
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

  /** Durations and errors in blocks that began since `time`, as far as they have arrived. */
  since(time: number): { readonly histogram: Histogram; readonly errors: number } {
    const blocks = [...this.#series.values()].flatMap((series) => blocksOf(series, time));
    return {
      histogram: mergedHistogram(blocks),
      errors: blocks.reduce((sum, { errors }) => sum + errors, 0),
    };
  }

  /** Everything so far, as the result has it. More samples may follow. */
  series(): LoadSeries[] {
    const seconds = Math.max((this.#last - this.#first) / 1000, 0.001);
    return [...this.#series.values()].map((series) => {
      const { stream, operation, plan } = series;
      return {
        stream,
        operation,
        plan,
        ...figuresOf(series, seconds),
        blockSeconds: this.#blockMs / 1000,
        blocks: blocksOf(series).toSorted((a, b) => a.at - b.at),
      };
    });
  }
}

/** The blocks that began since `time`, with all samples so far. */
function blocksOf({ blocks }: OpenSeries, time = 0): LoadBlock[] {
  return [...blocks].flatMap(([at, block]) => {
    if (at < time) return [];
    const { made, since, errors, refused } = block;
    if (made !== undefined && since.length === 0) return [made];
    const histogram = mergedHistogram(made === undefined ? [] : [made]);
    for (const microseconds of since) histogram.recordValue(microseconds);
    block.since = [];
    block.made = blockOf(at, histogram, { errors, refused });
    return [block.made];
  });
}
