/** What a check's words make of its row, and what rows say of one another. */
import t from 'tap';
import type { Exchange } from '../wire/exchange.ts';
import { getPet, listPets } from '../wire/requests.ts';
import { answered } from '../wire/testing/answered.ts';
import { type Check, check, type GapObserver, gap, type Judge } from './check.ts';
import { type Finding, Findings } from './findings.ts';
import { playRun } from './play.ts';
import { Inconclusive, notTold, type Reason } from './reason.ts';
import type { RunEvent } from './run-events.ts';
import { scene } from './scene.ts';
import { type Answers, testKey, testRun } from './testing/test-run.ts';

const WRONG = { expected: 'a', actual: 'b' };
const exchange = (number: number) => answered({ id: `check#${number}` });
const NO_PERMISSION: Reason = { kind: 'not-permitted', permission: 'ban' };

/** What is said of a requirement, and what it comes to. */
const SAID: Readonly<Record<string, [say: (judge: Judge) => void, finding: Partial<Finding>]>> = {
  nothing: [() => undefined, { verdict: 'inconclusive', reasons: [{ kind: 'not-shown' }] }],
  'it held': [
    (judge) => {
      for (const number of [1, 2, 2, 3, 4]) judge.holds(exchange(number));
    },
    { verdict: 'pass', reasons: [{ kind: 'held', times: 5 }] },
  ],
  'it held, without an exchange': [(judge) => judge.holds(), { verdict: 'pass', evidence: [] }],
  'one violation among all else': [
    (judge) => {
      judge.holds(exchange(1));
      judge.inconclusive('no answer', exchange(2));
      judge.inconclusive(NO_PERMISSION);
      judge.notApplicable('another plan');
      judge.breaks(WRONG, exchange(3));
    },
    {
      verdict: 'fail',
      violation: WRONG,
      reasons: [{ kind: 'broken', times: 1 }],
      evidence: [exchange(3)],
    },
  ],
  'a part could not be told, and the rest held': [
    (judge) => {
      judge.holds(exchange(1));
      judge.inconclusive('no answer', exchange(2));
      judge.inconclusive('no answer', exchange(3));
    },
    {
      verdict: 'inconclusive',
      reasons: [{ kind: 'not-told', what: 'no answer' }],
    },
  ],
  'a part was not asked for, and the rest held': [
    (judge) => {
      judge.holds(exchange(1));
      judge.inconclusive(NO_PERMISSION);
    },
    { verdict: 'skipped', reasons: [NO_PERMISSION] },
  ],
  'it does not bind the target': [
    (judge) => judge.notApplicable('another plan'),
    { verdict: 'not-applicable', reasons: [{ kind: 'unbound', what: 'another plan' }] },
  ],
};
for (const [what, [say, finding]] of Object.entries(SAID))
  t.test(`said of a requirement: ${what}`, async (t) => {
    const findings = new Findings();
    say(findings);
    t.match(findings.weigh(), finding);
  });

t.test('all violations are counted, five bring their evidence, three exchanges prove a pass', async (t) => {
  const findings = new Findings();
  for (let number = 1; number < 20; number += 1) findings.breaks(WRONG, exchange(number));
  t.match(findings.weigh(), { reasons: [{ times: 19 }] });
  t.equal(findings.weigh().evidence.length, 5);
  const held = new Findings();
  for (const number of [1, 2, 2, 3, 4]) held.holds(exchange(number));
  t.equal(held.weigh().evidence.length, 3);
});

t.test('of several exchanges that show a violation the plainest one does', async (t) => {
  const findings = new Findings();
  const asked = ['/pets?limit=%32%31', '/pets?limit=21', '/pets?limit=100'].map((path) => answered({ path }));
  for (const one of asked) findings.breaks(WRONG, one);
  t.equal(findings.weigh().evidence[0], asked[1]);
});

t.test('what a judgement throws as inconclusive is said; anything else is a defect', async (t) => {
  const findings = new Findings();
  findings.guard(() => {
    throw new Inconclusive(NO_PERMISSION);
  });
  t.match(findings.weigh(), { verdict: 'skipped' });
  t.throws(() =>
    findings.guard(() => {
      throw new TypeError('a defect');
    }),
  );
});

const lists = (id: string) => scene(id, {}, (run) => run.send(listPets()));
const saying = (id: string, say: (judge: Judge) => void): Check =>
  check(id, { scenes: [lists(id)] }, (judge) => say(judge));

async function judged(
  checks: readonly Check[],
  gapObservers: readonly GapObserver[] = [],
  answers?: Answers,
) {
  const { run } = testRun(answers, { checks });
  const events: RunEvent[] = [];
  const judging = { checks, gapObservers, leftOut: ['other'] };
  return { ...(await playRun(run, judging, (event) => events.push(event))), events };
}

t.test('a row for every check, and one for what was left out', async (t) => {
  const { requirements } = await judged([
    saying('held', (judge) => judge.holds()),
    saying('broken', (judge) => judge.breaks(WRONG)),
    check('open', {}, () => {
      throw new Inconclusive('no answer');
    }),
    check('writing', { permit: 'writes', observe: (one, judge) => judge.breaks(WRONG, one) }),
    check('reading', { permit: 'writes' }),
  ]);
  t.match(Object.fromEntries([...requirements].map(([id, { verdict }]) => [id, verdict])), {
    held: 'pass',
    broken: 'fail',
    open: 'inconclusive',
    // An answer that came anyway breaks it.
    writing: 'fail',
    reading: 'skipped',
    other: 'skipped',
  });
  t.match(requirements.get('other'), { reasons: [{ kind: 'left-out' }] });
});

t.test('each answer is judged as it comes, once, with what was known then', async (t) => {
  const seen: string[] = [];
  const watching = check('watching', {
    scenes: [lists('first'), lists('second')],
    observe: ({ id }, judge, soFar) => {
      seen.push(`${id} ${soFar.targetClock.skew === undefined ? 'without' : 'with'} a clock`);
      judge.holds();
    },
  });
  const { requirements } = await judged([watching]);
  t.strictSame(seen, ['first#1 without a clock', 'second#1 without a clock']);
  t.match(requirements.get('watching'), { reasons: [{ kind: 'held', times: 2 }] });
});

t.test('a check that rests on its own scenes alone is told as soon as they are played', async (t) => {
  const early = saying('early', (judge) => judge.holds());
  const late = check('late', { conclude: (judge) => judge.holds() });
  const { events } = await judged([late, early]);
  t.match(
    events.filter(({ kind }) => kind.startsWith('check-')),
    [
      { kind: 'check-ended', id: 'early', verdict: 'pass' },
      { kind: 'check-ended', id: 'late', verdict: 'pass' },
    ],
  );
});

t.test('what a profile declines is observed, and fails nothing', async (t) => {
  const checks = [saying('fills', (judge) => judge.breaks(WRONG)), saying('holds', (judge) => judge.holds())];
  const { run } = testRun(undefined, { checks, declined: new Set(['fills', 'holds']) });
  const { requirements } = await playRun(run, { checks, gapObservers: [] });
  t.match(requirements.get('fills'), {
    verdict: 'not-applicable',
    reasons: [{ kind: 'declined', what: 'does not hold here: b' }],
  });
  t.match(requirements.get('holds'), { verdict: 'not-applicable', reasons: [{ what: 'holds here' }] });
});

t.test('what follows from a declined reading alone is not left open', async (t) => {
  const checks = [
    saying('fills', (judge) => judge.breaks(WRONG)),
    saying('broken', (judge) => judge.breaks(WRONG)),
    saying('follows', (judge) => judge.inconclusive(notTold('not counted', 'fills'))),
    saying('of-both', (judge) => judge.inconclusive(notTold('not counted', 'fills', 'broken'))),
  ];
  const { run } = testRun(undefined, { checks, declined: new Set(['fills']) });
  const { requirements } = await playRun(run, { checks, gapObservers: [] });
  t.match(requirements.get('follows'), { verdict: 'not-applicable', reasons: [{ blames: ['fills'] }] });
  t.match(requirements.get('of-both'), { verdict: 'inconclusive' });
});

t.test('a reading that a declined one brings is not broken; what is stated is', async (t) => {
  const broken = (id: string) => saying(id, (judge) => judge.breaks(WRONG));
  const checks = ['list-shows-added', 'get-same-animal', 'list-limit-maximum'].map(broken);
  const { run } = testRun(undefined, {
    checks,
    permissions: new Set(['writes']),
    declined: new Set(['list-shows-added']),
  });
  const rows = (await playRun(run, { checks, gapObservers: [] })).requirements;
  t.match(rows.get('get-same-animal'), {
    verdict: 'not-applicable',
    reasons: [{ blames: ['list-shows-added'] }],
  });
  t.match(rows.get('list-limit-maximum'), { verdict: 'fail' });
});

t.test('a gap has an answer, or a reason', async (t) => {
  const scenes = [lists('asked')];
  const [asked] = scenes;
  if (asked === undefined) throw new Error('a scene');
  const { gaps } = await judged(
    [],
    [
      gap('seen', scenes, (seen) => ({ answer: 'yes', detail: '', evidence: [seen.of(asked)] })),
      gap('unseen', [], () => undefined),
      gap('unpermitted', [scene('ban', { permit: 'ban' }, async () => undefined)], () => undefined),
    ],
  );
  t.match(gaps.get('seen'), { answer: 'yes', evidence: [{ id: 'asked#1' }] });
  t.match(gaps.get('unseen'), { kind: 'not-shown' });
  t.match(gaps.get('unpermitted'), NO_PERMISSION);
});

t.test('a row blames another one that did not pass, and no other', async (t) => {
  const blaming = (id: string, cause: string) =>
    saying(id, (judge) => judge.inconclusive(notTold('not counted', cause)));
  const { requirements } = await judged([
    saying('held', (judge) => judge.holds()),
    saying('broken', (judge) => judge.breaks(WRONG)),
    blaming('because-broken', 'broken'),
    blaming('because-held', 'held'),
    blaming('because-nothing', 'nothing'),
  ]);
  const blames = (id: string) =>
    requirements.get(id)?.reasons.flatMap((one) => ('blames' in one ? one.blames : []));
  t.strictSame(blames('because-broken'), ['broken']);
  t.strictSame(blames('because-held'), []);
  t.strictSame(blames('because-nothing'), []);
});

t.test('somebody else is on a key only where no failure of the target explains what was seen', async (t) => {
  const seen: Reason = { kind: 'interference', key: 'free-1', what: 'it fell by two' };
  const short = saying('short', (judge) => judge.inconclusive(seen));
  const counted = (decide: Check['decide']) => check('counted', { explainsShortage: true }, decide);
  const alone = await judged([short, counted((judge) => judge.holds())]);
  t.strictSame(alone.requirements.get('short')?.reasons, [seen]);
  const explained = await judged([short, counted((judge) => judge.breaks(WRONG))]);
  t.strictSame(explained.requirements.get('short')?.reasons, [
    { kind: 'not-told', what: 'it fell by two', blames: ['counted'] },
  ]);
});

t.test('a failure follows from another that explains each exchange that shows it', async (t) => {
  const [asked, elsewhere] = [lists('asked'), lists('elsewhere')];
  const breaking = (id: string, ...from: readonly (typeof asked)[]) =>
    check(id, { scenes: from }, (judge, seen) => {
      for (const one of from) judge.breaks(WRONG, seen.of(one));
    });
  const cause = { ...breaking('cause', asked), explains: ({ sentBy }: Exchange) => sentBy === 'asked' };
  const { requirements } = await judged([
    cause,
    breaking('follows', asked),
    breaking('in-part', asked, elsewhere),
    breaking('other', elsewhere),
  ]);
  const following = [...requirements].flatMap(([id, { reasons }]) =>
    reasons.some((one) => 'blames' in one && one.blames?.includes('cause') === true) ? [id] : [],
  );
  t.strictSame(following, ['follows']);
});

t.test('a row that rests on an answer which breaks a row about answers as such blames it', async (t) => {
  const [asked, elsewhere] = [lists('asked'), lists('elsewhere')];
  const basis = check('basis', {
    isBasis: true,
    scenes: [asked, elsewhere],
    observe: (one, judge) => {
      if (one.sentBy === 'asked') judge.breaks(WRONG, one);
    },
  });
  const through = scene('through', {}, (run) => run.play(asked));
  const unread = (id: string, from: typeof asked) =>
    check(id, { scenes: [from] }, (judge, seen) => judge.inconclusive('unreadable', seen.of(from)));
  const { requirements } = await judged([
    basis,
    unread('unread', asked),
    unread('unread-elsewhere', elsewhere),
    check('unseen', { scenes: [through] }),
    check('unseen-elsewhere', { scenes: [elsewhere] }),
    saying('of-its-own', (judge) => judge.inconclusive('another client')),
  ]);
  const explained = [...requirements].flatMap(([id, { reasons }]) =>
    reasons.some((one) => 'blames' in one && one.blames?.includes('basis') === true) ? [id] : [],
  );
  t.strictSame(explained, ['unread', 'unseen']);
});

t.test('where answers are crossed nothing can be told, but for what crossing itself breaks', async (t) => {
  const animal = '{"id":1,"name":"Rex","categoryId":1}';
  const crossing: Answers = ({ operation }) => ({ body: operation === 'listPets' ? animal : `[${animal}]` });
  const gets = scene('gets', {}, (run) => run.attempt(getPet(1n), testKey()));
  const breaking = (id: string, more: { standsWhereCrossed?: true } = {}) =>
    check(id, { scenes: [gets], ...more }, (judge, seen) => judge.breaks(WRONG, seen.of(gets)));
  const { requirements, doubt, gaps } = await judged(
    [
      saying('schema', (judge) => judge.breaks(WRONG)),
      breaking('echo', { standsWhereCrossed: true }),
      breaking('id'),
    ],
    [gap('seen', [gets], (seen) => ({ answer: 'yes', detail: '', evidence: [seen.of(gets)] }))],
    crossing,
  );
  t.match(doubt, /^answers are mixed up between requests/);
  t.match(requirements.get('id'), { verdict: 'inconclusive', reasons: [{ kind: 'in-doubt' }] });
  t.match(requirements.get('echo'), { verdict: 'fail' });
  t.match(gaps.get('seen'), { kind: 'in-doubt' });
});
