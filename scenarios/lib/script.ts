/** What every scenario's script exports beside its own functions. */
import { drain as drainSamples } from './report.ts';
import { plan } from './run-plan.ts';
import { RUN_MARK } from './sample.ts';

/** k6's options, as the runner planned them. */
export const options = plan.options;

/** Every VU runs it once, after the load. */
export function drain(): void {
  drainSamples();
}

/**
 * Leaves k6's own figures in a file, for those who know them; the report is made from the samples. Where the log is
 * all that a runner leaves, it ends with what was run.
 */
export function handleSummary(data: Summary): Record<string, string> {
  if (plan.summaryFile !== undefined) return { [plan.summaryFile]: JSON.stringify(data, null, 2) };
  const { scenario, runId, target, keys, streams, report, clock } = plan;
  const facts = {
    scenario,
    runId,
    target,
    keys,
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
