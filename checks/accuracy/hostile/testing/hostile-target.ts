/** A target that misbehaves in exactly one way, and what may be said of it. */
import type { TimeLimits } from '../../../wire/dispatch-once.ts';
import type { FailureReason, ResponseOutcome } from '../../../wire/exchange.ts';
import {
  type Answer,
  type Answerer,
  answersFrom,
  cannedAnswer,
  onTheWire,
  withHeaders,
} from './good-answers.ts';
import { type Behaviour, type RawRequest, startRawServer } from './raw-server.ts';

/** The outcome of one exchange. */
export type Expected =
  | { readonly kind: 'failure'; readonly reason: FailureReason; readonly message: RegExp }
  | {
      readonly kind: 'response';
      readonly status?: number;
      readonly body?: RegExp;
      readonly bodyProblem?: ResponseOutcome['bodyProblem'];
    };

/** The result of a whole run. */
export type ExpectedRun =
  /** Nothing is judged, and one line says why. */
  | { readonly notReady: RegExp }
  /** Exactly these requirements are broken, at least this many hold, and the rest is inconclusive. */
  | { readonly broken: readonly string[]; readonly hold: number; readonly warning?: RegExp };

export interface RunningTarget {
  /** Base address, ending in /v1. */
  readonly url: string;
  /** Every request that arrived, in order. */
  readonly requests: readonly RawRequest[];
  close(): Promise<void>;
}

export interface HostileTarget {
  readonly name: string;
  readonly expected: Expected;
  readonly run: ExpectedRun;
  /**
   * @param upstream address of a conforming server (without a path) whose answers are spoiled; without it, every
   *   answer is one animal
   */
  start(upstream?: string): Promise<RunningTarget>;
}

/** For targets that are expected to exceed them, and for all others, ample on a busy machine; in milliseconds. */
const SHORT_LIMITS: TimeLimits = { connect: 300, headers: 400, body: 400 };
const AMPLE_LIMITS: TimeLimits = { connect: 5000, headers: 10_000, body: 10_000 };

export const limitsFor = ({ expected }: Pick<HostileTarget, 'expected'>): TimeLimits =>
  expected.kind === 'failure' && expected.reason.endsWith('-timeout') ? SHORT_LIMITS : AMPLE_LIMITS;

/** How a target behaves, given good answers. */
export type Behave = (answers: Answerer) => Behaviour;

/** A row of the table. */
export const hostile = (
  name: string,
  expected: Expected,
  run: ExpectedRun,
  behave: Behave,
): HostileTarget => ({
  name,
  expected,
  run,
  async start(upstream) {
    const behaviour = behave(upstream === undefined ? cannedAnswer : answersFrom(upstream));
    const server = await startRawServer(behaviour);
    const scheme = behaviour.tls === undefined ? 'http' : 'https';
    return { ...server, url: `${scheme}://127.0.0.1:${server.port}/v1` };
  },
});

/** A target that gives no usable answer at all: a run says so, and why. */
export const fails = (name: string, reason: FailureReason, message: RegExp, behave: Behave): HostileTarget =>
  hostile(
    name,
    { kind: 'failure', reason, message },
    {
      notReady: new RegExp(`(cannot be reached|gives no usable answer to GET /pets): .*(${message.source})`),
    },
    behave,
  );

/** Answers every request with these bytes, and then closes the connection or keeps it open. */
export const sends =
  (bytes: string, then: 'close' | 'stay open' = 'stay open'): Behave =>
  () => ({
    request: (connection) => (then === 'close' ? connection.end(bytes) : connection.write(bytes)),
  });

/** Answers correctly except for a change. */
export const changes =
  (change: (answer: Answer, request: RawRequest) => Answer | Promise<Answer>): Behave =>
  (answers) => ({
    async request(connection, request) {
      connection.write(onTheWire(await change(await answers(request), request)));
    },
  });

/** Answers correctly except for the body. */
export const spoils = (spoil: (body: Buffer) => Buffer, coding?: string): Behave =>
  changes((good) => {
    const spoiled = { ...good, body: spoil(good.body) };
    return coding === undefined ? spoiled : withHeaders(spoiled, [['Content-Encoding', coding]]);
  });

/** Answers everything with this text. */
export const says = (text: string | Buffer): Behave => spoils(() => Buffer.from(text));

/** Requests that a target answers correctly before it changes. */
export const GOOD_REQUESTS = 5;

/** Answers correctly at first, and then in another way. */
export const becomes =
  (other: Behave): Behave =>
  (answers) => {
    const [good, bad] = [changes((answer) => answer)(answers), other(answers)];
    return {
      request: (connection, request) =>
        (request.number > GOOD_REQUESTS ? bad : good).request?.(connection, request),
    };
  };
