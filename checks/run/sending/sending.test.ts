/** What a scene gets for a request where something else than the target's own answer comes: one case a row. */
import fc from 'fast-check';
import t from 'tap';
import {
  alignedWindow,
  fixedWindow,
  type SimulatedLimit,
  slidingLog,
} from '../../limits/testing/simulated-limits.ts';
import { addPet, getPet, listPets, type RequestSpec, repeatable } from '../../wire/requests.ts';
import { Inconclusive } from '../reason.ts';
import type { RunOptions } from '../run.ts';
import type { SceneRun } from '../scene.ts';
import { type Answers, NOON, type TestRun, testKey, testRun } from '../testing/test-run.ts';

type Answer = ReturnType<Answers>;

const LOST = { kind: 'failure', reason: 'reset', message: 'closed' } as const;
const REFUSED = { kind: 'failure', reason: 'refused', message: 'refused' } as const;
const LONG = { kind: 'failure', reason: 'too-large', message: 'too long' } as const;
const INTERRUPTED = { kind: 'failure', reason: 'interrupted', message: 'interrupted' } as const;
const GATEWAY = { status: 503, headers: [['Content-Type', 'text/html']], body: '<h1>Busy</h1>' } as const;
const dateAt = (milliseconds: number) => new Date(NOON + milliseconds).toUTCString();
const refused = (retryAfter?: string, date?: string): Answer => ({
  status: 429,
  headers: [
    ...(retryAfter === undefined ? [] : [['Retry-After', retryAfter] as const]),
    ...(date === undefined ? [] : [['Date', date] as const]),
  ],
});
const times = (count: number, answer: Answer): Answer[] => Array.from({ length: count }, () => answer);

const GET = getPet(1n);
const REX = repeatable((again) => addPet({ name: `Rex${again}` }));
const ONLY_REX = addPet({ name: 'Rex' });
const TWO_KEYS = { keys: [testKey(), testKey({ name: 'free-2' })] };

interface Case {
  readonly asks: RequestSpec;
  /** In turn; from then on an ordinary one. */
  readonly answers: readonly Answer[];
  readonly options?: Partial<RunOptions>;
  readonly intent?: 'preflight';
  readonly withoutKey?: true;
  /** What was sent: `1` is the animal, `?` a look whether the target is there, else the name that was added. */
  readonly sent: string;
  /** Until when was waited, in seconds since the run began. */
  readonly waits?: readonly number[];
  /** The status that the scene gets, or why it gets none. */
  readonly ends: number | { readonly kind: string; readonly by?: string };
}

const CASES: Readonly<Record<string, Case>> = {
  'an answer': { asks: GET, answers: [], sent: '1', ends: 200 },
  'a connection that broke once': { asks: GET, answers: [LOST], sent: '1 1', ends: 200 },
  'a request that the target does not answer': {
    asks: GET,
    answers: [LOST, LOST],
    sent: '1 1 ?',
    ends: { kind: 'lost' },
  },
  'connections that are refused for a moment': {
    asks: REX,
    answers: times(3, REFUSED),
    sent: 'Rex Rex Rex Rex',
    waits: [0.06, 0.27, 1.08],
    ends: 200,
  },
  'a target that was away and is back': {
    asks: GET,
    answers: times(4, LOST),
    sent: '1 1 ? ? ? 1',
    waits: [1.03, 3.04],
    ends: 200,
  },
  'a target that comes back and goes': {
    asks: GET,
    answers: [LOST, LOST, LOST, {}, LOST, LOST],
    sent: '1 1 ? ? 1 ? ?',
    waits: [1.03, 2.06],
    ends: { kind: 'lost' },
  },
  'a target that stays away': {
    asks: GET,
    answers: times(20, LOST),
    options: { patience: 10_000 },
    sent: '1 1 ? ? ? ? ? ?',
    waits: [1.03, 3.04, 5.55, 8.06, 10.57],
    ends: { kind: 'ended', by: 'target-gone' },
  },
  'the first question of a run': {
    asks: GET,
    answers: [LOST, LOST],
    intent: 'preflight',
    sent: '1 1',
    ends: { kind: 'lost' },
  },
  'an answer that is too long to read': { asks: GET, answers: [LONG], sent: '1', ends: { kind: 'lost' } },
  'an interruption': {
    asks: GET,
    answers: [INTERRUPTED],
    sent: '1',
    ends: { kind: 'ended', by: 'interruption' },
  },
  'a gateway of a target that is away': {
    asks: GET,
    answers: [GATEWAY],
    sent: '1 1',
    waits: [1.01],
    ends: 200,
  },
  'a target that says it is busy': {
    asks: GET,
    answers: [{ status: 503 }],
    sent: '1 1',
    waits: [1.01],
    ends: 200,
  },
  'a target that says so again': {
    asks: GET,
    answers: times(2, { status: 503, headers: [['X-RateLimit-Limit', '60']] }),
    sent: '1 1',
    waits: [1.01],
    ends: 503,
  },
  'an error of its own': { asks: GET, answers: [{ status: 500 }], sent: '1', ends: 500 },
  'a stranger’s 429 that tells seconds': {
    asks: GET,
    answers: [refused('5')],
    sent: '1 1',
    waits: [5.01],
    ends: 200,
  },
  'one that tells a date, and the target’s clock': {
    asks: GET,
    answers: [refused(dateAt(5000), dateAt(0))],
    sent: '1 1',
    waits: [5.01],
    ends: 200,
  },
  'one that tells a date, and no clock': {
    asks: GET,
    answers: [refused(dateAt(5000))],
    sent: '1 1',
    // Ours stands in.
    waits: [5],
    ends: 200,
  },
  'one that tells nothing': { asks: GET, answers: [refused()], sent: '1 1', waits: [60.01], ends: 200 },
  'one that tells more than a window': {
    asks: GET,
    answers: [refused('121')],
    sent: '1',
    ends: { kind: 'day-spent' },
  },
  'a stranger who leaves nothing': {
    asks: GET,
    answers: times(9, refused('1')),
    sent: '1 1 1 1',
    waits: [1.01, 2.02, 3.03],
    ends: { kind: 'interference' },
  },
  'without a key, a 429': {
    asks: GET,
    withoutKey: true,
    answers: [refused('5')],
    sent: '1 1',
    waits: [5.01],
    ends: 200,
  },
  'without a key, a limit': {
    asks: GET,
    withoutKey: true,
    answers: times(9, refused('1')),
    sent: '1 1 1 1',
    waits: [1.01, 2.02, 3.03],
    ends: { kind: 'not-told' },
  },
  'an addition whose answer was lost': {
    asks: REX,
    answers: [LOST, {}, { status: 201 }],
    sent: 'Rex ? Rex b',
    ends: 201,
  },
  'an addition whose answers are all lost': {
    asks: REX,
    answers: [LOST, {}, LOST, {}, LOST, {}],
    sent: 'Rex ? Rex b ? Rex c ?',
    ends: { kind: 'lost' },
  },
  'an addition that names no other animal': {
    asks: ONLY_REX,
    answers: [LOST],
    sent: 'Rex ?',
    ends: { kind: 'lost' },
  },
  'an addition without a key adds nothing': {
    asks: ONLY_REX,
    withoutKey: true,
    answers: [LOST, {}, { status: 401 }],
    sent: 'Rex ? Rex',
    ends: 401,
  },
  'an addition that was refused for its rate was not done': {
    asks: REX,
    answers: [refused('1'), { status: 201 }],
    sent: 'Rex Rex',
    waits: [1.01],
    ends: 201,
  },
  'an addition that a busy target answered may be': {
    asks: REX,
    answers: [{ status: 503, headers: [['X-RateLimit-Limit', '60']] }, { status: 201 }],
    sent: 'Rex Rex b',
    waits: [1.01],
    ends: 201,
  },
  'an addition that is forbidden to one key of two': {
    asks: REX,
    answers: [{ status: 403 }, {}, { status: 201 }],
    options: TWO_KEYS,
    sent: 'Rex ? Rex',
    ends: 201,
  },
  'a key that everything refuses': {
    asks: GET,
    answers: times(2, { status: 401 }),
    sent: '1 ?',
    ends: { kind: 'interference' },
  },
  'one operation that refuses it': { asks: GET, answers: [{ status: 401 }], sent: '1 ?', ends: 401 },
  'a run without a key that pays': {
    asks: GET,
    answers: [],
    options: { keys: [testKey({ roles: ['ban'] })] },
    sent: '',
    ends: { kind: 'not-told' },
  },
};

const nameOf = ({ path, body }: TestRun['sent'][number]): string =>
  body === undefined
    ? path.replace('/pets?limit=1', '?').replace('/pets/', '')
    : (/"name":"([^"]*)"/.exec(body)?.[1] ?? '');

for (const [what, { asks, answers, options, intent = 'ordinary', withoutKey, ...expected }] of Object.entries(
  CASES,
))
  t.test(what, async (t) => {
    const { run, sent, waits } = testRun((_request, number) => answers[number - 1] ?? {}, options);
    const scene = run.sceneRun('check', intent);
    const asked = scene.send(asks, withoutKey === true ? { key: { kind: 'none' } } : {});
    const ends = await asked.then(
      ({ outcome }) => outcome.status,
      (error: unknown) => (error instanceof Inconclusive ? error.reason : error),
    );
    t.match(ends, expected.ends);
    t.equal(sent.map(nameOf).join(' '), expected.sent);
    t.strictSame(
      waits().map((wait) => Number.parseFloat(wait)),
      expected.waits ?? [],
    );
  });

t.test('nine waits of a key in vain are enough for all checks, and eight repeated additions', async (t) => {
  const { run, sent } = testRun(() => refused('5'));
  for (let check = 1; check <= 4; check += 1)
    await t.rejects(run.sceneRun(`check-${check}`, 'ordinary').send(GET), Inconclusive);
  t.equal(sent.length, 4 + 4 + 4 + 1);
  const losing = testRun(({ method }, number) =>
    method === 'POST' && number % 3 === 1 ? LOST : { status: 201 },
  );
  const scene = losing.run.sceneRun('check', 'ordinary');
  for (let count = 0; count < 8; count += 1) await scene.send(REX);
  await t.rejects(scene.send(REX), { name: 'Inconclusive', reason: { kind: 'lost' } });
});

t.test(
  'a burst sends side by side, keeps the order, and starts nothing more once it has enough',
  async (t) => {
    const { run } = testRun(({ path }) => (path === '/pets/4' ? { status: 429 } : {}));
    const specs = Array.from({ length: 9 }, (_, index) => getPet(BigInt(index + 1)));
    const burst = (scene: SceneRun) =>
      scene.burst(specs, testKey(), {
        inFlight: 3,
        enough: ({ outcome }) => outcome.kind === 'response' && outcome.status === 429,
      });
    const exchanges = await burst(run.sceneRun('burst', 'fill'));
    t.strictSame(
      exchanges.map(({ request }) => request.path),
      specs.slice(0, exchanges.length).map(({ path }) => path),
    );
    t.ok(exchanges.length >= 4 && exchanges.length <= 6, `${exchanges.length}`);
    t.ok(exchanges.every(({ intent }) => intent === 'fill'));
  },
);

t.test('requests of one key go one by one, within whatever limit answers them', async () => {
  const limits: readonly SimulatedLimit[] = [fixedWindow, alignedWindow, slidingLog];
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...limits),
      fc.integer({ min: 1, max: 12 }),
      fc.integer({ min: 1, max: 40 }),
      fc.integer({ min: 0, max: 59_999 }),
      async (limit, perMinute, requests, phase) => {
        const admits = limit(perMinute);
        const target = testRun(
          () => {
            const now = target.clock.now();
            const { admitted, remaining, reset } = admits(now);
            return {
              status: admitted ? 200 : 429,
              headers: [
                ['Date', new Date(Math.floor(now / 1000) * 1000).toUTCString()],
                ['X-RateLimit-Limit', String(perMinute)],
                ['X-RateLimit-Remaining', String(remaining)],
                ['X-RateLimit-Reset', String(Math.ceil(reset / 1000))],
              ],
            };
          },
          { keys: [testKey({ limits: { perMinute, perDay: 1000 } })] },
        );
        target.clock.pass(phase);
        const scene = target.run.sceneRun('check', 'ordinary');
        await Promise.all(Array.from({ length: requests }, () => scene.send(listPets())));
        const { readings } = target.run.trace;
        if (readings.some(({ status }) => status === 429)) return false;
        return readings.every((one, index) => one.sentAt >= (readings[index - 1]?.receivedAt ?? 0));
      },
    ),
    { numRuns: 60 },
  );
});
