/** What every scenario's script exports beside its own functions. */
import { drain as drainSamples } from './report.ts';
import { plan } from './run-plan.ts';

/** k6's options, as the runner planned them. */
export const options = plan.options;

/** Every VU runs it once, after the load. */
export function drain(): void {
  drainSamples();
}

/** Leaves k6's own figures in a file, for those who know them; the report is made from the samples. */
export function handleSummary(data: unknown): Record<string, string> {
  return plan.summaryFile === undefined ? {} : { [plan.summaryFile]: JSON.stringify(data, null, 2) };
}

/** The place of a stream in the plan. */
export function streamNumber(name: string): number {
  const index = plan.streams.findIndex((stream) => stream.name === name);
  if (index < 0) throw new Error(`the plan has no stream ${name}`);
  return index;
}
