/**
 * The scenarios' facts: what each answers, how its load goes, who pays, what must hold. What their clients do is in
 * the script of the same name.
 */
import type { Mix, ScenarioFacts } from './scenario.ts';

const USUAL_MIX: Mix = { listPets: 80, createPet: 5, getPet: 15 };
const READ_MIX: Mix = { listPets: 80, createPet: 0, getPet: 20 };

export const CATALOGUE: readonly ScenarioFacts[] = [
  {
    name: 'smoke',
    answers: 'Does the target answer all three operations rightly under a breath of load?',
    rate: 5,
    seconds: 10,
    streams: [{ kind: 'rate', name: 'smoke', exec: 'default', profile: 'constant' }],
    mix: { listPets: 60, createPet: 10, getPet: 30 },
    thresholds: 'errors==0,violations==0,p95<1s',
    needs: [],
  },
  {
    name: 'average-load',
    answers: 'What latency do clients see on a usual day?',
    rate: 10,
    seconds: 300,
    streams: [{ kind: 'rate', name: 'clients', exec: 'default', profile: 'average-load' }],
    mix: USUAL_MIX,
    thresholds: 'errors<0.1%,violations==0,p95<300ms,p99<500ms',
    needs: [],
  },
  {
    name: 'stress',
    answers: 'What gives at twice the usual load, and does it come back after?',
    rate: 8,
    seconds: 300,
    streams: [{ kind: 'rate', name: 'clients', exec: 'default', profile: 'stress' }],
    mix: USUAL_MIX,
    thresholds: 'errors<1%,violations==0,p99<1s',
    needs: [],
    judges: ['recovery'],
  },
  {
    name: 'spike',
    answers: 'Does a sudden tenfold rush break anything, and for how long?',
    rate: 40,
    seconds: 60,
    streams: [{ kind: 'rate', name: 'clients', exec: 'default', profile: 'spike' }],
    mix: READ_MIX,
    thresholds: 'errors<1%,violations==0,p99<2s',
    needs: [],
    judges: ['recovery'],
  },
  {
    name: 'soak',
    answers: 'Does latency creep up over hours (a leak, a growing store, a filling log)?',
    rate: 10,
    seconds: 3600,
    streams: [{ kind: 'rate', name: 'clients', exec: 'default', profile: 'soak' }],
    mix: READ_MIX,
    thresholds: 'errors<0.1%,violations==0,p99<500ms,p99.95<2s',
    needs: [],
    judges: ['latency-trend'],
  },
  {
    name: 'breakpoint',
    answers: 'At which rate does the target first break its objective?',
    rate: 200,
    seconds: 120,
    streams: [{ kind: 'rate', name: 'clients', exec: 'default', profile: 'breakpoint' }],
    mix: { listPets: 100, createPet: 0, getPet: 0 },
    thresholds: 'errors<1%,p99<500ms',
    needs: [],
    stopWhenBroken: true,
  },
  {
    name: 'mixed',
    answers: 'How does each operation fare in the mix that clients send (--mix)?',
    rate: 10,
    seconds: 60,
    streams: [{ kind: 'rate', name: 'clients', exec: 'default', profile: 'constant' }],
    mix: USUAL_MIX,
    thresholds: 'errors<0.1%,violations==0,p99<500ms',
    needs: [],
  },
  {
    name: 'plan-limit-edge',
    answers: "Does each plan get exactly its minute's quota when many requests come at once?",
    rate: 0,
    seconds: 0,
    // Three windows, and time for a slow target to answer as many requests.
    targetSeconds: 600,
    streams: [
      {
        kind: 'clients',
        name: 'edge',
        exec: 'default',
        role: 'exhaust',
        plans: ['free', 'pro', 'business'],
        overLimit: true,
        // The most that comes together is what goes over the limit, with what looks for its window.
        cost: { minutes: 3, plus: 5, busiestMinute: { minutes: 1, plus: 4 } },
      },
    ],
    mix: READ_MIX,
    thresholds: 'errors==0,violations==0',
    needs: ['exhaust'],
  },
  {
    name: 'polite-clients',
    answers: 'Do clients that wait as told get what they pay for, and are they never banned?',
    rate: 0,
    seconds: 0,
    targetSeconds: 115,
    streams: [
      {
        kind: 'clients',
        name: 'polite',
        exec: 'default',
        role: 'exhaust',
        plans: ['free', 'pro', 'business'],
        overLimit: true,
        // Three windows' quota fits into the time, or a bucket's and two refills, with a refusal a second; twice the
        // minute's quota fits into a minute.
        cost: { minutes: 3, plus: 150, busiestMinute: { minutes: 2, plus: 75 } },
      },
    ],
    mix: READ_MIX,
    thresholds: 'errors==0,violations==0',
    needs: ['exhaust'],
  },
  {
    name: 'abusive-client',
    answers: 'When is a key that goes on after 429 banned, for how long, and does anybody else feel it?',
    rate: 2,
    seconds: 0,
    targetSeconds: 240,
    streams: [
      {
        kind: 'clients',
        name: 'abuser',
        exec: 'default',
        role: 'ban',
        count: 1,
        overLimit: true,
        cost: { minutes: 2, plus: 70 },
      },
      { kind: 'rate', name: 'bystanders', exec: 'bystander', profile: 'constant' },
    ],
    mix: READ_MIX,
    thresholds: 'errors==0,violations==0',
    needs: ['exhaust', 'ban'],
  },
  {
    name: 'noisy-neighbour',
    answers: 'Does a key far over its limit cost another key latency or errors?',
    rate: 10,
    seconds: 60,
    streams: [
      { kind: 'rate', name: 'alone', exec: 'default', profile: 'constant', from: 0, to: 0.5 },
      { kind: 'rate', name: 'disturbed', exec: 'disturbed', profile: 'constant', from: 0.5, to: 1 },
      {
        kind: 'clients',
        name: 'noise',
        exec: 'noise',
        role: 'ban',
        count: 1,
        from: 0.5,
        overLimit: true,
        cost: { minutes: 0, plus: 20, perSecond: 10 },
      },
    ],
    mix: READ_MIX,
    thresholds: 'errors==0,violations==0',
    needs: ['exhaust', 'ban'],
    judges: ['neighbour'],
  },
  {
    name: 'burst',
    answers: 'Are additions at one moment all counted, all kept, and each given its own id?',
    rate: 0,
    seconds: 5,
    // A slow target is waited for.
    targetSeconds: 60,
    streams: [
      {
        kind: 'clients',
        name: 'burst',
        exec: 'default',
        role: 'load',
        count: 20,
        cost: { minutes: 0, plus: 13 },
      },
    ],
    mix: { listPets: 0, createPet: 100, getPet: 0 },
    thresholds: 'errors==0,violations==0',
    needs: ['writes'],
    judges: ['unique-ids'],
  },
];

/** One step of the search for a capacity: a constant rate, the plainest request. */
export const CAPACITY_STEP: ScenarioFacts = {
  name: 'capacity',
  answers: 'What is the highest rate at which the target holds its objective?',
  rate: 10,
  seconds: 5,
  streams: [{ kind: 'rate', name: 'step', exec: 'default', profile: 'constant' }],
  mix: { listPets: 100, createPet: 0, getPet: 0 },
  thresholds: 'p99<200ms,errors<0.1%',
  needs: [],
};

/** A scenario by its name. */
export function scenarioNamed(name: string): ScenarioFacts | undefined {
  return CATALOGUE.find((scenario) => scenario.name === name);
}
