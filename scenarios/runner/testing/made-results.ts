/** Results of requests that never were, for tests of arithmetic on them. */
import type { LoadPlan } from '../../lib/messages.ts';
import { conclude } from '../result/conclude.ts';
import { Samples } from '../result/figures.ts';
import type { LoadResult, LoadSeries } from '../result/load-result.ts';
import { Recording } from '../result/recording.ts';

export const START = 1_700_000_000_000;

/** A small generator of even numbers in [0, 1), the same in every run (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The series of so many seconds of lists; `requests` has the start and the microseconds of each within its second. */
export function series(
  seconds: number,
  requests: (second: number) => readonly (readonly [at: number, microseconds: number, outcome?: string])[],
): LoadSeries[] {
  const samples = new Samples(planWith('k'));
  for (let second = 0; second < seconds; second += 1)
    for (const [at, microseconds, outcome = '200 ok'] of requests(second))
      samples.add(START + second * 1000, { [`0 listPets ${outcome}`]: [at, microseconds] });
  return samples.series();
}

/** A plan of one stream that a key pays. */
export const planWith = (key: string, more: Partial<LoadPlan> = {}): LoadPlan => ({
  scenario: 'mixed',
  runId: 'a1',
  target: 'http://127.0.0.1:1/v1',
  keys: [{ name: key, plan: 'pro', env: 'K', perMinute: 300, perDay: 10_000, requests: 9, busiestMinute: 9 }],
  clients: [],
  turns: [[0]],
  mix: { listPets: 1, createPet: 0, getPet: 0 },
  slo: 'p99<5ms',
  clock: { from: 0, at: 0, speed: 1 },
  rate: 10,
  seconds: 10,
  vus: 4,
  validateEvery: 100,
  tagged: false,
  samples: { categoryId: '1', ids: [] },
  headers: [],
  options: {},
  notes: [],
  ...more,
});

/** A log line as k6 writes it. */
export const logged = (message: object): string =>
  JSON.stringify({ level: 'info', msg: `petstore ${JSON.stringify(message)}` });

/** The result of a run that made these requests, ten milliseconds apart, in microseconds. */
export function resultOf(
  key: string,
  durations: readonly number[],
  since = START,
  more: Partial<LoadPlan> = {},
): LoadResult {
  const recording = new Recording({
    plan: planWith(key, more),
    processes: 1,
    redact: (text) => text,
  });
  const numbers = durations.flatMap((duration, index) => [index * 10, duration]);
  recording.add(
    logged({ samples: { since, series: { '0 listPets 200 ok': numbers }, lags: [], added: [] } }),
  );
  return conclude([recording.part()]);
}
