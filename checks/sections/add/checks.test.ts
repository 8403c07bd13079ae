/** Section 4.2: an addition is answered with 201 and the animal as it was sent, with an id that no other one has. */
import t from 'tap';
import { testKey, testRun } from '../../run/testing/test-run.ts';
import { addPet, type NewPet } from '../../wire/requests.ts';
import { type AnswerParts, answered } from '../../wire/testing/answered.ts';
import { judged, played, seen } from '../testing/judged.ts';
import { addAnimalChecks } from './checks.ts';
import { TWIN } from './scenes.ts';

const SENT = { name: 'Mia', categoryId: 1n, status: 'sold' };

/** An addition and its answer, which shows the animal as it was sent but for what is given. */
function addition(sent: Readonly<Record<string, unknown>>, shown: object = {}, parts: AnswerParts = {}) {
  const { body: requestBody = '' } = addPet(sent);
  return answered({
    id: 'added',
    operation: 'createPet',
    method: 'POST',
    status: 201,
    requestBody,
    body: JSON.stringify({ id: 7, ...JSON.parse(requestBody === '' ? '{}' : requestBody), ...shown }),
    ...parts,
  });
}
const passively = (id: string, ...args: Parameters<typeof addition>) =>
  seen(testRun().run, addAnimalChecks, id, [addition(...args)]);

t.test('each field comes back as it was sent', async (t) => {
  for (const [id, field, other, problem, sent] of [
    ['add-echoes-name', 'name', 'Leo', 'name "Leo"', 'name "Mia", as sent'],
    ['add-echoes-category-id', 'categoryId', 2, 'categoryId 2', 'categoryId 1, as sent'],
    ['add-echoes-status', 'status', 'pending', 'status "pending"', 'status "sold", as sent'],
  ] as const) {
    t.match(passively(id, SENT), { verdict: 'pass', evidence: 'added' }, id);
    t.match(
      passively(id, SENT, { [field]: other }),
      { verdict: 'fail', expected: sent, reason: problem, evidence: 'added' },
      id,
    );
    const { [field]: _, ...without } = SENT;
    t.equal(passively(id, without, { [field]: other }).verdict, 'inconclusive', `no ${field} was sent`);
    t.equal(
      passively(id, SENT, { [field]: other }, { status: 400 }).verdict,
      'inconclusive',
      `${id}: a refusal`,
    );
    t.equal(
      passively(id, SENT, { [field]: other }, { operation: 'listPets' }).verdict,
      'inconclusive',
      `${id}: a list`,
    );
    t.equal(passively(id, SENT, {}, { body: '[]' }).verdict, 'inconclusive', 'no animal came');
    t.equal(passively(id, SENT, {}, { requestBody: '{' }).verdict, 'inconclusive', `${id}: no JSON was sent`);
    t.equal(passively(id, SENT, { [field]: other }, { status: 200 }).verdict, 'inconclusive', 'not created');
    for (const requestBody of ['[]', 'null', '7'])
      t.equal(passively(id, SENT, {}, { requestBody }).verdict, 'inconclusive', requestBody);
    const wrong = passively(id, { ...SENT, [field]: {} }, { [field]: other });
    t.equal(wrong.verdict, 'inconclusive', `what was sent was no ${field}`);
  }
  const unheardOf = passively('add-echoes-status', { ...SENT, status: 'SOLD' }, { status: 'sold' });
  t.equal(unheardOf.verdict, 'inconclusive', 'an invalid animal is not to be added, whatever comes back');
  t.match(passively('add-echoes-status', SENT, { status: undefined }), {
    verdict: 'fail',
    reason: 'no status',
  });
  t.equal(passively('add-echoes-name', SENT, { name: 7 }).verdict, 'inconclusive', 'the schema’s subject');
  t.equal(passively('add-echoes-category-id', SENT, { categoryId: '1' }).verdict, 'inconclusive');
});

t.test('the created animal is a Pet', async (t) => {
  const id = 'add-pet-schema';
  t.match(passively(id, SENT), { verdict: 'pass', evidence: 'added' });
  t.match(passively(id, SENT, { id: undefined }), {
    verdict: 'fail',
    expected: /^a Pet: id, name, categoryId/,
    reason: 'id is missing',
    evidence: 'added',
  });
  t.equal(passively(id, SENT, { id: undefined }, { status: 200 }).verdict, 'inconclusive');
  t.equal(passively(id, SENT, { id: undefined }, { operation: 'getPet' }).verdict, 'inconclusive');
  t.equal(
    passively(id, SENT, {}, { body: '{' }).verdict,
    'inconclusive',
    'that it is no JSON is said elsewhere',
  );
  const coded = { body: '?', bodyProblem: 'unknown-encoding' } as const;
  t.match(passively(id, SENT, {}, coded), { verdict: 'inconclusive', reason: /the harness cannot read/ });
});

t.test('an addition of a burst is answered with 201, unless it was to be refused', async (t) => {
  const id = 'add-answers-201';
  const inBurst = (status: number, sent: Readonly<Record<string, unknown>> = SENT, parts: AnswerParts = {}) =>
    passively(id, sent, {}, { id: 'minute:free-1#5', status, ...parts }).verdict;
  t.equal(inBurst(201), 'pass');
  for (const status of [200, 400, 500]) t.equal(inBurst(status), 'fail', `${status}`);
  t.match(passively(id, SENT, {}, { id: 'minute:free-1#5', status: 500 }), {
    expected: '201',
    reason: /^500/,
    evidence: /^minute:free-1#5$/,
  });
  for (const status of [401, 403, 429]) t.equal(inBurst(status), 'inconclusive', `${status}`);
  t.equal(inBurst(500, { name: 'harness-1 a refused' }), 'inconclusive', 'it had no categoryId');
  t.equal(inBurst(500, { ...SENT, name: 'harness-1 refused over the limit' }), 'inconclusive');
  t.equal(inBurst(500, SENT, { requestBody: '[]' }), 'inconclusive');
  t.equal(inBurst(500, SENT, { operation: 'listPets' }), 'inconclusive');
  t.equal(inBurst(500, SENT, { id: 'another#5' }), 'inconclusive', 'other checks judge their own');
});

interface Made {
  readonly label?: string;
  readonly status?: number;
  readonly sent?: NewPet & { readonly id?: bigint };
}

/** An addition of the run as its scenes have it. */
const made = (id: string, { label = id, status = 201, sent = { ...SENT, name: id } }: Made = {}) => ({
  label,
  sent,
  exchange: addition({ ...sent }, {}, { id, status }),
  pet: status === 201 ? { ...sent, id: 7n, fields: [] } : undefined,
});
type Addition = ReturnType<typeof made>;

interface Scenes {
  readonly basic?: readonly Addition[];
  readonly enough?: readonly Addition[];
  readonly unknownCategory?: Addition;
  readonly beyondDouble?: Addition;
  readonly largest?: Addition;
  readonly ownId?: Addition;
}

/** What is said of a run that has made these additions. */
async function said(
  id: string,
  scenes: Scenes = {},
  sampled: bigint | null = SENT.categoryId,
  listed = '[]',
) {
  const { basic = [made('basic')], enough = basic } = scenes;
  const permissions = new Set(['writes'] as const);
  const { run } = testRun(() => ({ body: listed }), { permissions, sampleCategoryId: sampled ?? undefined });
  await played(run, 'basic-animals', basic);
  await played(run, 'enough-animals', enough);
  await played(run, 'edge-animals', {
    unknownCategory: made('unknown category'),
    beyondDouble: made('large'),
    largest: made('larger'),
    ownId: made('own id', { sent: { ...SENT, id: 9n } }),
    ...scenes,
  });
  return judged(run, addAnimalChecks, id);
}

const statusless = (id: string, status?: number) =>
  made(id, { sent: { name: id, categoryId: 1n }, ...(status === undefined ? {} : { status }) });
const twin = (status: number) => made('twin', { label: TWIN, status });

t.test('a valid addition is answered with 201', async (t) => {
  const id = 'add-answers-201';
  t.match(await said(id), { verdict: 'pass', evidence: 'basic' });
  t.match(await said(id, { basic: [made('a', { status: 400 }), made('b', { status: 400 })], enough: [] }), {
    verdict: 'fail',
    expected: '201 for "a"',
    reason: /^400/,
    evidence: 'a,b',
  });
  const oneIsRefused = [made('a'), made('b', { status: 400 })];
  t.match(
    await said(id, { basic: oneIsRefused }),
    { verdict: 'pass' },
    'what one has beyond the others may not do',
  );
  t.match(await said(id, { basic: [made('a'), made('b', { status: 200 })] }), {
    verdict: 'fail',
    expected: '201 for "b"',
    evidence: 'b',
  });
  t.match(await said(id, { basic: [made('a', { status: 403 })], enough: [] }), {
    verdict: 'inconclusive',
    reason: /no key of the profile seems to be allowed to add animals/,
  });
});

t.test('where no category is known to exist, each addition may be refused for that', async (t) => {
  const refused = (status: number) => ({ basic: [made('a', { status }), made('b', { status })], enough: [] });
  const says = (...[status, ...known]: [number, bigint | null, string?]) =>
    said('add-answers-201', refused(status), ...known);
  t.match(await says(400, null), {
    verdict: 'inconclusive',
    reason: /samples: \{ categoryId/,
    evidence: 'a,b',
  });
  t.match(await says(400, null, '[{"id":1,"name":"Rex","categoryId":1}]'), { verdict: 'fail' }, 'listed');
  t.match(await says(400, 1n), { verdict: 'fail' }, 'named by the profile');
  t.match(await says(500, null), { verdict: 'fail' }, 'that is no invalid value');
  const oneFailed = { basic: [made('a', { status: 400 }), made('b', { status: 500 })], enough: [] };
  t.match(await said('add-answers-201', oneFailed, null), { verdict: 'fail' }, 'nor is one of them');
  const one = { basic: [made('a'), made('b', { status: 500 })], enough: [] };
  t.match(await said('add-answers-201', one, null), { verdict: 'pass' }, 'one was taken');
});

t.test('an animal like another one may be refused as invalid, and not otherwise', async (t) => {
  const id = 'add-answers-201';
  t.equal((await said(id, { basic: [made('a'), twin(400)] })).verdict, 'pass');
  t.match(await said(id, { basic: [made('a'), twin(500)] }), { verdict: 'fail', evidence: 'twin' });
  const values = 'add-status-values';
  t.equal((await said(values, { basic: [made('a'), twin(400)] })).verdict, 'pass');
  t.equal((await said(values, { basic: [made('a'), twin(409)] })).verdict, 'fail');
});

t.test('other additions may be refused as invalid; what fills a page may not', async (t) => {
  const id = 'add-answers-201';
  const further = (more: Made) => said(id, { enough: [made('basic'), made('further', more)] });
  for (const status of [400, 413, 422]) t.equal((await further({ status })).verdict, 'pass', `${status}`);
  for (const status of [500, 404, 200])
    t.match(
      await further({ status }),
      { verdict: 'fail', expected: '201 for "further"', evidence: 'further' },
      `${status}`,
    );
  t.equal((await further({ status: 400, label: 'filler-a' })).verdict, 'fail');
});

t.test('an id of a category is an int64, be it large', async (t) => {
  const id = 'add-answers-201';
  const refused = made('large', { status: 400 });
  t.match(await said(id, { beyondDouble: refused, largest: refused }), {
    verdict: 'fail',
    expected: '201 for "large"',
  });
  t.equal((await said(id, { beyondDouble: refused })).verdict, 'pass');
  t.equal(
    (
      await said(id, {
        unknownCategory: made('unknown', { status: 400 }),
        beyondDouble: refused,
        largest: refused,
      })
    ).verdict,
    'pass',
    'where categories have to exist none of them need',
  );
});

t.test('the status may be left out', async (t) => {
  const id = 'add-status-optional';
  t.match(await said(id, { basic: [made('a'), statusless('none')] }), { verdict: 'pass', evidence: 'none' });
  t.match(await said(id, { basic: [made('a'), statusless('none', 400)] }), {
    verdict: 'fail',
    expected: '201 for "none"',
    evidence: 'none',
  });
  t.equal(
    (await said(id, { basic: [made('a'), statusless('none', 200)] })).verdict,
    'pass',
    'the row before this one',
  );
  const unsettled = { verdict: 'inconclusive', reason: 'no animal could be added (see add-answers-201)' };
  t.match(await said(id, { basic: [made('a')] }), unsettled);
  t.match(await said(id, { basic: [made('a', { status: 400 }), statusless('none', 400)] }), unsettled);
});

t.test('each status is accepted', async (t) => {
  const id = 'add-status-values';
  const refused = made('b', { status: 415 });
  const type = 'application/json; charset=utf-8';
  const request = { ...refused.exchange.request, headers: [['content-type', type] as const] };
  t.match(
    await said(id, { basic: [made('a'), { ...refused, exchange: { ...refused.exchange, request } }] }),
    { verdict: 'fail', expected: `201 for "b", sent as ${type}` },
    'an unusual label is named',
  );
  t.match(await said(id, { basic: [made('a'), made('b', { status: 200 })] }), {
    verdict: 'pass',
    evidence: 'a,b',
  });
  t.match(await said(id, { basic: [made('a'), made('b', { status: 400 })] }), {
    verdict: 'fail',
    expected: '201 for "b"',
    evidence: 'b',
  });
  t.match(
    await said(id, { basic: [made('a'), statusless('none', 400)] }),
    { verdict: 'pass' },
    'one without is another row',
  );
  t.match(await said(id, { basic: [made('a', { status: 400 })] }), {
    verdict: 'inconclusive',
    reason: 'no animal could be added (see add-answers-201)',
  });
});

t.test('the id is the service’s choice', async (t) => {
  const id = 'pet-id-assigned-by-service';
  const own = (sentId: bigint, status = 201) =>
    said(id, { ownId: made('own', { status, sent: { ...SENT, id: sentId } }) });
  t.match(await own(9n), { verdict: 'pass', evidence: 'own' });
  t.match(await own(7n), { verdict: 'fail', reason: 'the id that the client sent, 7', evidence: 'own' });
  for (const status of [400, 422])
    t.equal((await own(7n, status)).verdict, 'pass', 'an unknown field may be refused');
  t.match(await own(7n, 500), {
    verdict: 'inconclusive',
    reason: /^an addition with an id was answered 500/,
  });
});

t.test('what could not be added leaves open what it would show, and nothing that was seen', async (t) => {
  const without = async (id: string, ...basic: readonly Addition[]) => {
    const { run } = testRun(undefined, {
      keys: [testKey({ roles: ['ban'] })],
      permissions: new Set(['writes'] as const),
    });
    await played(run, 'store-sample', { exchange: answered(), pets: [] });
    await played(run, 'basic-animals', basic);
    return judged(run, addAnimalChecks, id);
  };
  t.match(await without('add-echoes-name', made('basic')), {
    verdict: 'inconclusive',
    reason: 'no usable key has the role functional',
  });
  const id = 'add-answers-201';
  t.match(await without(id, made('basic')), { verdict: 'inconclusive', reason: /beyond the basic ones/ });
  t.match(await without(id, made('basic', { status: 200 })), { verdict: 'fail', evidence: 'basic' });
});
