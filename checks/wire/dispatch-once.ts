import type { Dispatcher } from 'undici';
import type { Connection, Dispatched, WireRequest } from './connections.ts';
import type { FailureReason, HeaderList } from './exchange.ts';
import { failureOf, type Progress } from './exchange-failure.ts';
import type { BodyBudget } from './response-body.ts';
import { whyEnded } from './time-is-over.ts';

/** Real milliseconds, whatever the run's clock does. */
export interface TimeLimits {
  /** Name lookup, TCP and TLS. */
  readonly connect: number;
  /** From the request's last byte to the last header of the final response. */
  readonly headers: number;
  /** The whole body, not the pause between two pieces of it. */
  readonly body: number;
}

/** What `dispatchOnce` holds to. */
export interface DispatchBounds {
  readonly limits: TimeLimits;
  readonly budget: BodyBudget;
  readonly now: () => number;
  readonly signal: AbortSignal | undefined;
}

/** Milliseconds after which a timer shows that the process stood still. */
const LATE = 50;

/**
 * Sends one request at most once and ends soon after its time limits have passed, whatever the target does.
 *
 * undici's own limits are off: they are checked every half second only, and begin anew with each piece of a body.
 *
 * @throws what is no answer of the target or the network: a request that cannot be sent, no file handles left
 */
export function dispatchOnce(
  connection: Pick<Connection, 'dispatch' | 'hasAnswered' | 'error' | 'keeping'>,
  request: WireRequest,
  { limits, budget, now, signal }: DispatchBounds,
): Promise<Dispatched> {
  return new Promise((resolve, reject) => {
    let ended = false;
    let sentAt = now();
    let progress: Progress = { stage: 'connecting', received: 0 };
    let wasKept = false;
    let answer: { readonly status: number; readonly headers: HeaderList } = { status: 0, headers: [] };
    const pieces: Buffer[] = [];
    let controller: Dispatcher.DispatchController | undefined;
    let timer: NodeJS.Timeout | undefined;

    const release = () => {
      ended = true;
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    };
    const end = (outcome: Dispatched['outcome']) => {
      if (ended) return;
      release();
      resolve({ sentAt, receivedAt: now(), outcome });
    };
    /** Ends first and breaks the connection then, so that nothing that it does any more counts. */
    const fail = (reason: FailureReason, message: string) => {
      end({ kind: 'failure', reason, message });
      controller?.abort(new Error(message));
    };
    const onAbort = () => fail('interrupted', whyEnded(signal));
    const allow = (milliseconds: number, reason: FailureReason, what: string) => {
      const at = performance.now() + milliseconds;
      const over = () => fail(reason, `${what} within ${milliseconds / 1000} s`);
      clearTimeout(timer);
      timer = setTimeout(() => {
        const late = performance.now() - at;
        // While this process stood still, busy or suspended, an answer may have come that it has not read yet.
        if (late < LATE) over();
        else timer = setTimeout(over, Math.min(late, milliseconds));
      }, milliseconds);
    };

    if (signal?.aborted === true) return onAbort();
    signal?.addEventListener('abort', onAbort);
    allow(limits.connect, 'connect-timeout', 'no connection');
    connection.dispatch(request, {
      /** Called when the connection stands, just before the request is written to it. */
      onRequestStart(given) {
        // A second call would send the request again: undici resends what it believes was not handled.
        if (ended || controller !== undefined) return given.abort(new Error('ended'));
        controller = given;
        wasKept = connection.hasAnswered;
        progress = { stage: 'waiting for the response', received: 0 };
        sentAt = now();
        allow(limits.headers, 'headers-timeout', 'no response');
      },
      /** Called for interim responses too; only the final one (from 200 on) ends the wait for it. */
      onResponseStart({ rawHeaders }, status) {
        if (ended || status < 200) return;
        answer = { status, headers: headerList(rawHeaders) };
        progress = { stage: 'reading the body', received: 0 };
        allow(limits.body, 'body-timeout', 'the body was not complete');
      },
      onResponseData(_, piece) {
        if (ended) return;
        const received = progress.received + piece.length;
        progress = { ...progress, received };
        const refused = budget.refuse(received, piece.length);
        if (refused === undefined) pieces.push(piece);
        else fail('too-large', refused);
      },
      onResponseEnd() {
        connection.hasAnswered = true;
        end({ kind: 'response', ...answer, bytes: Buffer.concat(pieces) });
      },
      onResponseError(_, error) {
        if (ended) return;
        const cause = connection.error ?? error;
        const failure = failureOf(cause, progress);
        if (failure === undefined) {
          release();
          return reject(cause);
        }
        // It was idle for too long: a request that may not be repeated must not meet the end of a connection again.
        if (failure.reason === 'reset' && wasKept && progress.stage === 'waiting for the response')
          connection.keeping.isSafe = false;
        end(failure);
      },
    });
  });
}

/** Names and values by turns, in the order and spelling of the wire. */
export function headerList(raw: Dispatcher.DispatchController['rawHeaders']): HeaderList {
  if (!Array.isArray(raw)) throw new TypeError('undici passes the headers as a list');
  const texts = raw.map((text) => (typeof text === 'string' ? text : text.toString('latin1')));
  const headers: [name: string, value: string][] = [];
  for (let i = 0; i + 1 < texts.length; i += 2) headers.push([texts[i] ?? '', texts[i + 1] ?? '']);
  return headers;
}
