/** A steady rate for hours; the report looks for latency that creeps up. */
import { mixedRequests } from './lib/journeys.ts';

export { drain, handleSummary, options, teardown } from './lib/script.ts';
export default mixedRequests('clients');
