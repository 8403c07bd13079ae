/** One step of the search for a capacity: a constant rate; runner/capacity.ts decides on the next. */
import { mixedRequests } from './lib/journeys.ts';

export { drain, handleSummary, options, teardown } from './lib/script.ts';
export default mixedRequests('step');
