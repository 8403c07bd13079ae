/** The usual day: ramp up, hold, ramp down. */
import { mixedRequests } from './lib/journeys.ts';

export { drain, handleSummary, options, teardown } from './lib/script.ts';
export default mixedRequests('clients');
