/** A run against a target that is a function, on a clock that a wait moves on. */
import { setImmediate } from 'node:timers/promises';
import type { Key } from '../../profile/key.ts';
import type { ClientRequest, HttpClient } from '../../wire/client.ts';
import type { Exchange, FailureOutcome } from '../../wire/exchange.ts';
import { type AnswerParts, answered } from '../../wire/testing/answered.ts';
import type { Clock } from '../clock.ts';
import { Run, type RunOptions } from '../run.ts';
import type { RunEvent } from '../run-events.ts';

/** When every such run begins; a full minute. */
export const NOON = Date.UTC(2026, 10, 21, 12);

/** Milliseconds that each exchange takes. */
export const ROUND_TRIP = 10;

/** A Free key that pays for ordinary checks, but for what is given. */
export function testKey(given: Partial<Key> = {}): Key {
  return {
    name: 'free-1',
    plan: 'free',
    roles: ['functional'],
    limits: { perMinute: 60, perDay: 1000 },
    value: 'value of free-1',
    env: 'PETSTORE_FREE_KEY',
    unusedToday: false,
    ...given,
  };
}

/** What the target answers to the request that is the `number`th, from 1. */
export type Answers = (request: ClientRequest, number: number) => AnswerParts | FailureOutcome;

/** The name of the key that a request was sent with; null where it carried none. */
export const payer = ({ authorization }: ClientRequest): string | null =>
  authorization.kind === 'key' ? authorization.name : null;

export interface TestRun {
  readonly run: Run;
  /** Everything that was sent, in order. */
  readonly sent: ClientRequest[];
  readonly events: RunEvent[];
  /** What was waited for, as `seconds: what for`. */
  readonly waits: () => string[];
  readonly clock: Clock & { pass(milliseconds: number): void };
}

/** A clock that stands still until somebody waits. */
export function testClock(): Clock & { pass(milliseconds: number): void } {
  let now = NOON;
  return {
    speed: 1,
    now: () => now,
    pass: (milliseconds) => {
      now += milliseconds;
    },
    sleepUntil: async (time, signal) => {
      signal?.throwIfAborted();
      // What is answered at this moment is received first: no timer fires in between.
      await setImmediate();
      now = Math.max(now, time);
    },
  };
}

/** A run with one Free key, everything else as given. */
export function testRun(answers: Answers = () => ({}), options: Partial<RunOptions> = {}): TestRun {
  const clock = testClock();
  const sent: ClientRequest[] = [];
  const events: RunEvent[] = [];
  const client: HttpClient = {
    async exchange(request, record): Promise<Exchange> {
      sent.push(request);
      const number = sent.length;
      const sentAt = clock.now();
      // Another turn, so that requests of a burst are under way together.
      await Promise.resolve();
      clock.pass(ROUND_TRIP);
      const said = answers(request, number);
      const { operation, method, path, headers = [], authorization, body } = request;
      const failed = 'kind' in said ? said : undefined;
      const exchange = answered({
        ...('kind' in said ? {} : said),
        id: record.id,
        key: authorization.kind === 'key' ? authorization.name : null,
        operation,
        method,
        path,
        requestHeaders:
          authorization.kind === 'raw' ? [...headers, ['authorization', authorization.described]] : headers,
        sentAt,
        receivedAt: clock.now(),
        ...(body === undefined ? {} : { requestBody: body }),
      });
      return { ...exchange, ...record, ...(failed === undefined ? {} : { outcome: failed }) };
    },
    close: async () => {},
  };
  const run = new Run({
    baseUrl: 'https://staging.example.com/v1',
    id: 'abcd2345',
    client,
    clock,
    keys: [testKey()],
    permissions: new Set(),
    sampleCategoryId: undefined,
    declined: new Set(),
    clockSpeed: 1,
    onEvent: (event) => events.push(event),
    ...options,
  });
  const waits = () =>
    events.flatMap((event) =>
      event.kind === 'waiting' ? [`${(event.until - NOON) / 1000}: ${event.for}`] : [],
    );
  return { run, sent, events, waits, clock };
}
