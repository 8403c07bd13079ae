/** Each key sends just below, at and over the quota of its plan's minute, each in a window of its own. */
import { client, edge } from './lib/personas.ts';
import { drain as drainSamples } from './lib/report.ts';

export { drain, handleSummary, options, teardown } from './lib/script.ts';
export default function (): void {
  edge(client('edge'));
  drainSamples();
}
