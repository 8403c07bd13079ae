import t from 'tap';
import type { Exchange, FailureOutcome } from '../../wire/exchange.ts';
import { answered } from '../../wire/testing/answered.ts';
import { PATIENCE, showsPresence, TargetPresence, withGatewayAsFailure } from './target-presence.ts';

type Reason = FailureOutcome['reason'];

const lost = (reason: Reason, sentAt: number, receivedAt = sentAt + 10): Exchange => ({
  ...answered({ sentAt, receivedAt }),
  outcome: { kind: 'failure', reason, message: `it ended: ${reason}` },
});

t.test('a gateway without a trace of the interface is no answer of the target', async (t) => {
  for (const status of [502, 503, 504]) {
    const page = answered({
      status,
      headers: [['Content-Type', 'text/html']],
      body: '<h1>Bad gateway</h1>',
    });
    t.strictSame(withGatewayAsFailure(page), {
      ...page,
      outcome: {
        kind: 'failure',
        reason: 'unavailable',
        message: `a gateway answers in its place, ${status} text/html, 20 bytes`,
      },
    });
  }
  const late = answered({ status: 408, body: '{"code":"late","message":"late","status":408}' });
  t.match(withGatewayAsFailure(late).outcome, {
    reason: 'unavailable',
    message: /^the request did not arrive/,
  });
});

t.test('any other exchange stays as it is', async (t) => {
  const asItIs: [what: string, exchange: Exchange][] = [
    [
      'a 503 of the target',
      answered({ status: 503, body: '{"code":"busy","message":"later","status":503}' }),
    ],
    ['a rate header', answered({ status: 503, headers: [['X-RateLimit-Limit', '60']], body: 'busy' })],
    ['another 5xx', answered({ status: 500, body: 'oops' })],
    ['a page that is no error', answered({ status: 200, body: '<h1>Welcome</h1>' })],
    ['a request without an answer', lost('reset', 0)],
  ];
  for (const [what, exchange] of asItIs) t.equal(withGatewayAsFailure(exchange), exchange, what);
});

t.test('a target is there when anything comes, be it too long to read', async (t) => {
  t.ok(showsPresence(answered({ status: 500 })));
  t.ok(showsPresence(lost('too-large', 0)));
  for (const reason of ['reset', 'refused', 'unavailable', 'interrupted'] as const)
    t.notOk(showsPresence(lost(reason, 0)), reason);
});

/** What is noted at a clock of this speed, with a patience of ten real seconds. */
function noted(exchanges: readonly Exchange[], speed = 1): string | undefined {
  const presence = new TargetPresence(speed, 10_000);
  for (const exchange of exchanges) presence.note(exchange);
  return presence.gone;
}

t.test('a target has gone after three lost requests in a row and the patience', async (t) => {
  t.equal(
    noted([lost('reset', 0), lost('refused', 5000), lost('refused', 9990, 10_000)]),
    'the target stopped answering: it ended: refused; 3 requests in a row, for 10 s',
    'counted from the first that was sent to the end of the last',
  );
  t.equal(noted([lost('reset', 0), lost('reset', 4000), lost('reset', 9000, 9999)]), undefined, 'too soon');
  t.equal(noted([lost('reset', 0), lost('reset', 60_000)]), undefined, 'two are no sign');
  t.equal(
    noted([lost('reset', 0), lost('reset', 3000), lost('reset', 5000), lost('reset', 11_390, 11_400)]),
    'the target stopped answering: it ended: reset; 4 requests in a row, for 11 s',
  );
});

t.test('an answer in between, or one too long to read, begins the count anew', async (t) => {
  for (const between of [answered({ sentAt: 9000 }), lost('too-large', 9000)]) {
    const before = [lost('reset', 0), lost('reset', 4000)];
    t.equal(noted([...before, between, lost('reset', 20_000)]), undefined);
    t.equal(
      noted([...before, between, lost('reset', 20_000), lost('reset', 21_000), lost('reset', 29_000)]),
      undefined,
      'and the silence too',
    );
  }
});

t.test('what the run itself broke off tells nothing', async (t) => {
  const broken = [0, 10_000, 20_000, 30_000].map((at) => lost('interrupted', at));
  t.equal(noted(broken), undefined);
  t.equal(noted([lost('reset', 0), lost('reset', 1000), ...broken]), undefined);
});

t.test('patience is real time, whatever the speed of the clock', async (t) => {
  const silence = (end: number) => [lost('reset', 0), lost('reset', 1000), lost('reset', 2000, end)];
  t.equal(noted(silence(599_999), 60), undefined);
  t.match(noted(silence(600_000), 60), /for 10 s$/);
});

t.test('once gone a target stays gone, for the reason that was found first', async (t) => {
  const gone = [lost('reset', 0), lost('reset', 1000), lost('reset', 10_000)];
  const reason = noted(gone);
  t.equal(noted([...gone, lost('refused', 20_000)]), reason);
  t.equal(noted([...gone, answered({ sentAt: 20_000 })]), reason);
});

t.test('by default a target is waited for for a minute', async (t) => {
  t.equal(PATIENCE, 60_000);
  const presence = new TargetPresence(1);
  for (const end of [1000, 2000, 59_999]) presence.note(lost('reset', 0, end));
  t.equal(presence.gone, undefined);
  presence.note(lost('reset', 0, 60_000));
  t.match(presence.gone, /for 60 s$/);
});

t.test('pauses grow to a quarter of a minute, in the time of the run', async (t) => {
  const pauses = (presence: TargetPresence) => [1, 2, 3, 4, 5, 6, 50].map((look) => presence.pause(look));
  t.strictSame(pauses(new TargetPresence(1)), [1000, 2000, 4000, 8000, 15_000, 15_000, 15_000]);
  t.strictSame(pauses(new TargetPresence(60)).slice(0, 2), [60_000, 120_000]);
  t.strictSame(
    pauses(new TargetPresence(1, 10_000)),
    [1000, 2000, 2500, 2500, 2500, 2500, 2500],
    'and are no longer than a quarter of the patience',
  );
});
