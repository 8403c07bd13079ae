/** One client goes on after 429 until it is banned; bystanders on other keys must not feel it. */
import { mixedRequests } from './lib/journeys.ts';
import { abuse, client } from './lib/personas.ts';
import { drain as drainSamples } from './lib/report.ts';

const LONGEST_BAN_SECONDS = 180;

export { drain, handleSummary, options, teardown } from './lib/script.ts';
export default function (): void {
  abuse(client('abuser'), LONGEST_BAN_SECONDS);
  drainSamples();
}
export const bystander = mixedRequests('bystanders');
