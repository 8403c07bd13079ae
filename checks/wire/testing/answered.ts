import type { AnsweredExchange, HeaderList, Operation } from '../exchange.ts';

/** What a test says of an exchange; the rest is ordinary. */
export interface AnswerParts {
  readonly id?: string;
  readonly key?: string | null;
  readonly operation?: Operation;
  readonly method?: string;
  readonly path?: string;
  readonly requestHeaders?: HeaderList;
  readonly requestBody?: string;
  readonly status?: number;
  readonly headers?: HeaderList;
  readonly body?: string;
  readonly bodyProblem?: NonNullable<AnsweredExchange['outcome']['bodyProblem']>;
  readonly sentAt?: number;
  readonly receivedAt?: number;
}

/** A list that was answered with 200 and an empty array after 10 ms, but for what is given. */
export function answered(parts: AnswerParts = {}): AnsweredExchange {
  const { id = 'test#1', key = 'free-1', sentAt = 0, body = '[]', requestBody, bodyProblem } = parts;
  return {
    id,
    sentBy: id.split('#')[0] ?? id,
    intent: 'ordinary',
    key,
    sentAt,
    receivedAt: parts.receivedAt ?? sentAt + 10,
    request: {
      operation: parts.operation ?? 'listPets',
      method: parts.method ?? 'GET',
      path: parts.path ?? '/pets',
      headers: parts.requestHeaders ?? [],
      ...(requestBody === undefined ? {} : { body: requestBody }),
    },
    outcome: {
      kind: 'response',
      status: parts.status ?? 200,
      headers: parts.headers ?? [],
      body,
      bodyBytes: Buffer.byteLength(body),
      ...(bodyProblem === undefined ? {} : { bodyProblem }),
    },
  };
}
