import t from 'tap';
import type { Permission } from '../profile/permissions.ts';
import { listPets } from '../wire/requests.ts';
import { check, gap } from './check.ts';
import { type Judging, judgeRun } from './judge.ts';
import { playRun } from './play.ts';
import type { RunEvent } from './run-events.ts';
import { keyScene, type Scene, scene } from './scene.ts';
import { type TestRun, testKey, testRun } from './testing/test-run.ts';
import { Unsettled } from './unsettled.ts';

const permitting = (...permissions: Permission[]) =>
  testRun(undefined, {
    permissions: new Set(permissions),
    keys: [testKey(), testKey({ name: 'free-2' })],
  });

async function played({ run }: TestRun, judging: Partial<Judging>) {
  const events: RunEvent[] = [];
  const all = { checks: [], gapObservers: [], ...judging };
  await playRun(run, all, (event) => events.push(event));
  return { ...judgeRun(all, run, run.trace), events };
}

/** A scene that writes down when it was played. */
const noted = (id: string, notes: string[], permit?: Permission, work = async () => {}): Scene<string> =>
  scene(id, permit === undefined ? {} : { permit }, async () => {
    await work();
    notes.push(id);
    return id;
  });
const holding = (id: string, own: Scene<unknown>) =>
  check(id, { needs: { own } }, (_outcomes, judge) => judge.holds());

t.test(
  'what spends little is played in turn, then limits on all keys, and afterwards what confirms',
  async (t) => {
    const notes: string[] = [];
    const limits = (id: string, permit: Permission) =>
      keyScene(
        id,
        { permit, keys: (all) => all, lacks: 'no key', spends: () => ({}) },
        async (_probe, { name }) => {
          notes.push(`${id}:${name}`);
        },
      );
    const [minute, day] = [limits('minute', 'exhaust'), limits('day', 'day')];
    const confirms = scene('confirms', { afterwards: true }, async () => void notes.push('confirms'));
    const first = noted('first', notes);
    await played(permitting('writes', 'exhaust', 'day'), {
      checks: [
        check('confirmed', { needs: { confirms } }),
        check('counted', { needs: { minute, first } }),
        check('spent', { needs: { day } }),
        check('reads', { needs: { second: noted('second', notes) } }),
        check('bans', { needs: { bans: noted('bans', notes, 'ban') } }),
      ],
      gapObservers: [gap('seen', { needs: { third: noted('third', notes) } }, () => undefined)],
    });
    t.strictSame(notes.slice(0, 3), ['first', 'second', 'third']);
    t.strictSame(notes.slice(3, 7).sort(), ['day:free-1', 'day:free-2', 'minute:free-1', 'minute:free-2']);
    t.ok(notes.indexOf('minute:free-2') < notes.indexOf('day:free-2'), 'the scenes of a key in turn');
    t.strictSame(notes.slice(7), ['confirms']);
  },
);

t.test('keys are driven to their limits side by side, and one that cannot tell ends no other', async (t) => {
  const notes: string[] = [];
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const limit = keyScene(
    'limit',
    { permit: 'exhaust', keys: (all) => all, lacks: 'no key', spends: () => ({}) },
    async (_probe, { name }) => {
      if (name === 'free-1') await opened;
      else open();
      notes.push(name);
      if (name === 'free-2') throw new Unsettled('no answer');
    },
  );
  const { requirements } = await played(permitting('exhaust'), {
    checks: [
      check('counted', { needs: { limit } }, (outcomes, judge) => {
        for (const { kind } of outcomes.limit) if (kind === 'played') judge.holds();
      }),
    ],
  });
  t.strictSame(notes, ['free-2', 'free-1']);
  t.match(requirements.get('counted'), { verdict: 'pass' });
});

/** A scene that writes down when it begins, and ends a few moments later. */
const begun = (id: string, notes: string[], options: Parameters<typeof scene>[1] = {}): Scene<string> =>
  scene(id, options, async () => {
    notes.push(`${id} begins`);
    for (let moment = 0; moment < 3; moment += 1) await new Promise((resolve) => setImmediate(resolve));
    notes.push(`${id} ends`);
    return id;
  });

t.test('scenes that do not depend on one another are played together, the others in turn', async (t) => {
  const notes: string[] = [];
  const rows = [
    begun('first', notes),
    begun('second', notes, { beside: true }),
    begun('third', notes, { beside: true }),
    begun('fourth', notes),
    begun('fifth', notes, { beside: true }),
  ];
  const { events } = await played(testRun(), { checks: rows.map((own) => holding(own.id, own)) });
  t.strictSame(notes, [
    'first begins',
    'first ends',
    'second begins',
    'third begins',
    'second ends',
    'third ends',
    'fourth begins',
    'fourth ends',
    'fifth begins',
    'fifth ends',
  ]);
  t.strictSame(
    events.flatMap((event) => (event.kind === 'check-ended' ? [event.id] : [])),
    ['first', 'second', 'third', 'fourth', 'fifth'],
  );
});

t.test('what sends no key begins with what it needs, and ends in its turn', async (t) => {
  const notes: string[] = [];
  const needed = begun('needed', notes);
  const aside = begun('aside', notes, { needs: { needed }, anonymous: 1 });
  const rows = [needed, begun('keyed', notes, { requests: 1 }), aside, begun('last', notes, { requests: 1 })];
  await played(testRun(), { checks: rows.map((own) => holding(own.id, own)) });
  t.strictSame(notes, [
    'needed begins',
    'needed ends',
    'keyed begins',
    'aside begins',
    'keyed ends',
    'aside ends',
    'last begins',
    'last ends',
  ]);
  const defect = new TypeError('undefined is not a function');
  const broken = scene('broken', { anonymous: 1 }, async () => {
    throw defect;
  });
  await t.rejects(
    played(testRun(), { checks: [holding('held', needed), holding('broken', broken)] }),
    defect,
  );
});

t.test('for what is not asked for nothing is played', async (t) => {
  const notes: string[] = [];
  const { requirements } = await played(permitting('writes'), {
    checks: [
      check('bans', { needs: { one: noted('one', notes), bans: noted('bans', notes, 'ban') } }),
      check('day', { permit: 'day', needs: { two: noted('two', notes) } }),
      check('key', { lacks: () => 'the profile has no such key', needs: { three: noted('three', notes) } }),
      check('custom', { notApplicable: () => 'custom', needs: { four: noted('four', notes) } }),
    ],
  });
  t.strictSame(notes, []);
  t.strictSame(
    [...requirements].map(([id, { verdict, reason }]) => [id, verdict, reason]),
    [
      ['bans', 'skipped', 'needs the permission ban'],
      ['day', 'skipped', 'needs the permission day'],
      ['key', 'skipped', 'the profile has no such key'],
      ['custom', 'not-applicable', 'custom'],
    ],
  );
});

t.test('a defect of the harness is no verdict', async (t) => {
  const defect = new TypeError('undefined is not a function');
  const broken = scene('broken', {}, async () => {
    throw defect;
  });
  await t.rejects(played(testRun(), { checks: [holding('check', broken)] }), defect);
});

t.test('each check is told when it begins, and how it ended as soon as that is known', async (t) => {
  const passive = check('passive', { observe: (exchange, judge) => judge.holds(exchange) });
  const whole = check('whole', { conclude: (_trace, judge) => judge.holds() });
  const sends = scene('sends', {}, (probe) => probe.send(listPets()));
  const { events } = await played(testRun(), {
    checks: [holding('held', sends), holding('bans', noted('bans', [], 'ban')), passive, whole],
  });
  t.strictSame(
    events.map((event) => ('id' in event ? `${event.kind} ${event.id}` : event.kind)),
    [
      'check-ended bans',
      'check-started held',
      'check-ended held',
      'check-started passive',
      'check-started whole',
      'check-ended passive',
      'check-ended whole',
    ],
  );
  t.match(events[5], { verdict: 'pass', reason: 'held in one observation' });
});

t.test('what was answered before, as in an earlier part of the run, is found too', async (t) => {
  const target = testRun();
  await target.run.probe('earlier').send(listPets());
  const { events } = await played(target, {
    checks: [check('passive', { observe: (exchange, judge) => judge.holds(exchange) })],
  });
  t.match(events.at(-1), { kind: 'check-ended', verdict: 'pass', reason: 'held in one observation' });
});

t.test('an answer of a burst that breaks a requirement is kept', async (t) => {
  const target = testRun((_request, number) => ({ body: number === 7 ? '{}' : '[]' }));
  const bursts = scene('bursts', {}, async (probe) => {
    await probe.burst(
      Array.from({ length: 9 }, () => listPets()),
      testKey(),
      { inFlight: 1, tallied: true },
    );
    return undefined;
  });
  const passive = check('passive', {
    needs: { bursts },
    observe: (exchange, judge) => {
      if (exchange.outcome.body === '{}') judge.breaks({ expected: '[]', actual: '{}' }, exchange);
    },
  });
  const { requirements } = await played(target, { checks: [passive] });
  t.match(requirements.get('passive'), { verdict: 'fail', evidence: [{ id: 'bursts#7' }] });
  t.equal(target.run.trace.exchanges.length, 3);
});

t.test('an error to a method that the path does not have is told as it is judged', async (t) => {
  const sends = scene('sends', {}, (probe) =>
    probe.send({ operation: 'other', method: 'PATCH', path: '/pets' }),
  );
  const passive = check('passive', {
    needs: { sends },
    observe: ({ outcome }, judge) => (outcome.status === 405 ? judge.holds() : undefined),
  });
  const { requirements, events } = await played(
    testRun(() => ({ status: 405 })),
    { checks: [passive] },
  );
  t.match(requirements.get('passive'), { verdict: 'pass' });
  t.match(events.at(-1), { kind: 'check-ended', id: 'passive', verdict: 'pass' });
});
