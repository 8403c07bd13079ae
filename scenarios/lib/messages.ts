/** What the script writes to k6's log for the runner: one JSON object a line, after MARK (scenario.ts). */
import { type Static, Type } from '@sinclair/typebox';
import { ToldPlanShape } from './load-plan.ts';

const text = Type.String();
const number = Type.Number();

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
export type ToldViolation = Readonly<Static<typeof ViolationShape>>;

/** Something that the script measured once. */
export const MeasurementShape = Type.Object({ name: text, key: text, value: Type.Number(), unit: text });

const kind = <Name extends string>(name: Name) => ({ kind: Type.Literal(name) });

export const MessageShape = Type.Union([
  /**
   * Samples by what they have in common: position of the key, operation, status and outcome. The status is k6's
   * error code from 1,000 on, as no response came, and 0 for an unfinished request. Of each sample there are the start, in
   * milliseconds after `since`, and the duration in microseconds.
   */
  Type.Object({
    ...kind('samples'),
    since: number,
    samples: Type.Record(text, Type.Array(Type.Integer({ minimum: 0 }))),
    /** How late iterations began, in milliseconds against an even schedule. */
    lags: Type.Array(number),
    /** Ids of animals that were added, with every digit. */
    added: Type.Array(text),
  }),
  Type.Object({ ...kind('violation'), ...ViolationShape.properties }),
  /** Something that the scenario asserts; `held` is null where it could not be told. */
  Type.Object({
    ...kind('assertion'),
    name: text,
    key: text,
    held: Type.Union([Type.Boolean(), Type.Null()]),
    expected: text,
    actual: text,
  }),
  Type.Object({ ...kind('measurement'), ...MeasurementShape.properties }),
  /** The version of HTTP, as k6 says it. */
  Type.Object({ ...kind('protocol'), name: text }),
  /** At the end: what was run, the arrivals that k6 dropped, and the requests that it counted itself. */
  Type.Object({ ...kind('end'), plan: ToldPlanShape, dropped: number, requests: number }),
]);
export type Message = Readonly<Static<typeof MessageShape>>;
