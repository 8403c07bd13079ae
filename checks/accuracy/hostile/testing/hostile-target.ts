import type { TimeLimits } from '../../../wire/client.ts';
import type { FailureReason, ResponseOutcome } from '../../../wire/exchange.ts';
import { type Answerer, answersFrom, cannedAnswer } from './good-answers.ts';
import { type Behaviour, type RawRequest, startRawServer } from './raw-server.ts';

/** The expected result of one exchange with a hostile target. */
export type Expected =
  | { readonly kind: 'failure'; readonly reason: FailureReason; readonly message: RegExp }
  | {
      readonly kind: 'response';
      readonly status?: number;
      readonly body?: RegExp;
      readonly bodyProblem?: ResponseOutcome['bodyProblem'];
    };

export interface RunningTarget {
  /** Base address, ending in /v1. */
  readonly url: string;
  /** Every request that arrived, in order. */
  readonly requests: readonly RawRequest[];
  readonly connections: number;
  /** Requests that arrived where none should: at the other host of a redirect. */
  readonly astray?: readonly RawRequest[];
  close(): Promise<void>;
}

/** A target that misbehaves in exactly one way. */
export interface HostileTarget {
  readonly name: string;
  /** The outcome of a first `GET /pets` with the time limits of {@link limitsFor}. */
  readonly expected: Expected;
  /**
   * @param upstream address of a conforming server (without a path) whose answers are spoiled; without it, every
   *   answer is one animal
   */
  start(upstream?: string): Promise<RunningTarget>;
}

/** Time limits for targets that are expected to exceed them, in milliseconds. */
export const SHORT_LIMITS: TimeLimits = { connect: 300, headers: 400, body: 400 };
/** Time limits for all other targets, ample even on a busy machine, in milliseconds. */
export const AMPLE_LIMITS: TimeLimits = { connect: 5000, headers: 10_000, body: 10_000 };

export function limitsFor({ expected }: HostileTarget): TimeLimits {
  return expected.kind === 'failure' && expected.reason.endsWith('-timeout') ? SHORT_LIMITS : AMPLE_LIMITS;
}

/** A target with one server, whose behaviour is derived from good answers. */
export function hostile(
  name: string,
  expected: Expected,
  behave: (answers: Answerer) => Behaviour,
): HostileTarget {
  return {
    name,
    expected,
    async start(upstream) {
      const behaviour = behave(upstream === undefined ? cannedAnswer : answersFrom(upstream));
      const server = await startRawServer(behaviour);
      return {
        url: `${behaviour.tls === undefined ? 'http' : 'https'}://127.0.0.1:${server.port}/v1`,
        requests: server.requests,
        get connections() {
          return server.connections;
        },
        close: () => server.close(),
      };
    },
  };
}

export const failure = (reason: FailureReason, message: RegExp): Expected => ({
  kind: 'failure',
  reason,
  message,
});

export const response = (rest: Omit<Extract<Expected, { kind: 'response' }>, 'kind'> = {}): Expected => ({
  kind: 'response',
  ...rest,
});
