import { decodeSample, type Outcome } from '../../lib/sample.ts';
import type { LoadOperation, PlanName } from '../../lib/scenario.ts';
import { blockOf, errorsIn, figuresOf, histogramFrom, newHistogram, noOutcomes } from './figures.ts';
import type { LoadBlock, LoadSeries } from './load-result.ts';

/** Who and what a stream and a key number in a sample stand for. */
export interface SampleNames {
  readonly streams: readonly string[];
  readonly keys: readonly { readonly name: string; readonly plan: PlanName }[];
}

/** A time block that samples still come for. */
interface OpenBlock {
  /** Microseconds. */
  readonly values: number[];
  errors: number;
  refused: number;
}

/** What was counted of one series. */
interface OpenSeries {
  readonly stream: string;
  readonly operation: LoadOperation;
  readonly plan: PlanName;
  readonly statuses: Map<number, number>;
  readonly outcomes: ReturnType<typeof noOutcomes>;
  readonly histogram: ReturnType<typeof newHistogram>;
  /** By their start. */
  readonly open: Map<number, OpenBlock>;
  readonly closed: Map<number, LoadBlock>;
}

/** What a key has paid. */
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

/** VUs report twice a second, slow ones whenever their request ends; later than this a block has most of its samples. */
const KEEP_OPEN_MS = 20_000;

/** Takes samples in as they come, and keeps counts, histograms and time blocks: memory does not grow with the rate. */
export class SampleStore {
  readonly #names: SampleNames;
  readonly #blockMs: number;
  readonly #series = new Map<string, OpenSeries>();
  readonly #meanings = new Map<number, Meaning>();
  readonly #keys = new Map<string, Paid>();
  #first = Number.POSITIVE_INFINITY;
  #last = 0;
  #newest = 0;

  /** @param blockSeconds length of a time block */
  constructor(names: SampleNames, blockSeconds: number) {
    this.#names = names;
    this.#blockMs = blockSeconds * 1000;
  }

  /** Takes in one line of samples without its mark; false where it is none. */
  addLine(line: string): boolean {
    const [base = 0, ...numbers] = line.split(',').map(Number);
    if (!(base > 0) || numbers.length % 3 !== 0 || !numbers.every(Number.isSafeInteger)) return false;
    let at = base;
    for (let place = 0; place < numbers.length; place += 3) {
      at += numbers[place + 1] ?? 0;
      const microseconds = numbers[place + 2] ?? 0;
      const meaning = this.#meaningOf(numbers[place] ?? 0);
      if (meaning === undefined || microseconds < 0) return false;
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
      open: new Map(),
      closed: new Map(),
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
    const block = this.#blockAt(series, Math.floor(at / this.#blockMs) * this.#blockMs);
    block.values.push(microseconds);
    if (isError) block.errors += 1;
    if (outcome === 'refused') block.refused += 1;
  }

  #blockAt({ open }: OpenSeries, start: number): OpenBlock {
    const known = open.get(start);
    if (known !== undefined) return known;
    const block = { values: [], errors: 0, refused: 0 };
    open.set(start, block);
    if (start > this.#newest) {
      this.#newest = start;
      this.#closeBefore(start - KEEP_OPEN_MS - this.#blockMs);
    }
    return block;
  }

  #closeBefore(time: number): void {
    for (const series of this.#series.values()) {
      for (const [start, block] of series.open) {
        if (start >= time) continue;
        series.closed.set(start, closed(start, block, series.closed.get(start)));
        series.open.delete(start);
      }
    }
  }

  /** What the keys have paid so far. */
  keys(): ReadonlyMap<string, Readonly<Paid>> {
    return this.#keys;
  }

  /** Milliseconds since 1970 of the first request's start and the last one's end; undefined where none was made. */
  span(): { readonly first: number; readonly last: number } | undefined {
    return this.#last === 0 ? undefined : { first: this.#first, last: this.#last };
  }

  /** Durations in microseconds and errors of the requests that began since `time`, as far as they are in. */
  since(time: number): { readonly microseconds: readonly number[]; readonly errors: number } {
    const blocks = [...this.#series.values()].flatMap(({ open }) =>
      [...open].flatMap(([start, block]) => (start < time ? [] : [block])),
    );
    return {
      microseconds: blocks.flatMap(({ values }) => values),
      errors: blocks.reduce((sum, { errors }) => sum + errors, 0),
    };
  }

  /** Everything so far, as the result has it. More samples may follow. */
  series(): LoadSeries[] {
    const seconds = Math.max((this.#last - this.#first) / 1000, 0.001);
    return [...this.#series.values()].map((series) => {
      const { stream, operation, plan } = series;
      const blocks = new Map(series.closed);
      for (const [start, block] of series.open)
        blocks.set(start, closed(start, block, series.closed.get(start)));
      return {
        stream,
        operation,
        plan,
        ...figuresOf(series, seconds),
        blockSeconds: this.#blockMs / 1000,
        blocks: [...blocks.values()].toSorted((a, b) => a.at - b.at),
      };
    });
  }
}

/** @param before what was closed of the same block, before samples came that were late */
function closed(
  start: number,
  { values, errors, refused }: OpenBlock,
  before: LoadBlock | undefined,
): LoadBlock {
  const histogram = newHistogram();
  for (const value of values) histogram.recordValue(value);
  if (before !== undefined) histogram.add(histogramFrom(before.histogram));
  return blockOf(start, histogram, {
    errors: errors + (before?.errors ?? 0),
    refused: refused + (before?.refused ?? 0),
  });
}
