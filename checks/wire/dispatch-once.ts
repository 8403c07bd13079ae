import type { Dispatcher, Pool } from 'undici';
import { whyEnded } from '../run/run-budget.ts';
import type { BodyBudget } from './body-budget.ts';
import type { FailureOutcome, FailureReason, HeaderList } from './exchange.ts';
import { failureOf, type Progress } from './exchange-failure.ts';

/** Real milliseconds, whatever the run's clock does. */
export interface TimeLimits {
  /** Name lookup, TCP and TLS. */
  readonly connect: number;
  /** From the request's last byte to the last header of the final response. */
  readonly headers: number;
  /** The whole body, not the pause between two pieces of it. */
  readonly body: number;
}

/** One request as it goes on the wire. */
export interface WireRequest {
  readonly method: string;
  /** Absolute path and query, sent as it is. */
  readonly path: string;
  readonly headers: HeaderList;
  readonly body: string | undefined;
  /** Whether the connection is to be closed afterwards rather than kept. */
  readonly lastOfConnection: boolean;
}

/** A complete response, its body still coded. */
export interface WireResponse {
  readonly kind: 'response';
  readonly status: number;
  readonly headers: HeaderList;
  readonly bytes: Buffer;
}

/** What came of a request, and when, in milliseconds since 1970 by the harness's clock. */
export interface Dispatched {
  readonly sentAt: number;
  readonly receivedAt: number;
  readonly outcome: WireResponse | FailureOutcome;
}

/** What `dispatchOnce` holds to. */
export interface DispatchBounds {
  readonly limits: TimeLimits;
  readonly budget: BodyBudget;
  readonly now: () => number;
  readonly signal: AbortSignal | undefined;
}

/**
 * Sends one request at most once and settles at the latest when its time limits have passed, whatever the target does.
 *
 * undici's own limits are off: they are checked every half second only, and begin anew with each piece of a body.
 *
 * @throws what is no answer of the target or the network: a request that cannot be sent, no file handles left
 */
export function dispatchOnce(pool: Pool, request: WireRequest, bounds: DispatchBounds): Promise<Dispatched> {
  return new Promise((resolve, reject) => {
    const handler = new OnceHandler(bounds, resolve, reject);
    if (handler.settled) return;
    const { method, path, headers, body, lastOfConnection } = request;
    pool.dispatch(
      { method, path, headers: headers.flat(), body: body ?? null, reset: lastOfConnection },
      handler,
    );
  });
}

class OnceHandler implements Dispatcher.DispatchHandler {
  settled = false;
  readonly #bounds: DispatchBounds;
  readonly #resolve: (dispatched: Dispatched) => void;
  readonly #reject: (error: unknown) => void;
  readonly #onAbort = () => {
    const { signal } = this.#bounds;
    this.#fail('interrupted', signal === undefined ? 'interrupted' : whyEnded(signal));
  };
  readonly #pieces: Buffer[] = [];
  #timer: NodeJS.Timeout | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #progress: Progress = { stage: 'connecting', received: 0 };
  #sentAt: number;
  #status = 0;
  #headers: HeaderList = [];

  constructor(
    bounds: DispatchBounds,
    resolve: (dispatched: Dispatched) => void,
    reject: (error: unknown) => void,
  ) {
    this.#bounds = bounds;
    this.#resolve = resolve;
    this.#reject = reject;
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
    if (this.settled || this.#controller !== undefined) {
      controller.abort(new Error('settled'));
      return;
    }
    this.#controller = controller;
    this.#progress = { stage: 'waiting for the response', received: 0 };
    this.#sentAt = this.#bounds.now();
    this.#allow(this.#bounds.limits.headers, 'headers-timeout', 'no response');
  }

  /** Called for interim responses too; only the final one (from 200 on) ends the wait for it. */
  onResponseStart(controller: Dispatcher.DispatchController, status: number): void {
    if (this.settled || status < 200) return;
    this.#status = status;
    this.#headers = headerList(controller.rawHeaders);
    this.#progress = { stage: 'reading the body', received: 0 };
    this.#allow(this.#bounds.limits.body, 'body-timeout', 'the body was not complete');
  }

  onResponseData(_controller: Dispatcher.DispatchController, piece: Buffer): void {
    if (this.settled) return;
    const received = this.#progress.received + piece.length;
    this.#progress = { ...this.#progress, received };
    const refused = this.#bounds.budget.refuse(received, piece.length);
    if (refused === undefined) this.#pieces.push(piece);
    else this.#fail('too-large', refused);
  }

  onResponseEnd(): void {
    const bytes = Buffer.concat(this.#pieces);
    this.#settle({ kind: 'response', status: this.#status, headers: this.#headers, bytes });
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    if (this.settled) return;
    const failure = failureOf(error, this.#progress);
    if (failure !== undefined) {
      this.#settle(failure);
      return;
    }
    this.#finish();
    this.#reject(error);
  }

  #allow(milliseconds: number, reason: FailureReason, what: string): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(
      () => this.#fail(reason, `${what} within ${milliseconds / 1000} s`),
      milliseconds,
    );
  }

  /** Settles first and breaks the connection then, so that nothing that it does any more counts. */
  #fail(reason: FailureReason, message: string): void {
    this.#settle({ kind: 'failure', reason, message });
    this.#controller?.abort(new Error(message));
  }

  #settle(outcome: Dispatched['outcome']): void {
    if (this.settled) return;
    this.#finish();
    this.#resolve({ sentAt: this.#sentAt, receivedAt: this.#bounds.now(), outcome });
  }

  #finish(): void {
    this.settled = true;
    this.#pieces.length = 0;
    clearTimeout(this.#timer);
    this.#bounds.signal?.removeEventListener('abort', this.#onAbort);
  }
}

/** Names and values by turns, in the order and spelling of the wire. */
function headerList(raw: Dispatcher.DispatchController['rawHeaders']): HeaderList {
  if (!Array.isArray(raw)) throw new TypeError('undici passes the headers as a list');
  const texts = raw.map((text) => (typeof text === 'string' ? text : text.toString('latin1')));
  const headers: [name: string, value: string][] = [];
  for (let i = 0; i + 1 < texts.length; i += 2) headers.push([texts[i] ?? '', texts[i + 1] ?? '']);
  return headers;
}
