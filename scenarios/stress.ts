/** Usual load, twice that, back: what gives, and does it recover? */
import { mixedRequests } from './lib/journeys.ts';

export { drain, handleSummary, options, teardown } from './lib/script.ts';
export default mixedRequests('clients');
