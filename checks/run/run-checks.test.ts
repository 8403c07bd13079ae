import t from 'tap';
import { getPet, listPets } from '../wire/requests.ts';
import { type Check, type GapObserver, type Scene, Unsettled } from './check.ts';
import { type CheckPlan, runChecks } from './run-checks.ts';
import type { RunEvent } from './run-events.ts';
import { type Answers, type TestRun, testKey, testRun } from './testing/test-run.ts';
import type { Permission } from './verdict.ts';

const run = ({ run: target }: TestRun, checks: readonly Check[], more: Partial<CheckPlan> = {}) =>
  runChecks(target, { checks, gapObservers: [], lanes: () => [], ...more });

const permitting = (...permissions: Permission[]) =>
  testRun(undefined, { permissions: new Set(permissions) });

/** A check that holds, and writes down when it ran. */
const noted = (id: string, notes: string[], more: Partial<Check> = {}): Check => ({
  id,
  run: async (_probe, judge) => {
    notes.push(id);
    judge.holds();
  },
  ...more,
});

t.test('every check has a verdict, by its id', async (t) => {
  const checks: Check[] = [
    noted('held', []),
    { id: 'silent', run: async () => {} },
    { id: 'broken', run: async (_probe, judge) => judge.breaks({ expected: 'a', actual: 'b' }) },
    {
      id: 'shown',
      run: async (probe, judge) => judge.breaks({ expected: 'a', actual: 'b' }, await probe.send(listPets())),
    },
    { id: 'passive' },
  ];
  const { requirements, gaps } = await run(testRun(), checks);
  t.strictSame(
    [...requirements].map(([id, { verdict }]) => [id, verdict]),
    [
      ['held', 'pass'],
      ['silent', 'inconclusive'],
      ['broken', 'fail'],
      ['shown', 'fail'],
      ['passive', 'inconclusive'],
    ],
  );
  t.equal(gaps.size, 0);
});

t.test('a check sends under its own name, and afterwards under another', async (t) => {
  const target = testRun();
  const check: Check = {
    id: 'check',
    run: async (probe) => void (await probe.attempt(listPets(), testKey())),
    afterwards: async (probe) => void (await probe.attempt(listPets(), testKey())),
  };
  await run(target, [check]);
  t.strictSame(
    target.run.exchanges.map(({ id }) => id),
    ['check#1', 'check:afterwards#1'],
  );
});

t.test('what a check could not tell is its reason, with its evidence; the others go on', async (t) => {
  const target = testRun();
  const notes: string[] = [];
  const checks: Check[] = [
    {
      id: 'open',
      run: async (probe) => {
        throw new Unsettled('no answer', [await probe.attempt(listPets(), testKey())]);
      },
    },
    noted('next', notes),
  ];
  const { requirements } = await run(target, checks);
  t.match(requirements.get('open'), {
    verdict: 'inconclusive',
    reason: 'no answer',
    evidence: [{ id: 'open#1' }],
  });
  t.strictSame(notes, ['next']);
});

t.test('a defect of the harness is no verdict', async (t) => {
  const defect = new TypeError('undefined is not a function');
  const throwing = async () => {
    throw defect;
  };
  await t.rejects(run(testRun(), [{ id: 'check', run: throwing }]), defect);
  await t.rejects(run(testRun(), [{ id: 'check', afterwards: throwing }]), defect);
  await t.rejects(run(testRun(), [], { gapObservers: [{ id: 'gap', run: throwing }] }), defect);
  await t.rejects(run(testRun(), [], { lanes: () => [[{ id: 'lane', play: throwing }]] }), defect);
});

t.test('a check without its permission is not run, and says so', async (t) => {
  const notes: string[] = [];
  const checks = [
    noted('adds', notes, { permit: 'writes', afterwards: async () => void notes.push('afterwards') }),
    noted('bans', notes, { permit: 'ban', conclude: () => notes.push('concluded') }),
  ];
  const { requirements } = await run(permitting('ban'), checks);
  t.match(requirements.get('adds'), { verdict: 'inconclusive', reason: 'needs the permission writes' });
  t.match(requirements.get('bans'), { verdict: 'pass' });
  t.strictSame(notes, ['bans', 'concluded']);
});

t.test('what binds no target with these keys is not run, and needs no permission', async (t) => {
  const notes: string[] = [];
  const checks = [
    noted('custom', notes, { permit: 'day', notApplicable: (keys) => `${keys.length} key and no other` }),
    noted('usual', notes, { permit: 'ban', notApplicable: () => undefined }),
  ];
  const { requirements } = await run(permitting('ban', 'day'), checks);
  t.match(requirements.get('custom'), { verdict: 'not-applicable', reason: '1 key and no other' });
  t.match(requirements.get('usual'), { verdict: 'pass' });
  t.strictSame(notes, ['usual']);
  const unpermitted = (await run(permitting('ban'), checks)).requirements;
  t.match(unpermitted.get('custom'), { verdict: 'not-applicable' });
});

t.test(
  'what drives a key to its limit comes after everything else, gaps of either kind included',
  async (t) => {
    const notes: string[] = [];
    const gap = (id: string, permit?: Permission): GapObserver => ({
      id,
      ...(permit === undefined ? {} : { permit }),
      run: async () => void notes.push(id),
    });
    const scene = (id: string): Scene<void> => ({ id, play: async () => void notes.push(id) });
    await run(
      permitting('writes', 'exhaust', 'ban', 'day'),
      [
        noted('day', notes, { permit: 'day' }),
        noted('exhaust', notes, { permit: 'exhaust' }),
        noted('reads', notes, { afterwards: async () => void notes.push('afterwards') }),
        noted('ban', notes, { permit: 'ban' }),
        noted('writes', notes, { permit: 'writes', conclude: () => notes.push('concluded') }),
      ],
      {
        gapObservers: [gap('gap-ban', 'ban'), gap('gap'), gap('gap-writes', 'writes')],
        lanes: () => {
          notes.push('lanes');
          return [[scene('a'), scene('b')]];
        },
      },
    );
    const [ordinary, long] = [notes.slice(0, 5), notes.slice(5)];
    t.strictSame(ordinary, ['reads', 'writes', 'gap', 'gap-writes', 'lanes']);
    t.strictSame(
      long.filter((note) => !['a', 'b'].includes(note)),
      ['day', 'exhaust', 'ban', 'gap-ban', 'afterwards', 'concluded'],
    );
    t.ok(long.indexOf('a') < long.indexOf('b'));
  },
);

t.test(
  'lanes run side by side, the scenes of one in turn, and one that cannot tell ends no other',
  async (t) => {
    const notes: string[] = [];
    let open = () => {};
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    const scene = (id: string, work: () => Promise<void> = async () => {}): Scene<void> => ({
      id,
      play: async () => {
        await work();
        notes.push(id);
      },
    });
    const lanes = [
      [scene('first', () => opened), scene('second')],
      [
        scene('fails', async () => {
          throw new Unsettled('no answer');
        }),
        scene('opens', async () => open()),
      ],
    ];
    const waits: Check = {
      id: 'waits',
      permit: 'day',
      afterwards: async () => void notes.push('afterwards'),
    };
    await run(permitting('day'), [waits], { lanes: () => lanes });
    t.ok(notes.includes('opens'));
    t.ok(notes.indexOf('first') < notes.indexOf('second'));
    t.equal(notes.indexOf('afterwards'), 3, 'and what comes afterwards waits for all');
  },
);

t.test(
  'a passive check sees every answer, those before the run included, none outside the interface',
  async (t) => {
    const target = testRun();
    const elsewhere = { operation: 'other', method: 'GET', path: '/nowhere' } as const;
    const preflight = target.run.probe('preflight');
    await preflight.attempt(listPets(), testKey());
    await preflight.attempt(elsewhere, testKey());
    const seen: string[] = [];
    const passive: Check = {
      id: 'passive',
      observe: (exchange, judge, view) => {
        seen.push(`${exchange.id} ${view.keyOf(exchange)?.name}`);
        judge.holds(exchange);
      },
    };
    const active: Check = {
      id: 'active',
      run: async (probe) => {
        await probe.attempt(listPets(), testKey());
        await probe.attempt(elsewhere, testKey());
      },
    };
    const { requirements } = await run(target, [active, passive]);
    t.strictSame(seen, ['preflight#1 free-1', 'active#1 free-1']);
    t.match(requirements.get('passive'), { verdict: 'pass', reason: 'held in 2 observations' });
  },
);

t.test('conclusions see the whole run', async (t) => {
  const target = testRun();
  const concludes: Check = {
    id: 'concludes',
    run: async (probe) => void (await probe.attempt(listPets(), testKey())),
    conclude: (history, judge) => {
      if (history.readings.length === 1) judge.holds();
    },
  };
  const gap: GapObserver = {
    id: 'gap',
    conclude: (history) => ({ answer: `${history.readings.length} seen`, detail: '', evidence: [] }),
  };
  const { requirements, gaps } = await run(target, [concludes], { gapObservers: [gap] });
  t.match(requirements.get('concludes'), { verdict: 'pass' });
  t.match(gaps.get('gap'), { answer: '1 seen' });
});

t.test('what became of each gap', async (t) => {
  const answer = { answer: 'clamped', detail: 'limit=0 gave 1', evidence: [] };
  const gapObservers: GapObserver[] = [
    { id: 'seen', run: async () => answer },
    { id: 'not-shown', run: async () => undefined },
    { id: 'not-concluded', conclude: () => undefined },
    {
      id: 'open',
      run: async () => {
        throw new Unsettled('no answer');
      },
    },
    { id: 'adds', permit: 'writes', run: async () => answer },
    { id: 'bans', permit: 'ban', run: async () => answer },
    { id: 'nobody-asks' },
  ];
  const { gaps } = await run(permitting('ban'), [], { gapObservers });
  t.strictSame(
    gaps,
    new Map<string, unknown>([
      ['seen', answer],
      ['not-shown', 'this run does not show it'],
      ['open', 'no answer'],
      ['adds', 'needs the permission writes'],
      ['bans', answer],
      ['not-concluded', 'this run does not show it'],
    ]),
  );
});

t.test('each check is told when it begins and how it ended', async (t) => {
  const events: RunEvent[] = [];
  await run(testRun(), [noted('held', []), noted('bans', [], { permit: 'ban' })], {
    onEvent: (event) => events.push(event),
  });
  t.strictSame(events, [
    { kind: 'check-started', id: 'held' },
    { kind: 'check-ended', id: 'held', verdict: 'pass', reason: 'held in one observation' },
    { kind: 'check-started', id: 'bans' },
    { kind: 'check-ended', id: 'bans', verdict: 'inconclusive', reason: 'needs the permission ban' },
  ]);
});

t.test(
  'what was found before another service took the target’s place stands; what came later is nothing',
  async (t) => {
    // Three answers of the service, and then a page of something else.
    const target = testRun((_request, number) => (number <= 3 ? {} : { body: '<html></html>' }));
    const wrong = { expected: 'a', actual: 'b' };
    const finding = (id: string): Check => ({
      id,
      run: async (probe, judge) => judge.breaks(wrong, await probe.send(listPets())),
    });
    const gap = (id: string): GapObserver => ({
      id,
      run: async (probe) => ({ answer: 'seen', detail: '', evidence: [await probe.send(listPets())] }),
    });
    const held: Check = {
      id: 'held',
      run: async (probe, judge) => judge.holds(await probe.send(listPets())),
    };
    const late = ['late-1', 'late-2', 'late-3', 'late-4'].map(finding);
    const silent: GapObserver = { id: 'silent', run: async () => undefined };
    const { requirements, gaps, doubt } = await run(
      target,
      [finding('early'), held, finding('last'), ...late],
      {
        gapObservers: [gap('gap-late'), silent],
      },
    );
    const changed =
      /^another service answers since 12:00:00 UTC: GET \/pets gives 200 without a media type, 13 bytes$/;
    t.match(doubt, changed);
    t.match(requirements.get('early'), { verdict: 'fail', violation: wrong });
    t.match(requirements.get('last'), { verdict: 'fail' }, 'the last answer of the service counts');
    t.match(requirements.get('held'), { verdict: 'pass' });
    for (const { id } of late) {
      t.match(requirements.get(id), { verdict: 'inconclusive', reason: changed }, id);
      t.strictSame(requirements.get(id)?.evidence, [], id);
    }
    t.match(gaps.get('gap-late'), changed);
    t.equal(gaps.get('silent'), 'this run does not show it');
  },
);

t.test(
  'a gap that was seen before the change stays seen; a target that only looks odd at times is none',
  async (t) => {
    const observe = (answersOfService: number) => {
      const target = testRun((_request, number) =>
        number <= answersOfService ? {} : { body: '<html></html>' },
      );
      const seen: GapObserver = {
        id: 'seen',
        run: async (probe) => ({ answer: 'clamped', detail: '', evidence: [await probe.send(listPets())] }),
      };
      const later: GapObserver = {
        id: 'later',
        run: async (probe) => {
          for (let number = 1; number <= 5; number += 1) await probe.send(listPets());
          return undefined;
        },
      };
      return run(target, [], { gapObservers: [seen, later] });
    };
    const changed = await observe(1);
    t.match(changed, { doubt: /another service/ });
    t.match(changed.gaps.get('seen'), { answer: 'clamped' });
    const odd = await observe(2);
    t.equal(odd.doubt, undefined, 'four odd answers are too few');
    t.match(odd.gaps.get('seen'), { answer: 'clamped' });
  },
);

/** A target that answers every request with what another one asked for. */
const crossing: Answers = ({ operation }) => {
  const animal = '{"id":1,"name":"Rex","categoryId":1}';
  return { body: operation === 'listPets' ? animal : `[${animal}]` };
};

t.test('where answers are crossed nothing can be told, but for what crossing itself breaks', async (t) => {
  const target = testRun(crossing);
  const wrong = { expected: 'a', actual: 'b' };
  const finds = (id: string): Check => ({
    id,
    run: async (probe, judge) => judge.breaks(wrong, await probe.attempt(listPets(), testKey())),
  });
  const holds = (id: string): Check => ({
    id,
    run: async (probe, judge) => judge.holds(await probe.attempt(getPet(1n), testKey())),
  });
  const gap: GapObserver = {
    id: 'seen',
    run: async (probe) => ({
      answer: 'clamped',
      detail: '',
      evidence: [await probe.attempt(listPets(), testKey())],
    }),
  };
  const silent: GapObserver = { id: 'silent', run: async () => undefined };
  const { requirements, gaps, doubt } = await run(
    target,
    [
      finds('list-pet-schema'),
      holds('get-answers-200'),
      finds('add-echoes-name'),
      holds('get-returns-requested-id'),
    ],
    { gapObservers: [gap, silent] },
  );
  const crossed =
    'answers belong to other requests: GET /pets was answered with one animal, GET /pets/1 with a list';
  t.equal(doubt, crossed);
  const open = { verdict: 'inconclusive', reason: crossed, evidence: [] };
  t.strictSame(requirements.get('list-pet-schema'), open);
  t.strictSame(requirements.get('get-answers-200'), open);
  t.match(requirements.get('add-echoes-name'), { verdict: 'fail', violation: wrong });
  t.strictSame(requirements.get('get-returns-requested-id'), open, 'nor does it hold');
  t.equal(gaps.get('seen'), crossed);
  t.equal(gaps.get('silent'), 'this run does not show it');
});

t.test('a gap that rests in part on what came after the change was not seen', async (t) => {
  const target = testRun((_request, number) => (number === 1 ? {} : { body: '<html></html>' }));
  const both: GapObserver = {
    id: 'both',
    run: async (probe) => {
      const evidence = [];
      for (let number = 1; number <= 6; number += 1) evidence.push(await probe.send(listPets()));
      return { answer: 'clamped', detail: '', evidence };
    },
  };
  const { gaps } = await run(target, [], { gapObservers: [both] });
  t.match(gaps.get('both'), /^another service answers/);
  t.strictSame(
    target.run.exchanges.map(({ id }) => id).slice(0, 1),
    ['gap:both#1'],
    'what a gap sends bears its name',
  );
});

t.test('a request without an answer is no answer to look at', async (t) => {
  const lostAtFirst: Answers = (_request, number) =>
    number === 1
      ? { kind: 'failure', reason: 'reset', message: 'the connection was closed' }
      : { status: 200 };
  const target = testRun(lostAtFirst);
  await target.run.probe('preflight').attempt(listPets(), testKey());
  const seen: string[] = [];
  await run(target, [{ id: 'passive', observe: ({ id }) => void seen.push(id) }]);
  t.strictSame(seen, []);
});
