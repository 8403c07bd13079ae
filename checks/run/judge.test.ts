import t from 'tap';
import { getPet, listPets } from '../wire/requests.ts';
import { type Check, check, type GapObserver, gap } from './check.ts';
import { judgeRun } from './judge.ts';
import { playRun } from './play.ts';
import { scene } from './scene.ts';
import { type Answers, type TestRun, testKey, testRun } from './testing/test-run.ts';
import { Unsettled } from './unsettled.ts';

const WRONG = { expected: 'a', actual: 'b' };
const lists = (id: string) => scene(id, {}, (probe) => probe.send(listPets()));
const breaking = (id: string): Check =>
  check(id, { needs: { own: lists(id) } }, ({ own: exchange }, judge) => judge.breaks(WRONG, exchange));
const holding = (id: string): Check =>
  check(id, { needs: { own: lists(id) } }, ({ own }, judge) => judge.holds(own));
const seen = (id: string): GapObserver =>
  gap(id, { needs: { own: lists(`gap:${id}`) } }, ({ own }) => ({
    answer: 'seen',
    detail: '',
    evidence: [own],
  }));

async function judged(target: TestRun, checks: readonly Check[], gapObservers: readonly GapObserver[] = []) {
  const judging = { checks, gapObservers };
  await playRun(target.run, judging);
  return judgeRun(judging, target.run, target.run.trace);
}

t.test('every check has a verdict, by its id', async (t) => {
  const { requirements, gaps } = await judged(testRun(), [
    holding('held'),
    check('silent', { needs: { own: lists('silent') } }, () => undefined),
    breaking('broken'),
    check('passive', {}),
    check('open', {}, () => {
      throw new Unsettled('no answer');
    }),
  ]);
  t.strictSame(
    [...requirements].map(([id, { verdict }]) => [id, verdict]),
    [
      ['held', 'pass'],
      ['silent', 'inconclusive'],
      ['broken', 'fail'],
      ['passive', 'inconclusive'],
      ['open', 'inconclusive'],
    ],
  );
  t.match(requirements.get('open'), { reason: 'no answer' });
  t.equal(gaps.size, 0);
});

t.test('what was left out is skipped, and says so', async (t) => {
  const { run } = testRun();
  const { requirements } = judgeRun({ checks: [], gapObservers: [], leftOut: ['other'] }, run, run.trace);
  t.match(requirements.get('other'), { verdict: 'skipped', reason: 'left out by --only' });
});

t.test('a row that is not asked for fails where a run sees it broken all the same', async (t) => {
  const passive = check('bans', {
    permit: 'ban',
    observe: (exchange, judge) => judge.breaks(WRONG, exchange),
  });
  const without = check('quiet', { permit: 'ban', observe: () => undefined });
  const { requirements } = await judged(testRun(), [holding('held'), passive, without]);
  t.match(requirements.get('bans'), { verdict: 'fail' });
  t.match(requirements.get('quiet'), { verdict: 'skipped', reason: 'needs the permission ban' });
});

t.test('a passive check sees every answer of the three operations with what was known then', async (t) => {
  const target = testRun((_request, number) =>
    number === 3
      ? { kind: 'failure', reason: 'reset', message: 'reset' }
      : { status: number === 1 ? 429 : 200 },
  );
  const sends = scene('sends', {}, async (probe) => {
    await probe.attempt(listPets(), testKey());
    await probe.attempt({ operation: 'other', method: 'GET', path: '/nowhere' }, testKey());
    await probe.attempt(listPets(), testKey());
    await probe.attempt(getPet(1n), testKey());
    return undefined;
  });
  const looks: string[] = [];
  const passive = check('passive', {
    needs: { sends },
    observe: (exchange, judge, soFar) => {
      looks.push(`${exchange.id} ${soFar.keyOf(exchange)?.name} ${soFar.refusalsOf(exchange)}`);
      judge.holds(exchange);
    },
  });
  const { requirements } = await judged(target, [passive]);
  const once = looks.slice(0, looks.length / 2);
  t.strictSame(once, ['sends#1 free-1 1', 'sends#4 free-1 1']);
  t.strictSame(looks, [...once, ...once], 'when it came, and when the run is judged');
  t.match(requirements.get('passive'), { verdict: 'pass', reason: 'held in 2 observations' });
});

t.test('what became of each gap', async (t) => {
  const answer = { answer: 'clamped', detail: 'limit=0 gave 1', evidence: [] };
  const { gaps } = await judged(
    testRun(undefined, { permissions: new Set(['ban']) }),
    [],
    [
      gap('seen', {}, () => answer),
      gap('not-shown', {}, () => undefined),
      gap('open', {}, () => {
        throw new Unsettled('no answer');
      }),
      gap('adds', { permit: 'writes' }, () => answer),
      gap('bans', { permit: 'ban' }, () => answer),
      gap('whole', {}, (_outcomes, { readings }) => ({ ...answer, answer: `${readings.length} seen` })),
    ],
  );
  t.strictSame(
    gaps,
    new Map<string, unknown>([
      ['seen', answer],
      ['not-shown', 'this run does not show it'],
      ['open', 'no answer'],
      ['adds', 'needs the permission writes'],
      ['bans', answer],
      ['whole', { ...answer, answer: '0 seen' }],
    ]),
  );
});

t.test(
  'what was found before another service took the target’s place stands; what came later is nothing',
  async (t) => {
    // Three answers of the service, and then a page of something else.
    const target = testRun((_request, number) => (number <= 3 ? {} : { body: '<html></html>' }));
    const late = ['late-1', 'late-2', 'late-3', 'late-4'];
    const { requirements, gaps, doubt } = await judged(
      target,
      [breaking('early'), holding('held'), breaking('last'), ...late.map((id) => breaking(id))],
      [seen('late'), gap('silent', {}, () => undefined)],
    );
    const changed =
      /^a different service has been answering since 12:00:00 UTC: GET \/pets gives 200 without a media type, 13 bytes$/;
    t.match(doubt, changed);
    t.match(requirements.get('early'), { verdict: 'fail', violation: WRONG });
    t.match(requirements.get('last'), { verdict: 'fail' }, 'the last answer of the service counts');
    t.match(requirements.get('held'), { verdict: 'pass' });
    for (const id of late) {
      t.match(requirements.get(id), { verdict: 'inconclusive', reason: changed }, id);
      t.strictSame(requirements.get(id)?.evidence, [], id);
    }
    t.match(gaps.get('late'), changed);
    t.equal(gaps.get('silent'), 'this run does not show it');
  },
);

t.test(
  'a gap that was seen before the change stays seen, one that rests in part on what came later was not',
  async (t) => {
    const answers = (ofService: number) =>
      testRun((_request, number) => (number <= ofService ? {} : { body: '<html></html>' }));
    const more = scene('more', {}, async (probe) => {
      const sent = [];
      for (let number = 1; number <= 5; number += 1) sent.push(await probe.send(listPets()));
      return sent;
    });
    const later = gap('later', { needs: { own: lists('gap:seen'), more } }, ({ own, more }) => ({
      answer: 'seen',
      detail: '',
      evidence: [own, ...more],
    }));
    const changed = await judged(answers(1), [], [seen('seen'), later]);
    t.match(changed.gaps.get('seen'), { answer: 'seen' });
    t.match(changed.gaps.get('later'), /^a different service has been answering/);
    const odd = await judged(answers(2), [], [seen('seen'), later]);
    t.equal(odd.doubt, undefined, 'four odd answers are too few');
  },
);

t.test('where answers are crossed nothing can be told, but for what crossing itself breaks', async (t) => {
  /** A target that answers every request with what another one asked for. */
  const crossing: Answers = ({ operation }) => {
    const animal = '{"id":1,"name":"Rex","categoryId":1}';
    return { body: operation === 'listPets' ? animal : `[${animal}]` };
  };
  const gets = scene('gets', {}, (probe) => probe.attempt(getPet(1n), testKey()));
  const finds = (id: string, more: { standsWhereCrossed?: true } = {}) =>
    check(id, { needs: { own: lists('lists') }, ...more }, ({ own }, judge) => judge.breaks(WRONG, own));
  const holds = (id: string, more: { standsWhereCrossed?: true } = {}) =>
    check(id, { needs: { gets }, ...more }, (outcomes, judge) => judge.holds(outcomes.gets));
  const { requirements, gaps, doubt } = await judged(
    testRun(crossing),
    [
      finds('schema'),
      holds('answers'),
      finds('echo', { standsWhereCrossed: true }),
      holds('id', { standsWhereCrossed: true }),
    ],
    [seen('seen')],
  );
  const crossed =
    'answers are mixed up between requests: GET /pets was answered with one animal, GET /pets/1 with a list';
  t.equal(doubt, crossed);
  const open = { verdict: 'inconclusive', reason: crossed, evidence: [] };
  t.strictSame(requirements.get('schema'), open);
  t.strictSame(requirements.get('answers'), open);
  t.match(requirements.get('echo'), { verdict: 'fail', violation: WRONG });
  t.strictSame(requirements.get('id'), open, 'nor does it hold');
  t.equal(gaps.get('seen'), crossed);
});

t.test('a row is explained by another one that did not pass, and by no other', async (t) => {
  const open = (id: string, cause: string) =>
    check(id, {}, () => {
      throw new Unsettled(`not counted (see ${cause})`);
    });
  const { requirements } = await judged(testRun(), [
    holding('held'),
    breaking('broken'),
    open('because-broken', 'broken'),
    open('because-held', 'held'),
    open('because-nothing', 'nothing'),
  ]);
  t.match(requirements.get('because-broken'), { reason: 'not counted (see broken)' });
  t.match(requirements.get('because-held'), { reason: /^not counted$/ });
  t.match(requirements.get('because-nothing'), { reason: /^not counted$/ });
});

t.test(
  'a row that rests on an answer which breaks a row about answers as such follows from that',
  async (t) => {
    const [asked, elsewhere] = [lists('asked'), lists('elsewhere')];
    const basis = check('basis', {
      isBasis: true,
      needs: { asked },
      observe: (exchange, judge) => {
        if (exchange.sentBy === 'asked') judge.breaks(WRONG, exchange);
      },
    });
    const other = check('other', { needs: { elsewhere } }, ({ elsewhere }, judge) =>
      judge.breaks(WRONG, elsewhere),
    );
    const { requirements } = await judged(testRun(), [
      basis,
      other,
      check('unread', { needs: { asked } }, ({ asked }, judge) => judge.unsettled('unreadable', asked)),
      check('unseen', { needs: { asked } }),
      check('unread-elsewhere', { needs: { elsewhere } }, ({ elsewhere }, judge) =>
        judge.unsettled('unreadable', elsewhere),
      ),
      check('unseen-elsewhere', { needs: { elsewhere } }),
      check('of-its-own', { needs: { asked } }, (_, judge) => judge.unsettled('another client')),
    ]);
    t.strictSame(
      [...requirements].flatMap(([id, { verdict, reason }]) => (verdict === 'fail' ? [] : [[id, reason]])),
      [
        ['unread', 'unreadable (see basis)'],
        ['unseen', 'no exchange of this run shows it (see basis)'],
        ['unread-elsewhere', 'unreadable'],
        ['unseen-elsewhere', 'no exchange of this run shows it'],
        ['of-its-own', 'another client'],
      ],
    );
  },
);
