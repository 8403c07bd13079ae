/** Journeys: what one arrival does, whatever the load profile. */
import exec from 'k6/execution';
import { late } from './report.ts';
import { plan } from './run-plan.ts';
import { OPERATIONS } from './scenario.ts';
import { streamNumber } from './script.ts';
import { add, type Caller, caller, get, listRequest, sendList } from './target.ts';

const LAG_EVERY = 16;

const lists =
  plan.lists === 'plain'
    ? [listRequest()]
    : [
        listRequest(),
        listRequest({ status: 'available' }),
        listRequest({ limit: 1 }),
        listRequest({ status: 'pending', limit: 50 }),
        listRequest({ limit: 100 }),
        listRequest({ status: 'sold' }),
        listRequest(),
        listRequest({ status: 'available', limit: 5 }),
      ];

/** The operations of a mix in turn, spread so that equal ones do not follow each other in a row. */
function turns(): number[] {
  const parts = OPERATIONS.map((operation) => plan.mix[operation]);
  const sum = parts.reduce((a, b) => a + b, 0);
  const length = Math.min(100, sum);
  const owed = parts.map(() => 0);
  return Array.from({ length }, () => {
    parts.forEach((part, index) => {
      owed[index] = (owed[index] ?? 0) + part / sum;
    });
    const next = owed.indexOf(Math.max(...owed));
    owed[next] = (owed[next] ?? 0) - 1;
    return next;
  });
}

const order = turns();
const statuses = ['available', undefined, 'pending', 'sold'];

/** This process's part of the keys, where the plan has one for each of several machines. */
function ownShard() {
  if (plan.shards === undefined) return undefined;
  const { executionSegment } = exec.test.options;
  const [numerator = '0', denominator = '1'] = (executionSegment ?? '0').split(':')[0]?.split('/') ?? [];
  return plan.shards[Math.round((Number(numerator) / Number(denominator)) * plan.shards.length)];
}

/** One request of the plan's mix per call, paid by the key whose turn it is. */
export function mixedRequests(streamName: string): () => void {
  const stream = streamNumber(streamName);
  const planned = plan.streams[stream];
  let constantRate = planned?.constantRate;
  let schedule: readonly number[] = [];
  // Making this object costs k6 ten microseconds, asking a kept one two; it stays current.
  let scenario: typeof exec.scenario | undefined;
  const callers: Caller[] = [];
  return () => {
    if (scenario === undefined) {
      scenario = exec.scenario;
      const shard = ownShard();
      schedule = shard?.schedule ?? planned?.schedule ?? [];
      if (constantRate !== undefined && plan.shards !== undefined) constantRate /= plan.shards.length;
    }
    const turn = scenario.iterationInInstance;
    if (constantRate !== undefined && turn % LAG_EVERY === 0) {
      late(Date.now() - scenario.startTime - (turn / constantRate) * 1000);
    }
    const keyIndex = schedule[turn % schedule.length] ?? 0;
    let who = callers[keyIndex];
    if (who === undefined) {
      who = caller(stream, keyIndex);
      callers[keyIndex] = who;
    }
    // Keys and operations would go in step if both followed the turn itself.
    const round = Math.floor(turn / schedule.length);
    const operation = order[(turn + round) % order.length];
    if (operation === 1) add(who, statuses[turn % statuses.length]);
    else if (operation === 2) get(who, turn);
    else {
      const request = lists[turn % lists.length];
      if (request !== undefined) sendList(who, request);
    }
  };
}
