/** One client for each key. It sends as much as it may, and waits as section 8 asks. */
import { client, polite } from './lib/personas.ts';
import { drain as drainSamples } from './lib/report.ts';

/** Just under two windows. In this time every kind of window admits the same number of requests. */
const SECONDS = 115;

export { drain, handleSummary, options, teardown } from './lib/script.ts';
export default function (): void {
  polite(client('polite'), SECONDS);
  drainSamples();
}
