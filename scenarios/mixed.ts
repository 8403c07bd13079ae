/** The three operations in a mix that --mix sets, with filters and limits. */
import { mixedRequests } from './lib/journeys.ts';

export { drain, handleSummary, options, teardown } from './lib/script.ts';
export default mixedRequests('clients');
