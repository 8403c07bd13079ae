import {
  build,
  decodeFromCompressedBase64,
  encodeIntoCompressedBase64,
  type Histogram,
} from 'hdr-histogram-js';
import { decodeSample, OUTCOMES, type Outcome } from '../../lib/sample.ts';
import type { LoadOperation, PlanName } from '../../lib/scenario.ts';
import type { Latency, LoadBlock, LoadFigures, LoadSeries } from './load-result.ts';

/** Who and what a stream and a key number in a sample stand for. */
export interface SampleNames {
  readonly streams: readonly string[];
  readonly keys: readonly { readonly name: string; readonly plan: PlanName }[];
}

const DIGITS = 3;

/** Durations in microseconds, three significant digits. */
export function newHistogram(): Histogram {
  return build({
    bitBucketSize: 32,
    autoResize: true,
    numberOfSignificantValueDigits: DIGITS,
    useWebAssembly: false,
  });
}

/** The histogram that {@link latencyOf} wrote. */
export function histogramFrom(encoded: string): Histogram {
  return decodeFromCompressedBase64(encoded, 32, false);
}

/** The histogram as the result has it: V2, deflated, base64. */
export function encodeHistogram(histogram: Histogram): string {
  return encodeIntoCompressedBase64(histogram);
}

const inMs = (microseconds: number) => microseconds / 1000;

/** The usual figures of a histogram; null for an empty one. */
export function latencyOf(histogram: Histogram): Latency | null {
  if (histogram.totalCount === 0) return null;
  const at = (percentile: number) => inMs(histogram.getValueAtPercentile(percentile));
  return {
    mean: inMs(histogram.mean),
    p50: at(50),
    p90: at(90),
    p95: at(95),
    p99: at(99),
    p999: at(99.9),
    max: inMs(histogram.maxValue),
    histogram: encodeIntoCompressedBase64(histogram),
  };
}

interface OpenBlock {
  values: number[];
  errors: number;
  refused: number;
}

/** Counts of one series, and its histogram. */
class SeriesSums {
  readonly stream: string;
  readonly operation: LoadOperation;
  readonly plan: PlanName;
  requests = 0;
  readonly statuses = new Map<number, number>();
  readonly outcomes: Record<Outcome, number> = noOutcomes();
  readonly histogram = newHistogram();
  readonly open = new Map<number, OpenBlock>();
  readonly closed: LoadBlock[] = [];

  constructor(stream: string, operation: LoadOperation, plan: PlanName) {
    this.stream = stream;
    this.operation = operation;
    this.plan = plan;
  }
}

function noOutcomes(): Record<Outcome, number> {
  return { ok: 0, refused: 0, 'unexpected-429': 0, error: 0, violation: 0, unfinished: 0 };
}

/** Outcomes that count as errors. A violation is counted on its own. */
export function isError(outcome: Outcome): boolean {
  return outcome === 'error' || outcome === 'unexpected-429' || outcome === 'unfinished';
}

/** VUs report twice a second, slow ones whenever their request ends; later than this a block has most of its samples. */
const KEEP_OPEN_MS = 20_000;

/** Figures of the last few seconds, while the run goes on. */
export interface LiveFigures {
  readonly requests: number;
  readonly errors: number;
  readonly refused: number;
}

/** Takes samples in as they come, and keeps counts, histograms and time blocks: memory does not grow with the rate. */
export class SampleStore {
  readonly #names: SampleNames;
  readonly #blockMs: number;
  readonly #series = new Map<string, SeriesSums>();
  readonly #byCode = new Map<number, { sums: SeriesSums; outcome: Outcome; status: number; key: string }>();
  readonly #keys = new Map<string, { sent: number; refused: number }>();
  readonly #scratch = newHistogram();
  #first = Number.POSITIVE_INFINITY;
  #last = 0;
  #newest = 0;

  /** @param blockSeconds length of a time block, from 1 on */
  constructor(names: SampleNames, blockSeconds: number) {
    this.#names = names;
    this.#blockMs = blockSeconds * 1000;
  }

  /** Takes in one line of samples without its mark; false where it is none. */
  addLine(line: string): boolean {
    const numbers = line.split(',').map(Number);
    const [base] = numbers;
    if (
      base === undefined ||
      !(base > 0) ||
      numbers.length % 3 !== 1 ||
      numbers.some((number) => !Number.isSafeInteger(number))
    ) {
      return false;
    }
    let at = base;
    for (let place = 1; place < numbers.length; place += 3) {
      const code = numbers[place] ?? 0;
      at += numbers[place + 1] ?? 0;
      if (!this.#add(code, at, numbers[place + 2] ?? 0)) return false;
    }
    return true;
  }

  #lookUp(code: number) {
    const known = this.#byCode.get(code);
    if (known !== undefined) return known;
    const sample = decodeSample(code);
    const stream = sample && this.#names.streams[sample.stream];
    const key = sample && this.#names.keys[sample.key];
    if (sample === undefined || stream === undefined || key === undefined) return undefined;
    const id = `${stream} ${sample.operation} ${key.plan}`;
    let sums = this.#series.get(id);
    if (sums === undefined) {
      sums = new SeriesSums(stream, sample.operation, key.plan);
      this.#series.set(id, sums);
    }
    const found = { sums, outcome: sample.outcome, status: sample.status, key: key.name };
    this.#byCode.set(code, found);
    return found;
  }

  #add(code: number, at: number, microseconds: number): boolean {
    const found = this.#lookUp(code);
    if (found === undefined || microseconds < 0) return false;
    const { sums, outcome, status, key } = found;
    sums.requests += 1;
    sums.outcomes[outcome] += 1;
    sums.statuses.set(status, (sums.statuses.get(status) ?? 0) + 1);
    sums.histogram.recordValue(microseconds);
    const bill = this.#keys.get(key) ?? { sent: 0, refused: 0 };
    bill.sent += 1;
    if (status === 429) bill.refused += 1;
    this.#keys.set(key, bill);
    this.#first = Math.min(this.#first, at);
    this.#last = Math.max(this.#last, at + microseconds / 1000);
    const start = Math.floor(at / this.#blockMs) * this.#blockMs;
    let block = sums.open.get(start);
    if (block === undefined) {
      block = { values: [], errors: 0, refused: 0 };
      sums.open.set(start, block);
      if (start > this.#newest) {
        this.#newest = start;
        this.#closeBefore(start - KEEP_OPEN_MS - this.#blockMs);
      }
    }
    block.values.push(microseconds);
    if (isError(outcome)) block.errors += 1;
    if (outcome === 'refused') block.refused += 1;
    return true;
  }

  #closeBefore(time: number): void {
    for (const sums of this.#series.values()) {
      for (const [start, block] of sums.open) if (start < time) this.#close(sums, start, block);
    }
  }

  #close(sums: SeriesSums, start: number, block: OpenBlock): void {
    sums.open.delete(start);
    const earlier = sums.closed.findIndex((closed) => closed.at === start);
    const [before] = earlier < 0 ? [] : sums.closed.splice(earlier, 1);
    sums.closed.push(this.#blockOf(start, block, before));
  }

  /** @param before what was closed of the same block, before samples came that were late */
  #blockOf(start: number, block: OpenBlock, before: LoadBlock | undefined): LoadBlock {
    this.#scratch.reset();
    for (const value of block.values) this.#scratch.recordValue(value);
    if (before !== undefined) this.#scratch.add(histogramFrom(before.histogram));
    return {
      at: start,
      requests: this.#scratch.totalCount,
      errors: block.errors + (before?.errors ?? 0),
      refused: block.refused + (before?.refused ?? 0),
      mean: inMs(this.#scratch.mean),
      p50: inMs(this.#scratch.getValueAtPercentile(50)),
      p99: inMs(this.#scratch.getValueAtPercentile(99)),
      histogram: encodeIntoCompressedBase64(this.#scratch),
    };
  }

  #blocksOf({ open, closed }: SeriesSums): LoadBlock[] {
    const stillOpen = [...open].map(([start, block]) =>
      this.#blockOf(
        start,
        block,
        closed.find(({ at }) => at === start),
      ),
    );
    return [...closed.filter(({ at }) => !open.has(at)), ...stillOpen].toSorted((a, b) => a.at - b.at);
  }

  /** What the keys have paid so far. */
  keys(): ReadonlyMap<string, { readonly sent: number; readonly refused: number }> {
    return this.#keys;
  }

  /** Milliseconds since 1970 of the first request's start and the last one's end; undefined where none was made. */
  span(): { readonly first: number; readonly last: number } | undefined {
    return this.#last === 0 ? undefined : { first: this.#first, last: this.#last };
  }

  /** Counts so far. */
  live(): LiveFigures {
    const live = { requests: 0, errors: 0, refused: 0 };
    for (const { requests, outcomes } of this.#series.values()) {
      live.requests += requests;
      live.refused += outcomes.refused;
      live.errors += outcomes.error + outcomes['unexpected-429'] + outcomes.unfinished;
    }
    return live;
  }

  /** Durations in microseconds and errors of the requests that began since `time`, as far as they are in. */
  since(time: number): { readonly microseconds: number[]; readonly errors: number } {
    const recent = { microseconds: [] as number[], errors: 0 };
    for (const { open } of this.#series.values()) {
      for (const [start, block] of open) {
        if (start < time) continue;
        recent.microseconds.push(...block.values);
        recent.errors += block.errors;
      }
    }
    return recent;
  }

  /** Everything so far, as the result has it. More samples may follow. */
  series(): LoadSeries[] {
    const seconds = this.#seconds();
    return [...this.#series.values()].map((sums) => ({
      stream: sums.stream,
      operation: sums.operation,
      plan: sums.plan,
      ...figuresOf(sums, seconds),
      blockSeconds: this.#blockMs / 1000,
      blocks: this.#blocksOf(sums),
    }));
  }

  #seconds(): number {
    return this.#last === 0 ? 0 : Math.max((this.#last - this.#first) / 1000, 0.001);
  }
}

interface Sums {
  readonly requests: number;
  readonly statuses: ReadonlyMap<number, number>;
  readonly outcomes: Readonly<Record<Outcome, number>>;
  readonly histogram: Histogram;
}

function figuresOf({ requests, statuses, outcomes, histogram }: Sums, seconds: number): LoadFigures {
  return {
    requests,
    perSecond: seconds === 0 ? 0 : requests / seconds,
    statuses: Object.fromEntries([...statuses].toSorted(([a], [b]) => a - b)),
    outcomes: { ...outcomes },
    latency: latencyOf(histogram),
  };
}

/**
 * Several figures as one: counts added up, histograms added up. Exact for counts; percentiles have the histograms'
 * three digits, as if one process had recorded all samples.
 */
export function combine(parts: readonly LoadFigures[], seconds: number): LoadFigures {
  const statuses = new Map<number, number>();
  const outcomes = noOutcomes();
  const histogram = newHistogram();
  let requests = 0;
  for (const part of parts) {
    requests += part.requests;
    for (const [status, count] of Object.entries(part.statuses)) {
      statuses.set(Number(status), (statuses.get(Number(status)) ?? 0) + count);
    }
    for (const outcome of OUTCOMES) outcomes[outcome] += part.outcomes[outcome];
    if (part.latency !== null) histogram.add(histogramFrom(part.latency.histogram));
  }
  return figuresOf({ requests, statuses, outcomes, histogram }, seconds);
}
