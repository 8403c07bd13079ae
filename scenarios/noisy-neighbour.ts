/** A client at a steady rate, first alone, then beside one that sends far more than its limit. */
import { sleep } from 'k6';
import exec from 'k6/execution';
import { mixedRequests } from './lib/journeys.ts';
import { client } from './lib/personas.ts';
import { drain as drainSamples } from './lib/report.ts';
import { plan } from './lib/run-plan.ts';
import { list, listRequest } from './lib/target.ts';

/** Ten requests a second, as in the bill; a Free key has one. */
const PAUSE_SECONDS = 0.1;

export { drain, handleSummary, options, teardown } from './lib/script.ts';
export default mixedRequests('alone');
export const disturbed = mixedRequests('disturbed');

export function noise(): void {
  const who = client('noise');
  const request = listRequest({ limit: 100 });
  const end = exec.scenario.startTime + plan.seconds * 500;
  while (Date.now() < end) {
    list(who, request);
    sleep(PAUSE_SECONDS);
  }
  drainSamples();
}
