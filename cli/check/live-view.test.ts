import { PassThrough } from 'node:stream';
import { mock } from 'node:test';
import { WriteStream } from 'node:tty';
import { stripVTControlCharacters } from 'node:util';
import t from 'tap';
import type { RunEvent } from '../../checks/run/run-events.ts';
import { screenOf, wantsColour } from '../shared/screen.ts';
import { liveView } from './live-view.ts';

const START = Date.UTC(2026, 10, 21, 12);
const FAILED: Extract<RunEvent, { kind: 'check-ended' }> = {
  kind: 'check-ended',
  id: 'list-limit-default',
  verdict: 'fail',
  reasons: [{ kind: 'broken', times: 1 }],
  violation: { expected: '', actual: 'six \u001b[31manimals\u202e' },
  evidence: [],
};

const SENT: RunEvent = {
  kind: 'exchange',
  exchange: {
    id: 'x#1',
    sentBy: 'x',
    intent: 'ordinary',
    key: 'free-1',
    sentAt: START,
    receivedAt: START,
    request: { operation: 'listPets', method: 'GET', path: '/pets', headers: [] },
    outcome: { kind: 'failure', reason: 'interrupted', message: '' },
  },
};

const wait = (seconds: number, what: string): RunEvent => ({
  kind: 'waiting',
  until: START + seconds * 1000,
  for: what,
});

mock.timers.enable({ apis: ['setInterval'] });

/** What a run has shown ten seconds after these events, with its lines that stay first. */
function shown(
  isTTY: boolean,
  events: readonly RunEvent[],
  { speed = 1, simulated = false, mostRequests = Number.POSITIVE_INFINITY, columns = 60 } = {},
): string {
  const stream = Object.assign(new PassThrough(), { isTTY, columns, rows: 10 });
  const clock = { speed, now: () => START, sleepUntil: async () => {} };
  const only = Array.from({ length: 97 }, (_, index) => `check-${index}`);
  const subject = { only, mostRequests, ...(simulated ? { clock } : {}) };
  const view = liveView(stream as unknown as NodeJS.WriteStream, clock, subject);
  for (const event of events) view.onEvent(event);
  mock.timers.tick(10_000);
  view.end();
  return String(stream.read() ?? '');
}

for (const [name, events, how, expected] of [
  ['nothing yet', [], {}, '▸ nothing sent yet · 0 of 97 checks, 0 requests'],
  [
    'the scene that sends, and how much was sent',
    [{ ...FAILED, verdict: 'pass', id: 'a' }, SENT, SENT, SENT],
    { mostRequests: 1252 },
    '▸ x · 1 of 97 checks, 3 requests of at most 1,252',
  ],
  [
    'waits, the next one first, and none that is over',
    [
      wait(4.5, 'the ban'),
      wait(2.5, 'a window'),
      wait(1, 'something over'),
      { kind: 'waited', for: 'something over' },
    ],
    {},
    '▸ nothing sent yet · 0 of 97 checks, 0 requests; 0:03 for a window; 0:05 for the ban',
  ],
  [
    'a wait once, though two scenes wait for the same',
    [wait(60, 'the next window'), wait(60, 'the next window')],
    { speed: 10 },
    '▸ nothing sent yet · 0 of 97 checks, 0 requests (simulated clock); 1:00 for the next window',
  ],
  [
    'no wait of a clock that jumps ahead, as it takes no time',
    [wait(60, 'the next window'), { kind: 'waited', for: 'the next window' }],
    { simulated: true },
    '▸ nothing sent yet · 0 of 97 checks, 0 requests (simulated clock)',
  ],
  [
    'a failure, with the requirement in words and nothing that a terminal obeys',
    [FAILED],
    {},
    '✘ list-limit-default (Without limit, 20): six ⟨U+001B⟩[31manimals⟨U+202E⟩\n▸ nothing sent yet · 1 of 97 checks, 1 broken, 0 requests',
  ],
] as const satisfies readonly (readonly [string, readonly RunEvent[], object, string])[]) {
  t.test(`a log has ${name}`, async (t) => {
    t.equal(shown(false, events, how).trimEnd(), expected);
  });
}

t.test('a terminal has the picture and lines that stay; nothing wraps, the cursor stays', async (t) => {
  const long = [{ ...FAILED, violation: { expected: '', actual: 'x'.repeat(500) } }, SENT];
  const text = shown(true, long);
  t.match(text, /✘ list-limit-default .*\n▸ x/s);
  const widths = (shown: string) => shown.split('\n').map((line) => stripVTControlCharacters(line).length);
  t.equal(Math.max(...widths(text)), 59);
  t.equal(Math.max(...widths(shown(true, long, { columns: 9 }))), 20, 'but not unreadable');
  t.notMatch(text, '\u001b[?25l');
});

t.test('colour: a terminal, unless NO_COLOR; FORCE_COLOR asks for it elsewhere', async (t) => {
  const names = ['NO_COLOR', 'FORCE_COLOR', 'TERM', 'CI'] as const;
  const before = names.map((name) => process.env[name]);
  const set = (values: readonly (string | undefined)[]) => {
    for (const [index, name] of names.entries()) {
      if (values[index] === undefined) delete process.env[name];
      else process.env[name] = values[index];
    }
  };
  t.teardown(() => set(before));
  for (const [values, isTTY, expected] of [
    [[undefined, undefined, 'xterm'], true, true],
    [[], undefined, false],
    [['1', undefined, 'xterm'], true, false],
    [[undefined, '1'], false, true],
    [[undefined, '0'], true, false],
    [[undefined, undefined, 'dumb'], true, false],
  ] as const) {
    set(values);
    const { getColorDepth } = WriteStream.prototype;
    const stream = Object.assign(new PassThrough(), {
      isTTY,
      getColorDepth,
    }) as unknown as NodeJS.WriteStream;
    t.equal(wantsColour(stream), expected, JSON.stringify([values, isTTY]));
    const [least, larger] = [
      { columns: 9, rows: 9 },
      { columns: 41, rows: 11 },
    ];
    if (isTTY === true) {
      t.match(screenOf(Object.assign(stream, least)), { colour: expected, columns: 40, rows: 10 });
      t.match(screenOf(Object.assign(stream, larger)), larger);
    }
  }
});
