/** Which animals are retrieved for the checks of section 4.3, and how long an addition may take to be served. */
import t from 'tap';
import { answered } from '../../wire/testing/answered.ts';
import { type Animal, animals, type Otherwise, type Own } from '../list/testing/listed.ts';
import { judged, outcomeOf } from '../testing/judged.ts';
import { getAnimalChecks } from './checks.ts';
import { isGone, retrievals } from './scenes.ts';
import { NOT_FOUND, type Retrieving, retrievalRun, said } from './testing/retrieved.ts';

/** The animals that a run retrieves: their paths, and what the scene says of them. */
async function retrieved(given: Retrieving) {
  const { run, sent, waits } = await retrievalRun(given);
  const outcome = await outcomeOf(run, retrievals);
  return {
    paths: sent.map(({ path }) => path),
    waits: waits(),
    shown: outcome.done.map(({ known, own, shownBy, exchange }) =>
      [known.id, own ? 'own' : 'listed', shownBy.id, exchange.outcome.status].join(' '),
    ),
  };
}

const own = (id: number, label: string, sent?: string): Own => ({
  id,
  label,
  ...(sent === undefined ? {} : { sent }),
});
const BASIC = [
  own(11, 'available', 'available'),
  own(12, 'pending', 'pending'),
  own(13, 'sold', 'sold'),
  own(14, 'no-status'),
];
/** A store that holds the animals of a run after three others. */
const withOwn = (added: readonly Own[]): readonly Animal[] => [
  [1, 'sold'],
  [2, 'sold'],
  [3, 'sold'],
  ...added.map(({ id, sent }): Animal => (sent === undefined ? [id] : [id, sent])),
];
const having = (added: readonly Own[], given: Retrieving = {}) =>
  retrieved({ store: withOwn(added), own: added, ...given });

t.test('of the run’s animals those of each status, and those with edge values', async (t) => {
  const added = [
    ...BASIC,
    own(15, 'one like another', 'available'),
    own(16, 'any-script', 'sold'),
    own(17, 'blanks around', 'available'),
    own(18, 'category-0', 'pending'),
    own(19, 'a categoryId of its own', 'pending'),
  ];
  const { paths, shown } = await having(added);
  t.strictSame(shown, [
    '11 own added-11 200',
    '12 own added-12 200',
    '13 own added-13 200',
    '14 own added-14 200',
    '16 own added-16 200',
    '18 own added-18 200',
    '1 listed list-all 200',
    '3 listed list-all 200',
  ]);
  t.strictSame(
    paths,
    ['11', '12', '13', '14', '16', '18', '1', '3'].map((id) => `/pets/${id}`),
  );
});

t.test('of many no more than eight', async (t) => {
  const many = ['16', '17', '18', '19', '20'].map((id) => own(Number(id), `category-${id}`, 'sold'));
  const { paths } = await having([...BASIC, ...many]);
  t.strictSame(
    paths,
    ['11', '12', '13', '14', '16', '17', '18', '19', '1', '3'].map((id) => `/pets/${id}`),
  );
});

t.test('an animal without an id cannot be asked for', async (t) => {
  const refused = await having(BASIC.slice(0, 1), { refused: ['any-script', 'sold'] });
  t.strictSame(refused.paths, ['/pets/11', '/pets/1', '/pets/3'], 'it was not created');
  const { paths } = await retrieved({ store: [[1.5], [2], [3], [0.5]] });
  t.strictSame(paths, ['/pets/2', '/pets/3'], 'its list shows none');
});

t.test(
  'of somebody else’s the first and the last of the list, and one that a double does not hold',
  async (t) => {
    const large = 2n ** 53n + 1n;
    for (const [why, store, ids] of [
      ['the first and the last', animals(5), [1, 5]],
      ['two', animals(2), [1, 2]],
      ['one', animals(1), [1]],
      ['a large one', [[1], [large], [large + 2n], [4]], [1, 4, large]],
      ['it is one of these', [[1], [2], [large]], [1, large]],
      ['a double holds it', [[1], [large - 1n], [4]], [1, 4]],
    ] as const satisfies readonly (readonly [string, readonly Animal[], readonly unknown[]])[]) {
      const { paths } = await retrieved({ store });
      t.strictSame(
        paths,
        ids.map((id) => `/pets/${id}`),
        why,
      );
    }
  },
);

t.test('where nothing may be added the run’s animals are not waited for', async (t) => {
  const given = { store: withOwn(BASIC), own: BASIC };
  const { paths } = await retrieved({ ...given, options: { permissions: new Set() } });
  t.strictSame(paths, ['/pets/1', '/pets/14'], 'the run may not');
});

t.test('an empty store shows nothing', async (t) => {
  const { run, sent } = await retrievalRun({ store: [] });
  t.match(await judged(run, getAnimalChecks, 'get-answers-200'), {
    verdict: 'inconclusive',
    reason: 'no list and no addition of this run shows an animal with an id',
  });
  t.strictSame(sent, []);
  const unlisted = await retrievalRun({ listed: { all: 500 } });
  await t.rejects(outcomeOf(unlisted.run, retrievals), { message: /shows an animal with an id/ });
});

t.test('an addition may take a while to be served, all of them together as long as one', async (t) => {
  const [first, second] = BASIC;
  if (first === undefined || second === undefined) throw new Error('there are no basic animals');
  const late =
    (since: Readonly<Record<string, number>>): Otherwise =>
    ({ path }, number) =>
      number < (since[path] ?? 0) ? NOT_FOUND : undefined;
  const pause = (seconds: number) => `${seconds}: an animal that was just added to be served`;
  const ALL = ['/pets/11', '/pets/12', '/pets/1', '/pets/3'];
  t.match(
    await having([first, second], { otherwise: late({ '/pets/11': 5, '/pets/12': 8 }) }),
    {
      paths: [...ALL, '/pets/11', '/pets/12', '/pets/12', '/pets/12'],
      waits: [pause(0.29), pause(1.06), pause(3.07)],
      shown: [/./, /./, /^11 .* 200$/, /^12 .* 200$/],
    },
    'they are served in the end',
  );
  t.match(
    await having([first, second], { otherwise: late({ '/pets/11': 99, '/pets/12': 99 }) }),
    {
      paths: [...ALL, ...Array(4).fill(['/pets/11', '/pets/12']).flat()],
      waits: [pause(0.29), pause(1.06), pause(3.08), pause(7.1)],
      shown: [/./, /./, /^11 .* 404$/, /^12 .* 404$/],
    },
    'they never are',
  );
  const { waits, shown } = await having([first], {
    otherwise: ({ path }) => (path === '/pets/1' ? NOT_FOUND : undefined),
  });
  t.strictSame([waits, shown[1]], [[], '1 listed list-all 404'], 'somebody else’s is there or not');
  t.strictSame(
    (await having([first], { otherwise: ({ path }) => (path === '/pets/11' ? { status: 500 } : undefined) }))
      .waits,
    [],
    'another answer is final',
  );
});

t.test(
  'then an id that no animal has, far above those that a store counts to, and an animal once more',
  async (t) => {
    const { paths } = await said('get-answers-200');
    const [, , unknown = '', again] = paths;
    t.strictSame([paths.length, again], [4, '/pets/1']);
    const id = BigInt(unknown.slice('/pets/'.length));
    t.ok(id >= 2n ** 61n && id < 2n ** 62n);
    t.equal((await said('get-answers-200')).paths[2], unknown, 'the same whenever the run is judged again');
    const gone = await said('get-answers-200', {
      otherwise: ({ path }) => (path === '/pets/1' ? { status: 500 } : undefined),
    });
    t.strictSame(gone.paths.slice(-2), ['/pets/3', '/pets?limit=100'], 'one that was served');
  },
);

t.test('an operation is gone that redirects, or is not allowed, not implemented or gone', async (t) => {
  for (const [status, gone] of [
    [299, false],
    [300, true],
    [308, true],
    [399, true],
    [400, false],
    [404, false],
    [405, true],
    [410, true],
    [500, false],
    [501, true],
  ] as const)
    t.equal(isGone(answered({ status })), gone, `${status}`);
});
