/**
 * A separate process for one exchange, to measure its memory: `node one-exchange.js URL [short]` prints the outcome and
 * the process's peak memory.
 */
import { createClient } from '../../../wire/client.ts';
import { parseJson } from '../../../wire/lossless-json.ts';
import { AMPLE_LIMITS, SHORT_LIMITS } from './hostile-target.ts';

const KEY = 'sk_live_4f9Zq7TrXyAbC';
const client = createClient({
  baseUrl: process.argv[2] ?? '',
  now: Date.now,
  secrets: [KEY],
  timeouts: process.argv[3] === 'short' ? SHORT_LIMITS : AMPLE_LIMITS,
});
const { outcome } = await client.exchange(
  {
    operation: 'listPets',
    method: 'GET',
    path: '/pets',
    authorization: { kind: 'key', name: 'free-1', value: KEY },
  },
  { id: 'one#1', sentBy: 'one' },
);
await client.close();
const seen =
  outcome.kind === 'response'
    ? { kind: outcome.kind, bodyBytes: outcome.bodyBytes, json: parseJson(outcome.body).ok }
    : outcome;
process.stdout.write(
  JSON.stringify({ ...seen, megabytes: Math.round(process.resourceUsage().maxRSS / 1024) }),
);
