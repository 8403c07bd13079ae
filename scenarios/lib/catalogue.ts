/** The scenarios' facts: what each answers, how its load goes, who pays, what must hold. */
import type { Mix, ScenarioFacts } from './scenario.ts';

const USUAL_MIX: Mix = { listPets: 80, createPet: 5, getPet: 15 };
const READ_MIX: Mix = { listPets: 80, createPet: 0, getPet: 20 };
const LIST_MIX: Mix = { listPets: 100, createPet: 0, getPet: 0 };

/** The usual load before a peak, and the same load after it. */
const RECOVERY = { name: 'latency and errors recover after the peak', tolerated: 0.5 } as const;
const HALVES = { earlier: [0, 0.5], later: 0.5, tolerated: 0.25 } as const;
/** Where windows and bans are the question, any error answers it. */
const NOTHING_WRONG = 'errors==0,violations==0';

export const CATALOGUE: readonly ScenarioFacts[] = [
  {
    name: 'smoke',
    answers: 'Does the target answer all three operations correctly under light load?',
    rate: 5,
    seconds: 10,
    profile: 'constant',
    mix: { listPets: 60, createPet: 10, getPet: 30 },
    thresholds: 'errors==0,violations==0,p95<1s',
  },
  {
    name: 'average-load',
    answers: 'What latency do clients see on an ordinary day?',
    rate: 10,
    seconds: 300,
    profile: 'average-load',
    mix: USUAL_MIX,
    thresholds: 'errors<0.1%,violations==0,p95<300ms,p99<500ms',
  },
  {
    name: 'stress',
    answers: 'What degrades at twice the usual load, and does it recover?',
    rate: 8,
    seconds: 300,
    profile: 'stress',
    mix: USUAL_MIX,
    thresholds: 'errors<1%,violations==0,p99<1s',
    compares: { ...RECOVERY, earlier: [0.1, 0.3], later: 0.85 },
  },
  {
    name: 'spike',
    answers: 'Does a sudden tenfold spike break anything, and for how long?',
    rate: 40,
    seconds: 60,
    profile: 'spike',
    mix: READ_MIX,
    thresholds: 'errors<1%,violations==0,p99<2s',
    compares: { ...RECOVERY, earlier: [0, 0.4], later: 0.62 },
  },
  {
    name: 'soak',
    answers: 'Does latency creep up over hours (a leak, a growing store, a filling log)?',
    rate: 10,
    seconds: 3600,
    profile: 'soak',
    mix: READ_MIX,
    thresholds: 'errors<0.1%,violations==0,p99<500ms,p99.95<2s',
    // It grows by half over the run, which is a quarter from its first half to its second.
    compares: { ...HALVES, name: 'latency does not creep up' },
  },
  {
    name: 'breakpoint',
    answers: 'At which rate does the target first miss its objective?',
    rate: 200,
    seconds: 120,
    profile: 'breakpoint',
    mix: LIST_MIX,
    thresholds: 'errors<1%,p99<500ms',
  },
  {
    name: 'mixed',
    answers: 'How does each operation perform in a given mix (--mix)?',
    rate: 10,
    seconds: 60,
    profile: 'constant',
    mix: USUAL_MIX,
    thresholds: 'errors<0.1%,violations==0,p99<500ms',
  },
  {
    name: 'plan-limit-edge',
    answers: "Does each plan get exactly its minute's quota under concurrent requests?",
    // Three windows, and time for a slow target to answer as many requests.
    targetSeconds: 600,
    personas: {
      name: 'edge',
      role: 'exhaust',
      // The most that comes together is what goes over the limit, with what looks for its window.
      most: (perMinute) => 3 * perMinute + 5,
      mostInMinute: (perMinute) => perMinute + 4,
      reports: true,
    },
    mix: READ_MIX,
    thresholds: NOTHING_WRONG,
    needs: ['exhaust'],
  },
  {
    name: 'polite-clients',
    answers: 'Do clients that honour Retry-After get their quota, and are they never banned?',
    targetSeconds: 115,
    personas: {
      name: 'polite',
      role: 'exhaust',
      // Three windows' quota fits into the time, or a bucket's and two refills, with a refusal a second.
      most: (perMinute) => 3 * perMinute + 150,
      reports: true,
    },
    mix: READ_MIX,
    thresholds: NOTHING_WRONG,
    needs: ['exhaust'],
  },
  {
    name: 'abusive-client',
    answers: 'When is a key that ignores 429 banned, for how long, and are other keys affected?',
    rate: 2,
    targetSeconds: 240,
    profile: 'constant',
    personas: {
      name: 'abuser',
      role: 'ban',
      most: (perMinute) => 2 * perMinute + 70,
      reports: true,
    },
    mix: READ_MIX,
    thresholds: NOTHING_WRONG,
    needs: ['exhaust', 'ban'],
  },
  {
    name: 'noisy-neighbour',
    answers: 'Does a key far over its limit cost another key latency or errors?',
    rate: 10,
    seconds: 60,
    profile: 'constant',
    personas: {
      name: 'noise',
      role: 'ban',
      most: (_, seconds) => 10 * seconds + 20,
      from: 0.5,
    },
    mix: READ_MIX,
    thresholds: NOTHING_WRONG,
    needs: ['exhaust', 'ban'],
    compares: { ...HALVES, name: "the neighbour's noise does not reach others" },
  },
  {
    name: 'burst',
    answers: 'Are simultaneous additions all counted, all kept, and each given an id of its own?',
    seconds: 5,
    // A slow target is waited for.
    targetSeconds: 60,
    personas: { name: 'burst', role: 'load', most: () => 13, count: 20 },
    mix: { listPets: 0, createPet: 100, getPet: 0 },
    thresholds: NOTHING_WRONG,
    needs: ['writes'],
    uniqueIds: true,
  },
];

/** One step of the search for a capacity: a constant rate, the plainest request. */
export const CAPACITY_STEP: ScenarioFacts = {
  name: 'capacity',
  answers: 'What is the highest rate at which the target meets its objective?',
  rate: 10,
  seconds: 5,
  blockSeconds: 0.5,
  profile: 'constant',
  mix: LIST_MIX,
  plainLists: true,
  thresholds: 'p99<200ms,errors<0.1%',
};

/** A scenario by its name; a name that none has is taken for a step. */
export const scenarioNamed = (name: string): ScenarioFacts =>
  CATALOGUE.find((scenario) => scenario.name === name) ?? CAPACITY_STEP;
