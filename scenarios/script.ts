/** The script that k6 runs, whatever the scenario: its exports are named in k6's options (runner/k6/k6-options.ts). */
import { sleep } from 'k6';
import exec from 'k6/execution';
import type { PlannedStream } from './lib/load-plan.ts';
import { drain as drainSamples, noteLag, tell } from './lib/report.ts';
import { plan } from './lib/run-plan.ts';
import { add, type Caller, caller, get, list, listRequest } from './lib/target.ts';

export { abuse, burst, edge, noise, polite, setup, teardown } from './clients.ts';
export const { options } = plan;

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
const statuses = ['available', undefined, 'pending', 'sold'];
const { listPets, createPet, getPet } = plan.mix;
const parts = listPets + createPet + getPet;

/** One of several, by chance. */
const oneOf = <Item>(items: readonly Item[]) => items[(Math.random() * items.length) | 0];

/** Whether there is nothing to choose. */
const isOneList = listPets === parts && lists.length === 1;

function sendOne(who: Caller): void {
  const [plain] = lists;
  const place = isOneList ? 0 : Math.random() * parts;
  const request = isOneList ? plain : oneOf(lists);
  if (place < listPets && request !== undefined) list(who, request, false);
  else if (place < listPets + createPet) add(who, oneOf(statuses));
  else get(who);
}

/** Whose turn it is to pay, for the requests of this process. */
function ownTurns(): readonly number[] {
  const start = (exec.test.options.executionSegment ?? '0').split(':')[0] ?? '0';
  const [numerator = '0', denominator = '1'] = start.split('/');
  return plan.turns[Math.round((Number(numerator) / Number(denominator)) * plan.turns.length)] ?? [];
}

/** A stream with a rate, as this VU knows it from its first arrival on. */
interface Arrivals {
  readonly stream: number;
  readonly constant: PlannedStream['constant'];
  /** Milliseconds since 1970 until which k6 cannot have begun more than was paid. */
  readonly paidUntil: number;
}

// Making this object costs k6 ten microseconds, and asking it for something two; it stays current.
let scenario: typeof exec.scenario | undefined;
let turns: readonly number[] = [];
const streams = new Map<string, Arrivals>();
/** The stream, where there is only one. */
let only: Arrivals | undefined;
let arrived = 0;

function arrivalsNow(): Arrivals {
  if (scenario === undefined) {
    scenario = exec.scenario;
    turns = ownTurns();
  }
  const { name } = scenario;
  let arrivals = streams.get(name);
  if (arrivals === undefined) {
    const stream = plan.streams.findIndex((each) => each.name === name);
    const constant = plan.streams[stream]?.constant;
    const seconds = constant === undefined ? Number.POSITIVE_INFINITY : constant.requests / constant.rate;
    arrivals = { stream, constant, paidUntil: scenario.startTime + seconds * 1000 - 1 };
    streams.set(name, arrivals);
    if (plan.streams.length === 1) only = arrivals;
  }
  return arrivals;
}

/** An arrival of a stream with a rate: one request of the plan's mix, paid by the key whose turn it is. */
export default function arrive(): void {
  const now = Date.now();
  const { stream, constant, paidUntil } = only ?? arrivalsNow();
  // Where the machine stalls at the end of a constant rate k6 goes on for a moment.
  if (now >= paidUntil && (scenario?.iterationInTest ?? 0) >= (constant?.requests ?? 0)) return;
  arrived += 1;
  if (constant !== undefined && arrived % LAG_EVERY === 0) {
    const { startTime = 0, iterationInInstance = 0 } = scenario ?? {};
    noteLag(now - startTime - (iterationInInstance / constant.rate) * plan.turns.length * 1000);
  }
  const place = turns.length === 1 ? 0 : (scenario?.iterationInInstance ?? 0) % turns.length;
  sendOne(caller(stream, turns[place] ?? 0));
}

/** Longer than k6 takes to get hold of a VU whose request it cut off. */
const HOLD_SECONDS = 0.3;

/**
 * Every VU runs it once, after the load. None gives itself back before k6 has got hold of all of them: it would be
 * taken a second time, in place of the one whose request was cut off, and that request be forgotten.
 */
export function drain(): void {
  drainSamples();
  sleep(HOLD_SECONDS);
}

interface Summary {
  readonly metrics: Readonly<Record<string, { readonly values: { readonly count: number } }>>;
}

/** Tells at the end what was run and what k6 counted: of arrivals that it dropped there are no samples. */
export function handleSummary({ metrics }: Summary): Record<string, string> {
  const { options: _, samples: __, ...told } = plan;
  const count = (metric: string) => metrics[metric]?.values.count ?? 0;
  tell({ kind: 'end', plan: told, dropped: count('dropped_iterations'), requests: count('http_reqs') });
  return {};
}
