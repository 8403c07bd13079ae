/** The script that k6 runs, whatever the scenario: its exports are named in k6's options (runner/k6/k6-options.ts). */
import { sleep } from 'k6';
import exec from 'k6/execution';
import { arrivalsOf } from './lib/load-profiles.ts';
import { drain as drainSamples, facts, noteLag, plan, tell } from './lib/run.ts';
import { TLS_CERT, TLS_KEY } from './lib/scenario.ts';
import { add, type Caller, caller, get, listRequest, send } from './lib/target.ts';

export * from './clients.ts';

const { [TLS_CERT]: cert, [TLS_KEY]: key } = __ENV;
export const options = {
  ...plan.options,
  ...(cert === undefined || key === undefined ? {} : { tlsAuth: [{ cert, key }] }),
};

const LAG_EVERY = 16;

const plain = listRequest();
const lists =
  facts.plainLists === true
    ? [plain]
    : [
        plain,
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

// k6 looks a global and its property up at each call.
const { now: clock } = Date;
const { random } = Math;

/** One of several, by chance. */
const oneOf = <Item>(items: readonly Item[]) => items[(random() * items.length) | 0];

/** Whose turn it is to pay, for the requests of this process. */
function ownTurns(): readonly number[] {
  const start = (exec.test.options.executionSegment ?? '0').split(':')[0] ?? '0';
  const [numerator = '0', denominator = '1'] = start.split('/');
  return plan.turns[Math.round((Number(numerator) / Number(denominator)) * plan.turns.length)] ?? [];
}

const { rate } = plan;
const isConstant = facts.profile === 'constant';
/** Of a constant rate: the requests that are paid. */
const paid = isConstant ? arrivalsOf({ ...plan, facts }) : Number.POSITIVE_INFINITY;
// Making this object costs k6 ten microseconds, and reading one of its fields one; it stays current.
let scenario: typeof exec.scenario;
let payers: readonly Caller[] = [];
let lastAt = Number.POSITIVE_INFINITY;
let arrived = 0;

function takeTurns(): void {
  scenario = exec.scenario;
  payers = ownTurns().map(caller);
  if (isConstant) lastAt = scenario.startTime + ((paid - 1) / rate) * 1000;
}

/** An arrival: one request of the plan's mix, paid by the key whose turn it is. */
export default function arrive(): void {
  const now = clock();
  if (payers.length === 0) takeTurns();
  // k6 begins one more at the very end of a constant rate, and goes on for a moment where the machine stalls.
  if (now >= lastAt && scenario.iterationInTest >= paid) return;
  arrived += 1;
  if (isConstant && arrived % LAG_EVERY === 0)
    noteLag(now - scenario.startTime - (scenario.iterationInInstance / rate) * plan.turns.length * 1000);
  const who = payers[payers.length === 1 ? 0 : scenario.iterationInInstance % payers.length];
  if (who === undefined) return;
  const place = random() * parts;
  if (place < listPets) send(who.listPets, lists.length === 1 ? plain : (oneOf(lists) ?? plain), now, false);
  else if (place < listPets + createPet) add(who, oneOf(statuses));
  else get(who);
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
  const count = (metric: string) => metrics[metric]?.values.count ?? 0;
  tell({ end: { plan, dropped: count('dropped_iterations'), requests: count('http_reqs') } });
  return {};
}
