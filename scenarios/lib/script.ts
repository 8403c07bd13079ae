/** What every scenario's script exports beside its own functions. */
import { sleep } from 'k6';
import http from 'k6/http';
import type { RunFacts } from './events.ts';
import { drain as drainSamples, tell } from './report.ts';
import { plan } from './run-plan.ts';
import { RUN_MARK } from './sample.ts';

/** k6's options, as the runner planned them. Where most bodies are left unread, what is to be read says so. */
export const options = { ...plan.options, discardResponseBodies: plan.validateEvery > 1 };

/** Longer than k6 takes to get hold of a VU whose request it cut off. */
const HOLD_SECONDS = 0.3;

/**
 * Every VU runs it once, after the load. None gives itself back before k6 has got hold of all of them: it would be
 * taken a second time, in place of the one whose request was cut off, and that request be forgotten.
 */
export function drain(): void {
  drainSamples();
  sleep(HOLD_SECONDS);
}

/** Tells k6's own figures: the arrivals that it dropped are in nobody's samples. */
export function teardown(): void {
  if (plan.control === undefined) return;
  const { status, body } = http.get(`http://${plan.control}/v1/metrics`, { responseType: 'text' });
  if (status !== 200) return;
  const { data }: K6Metrics = JSON.parse(body);
  data.sort((a, b) => (a.id < b.id ? -1 : 1));
  const metrics = data.map(
    ({ id, attributes: { type, contains, sample } }) => [id, { type, contains, values: sample }] as const,
  );
  tell({ kind: 'figures', metrics: Object.fromEntries(metrics) });
}

/** What k6's API answers to GET /v1/metrics. */
interface K6Metrics {
  readonly data: {
    readonly id: string;
    readonly attributes: { type: string; contains: string; sample: Record<string, number> };
  }[];
}

/** Where the log is all that a runner leaves, it ends with what was run. */
export function handleSummary(data: Summary): Record<string, string> {
  if (plan.report === undefined) return {};
  const { scenario, runId, target, keys, streams, report, clock } = plan;
  const facts: RunFacts = {
    scenario,
    runId,
    target,
    keys: [...keys],
    streams: streams.map(({ name }) => name),
    report,
    clockSpeed: clock.speed,
    dropped: data.metrics.dropped_iterations?.values.count ?? 0,
  };
  return { stdout: `${RUN_MARK}${JSON.stringify(facts)}\n` };
}

interface Summary {
  readonly metrics: { readonly dropped_iterations?: { readonly values: { readonly count: number } } };
}

/** The place of a stream in the plan. */
export function streamNumber(name: string): number {
  const index = plan.streams.findIndex((stream) => stream.name === name);
  if (index < 0) throw new Error(`the plan has no stream ${name}`);
  return index;
}
