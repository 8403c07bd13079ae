/** A breath of load on all three operations: is the target up and right? */
import { mixedRequests } from './lib/journeys.ts';

export { drain, handleSummary, options, teardown } from './lib/script.ts';
export default mixedRequests('smoke');
