/** The rate climbs evenly until the objective breaks, which ends the run. */
import { mixedRequests } from './lib/journeys.ts';

export { drain, handleSummary, options, teardown } from './lib/script.ts';
export default mixedRequests('clients');
