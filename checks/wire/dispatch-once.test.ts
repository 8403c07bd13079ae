import t from 'tap';
import { type Dispatcher, errors } from 'undici';
import type { WireRequest } from './connections.ts';
import { type DispatchBounds, dispatchOnce } from './dispatch-once.ts';
import { BodyBudget } from './response-body.ts';

const LIST: WireRequest = {
  method: 'GET',
  path: '/v1/pets',
  headers: [
    ['Accept', 'application/json'],
    ['X-Extra', '1'],
  ],
  body: undefined,
};

/** Longer than any test takes. */
const PATIENT = { connect: 60_000, headers: 60_000, body: 60_000 };

type Handler = Required<
  Pick<
    Dispatcher.DispatchHandler,
    'onRequestStart' | 'onResponseStart' | 'onResponseData' | 'onResponseEnd' | 'onResponseError'
  >
>;

function isComplete(handler: Dispatcher.DispatchHandler): handler is Handler {
  return (
    handler.onRequestStart !== undefined &&
    handler.onResponseStart !== undefined &&
    handler.onResponseData !== undefined &&
    handler.onResponseEnd !== undefined &&
    handler.onResponseError !== undefined
  );
}

/** A connection on which happens what the test says, and when. */
class ScriptedConnection {
  readonly hasAnswered = false;
  readonly error = undefined;
  readonly keeping = { isSafe: true, isHttp2: false };
  readonly aborted: string[] = [];
  #handler: Handler | undefined;

  dispatch(_: WireRequest, handler: Dispatcher.DispatchHandler): void {
    if (!isComplete(handler)) throw new TypeError('a handler of all that can happen');
    this.#handler = handler;
  }

  get handler(): Handler {
    if (this.#handler === undefined) throw new TypeError('nothing was dispatched');
    return this.#handler;
  }

  controller(rawHeaders: (string | Buffer)[] = []): Dispatcher.DispatchController {
    const { aborted } = this;
    // undici passes either texts or bytes; a list of both is neither of its types.
    const texts = rawHeaders.filter((text) => typeof text === 'string');
    const bytes = rawHeaders.filter((text) => typeof text !== 'string');
    return {
      aborted: false,
      paused: false,
      reason: null,
      rawHeaders: bytes.length > 0 ? bytes : texts,
      abort: (reason) => void aborted.push(reason.message),
      pause() {},
      resume() {},
    };
  }
}

/** A request under way, on a clock that counts how often it was asked. */
function begin(bounds: Partial<DispatchBounds> = {}, request: Partial<WireRequest> = {}) {
  const connection = new ScriptedConnection();
  let time = 1000;
  const pending = dispatchOnce(
    connection,
    { ...LIST, ...request },
    { limits: PATIENT, budget: new BodyBudget(), now: () => time++, signal: undefined, ...bounds },
  );
  return { connection, pending };
}

t.test('a response in pieces is one response, its headers in the order of the wire', async (t) => {
  const asText = (text: string): string | Buffer => text;
  const asBytes = (text: string): string | Buffer => Buffer.from(text, 'latin1');
  for (const passed of [asText, asBytes]) {
    const { connection, pending } = begin();
    const { handler } = connection;
    handler.onRequestStart(connection.controller(), null);
    const controller = connection.controller(['X-A', '1', 'x-a', 'caf\xe9', 'B', ''].map(passed));
    handler.onResponseStart(controller, 404, {});
    handler.onResponseData(controller, Buffer.from('[{"id"'));
    handler.onResponseData(controller, Buffer.from(':1}]'));
    handler.onResponseEnd(controller, {});
    t.strictSame(await pending, {
      sentAt: 1001,
      receivedAt: 1002,
      outcome: {
        kind: 'response',
        status: 404,
        headers: [
          ['X-A', '1'],
          ['x-a', 'caf\xe9'],
          ['B', ''],
        ],
        bytes: Buffer.from('[{"id":1}]'),
      },
    });
    t.strictSame(connection.aborted, [], 'the connection stays');
  }
});

t.test('an interim response is no response', async (t) => {
  const { connection, pending } = begin({ limits: { ...PATIENT, headers: 20 } });
  connection.handler.onRequestStart(connection.controller(), null);
  connection.handler.onResponseStart(connection.controller(['Link', '</x>']), 103, {});
  t.match(await pending, {
    outcome: { kind: 'failure', reason: 'headers-timeout', message: 'no response within 0.02 s' },
  });

  const then = begin();
  then.connection.handler.onRequestStart(then.connection.controller(), null);
  then.connection.handler.onResponseStart(then.connection.controller(['Link', '</x>']), 199, {});
  then.connection.handler.onResponseStart(then.connection.controller([]), 200, {});
  then.connection.handler.onResponseEnd(then.connection.controller(), {});
  t.match((await then.pending).outcome, { kind: 'response', status: 200, headers: [] });
});

t.test('an answer that came while the process stood still is no timeout', async (t) => {
  const { connection, pending } = begin({ limits: { ...PATIENT, headers: 20 } });
  const controller = connection.controller([]);
  connection.handler.onRequestStart(controller, null);
  const answered = setTimeout(() => {
    connection.handler.onResponseStart(controller, 204, {});
    connection.handler.onResponseEnd(controller, {});
  }, 30);
  t.teardown(() => clearTimeout(answered));
  for (const until = performance.now() + 150; performance.now() < until; ) {
    // Both timers are due when this ends; that of the limit comes first.
  }
  t.match(await pending, { outcome: { kind: 'response', status: 204 } });
});

t.test('a connection that stands too late is not used', async (t) => {
  const { connection, pending } = begin({ limits: { ...PATIENT, connect: 10 } });
  await pending;
  connection.handler.onRequestStart(connection.controller(), null);
  t.equal(connection.aborted.length, 1, 'the request is not written');
});

t.test('undici may not send a request a second time', async (t) => {
  const { connection, pending } = begin();
  const { handler } = connection;
  handler.onRequestStart(connection.controller(), null);
  t.equal(connection.aborted.length, 0);
  handler.onRequestStart(connection.controller(), null);
  t.equal(connection.aborted.length, 1);
  handler.onResponseError(connection.controller(), new errors.SocketError('other side closed'));
  t.match(await pending, { sentAt: 1001, outcome: { kind: 'failure', reason: 'reset' } });
});

t.test('an exchange that is over hears of no interruption any more', async (t) => {
  const stop = new AbortController();
  const { connection, pending } = begin({ signal: stop.signal });
  const controller = connection.controller();
  connection.handler.onRequestStart(controller, null);
  connection.handler.onResponseStart(controller, 200, {});
  connection.handler.onResponseEnd(controller, {});
  await pending;
  stop.abort();
  t.strictSame(connection.aborted, [], 'its connection may serve another one by now');
});
