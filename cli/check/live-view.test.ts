import { PassThrough } from 'node:stream';
import t from 'tap';
import type { Clock } from '../../checks/run/clock.ts';
import type { RunEvent } from '../../checks/run/run-events.ts';
import type { Exchange } from '../../checks/wire/exchange.ts';
import { wantsColour } from '../shared/screen.ts';
import { LiveProgress, pace } from './live-progress.ts';
import { liveLines, liveView } from './live-view.ts';

const START = Date.UTC(2026, 10, 21, 12);
const clockAt = (now: number, speed = 1): Clock => ({ speed, now: () => now, sleepUntil: async () => {} });

function exchange(key: string | null): RunEvent {
  const at: Exchange = {
    id: 'x#1',
    sentBy: 'x',
    key,
    sentAt: START,
    receivedAt: START,
    request: { operation: 'listPets', method: 'GET', path: '/pets', headers: [] },
    outcome: { kind: 'failure', reason: 'interrupted', message: '' },
  };
  return { kind: 'exchange', exchange: at };
}

function after(events: readonly RunEvent[], now = START): LiveProgress {
  const progress = new LiveProgress();
  for (const event of events) progress.admit(event, now);
  return progress;
}

t.test('the picture: current check, waits with their countdown, requests a key', (t) => {
  const progress = after([
    { kind: 'check-started', id: 'list-limit-range' },
    { kind: 'check-ended', id: 'list-limit-range', verdict: 'pass', reason: '', evidence: [] },
    { kind: 'check-started', id: 'rate-minute-free' },
    exchange('free-1'),
    exchange('free-1'),
    exchange(null),
    { kind: 'waiting', until: START + 60_000, for: 'the ban' },
    { kind: 'waiting', until: START + 42_500, for: 'the next window of key free-1' },
    { kind: 'waiting', until: START + 1000, for: 'something over' },
    { kind: 'waited', for: 'something over' },
  ]);
  t.same(liveLines(progress, { clock: clockAt(START), checks: 97 }), [
    '▸ rate-minute-free · 1 of 97 checks, 3 requests',
    '  0:43 for the next window of key free-1',
    '  1:00 for the ban',
    '  requests: free-1 2 · (none) 1',
  ]);
  t.match(liveLines(progress, { clock: clockAt(START, 60), checks: 97 })[0], /\(simulated clock\)$/);
  t.match(liveLines(after([]), { clock: clockAt(START), checks: 97 })[0], /^▸ between checks · 0 of 97/);
  t.end();
});

t.test('a day: rate, what remains, when it is done', (t) => {
  const progress = after([{ kind: 'spending', key: 'pro-1', done: 1000, of: 10_000 }]);
  t.match(
    liveLines(progress, { clock: clockAt(START), checks: 1 })[1],
    /^ {2}day of pro-1: 1,000 of 10,000 \(10 %\)$/,
  );
  t.match(liveLines(progress, { clock: clockAt(START), checks: 1 })[0], /^▸ days’ quotas · /);
  progress.admit({ kind: 'spending', key: 'pro-1', done: 4000, of: 10_000 }, START + 600_000);
  const [, line] = liveLines(progress, { clock: clockAt(START + 600_000), checks: 1 });
  t.match(line, /4,000 of 10,000 \(40 %\), 300 a minute, done in 20:00 at \d\d:\d\d$/);
  progress.admit({ kind: 'spending', key: 'pro-1', done: 10_000, of: 10_000 }, START + 1_800_000);
  t.equal(progress.spending.size, 0);
  t.equal(pace({ done: 5, of: 10, since: START, from: 5 }, START + 1000), undefined, 'no pace from nothing');
  t.end();
});

t.test('where there is no terminal: failures and long waits, a line each, no control characters', (t) => {
  const stream = Object.assign(new PassThrough(), { isTTY: false }) as unknown as NodeJS.WriteStream;
  const view = liveView(stream, { clock: clockAt(START, 10), checks: 2 });
  view.onEvent({
    kind: 'check-ended',
    id: 'a',
    verdict: 'fail',
    reason: 'six \u001b[31manimals\u202e',
    evidence: [],
  });
  view.onEvent({ kind: 'waiting', until: START + 40_000, for: 'a wait of four real seconds' });
  // Two scenes wait for the same.
  for (let scenes = 0; scenes < 2; scenes += 1)
    view.onEvent({ kind: 'waiting', until: START + 60_000, for: 'the next window' });
  view.end();
  const text = String(stream.read());
  t.match(text, /^✘ a: six .*animals.*\nwaiting 1:00 for the next window\n$/);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  t.notMatch(text, /[\u0000-\u0009\u000b-\u001f\u202e]/);
  t.end();
});

t.test('on a terminal the picture is drawn, notes stay, the cursor too', (t) => {
  const stream = Object.assign(new PassThrough(), {
    isTTY: true,
    columns: 60,
    rows: 10,
  }) as unknown as NodeJS.WriteStream;
  const view = liveView(stream, { clock: clockAt(START), checks: 2 });
  view.onEvent({ kind: 'check-started', id: 'a' });
  view.onEvent({ kind: 'check-ended', id: 'a', verdict: 'fail', reason: 'x'.repeat(500), evidence: [] });
  view.note('stopping');
  view.end();
  const text = String(stream.read());
  t.match(text, '▸ ');
  t.match(text, 'stopping\n');
  for (const line of text.split('\n')) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: an escape is no column.
    t.ok(line.replace(/\u001b\[[?\d;]*[A-Za-z]/g, '').length <= 60, 'nothing wraps');
  }
  t.notMatch(text, '\u001b[?25l', 'the cursor is never hidden');
  t.end();
});

t.test('a frame is one write, which a terminal may show at once: nothing flickers', (t) => {
  const writes: string[] = [];
  const stream = Object.assign(new PassThrough(), {
    isTTY: true,
    columns: 60,
    rows: 10,
    write: (text: string) => writes.push(text) > 0,
  }) as unknown as NodeJS.WriteStream;
  const view = liveView(stream, { clock: clockAt(START), checks: 2 });
  view.note('first');
  view.onEvent({ kind: 'check-started', id: 'a' });
  view.onEvent({ kind: 'check-ended', id: 'a', verdict: 'fail', reason: 'six', evidence: [] });
  view.note('last');
  view.end();
  t.equal(writes.length, 4, 'two notes, a failure, the end');
  for (const text of writes) {
    t.ok(text.startsWith('\u001b[?2026h') && text.endsWith('\u001b[?2026l'));
    t.equal(text.split('\u001b[?2026').length, 3);
  }
  t.match(writes[1], /✘ a: six.*\n▸ /s, 'a line that stays and the picture below it, together');
  t.end();
});

t.test('a failure names its requirement in words', (t) => {
  const stream = Object.assign(new PassThrough(), { isTTY: false }) as unknown as NodeJS.WriteStream;
  const view = liveView(stream, { clock: clockAt(START), checks: 2 });
  view.onEvent({
    kind: 'check-ended',
    id: 'list-limit-default',
    verdict: 'fail',
    reason: '6 animals',
    evidence: [],
  });
  t.equal(String(stream.read()), '✘ list-limit-default (Without limit, 20): 6 animals\n');
  t.end();
});

t.test('colour: a terminal, unless NO_COLOR; FORCE_COLOR asks for it elsewhere', (t) => {
  const { NO_COLOR, FORCE_COLOR, TERM } = process.env;
  t.teardown(() => Object.assign(process.env, { NO_COLOR, FORCE_COLOR, TERM }));
  const stream = (isTTY: boolean | undefined) =>
    Object.assign(new PassThrough(), { isTTY }) as unknown as NodeJS.WriteStream;
  const given = (env: Record<string, string>) => {
    for (const name of ['NO_COLOR', 'FORCE_COLOR', 'TERM']) delete process.env[name];
    Object.assign(process.env, env);
  };
  for (const [env, isTTY, expected] of [
    [{}, true, true],
    [{}, false, false],
    [{}, undefined, false],
    [{ NO_COLOR: '1' }, true, false],
    [{ NO_COLOR: '' }, true, true],
    [{ NO_COLOR: '1', FORCE_COLOR: '1' }, true, false],
    [{ FORCE_COLOR: '1' }, false, true],
    [{ FORCE_COLOR: '0' }, true, false],
    [{ TERM: 'dumb' }, true, false],
  ] as const) {
    given(env);
    t.equal(wantsColour(stream(isTTY)), expected, JSON.stringify([env, isTTY]));
  }
  t.end();
});
