import type { Exchange, HeaderList, Operation } from '../../checks/wire/exchange.ts';

/** When every sample run began: 12:00:04 UTC, so that windows aligned to the clock do not start at second 0. */
export const SAMPLE_START = Date.UTC(2026, 10, 21, 12, 0, 4);

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers?: HeaderList;
  /** Names of standard header fields to leave out. */
  readonly without?: readonly string[];
}

const REASON: Readonly<Record<number, string>> = {
  400: 'bad_request',
  401: 'unauthorized',
  404: 'not_found',
  429: 'rate_limited',
};

/** The text of an Error body; `status` in it can be made to differ from the HTTP status. */
export function errorBody(status: number, message: string, statusField = status): string {
  return JSON.stringify({ code: REASON[status] ?? 'error', message, status: statusField });
}

/** The text of a list of `count` animals, ids beyond 2^53 included. */
export function petList(count: number, status?: string): string {
  const pets = Array.from({ length: count }, (_, index) => {
    const id = 9007199254740990n + BigInt(index);
    const shown = status ?? ['available', 'pending', 'sold'][index % 3];
    return `{"id":${id},"name":"harness-7f3a Rex ${index} Ōkami 🐕","categoryId":${3 + (index % 4)},"status":"${shown}"}`;
  });
  return `[${pets.join(',')}]`;
}

/** One exchange of a sample run, `at` seconds after its start. */
export function sampleExchange(
  id: string,
  at: number,
  key: string | null,
  request: { operation: Operation; method: string; path: string; body?: string },
  answer: Answer,
): Exchange {
  const sentAt = SAMPLE_START + Math.round(at * 1000);
  const standard: HeaderList = [
    ['content-type', 'application/json; charset=utf-8'],
    ['x-ratelimit-limit', '60'],
    ['x-ratelimit-remaining', String(Math.max(0, 58 - Math.floor(at)))],
    ['x-ratelimit-reset', String(Math.floor(SAMPLE_START / 1000) + 56)],
    ['date', new Date(sentAt).toUTCString()],
    ['content-length', String(Buffer.byteLength(answer.body))],
    ['connection', 'keep-alive'],
  ];
  return {
    id,
    sentBy: id.split('#')[0] ?? id,
    key,
    sentAt,
    receivedAt: sentAt + 7,
    request: {
      ...request,
      headers: [
        ['accept', 'application/json'],
        ['authorization', key === null ? 'Bearer <a key that was never issued>' : `Bearer <${key}>`],
        ...(request.body === undefined ? [] : ([['content-type', 'application/json']] as const)),
        ['user-agent', 'petstore-harness/0.1.0'],
      ],
    },
    outcome: {
      kind: 'response',
      status: answer.status,
      headers: [...standard.filter(([name]) => !answer.without?.includes(name)), ...(answer.headers ?? [])],
      body: answer.body,
      bodyBytes: Buffer.byteLength(answer.body),
    },
  };
}
