/** Requests at the rate of the plan's only stream: the script of every scenario that has no clients at their own pace. */
import { mixedRequests } from './lib/journeys.ts';
import { plan } from './lib/run-plan.ts';

export { drain, handleSummary, options, teardown } from './lib/script.ts';
export default mixedRequests(plan.streams[0]?.name ?? '');
