/** Load results of runs that never were, for the tests of their page. */
import { encodeIntoCompressedBase64 } from 'hdr-histogram-js';
import type { LoadOperation, PlanName } from '../../scenarios/lib/scenario.ts';
import type { CapacityResult, CapacityStep } from '../../scenarios/runner/capacity/capacity.ts';
import { combine, latencyOf, newHistogram } from '../../scenarios/runner/result/figures.ts';
import type { LoadBlock, LoadResult, LoadSeries } from '../../scenarios/runner/result/load-result.ts';
import { SAMPLE_START } from './sample-exchanges.ts';

/** A small generator of even numbers in [0, 1), the same in every run (mulberry32). */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const SECONDS = 60;

interface SampleStream {
  readonly operation: LoadOperation;
  readonly plan: PlanName;
  readonly perSecond: number;
  /** Milliseconds. */
  readonly median: number;
  readonly slower?: number;
}

function sampleSeries(
  { operation, plan, perSecond, median, slower = 1 }: SampleStream,
  seed: number,
): LoadSeries {
  const next = numbers(seed);
  const whole = newHistogram();
  const blocks: LoadBlock[] = [];
  let errors = 0;
  for (let second = 0; second < SECONDS; second += 1) {
    const block = newHistogram();
    const troubled = second >= 40 && second < 46;
    for (let index = 0; index < perSecond; index += 1) {
      const normal = Math.sqrt(-2 * Math.log(next() || 1e-9)) * Math.cos(2 * Math.PI * next());
      const ms = median * slower * Math.exp(0.45 * normal) * (troubled ? 3 : 1) * (next() < 0.004 ? 9 : 1);
      block.recordValue(Math.max(1, Math.round(ms * 1000)));
    }
    const failed = troubled ? Math.round(perSecond * 0.12) : 0;
    errors += failed;
    whole.add(block);
    blocks.push({
      at: SAMPLE_START + second * 1000,
      requests: perSecond,
      errors: failed,
      refused: plan === 'free' && second % 20 > 15 ? Math.round(perSecond * 0.3) : 0,
      mean: block.mean / 1000,
      p50: block.getValueAtPercentile(50) / 1000,
      p99: block.getValueAtPercentile(99) / 1000,
      histogram: encodeIntoCompressedBase64(block),
    });
  }
  const requests = perSecond * SECONDS;
  const refused = blocks.reduce((sum, block) => sum + block.refused, 0);
  return {
    stream: 'mixed',
    operation,
    plan,
    requests,
    perSecond,
    statuses: {
      '200': requests - errors - refused,
      ...(refused > 0 ? { '429': refused } : {}),
      ...(errors > 0 ? { '503': errors } : {}),
    },
    outcomes: {
      ok: requests - errors - refused,
      refused,
      'unexpected-429': 0,
      error: errors,
      violation: 0,
      unfinished: 0,
    },
    latency: latencyOf(whole),
    blockSeconds: 1,
    blocks,
  };
}

/** A run of a minute with six seconds of trouble; `slower` multiplies every latency. */
export function loadResult(
  options: { readonly slower?: number; readonly hostile?: string } = {},
): LoadResult {
  const { slower = 1, hostile } = options;
  const streams: SampleStream[] = [
    { operation: 'listPets', plan: 'business', perSecond: 80, median: 12, slower },
    { operation: 'getPet', plan: 'business', perSecond: 40, median: 5, slower },
    { operation: 'createPet', plan: 'pro', perSecond: 10, median: 21, slower },
    { operation: 'listPets', plan: 'free', perSecond: 10, median: 13, slower },
  ];
  const series = streams.map((stream, index) => sampleSeries(stream, index + 1));
  return {
    formatVersion: 1,
    run: {
      id: '7f3a91c2',
      scenario: hostile ?? 'mixed',
      answers: hostile ?? 'How does a realistic mix of operations fare?',
      target: hostile ?? 'https://staging.example.com/v1',
      startedAt: new Date(SAMPLE_START).toISOString(),
      durationSeconds: SECONDS,
      harnessVersion: '0.1.0',
      k6Version: '2.2.0',
      k6ExitCode: 99,
      shards: 2,
      clockSpeed: 1,
      animalsAdded: 600,
    },
    verdict: 'broken',
    notes: [hostile ?? 'Six seconds of trouble from second 40 on.'],
    series,
    total: combine(series, SECONDS),
    thresholds: [
      { name: 'p99<200ms', held: true, actual: '96 ms' },
      { name: 'errors<0.1%', held: false, actual: hostile ?? '1.2 %', expected: 'below 0.1 %' },
    ],
    generator: {
      droppedIterations: 0,
      scheduleLagP95Ms: 1.4,
      cpuMeanPart: 0.21,
      cpuPeakPart: 0.4,
      memoryPeakBytes: 180_000_000,
      errorLines: [],
      limit: null,
    },
    violations: [
      {
        requirement: 'rate-headers-on-200',
        reported: 3,
        example: {
          requirement: 'rate-headers-on-200',
          detail: hostile ?? 'X-RateLimit-Reset is missing',
          operation: 'listPets',
          method: 'GET',
          path: hostile ?? '/pets?limit=20',
          key: 'business-1',
          status: 200,
          headers: { 'Content-Type': 'application/json', 'X-Hostile': hostile ?? '' },
          body: hostile ?? '[]',
        },
      },
    ],
    measurements: [],
    bill: {
      total: 8_400,
      keys: [
        {
          key: 'business-1',
          plan: 'business',
          requests: 7_200,
          busiestMinute: 900,
          perMinute: 1_000,
          perDay: 100_000,
          sent: 7_200,
          refused: 0,
        },
        {
          key: 'free-1',
          plan: 'free',
          requests: 600,
          busiestMinute: 60,
          perMinute: 60,
          perDay: 1_000,
          sent: 600,
          refused: 27,
        },
      ],
    },
  };
}

/** A search that found 410 requests/s. */
export function capacityResult(hostile?: string): CapacityResult {
  const step = (rate: number, phase: CapacityStep['phase']): CapacityStep => {
    const held = rate <= 412;
    const p99 = held ? 18 + 160 * (rate / 430) ** 6 : 240 * (rate / 412) ** 3;
    return {
      rate,
      phase,
      held,
      p50: p99 / 4,
      p99,
      errorPart: held ? 0 : 0.004,
      growth: held ? 0 : 12,
      seconds: 5,
      requests: rate * 5,
      reason: hostile ?? (held ? 'held' : `p99<200ms: ${Math.round(p99)} ms`),
    };
  };
  return {
    formatVersion: 1,
    run: {
      target: hostile ?? 'https://staging.example.com/v1',
      slo: 'p99<200ms,errors<0.1%',
      startedAt: new Date(SAMPLE_START).toISOString(),
      durationSeconds: 168,
      harnessVersion: '0.1.0',
      k6Version: '2.2.0',
    },
    outcome: 'found',
    reason: hostile ?? 'The objective held up to 410 requests/s.',
    capacity: 410,
    interval: [398, 421],
    steps: [
      ...[20, 40, 80, 160, 320, 640].map((rate) => step(rate, 'bracket')),
      ...[450, 380, 415].map((rate) => step(rate, 'bisect')),
      ...[408, 420, 402, 412, 425, 405].map((rate) => step(rate, 'knee')),
    ],
  };
}
