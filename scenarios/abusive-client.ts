/** One client keeps sending after a 429 until it is banned. Bystanders on other keys must not be affected. */
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
