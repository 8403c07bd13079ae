/** What runner and script tell each other: the plan of a load, and what k6's log brings back. */
import { type Static, Type } from '@sinclair/typebox';
import { WayShape } from '../../checks/wire/exchange-shape.ts';
import { count, forEach, number, orNull, text, words } from '../../spec/json-schema.ts';
import { PLAN_NAMES } from '../../spec/plans.ts';
import { LOAD_OPERATIONS, SLO_METRICS } from './scenario.ts';

/** A key with what a load may spend of it at most; its value is in the environment variable `env` only. */
export const PlannedKeyShape = Type.Object({
  name: text,
  plan: words(PLAN_NAMES),
  env: text,
  perMinute: count,
  perDay: count,
  /** None of a key that does not pay. */
  requests: count,
  busiestMinute: count,
  /** Requests that were sent, including the look at the target before the load; absent before the run. */
  sent: Type.Optional(count),
  /** Of those, refused with 429. */
  refused: Type.Optional(count),
});
export type PlannedKey = Readonly<Static<typeof PlannedKeyShape>>;

export const MixShape = forEach(LOAD_OPERATIONS, number);

/**
 * The plan of a load: everything that k6 needs to know, in plan.json beside the script, and what a result needs to know of
 * the load. k6 tells it again at the end, so that its log alone makes a result. It holds no secret.
 */
const PlanShape = Type.Object({
  scenario: text,
  runId: text,
  /** Base address without a trailing slash. */
  target: text,
  /** The address for k6, where the certificate is for another host than that of the target. */
  base: Type.Optional(text),
  keys: Type.Array(PlannedKeyShape),
  /** The positions in `keys` for the clients at their own pace, one each. Nobody else uses such a key. */
  clients: Type.Array(count),
  /**
   * For each k6 process of the load: the positions of keys, of which the n-th pays for its n-th request at a rate. k6
   * knows by its execution segment which process it is.
   */
  turns: Type.Array(Type.Array(count)),
  mix: MixShape,
  slo: text,
  /** How the target's clock relates to this machine's: `target = at + (now - from) * speed`, in milliseconds. */
  clock: Type.Object({ from: number, at: number, speed: number }),
  /** Requests per second, as the scenario takes it. */
  rate: number,
  seconds: number,
  /** Virtual users of all processes together. */
  vus: count,
  /** One body in this many is judged by the schema. */
  validateEvery: number,
  /** Whether k6's metrics go to an output that somebody looks at: then they have tags. */
  tagged: Type.Boolean(),
  samples: Type.Object({ categoryId: text, ids: Type.Array(text) }),
  /** For what stands in front of the target; a value that is secret is in the variable `env`. */
  headers: Type.Array(Type.Object({ name: text, value: Type.Optional(text), env: Type.Optional(text) })),
  /** k6's options, made from the scenario. */
  options: Type.Record(text, Type.Unknown()),
  way: Type.Optional(WayShape),
  /** What a reader of the result must know of the plan. */
  notes: Type.Array(text),
});
export type LoadPlan = Readonly<Static<typeof PlanShape>>;

/** A response that breaks the contract: the requirement's id, how, and the exchange with 2,000 characters of its body. */
export const ViolationShape = Type.Object({
  requirement: text,
  detail: text,
  operation: text,
  method: text,
  path: text,
  key: text,
  status: Type.Number(),
  headers: Type.Record(text, text),
  body: text,
});

/** Something that the script measured once. */
export const MeasurementShape = Type.Object({ name: text, key: text, value: Type.Number(), unit: text });

/** What a run is judged by: a clause of its objective, what a client asserts, what is judged over the whole run. */
export const ThresholdShape = Type.Object({
  kind: words(
    ['objective', 'client', 'run'],
    'A clause of the objective, what a client asserts, or what is judged over the whole run.',
  ),
  metric: Type.Optional(words(SLO_METRICS)),
  name: text,
  held: orNull(Type.Boolean(), 'Null where the run could not tell.'),
  actual: text,
  expected: Type.Optional(text),
  key: Type.Optional(Type.String({ description: 'Name of the key that an assertion is about.' })),
});
export type ThresholdOutcome = Readonly<Static<typeof ThresholdShape>>;

/** What the script writes to k6's log for the runner: one JSON object a line, after MARK (scenario.ts). */
export const MessageShape = Type.Partial(
  Type.Object({
    samples: Type.Object({
      /**
       * By what they have in common: position of the key, operation, status and outcome. The status is k6's error code
       * from 1,000 on, as no response came, and 0 for an unfinished request. Of each sample there are the start, in
       * milliseconds after `since`, and the duration in microseconds.
       */
      series: Type.Record(text, Type.Array(count)),
      since: number,
      /** How late iterations began, in milliseconds against an even schedule. */
      lags: Type.Array(number),
      /** Ids of animals that were added, with every digit. */
      added: Type.Array(text),
    }),
    violation: ViolationShape,
    threshold: ThresholdShape,
    measurement: MeasurementShape,
    /** The version of HTTP, as k6 says it. */
    protocol: text,
    /** What was run, the arrivals that k6 dropped, and the requests that it counted itself. */
    end: Type.Object({ plan: PlanShape, dropped: number, requests: number }),
  }),
  { additionalProperties: false },
);
export type Message = Readonly<Static<typeof MessageShape>>;
