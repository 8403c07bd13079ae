import type { Dispatcher } from 'undici';
import type { BodyBudget } from './body-budget.ts';
import type { Answer, Line, WireRequest, WireResponse } from './connections.ts';
import type { FailureOutcome, FailureReason, HeaderList } from './exchange.ts';
import { failureOf, type Progress } from './exchange-failure.ts';
import { staleAnswer } from './stale-answer.ts';
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

/** What came of a request, and when, in milliseconds since 1970 by the harness's clock. */
export interface Dispatched {
  readonly sentAt: number;
  readonly receivedAt: number;
  readonly outcome: WireResponse | FailureOutcome;
  /** Whether a connection that had answered before was closed without an answer: it was idle for too long. */
  readonly keptWasLost: boolean;
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
  connection: Line,
  request: WireRequest,
  bounds: DispatchBounds,
): Promise<Dispatched> {
  const handler = new OnceHandler(connection, bounds);
  const { method, path, headers, body, lastOfConnection } = request;
  if (!handler.ended) {
    connection.client.dispatch(
      { method, path, headers: headers.flat(), body: body ?? null, reset: lastOfConnection },
      handler,
    );
  }
  try {
    const dispatched = await handler.dispatched;
    connection.isWaiting = false;
    const { outcome } = dispatched;
    if (outcome.kind === 'failure') return dispatched;
    const stale = await staleAnswer(connection, handler.earlier, request, outcome, handler.took);
    return stale === undefined ? dispatched : { ...dispatched, outcome: stale };
  } finally {
    connection.isWaiting = false;
  }
}

/** Milliseconds after which a timer shows that the process stood still. */
const LATE = 50;

/** When a request fails that has not come further. */
interface Deadline {
  /** By performance.now(). */
  readonly at: number;
  readonly milliseconds: number;
  readonly reason: FailureReason;
  readonly what: string;
  isExtended: boolean;
}

class OnceHandler implements Dispatcher.DispatchHandler {
  readonly dispatched: Promise<Dispatched>;
  ended = false;
  /** What had come on the connection before. */
  earlier: readonly Answer[] = [];
  /** Real milliseconds from the request to the end of its answer. */
  took = 0;
  readonly #connection: Line;
  readonly #bounds: DispatchBounds;
  #resolve: (dispatched: Dispatched) => void = () => undefined;
  #reject: (error: unknown) => void = () => undefined;
  readonly #onAbort = () => {
    const { signal } = this.#bounds;
    this.#fail('interrupted', signal === undefined ? 'interrupted' : whyEnded(signal));
  };
  readonly #pieces: Buffer[] = [];
  #timer: NodeJS.Timeout | undefined;
  /** When the timer looks, by performance.now(). */
  #looksAt = Number.POSITIVE_INFINITY;
  #deadline: Deadline | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #progress: Progress = { stage: 'connecting', received: 0 };
  #sentAt: number;
  #status = 0;
  #headers: HeaderList = [];

  constructor(connection: Line, bounds: DispatchBounds) {
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
    this.earlier = this.#connection.answers;
    this.#connection.isWaiting = true;
    this.#progress = { stage: 'waiting for the response', received: 0 };
    this.#sentAt = this.#bounds.now();
    this.took = performance.now();
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
    const [piece, ...more] = this.#pieces;
    const bytes = piece !== undefined && more.length === 0 ? piece : Buffer.concat(this.#pieces);
    this.took = performance.now() - this.took;
    this.#end({ kind: 'response', status: this.#status, headers: this.#headers, bytes });
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    if (this.ended) return;
    const failure = failureOf(this.#connection.error ?? error, this.#progress);
    if (failure !== undefined) {
      this.#end(failure);
      return;
    }
    this.#finish();
    this.#reject(error);
  }

  #allow(milliseconds: number, reason: FailureReason, what: string): void {
    const at = performance.now() + milliseconds;
    this.#deadline = { at, milliseconds, reason, what, isExtended: false };
    // One timer does for an exchange, unless a limit ends sooner than the one before it.
    if (at < this.#looksAt) this.#lookIn(milliseconds);
  }

  #lookIn(milliseconds: number): void {
    clearTimeout(this.#timer);
    this.#looksAt = performance.now() + milliseconds;
    this.#timer = setTimeout(() => this.#look(), milliseconds);
  }

  #look(): void {
    const deadline = this.#deadline;
    if (deadline === undefined) return;
    const { at, milliseconds, reason, what, isExtended } = deadline;
    const late = performance.now() - at;
    if (late < 0) this.#lookIn(-late);
    // While this process stood still, busy or suspended, an answer may have come that it has not read yet.
    else if (late >= LATE && !isExtended) {
      deadline.isExtended = true;
      this.#lookIn(Math.min(late, milliseconds));
    } else this.#fail(reason, `${what} within ${milliseconds / 1000} s`);
  }

  /** Ends first and breaks the connection then, so that nothing that it does any more counts. */
  #fail(reason: FailureReason, message: string): void {
    this.#end({ kind: 'failure', reason, message });
    this.#controller?.abort(new Error(message));
  }

  #end(outcome: Dispatched['outcome']): void {
    if (this.ended) return;
    this.#finish();
    const wasLost = outcome.kind === 'failure' && outcome.reason === 'reset' && this.earlier.length > 0;
    const keptWasLost = wasLost && this.#progress.stage === 'waiting for the response';
    this.#resolve({ sentAt: this.#sentAt, receivedAt: this.#bounds.now(), outcome, keptWasLost });
  }

  #finish(): void {
    this.ended = true;
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
