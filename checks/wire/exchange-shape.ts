/** What an exchange is, as the journal and report.json store it: its one definition, from which its type follows. */
import { type Static, Type } from '@sinclair/typebox';
import { exact, orNull, text, words } from '../../spec/json-schema.ts';
import { OPERATION_NAMES } from '../../spec/operations.ts';

const maybe = Type.Optional;
const named = Type.String({ minLength: 1 });

/** Within what a date can hold. */
const moment = (description: string) =>
  Type.Number({
    minimum: -8.64e15,
    maximum: 8.64e15,
    description: `Milliseconds since 1970, ${description}`,
  });

const HeadersShape = Type.Array(
  Type.Unsafe<[name: string, value: string]>(Type.Array(text, { minItems: 2, maxItems: 2 })),
  { description: 'Name and value, in the order and spelling of the wire; a field sent twice stands twice.' },
);

const IntentShape = words(
  ['ordinary', 'preflight', 'fill', 'over-limit', 'ban', 'day', 'refusable', 'foreign'],
  'What it was sent for, where that decides how its answer is judged.',
);

const OperationShape = words([...OPERATION_NAMES, 'other'], 'other: any request outside the interface.');

const RequestShape = exact({
  operation: OperationShape,
  method: named,
  path: Type.String({ pattern: '^/', description: 'Path and query, relative to the base address.' }),
  headers: HeadersShape,
  body: maybe(text),
});

const ResponseShape = exact({
  kind: Type.Literal('response'),
  httpVersion: maybe(words(['2'], 'Absent where it is 1.1.')),
  status: Type.Integer({ minimum: 100, maximum: 999 }),
  headers: HeadersShape,
  body: Type.String({ description: 'After decoding, invalid UTF-8 replaced.' }),
  bodyBytes: Type.Integer({ minimum: 0, description: 'Its size after content decoding.' }),
  bodyProblem: maybe(
    words(
      ['invalid-utf8', 'undecodable-encoding', 'unknown-encoding', 'truncated-in-record'],
      'Why the body is not the faithful text of what was sent.',
    ),
  ),
});

const FailureShape = exact({
  kind: Type.Literal('failure'),
  reason: words([
    'unresolved',
    'refused',
    'unreachable',
    'tls',
    'proxy',
    'reset',
    'connect-timeout',
    'headers-timeout',
    'body-timeout',
    'malformed-response',
    'too-large',
    'unavailable',
    'interrupted',
  ]),
  message: text,
});

export const ExchangeShape = exact({
  id: Type.String({
    minLength: 1,
    description: 'The scene that sent it and a counter: retrievals#2; retrievals#2.1 in the second process.',
  }),
  sentBy: Type.String({ description: 'The scene that sent it.' }),
  session: maybe(Type.Number({ description: 'The process of the run that sent it, where not the first.' })),
  intent: IntentShape,
  key: orNull(text, 'Name of the key; null where no valid one was sent.'),
  sentAt: moment('when the request was handed to the connection.'),
  receivedAt: moment('when the response was complete or had failed.'),
  request: RequestShape,
  outcome: Type.Union([ResponseShape, FailureShape]),
});

/** JSON leaves out what is undefined. */
const maybeNumber = maybe(Type.Union([Type.Number(), Type.Undefined()]));

export const ReadingShape = Type.Object({
  ...Type.Pick(ExchangeShape, ['id', 'key', 'intent', 'sentAt', 'receivedAt']).properties,
  ...Type.Pick(RequestShape, ['operation', 'path']).properties,
  status: ResponseShape.properties.status,
  limit: maybeNumber,
  remaining: maybeNumber,
  /** Milliseconds since 1970 by the target's clock. */
  reset: maybeNumber,
  /** The target's own time in this answer: its Date, in milliseconds since 1970. */
  date: maybeNumber,
  /** For a list, how many animals it held. */
  listed: maybe(Type.Number()),
  /** A request of the key right before, or beside it, got no answer: whether it was counted nobody knows. */
  afterLost: maybe(Type.Literal(true)),
});

/** How a run reached its target, as results store it. */
export const WayShape = exact({
  httpVersion: maybe(Type.String({ description: 'The version of HTTP, such as 1.1; several with commas.' })),
  proxy: maybe(
    Type.String({ description: 'The proxy that requests went through, without its credentials.' }),
  ),
  insecure: maybe(Type.Literal(true, { description: 'The certificate of the target was not verified.' })),
});
export type Way = Readonly<Static<typeof WayShape>>;
