/** What the script writes to k6's log for the runner: one JSON object a line, after a mark. */
import { type Static, Type } from '@sinclair/typebox';
import { compiled } from '../../../spec/json-schema.ts';
import { ToldPlanShape } from '../../lib/load-plan.ts';
import { MARK } from '../../lib/scenario.ts';

const text = Type.String();
const number = Type.Number();
const kind = <Name extends string>(name: Name) => ({ kind: Type.Literal(name) });

/** A response that breaks the contract: the requirement's id, how, and the exchange with 2,000 characters of its body. */
export const ViolationShape = Type.Object({
  requirement: text,
  detail: text,
  operation: text,
  method: text,
  path: text,
  key: text,
  status: number,
  headers: Type.Record(text, text),
  body: text,
});

/** Something that the script measured once. */
export const MeasurementShape = Type.Object({ name: text, key: text, value: number, unit: text });

const MessageShape = Type.Union([
  /**
   * Samples by what they have in common: positions of stream and key, operation, status and outcome. The status is k6's
   * error code from 1,000 on, as no response came, and 0 for an unfinished request. Of each sample there are the start, in
   * milliseconds after `since`, and the duration in microseconds.
   */
  Type.Object({
    ...kind('samples'),
    since: number,
    samples: Type.Record(text, Type.Array(Type.Integer({ minimum: 0 }))),
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
  /** Ids of animals that were added, with every digit. */
  Type.Object({ ...kind('added'), ids: Type.Array(text) }),
  /** How late iterations began, in milliseconds against an even schedule. */
  Type.Object({ ...kind('lag'), milliseconds: Type.Array(number) }),
  /** At the end: what was run, the arrivals that k6 dropped, and the requests that it counted itself. */
  Type.Object({ ...kind('end'), plan: ToldPlanShape, dropped: number, requests: number }),
]);
export type Message = Readonly<Static<typeof MessageShape>>;
export type EventOf<Kind extends Message['kind']> = Extract<Message, { kind: Kind }>;

const isMessage = compiled<Message>(MessageShape);

/** A line of k6's log. */
export type LogLine =
  | { readonly message: Message }
  /** A message that cannot be read. */
  | { readonly message: undefined }
  /** What k6 says itself. */
  | { readonly level: string; readonly text: string };

/**
 * Reads a line of k6's log. The logger writes JSON; what k6 prints before it sets up the logger is plain text.
 *
 * @param redact takes keys out of a text
 */
export function readLine(line: string, redact: (text: string) => string): LogLine {
  const logged = parse(line);
  const isLogged = typeof logged === 'object' && logged !== null && 'msg' in logged && 'level' in logged;
  if (!isLogged) return { level: 'plain', text: redact(line) };
  const said = String(logged.msg);
  if (!said.startsWith(MARK)) {
    const details = 'error' in logged ? ` ${String(logged.error)}` : '';
    return { level: String(logged.level), text: redact(`${said}${details}`) };
  }
  const message = parse(redact(said.slice(MARK.length)));
  return { message: isMessage.Check(message) ? message : undefined };
}

/** What a text is as JSON; undefined if it is none. */
function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
