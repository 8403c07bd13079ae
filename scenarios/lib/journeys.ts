/** Journeys: what one arrival does, whatever the load profile. */
import exec from 'k6/execution';
import { noteLag } from './report.ts';
import { plan } from './run-plan.ts';
import { streamNumber } from './script.ts';
import { add, type Caller, caller, get, listRequest, listSender } from './target.ts';

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

/**
 * Where a turn stands among the mix, from 0 to SPAN. Multiples of the golden ratio fill any range evenly, also those
 * of every second or every fourth turn: so each key sends the mix, and none of them always the same request. In whole
 * numbers, which cost k6 a third of fractions.
 */
const SPAN = 65_536;
const GOLDEN = 40_503;
const { listPets, createPet, getPet } = plan.mix;
const parts = listPets + createPet + getPet;
const listEnd = (SPAN * listPets) / parts;
const addEnd = (SPAN * (listPets + createPet)) / parts;
const listStep = listEnd / lists.length;
const statuses = ['available', undefined, 'pending', 'sold'];
const addStep = (addEnd - listEnd) / statuses.length;
/** Whether a journey has no other request than one list. */
const isOnlyList = listPets === parts && lists.length === 1;

/** This process's part of the keys, where the plan has one for each of several machines. */
function ownShard() {
  if (plan.shards === undefined) return undefined;
  const { executionSegment } = exec.test.options;
  const [numerator = '0', denominator = '1'] = (executionSegment ?? '0').split(':')[0]?.split('/') ?? [];
  return plan.shards[Math.round((Number(numerator) / Number(denominator)) * plan.shards.length)];
}

/** As Date.now, which would be looked up twice for every request. */
const { now: clock } = Date;

/** A key and what sends each kind of list at its cost. */
interface Payer {
  readonly who: Caller;
  readonly lists: readonly ((now: number) => void)[];
}

/** One request of the plan's mix per call, paid by the key whose turn it is. */
export function mixedRequests(streamName: string): () => void {
  const stream = streamNumber(streamName);
  const planned = plan.streams[stream];
  let constantRate = planned?.constantRate;
  let schedule: readonly number[] = [];
  // Making this object costs k6 ten microseconds, asking a kept one two; it stays current.
  let scenario: typeof exec.scenario | undefined;
  const payers: Payer[] = [];
  const payerOf = (keyIndex: number) => {
    const who = caller(stream, keyIndex);
    const payer = { who, lists: lists.map((request) => listSender(who, request)) };
    payers[keyIndex] = payer;
    return payer;
  };
  /** Sends every request, where nothing depends on the turn. */
  let sendOnly: ((now: number) => void) | undefined;
  const paid = planned?.paid;
  /** Milliseconds since 1970 until which k6 cannot have begun more than was paid. */
  let paidUntil = Number.POSITIVE_INFINITY;
  const isUnpaid = () => paid !== undefined && (scenario?.iterationInTest ?? 0) >= paid.requests;
  return () => {
    const now = clock();
    // Where the machine stalls at the end of a constant rate k6 goes on for a moment.
    if (now >= paidUntil && isUnpaid()) return;
    if (sendOnly !== undefined) return sendOnly(now);
    if (scenario === undefined) {
      scenario = exec.scenario;
      if (paid !== undefined) paidUntil = scenario.startTime + paid.seconds * 1000 - 1;
      if (isUnpaid()) return;
      const shard = ownShard();
      schedule = shard?.schedule ?? planned?.schedule ?? [];
      if (constantRate !== undefined && plan.shards !== undefined) constantRate /= plan.shards.length;
      const [first] = schedule;
      const isSame = constantRate === undefined && schedule.every((index) => index === first);
      if (isOnlyList && isSame && first !== undefined) [sendOnly] = payerOf(first).lists;
    }
    const turn = scenario.iterationInInstance;
    if (constantRate !== undefined && turn % LAG_EVERY === 0) {
      noteLag(now - scenario.startTime - (turn / constantRate) * 1000);
    }
    const keyIndex = schedule[turn % schedule.length] ?? 0;
    const { who, lists: senders } = payers[keyIndex] ?? payerOf(keyIndex);
    const place = (turn * GOLDEN) & (SPAN - 1);
    if (place < listEnd) senders[(place / listStep) | 0]?.(now);
    else if (place < addEnd) add(who, statuses[((place - listEnd) / addStep) | 0]);
    else get(who);
  };
}
