/** One client a key that takes what it can get and waits as section 8 asks. */
import { client, polite } from './lib/personas.ts';
import { drain as drainSamples } from './lib/report.ts';

/** Just under two windows: then every kind of window owes the client the same. */
const SECONDS = 115;

export { drain, handleSummary, options, teardown } from './lib/script.ts';
export default function (): void {
  polite(client('polite'), SECONDS);
  drainSamples();
}
