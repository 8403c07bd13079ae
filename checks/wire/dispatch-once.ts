import type { Dispatcher } from 'undici';
import type { BodyBudget } from './body-budget.ts';
import type { Connection, Dispatched, WireRequest } from './connections.ts';
import type { FailureReason, HeaderList } from './exchange.ts';
import { failureOf, type Progress } from './exchange-failure.ts';
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

/**
 * Sends one request at most once and ends soon after its time limits have passed, whatever the target does.
 *
 * undici's own limits are off: they are checked every half second only, and begin anew with each piece of a body.
 *
 * @throws what is no answer of the target or the network: a request that cannot be sent, no file handles left
 */
export async function dispatchOnce(
  connection: Connection,
  { method, path, headers, body }: WireRequest,
  bounds: DispatchBounds,
): Promise<Dispatched> {
  const handler = new OnceHandler(connection, bounds);
  if (!handler.ended) {
    const reset = !connection.keeping.isSafe;
    connection.client.dispatch({ method, path, headers: headers.flat(), body: body ?? null, reset }, handler);
  }
  return await handler.dispatched;
}

/** Milliseconds after which a timer shows that the process stood still. */
const LATE = 50;

class OnceHandler implements Dispatcher.DispatchHandler {
  readonly dispatched: Promise<Dispatched>;
  ended = false;
  readonly #connection: Connection;
  readonly #bounds: DispatchBounds;
  #resolve: (dispatched: Dispatched) => void = () => undefined;
  #reject: (error: unknown) => void = () => undefined;
  readonly #onAbort = () => {
    const { signal } = this.#bounds;
    this.#fail('interrupted', signal === undefined ? 'interrupted' : whyEnded(signal));
  };
  readonly #pieces: Buffer[] = [];
  #timer: NodeJS.Timeout | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #progress: Progress = { stage: 'connecting', received: 0 };
  #sentAt: number;
  /** Whether the connection had brought an answer before. */
  #wasKept = false;
  #status = 0;
  #headers: HeaderList = [];

  constructor(connection: Connection, bounds: DispatchBounds) {
    this.dispatched = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#connection = connection;
    this.#bounds = bounds;
    this.#sentAt = bounds.now();
    if (bounds.signal?.aborted === true) {
      this.#onAbort();
      return;
    }
    bounds.signal?.addEventListener('abort', this.#onAbort);
    this.#allow(bounds.limits.connect, 'connect-timeout', 'no connection');
  }

  /** Called when the connection stands, just before the request is written to it. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    // A second call would send the request again: undici resends what it believes was not handled.
    if (this.ended || this.#controller !== undefined) {
      controller.abort(new Error('ended'));
      return;
    }
    this.#controller = controller;
    this.#wasKept = this.#connection.hasAnswered;
    this.#progress = { stage: 'waiting for the response', received: 0 };
    this.#sentAt = this.#bounds.now();
    this.#allow(this.#bounds.limits.headers, 'headers-timeout', 'no response');
  }

  /** Called for interim responses too; only the final one (from 200 on) ends the wait for it. */
  onResponseStart(controller: Dispatcher.DispatchController, status: number): void {
    if (this.ended || status < 200) return;
    this.#status = status;
    this.#headers = headerList(controller.rawHeaders);
    this.#progress = { stage: 'reading the body', received: 0 };
    this.#allow(this.#bounds.limits.body, 'body-timeout', 'the body was not complete');
  }

  onResponseData(_controller: Dispatcher.DispatchController, piece: Buffer): void {
    if (this.ended) return;
    const received = this.#progress.received + piece.length;
    this.#progress = { ...this.#progress, received };
    const refused = this.#bounds.budget.refuse(received, piece.length);
    if (refused === undefined) this.#pieces.push(piece);
    else this.#fail('too-large', refused);
  }

  onResponseEnd(): void {
    const bytes = Buffer.concat(this.#pieces);
    this.#connection.hasAnswered = true;
    this.#end({ kind: 'response', status: this.#status, headers: this.#headers, bytes });
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    if (this.ended) return;
    const { stage } = this.#progress;
    const failure = failureOf(this.#connection.error ?? error, this.#progress);
    if (failure === undefined) {
      this.#release();
      this.#reject(error);
      return;
    }
    // It was idle for too long: a request that may not be repeated must not meet the end of a connection again.
    if (failure.reason === 'reset' && this.#wasKept && stage === 'waiting for the response')
      this.#connection.keeping.isSafe = false;
    this.#end(failure);
  }

  #allow(milliseconds: number, reason: FailureReason, what: string): void {
    const at = performance.now() + milliseconds;
    const fail = () => this.#fail(reason, `${what} within ${milliseconds / 1000} s`);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      const late = performance.now() - at;
      // While this process stood still, busy or suspended, an answer may have come that it has not read yet.
      if (late < LATE) fail();
      else this.#timer = setTimeout(fail, Math.min(late, milliseconds));
    }, milliseconds);
  }

  /** Ends first and breaks the connection then, so that nothing that it does any more counts. */
  #fail(reason: FailureReason, message: string): void {
    this.#end({ kind: 'failure', reason, message });
    this.#controller?.abort(new Error(message));
  }

  #end(outcome: Dispatched['outcome']): void {
    if (this.ended) return;
    this.#release();
    this.#resolve({ sentAt: this.#sentAt, receivedAt: this.#bounds.now(), outcome });
  }

  #release(): void {
    this.ended = true;
    this.#pieces.length = 0;
    clearTimeout(this.#timer);
    this.#bounds.signal?.removeEventListener('abort', this.#onAbort);
  }
}

/** Names and values by turns, in the order and spelling of the wire. */
export function headerList(raw: Dispatcher.DispatchController['rawHeaders']): HeaderList {
  if (!Array.isArray(raw)) throw new TypeError('undici passes the headers as a list');
  const texts = raw.map((text) => (typeof text === 'string' ? text : text.toString('latin1')));
  const headers: [name: string, value: string][] = [];
  for (let i = 0; i + 1 < texts.length; i += 2) headers.push([texts[i] ?? '', texts[i + 1] ?? '']);
  return headers;
}
