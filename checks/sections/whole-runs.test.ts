/** What whole runs send, wait for and say, on a clock that only waits and answers move on. */
import { join } from 'node:path';
import t from 'tap';
import { sentence } from '../../reports/reasons.ts';
import { slidingLog, tokenBucketInSteps } from '../limits/testing/simulated-limits.ts';
import { SECOND } from '../limits/time.ts';
import { playRun } from '../run/play.ts';
import { preflight } from '../run/preflight.ts';
import type { RunEvent } from '../run/run-events.ts';
import { assertAsStored } from '../testing/as-stored.ts';
import type { Exchange, FailureOutcome } from '../wire/exchange.ts';
import { allChecks, allGapObservers } from './all-checks.ts';
import { TestStore } from './animals/testing/store-target.ts';
import { type Arrival, type LimitedTarget, limitedRun } from './quota/testing/limited-target.ts';
import { exhaustKey, type Told } from './quota/testing/measured.ts';

/** Ordinary requests are the largest key's: where its minute ends decides about none of them. */
const KEYS = [
  exhaustKey({ limits: { perMinute: 60, perDay: 1000 } }),
  exhaustKey({ name: 'free-ban', roles: ['ban'], limits: { perMinute: 60, perDay: 1000 } }),
  exhaustKey({ name: 'pro-1', plan: 'pro', roles: ['functional'], limits: { perMinute: 900, perDay: 9000 } }),
];
const FREE = KEYS.slice(0, 1);

/** Equal lines that follow each other as one, with their number. */
function counted(lines: readonly string[]): string {
  const runs: { line: string; times: number }[] = [];
  for (const line of lines) {
    const last = runs.at(-1);
    if (last?.line === line) last.times += 1;
    else runs.push({ line, times: 1 });
  }
  return runs.map(({ line, times }) => (times === 1 ? line : `${line} × ${times}`)).join('\n');
}

/** The id of a requirement or gap, and what is said of it. */
type Row = readonly [id: string, said: string];

/** What a target answers in place of the store; undefined leaves it as it is. */
type Otherwise = (arrival: Arrival, store: TestStore) => Told | FailureOutcome | undefined;

/** What each scene of a run sends, what is waited for, and what is said of each row and gap. */
async function wholeRun(target: LimitedTarget, otherwise: Otherwise) {
  const store = new TestStore(30);
  const scenes = new Map<string, string[]>();
  const waits: string[] = [];
  // How many animals a run has added before is another scene's matter.
  const named = (path: string) =>
    path.replace(/(?<=^\/pets\/)\d+/, (id) => store.kept.find((pet) => `${pet.id}` === id)?.name ?? id);
  const onEvent = (event: RunEvent) => {
    if (event.kind === 'waiting') {
      const seconds = (event.until - test.clock.now()) / SECOND;
      waits.push(`${event.for}: ${seconds < 2 ? seconds.toFixed(2) : Math.round(seconds)} s`);
    }
    if (event.kind !== 'exchange') return;
    const { sentBy, intent, key, request, outcome } = event.exchange;
    const sent = scenes.get(sentBy) ?? [];
    scenes.set(sentBy, sent);
    const headers = request.headers.map(([name, value]) => ` ${name}: ${value}`).join('');
    const came = outcome.kind === 'response' ? outcome.status : outcome.reason;
    sent.push(
      `${key ?? '(none)'} ${intent} ${request.method} ${named(request.path)}${headers} ${request.body ?? ''} → ${came}`,
    );
  };
  const test = limitedRun({
    keys: KEYS,
    permissions: ['writes', 'exhaust', 'ban'],
    ban: { refusals: 10, seconds: 40 },
    keyless: (seconds) => ({ limit: 60, remaining: 60, reset: Math.floor(seconds) + 60 }),
    ...target,
    tells: (arrival) => {
      const told = otherwise(arrival, store);
      if (told !== undefined || !arrival.admitted) return told;
      const { status = 200, body = '' } = store.answer(arrival.request);
      return { status, body };
    },
    options: { checks: allChecks, onEvent, ...target.options },
  });
  const ready = await preflight(test.run);
  const { requirements, gaps, doubt } = await playRun(test.run, {
    checks: allChecks,
    gapObservers: allGapObservers,
  });
  const shown = (evidence: readonly Exchange[]) => evidence.map((exchange) => ` [${exchange.id}]`).join('');
  const rows = [...requirements].map(([id, { verdict, reasons, violation, evidence }]): Row => {
    const broken = violation === undefined ? '' : `${violation.expected} / ${violation.actual}; `;
    return [id, `${verdict}: ${broken}${sentence(reasons)}${shown(evidence)}`];
  });
  const answers = [...gaps].map(([id, answer]): Row => {
    if ('kind' in answer) return [id, sentence([answer])];
    return [id, `${answer.answer}: ${answer.detail}${shown(answer.evidence)}`];
  });
  const run: Row = ['the run', `${ready.kind === 'ready' ? 'ready' : ready.message}, ${doubt ?? 'no doubt'}`];
  return {
    sends: Object.fromEntries([...scenes].map(([scene, sent]) => [scene, counted(sent)])),
    waits: counted(waits),
    // Without how often a row was seen, ids and times, which change with what else is sent.
    rows: [...rows, ...answers, run].map(([id, said]): Row => {
      return [
        id,
        said
          .replace(/(?<=held in |broken )[\w,]+( \w+)?(?=$| \[| \(see)/, '…')
          .replace(/\b(1\d{3,}|\d+ of \d+ times)\b/g, 'N'),
      ];
    }),
  };
}

const failure = (reason: FailureOutcome['reason']): FailureOutcome => ({
  kind: 'failure',
  reason,
  message: 'it says so',
});

/** Does something to one request in so many, chosen by what it is: another request more changes nothing for the others. */
function now(and: (arrival: Arrival) => ReturnType<Otherwise>, oneIn: number): Otherwise {
  const seen = new Map<string, number>();
  return (arrival) => {
    const { method, path, body = '' } = arrival.request;
    const text = `${method} ${path.replace(/\d{4}/, '')} ${body}`;
    const times = (seen.get(text) ?? 0) + 1;
    seen.set(text, times);
    const sum = [...text].reduce((before, letter) => before + letter.charCodeAt(0), times);
    return sum % oneIn === 0 ? and(arrival) : undefined;
  };
}

/** Does something from the first malformed id on. */
function afterwards(and: (arrival: Arrival) => ReturnType<Otherwise>): Otherwise {
  let begun = false;
  return (arrival) => {
    begun ||= arrival.request.path === '/pets/abc';
    return begun ? and(arrival) : undefined;
  };
}

/** A target that is wrong in much. */
const wrong: Otherwise = ({ request, admitted, seconds, remaining }, store) => {
  if (!admitted) return { retryAfter: undefined, remaining: 3, reset: Math.floor(seconds) - 5 };
  if (request.path.includes('/pets/')) return { status: 500, body: '{"code":"","message":"m"}' };
  const { status = 200, body = '' } = store.answer(request);
  if (request.method === 'POST' && status === 201) return { status: 200, body: body.toUpperCase() };
  return { status, body, remaining: remaining === 7 ? 8 : remaining };
};
/** One that accepts whatever it is asked, and stores what it refuses. */
const careless: Otherwise = ({ request, number }, store) => {
  const added = { ...request, body: request.body?.replace(/refused/, 'taken') ?? '{}' };
  if (request.method === 'POST')
    return { status: store.answer(added).status === 201 && number % 2 ? 400 : 201, body: REX };
  if (request.path.includes('/pets/')) return { status: 200, body: REX };
  const all = store.answer({ ...request, path: '/pets?limit=100' }).body ?? '';
  return { body: all.replace(/\]$/, `,${REX},${REX}]`) };
};
/** One that shows an animal otherwise than it was. */
const changing: Otherwise = ({ request, admitted }, store) => {
  if (!admitted) return undefined;
  const { status = 200, body = '' } = store.answer(request);
  const isOne = /^\/pets\/\d/.test(request.path);
  return { status, body: isOne ? body.replace(/"categoryId":\d+/, '"categoryId":77') : body };
};
/** One whose longest lists are short. */
const short: Otherwise = ({ request, admitted }, store) => {
  if (!admitted) return undefined;
  const { status = 200, body = '' } = store.answer({
    ...request,
    path: request.path.replace(/limit=(99|100)/, 'limit=10'),
  });
  return { status, body };
};
const REX = '{"id":7,"name":"Rex","categoryId":1,"status":"sold"}';
const quiet: Otherwise = () => undefined;

const TARGETS: Readonly<Record<string, readonly [LimitedTarget, Otherwise]>> = {
  'one that conforms': [{}, quiet],
  'a day that is spent': [{ keys: FREE, permissions: ['exhaust', 'day'] }, quiet],
  'a bucket without Date': [{ limit: tokenBucketInSteps, clockAhead: 'none' }, quiet],
  'a log in milliseconds': [{ limit: slidingLog, ban: { refusals: 99, seconds: 1 }, unit: SECOND }, quiet],
  'one that is wrong': [{ admits: 70 }, wrong],
  'one that accepts everything': [{ keyless: () => ({ status: 200, body: '[]' }) }, careless],
  'answers lost': [{}, now(() => failure('reset'), 13)],
  'connections refused': [{}, now(() => failure('refused'), 3)],
  'a gateway that is unavailable': [{}, now(() => ({ status: 503, body: '<html>' }), 9)],
  'a neighbour': [{ neighbour: (number) => number % 2 === 0 }, quiet],
  'one that goes': [{}, afterwards(() => failure('refused'))],
  'one that refuses a key': [{}, afterwards(({ key }) => (key === 'pro-1' ? { status: 401 } : undefined))],
  "one that lists others' animals only": [
    { keys: FREE, permissions: ['writes'] },
    ({ request }) => (/^\/pets\/\d{1,2}$/.test(request.path) ? { status: 404 } : undefined),
  ],
  'one that lets nobody add': [
    {},
    ({ request }) => (request.method === 'POST' ? { status: 403 } : undefined),
  ],
  'one that changes animals': [{}, changing],
  'one that changes those of others': [{ keys: FREE, permissions: [] }, changing],
  'one whose lists are short': [{ keys: FREE, permissions: ['writes'] }, short],
  'one that is never free': [{ admits: 0 }, quiet],
  'more requests than it may send': [{ options: { mostRequests: 12 } }, quiet],
};

t.test('what is sent, waited for and said is as stored', async (t) => {
  const scenes = [...allChecks, ...allGapObservers].flatMap((row) => row.scenes);
  // What a journal says of them: a run goes on only with the scenes that it began with.
  const said = new Set(scenes.map((scene) => JSON.stringify(scene)));
  const texts: Record<string, string> = { scenes: [...said].sort().join('\n') };
  const usual = new Set<string>();
  for (const [name, [target, otherwise]] of Object.entries(TARGETS)) {
    const { sends, waits, rows } = await wholeRun(target, otherwise);
    texts[`${name}: waits`] = waits;
    // Of which rows is not told: a sentence of a new one is a new text, and another id changes none.
    for (const row of rows) if (!usual.has(row.join(' '))) texts[`${name}: ${row[1]}`] = '';
    if (usual.size === 0) for (const row of rows) usual.add(row.join(' '));
    for (const [scene, sent] of Object.entries(sends)) {
      if (!usual.has(scene)) texts[`${name}: ${scene} sends`] = sent;
      usual.add(scene);
    }
  }
  assertAsStored(t, join(import.meta.dirname, 'testing', 'whole-runs.txt'), texts);
});
