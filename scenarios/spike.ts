/** A tenth of the rate, a sudden rush to all of it, back to a tenth. */
import { mixedRequests } from './lib/journeys.ts';

export { drain, handleSummary, options, teardown } from './lib/script.ts';
export default mixedRequests('clients');
