import t from 'tap';
import { reading } from '../checks/limits/testing/simulated-limits.ts';
import type { Settled } from '../checks/run/findings.ts';
import { type RecordedRun, type RunSurroundings, reportOf, reportOfNothing } from './from-run.ts';
import { readReport } from './read-report.ts';
import { SAMPLE_START, sampleExchange } from './testing/sample-exchanges.ts';
import { conformantReport } from './testing/sample-reports.ts';

const { animalsAdded: _, targetClockSkewMs: __, ...facts } = conformantReport().run;
const list = { operation: 'listPets', method: 'GET', path: '/pets' } as const;
const proof = sampleExchange('add-answers-201#1', 1, 'free-1', list, {
  status: 500,
  body: 'x'.repeat(70_000),
});

const run: RecordedRun = {
  trace: {
    run: { id: facts.id, baseUrl: 'https://staging.example.com/v1', keys: facts.keys },
    exchanges: [proof],
    readings: [],
    targetClock: { skew: 12.4 },
    keyOf: () => ({ env: 'PETSTORE_FREE_KEY' }),
  },
  result: { requirements: new Map(), gaps: new Map() },
  startedAt: SAMPLE_START,
  endedAt: SAMPLE_START + 1_500,
  requestsByKey: new Map([
    ['free-1', 2],
    ['(none)', 1],
  ]),
  banned: new Set(),
};

const settled = (verdict: Settled['verdict'], more: Partial<Settled> = {}): Settled => ({
  verdict,
  reason: verdict,
  evidence: [],
  ...more,
});

const failed = settled('fail', {
  violation: { expected: '201', actual: '500' },
  evidence: [proof],
});

function report(rows: Readonly<Record<string, Settled>>, about: Partial<RunSurroundings> = {}) {
  const result = { requirements: new Map(Object.entries(rows)), gaps: new Map() };
  return reportOf({ ...run, result }, { facts, pinned: {}, baseline: [], ...about });
}

t.test('an addition that succeeded counts as an animal, with the wrong status too', (t) => {
  const readings = [200, 201, 202, 400, 500].map((status, index) =>
    reading({ id: `add#${index}`, operation: 'createPet', status }),
  );
  const listed = reading({ id: 'list#1', operation: 'listPets', status: 200 });
  const { animalsAdded } = reportOf(
    { ...run, trace: { ...run.trace, readings: [...readings, listed] } },
    { facts, pinned: {}, baseline: [] },
  ).run;
  t.equal(animalsAdded, 3);
  t.end();
});

t.test('a failure with its proof, the command that repeats it, and what it explains', async (t) => {
  const written = report({
    'add-answers-201': failed,
    'add-echoes-name': settled('inconclusive', { reason: 'no animal could be added (see add-answers-201)' }),
    'list-answers-200': settled('pass'),
  });
  t.match(written, { verdict: 'not-conformant', complete: true, problems: [], requests: { total: 3 } });
  const row = (id: string) => written.requirements.find((one) => one.id === id);
  t.match(row('add-answers-201'), { evidence: [proof.id], curl: /\$PETSTORE_FREE_KEY/, expected: '201' });
  t.match(row('add-echoes-name'), { consequenceOf: 'add-answers-201' });
  t.match(written.exchanges, [{ outcome: { bodyProblem: 'truncated-in-record' } }]);
  t.ok(readReport(t.testdir({ 'report.json': JSON.stringify(written) })).ok, 'it is a report');

  const baseline = [{ id: 'add-answers-201', place: 'known.yaml:1' }];
  const rows = { 'add-answers-201': failed, 'list-answers-200': settled('pass') };
  t.match(report(rows, { baseline }), { verdict: 'conformant' });
  const stale = report({ ...rows, 'add-answers-201': settled('pass') }, { baseline });
  t.match(stale, {
    verdict: 'not-conformant',
    problems: [/^add-answers-201 passes now: .*\(known\.yaml:1\)$/],
  });
});

t.test('what was not asked for is skipped, and inconclusive where it is required', async (t) => {
  const rows = {
    'list-answers-200': settled('pass'),
    'ban-provoked': settled('skipped', { reason: 'needs the permission ban' }),
  };
  t.match(report(rows), { verdict: 'conformant', complete: false });
  t.match(report(rows, { required: ['ban'] }), { verdict: 'inconclusive', complete: false });
});

t.test('a run that had nothing to judge says why', async (t) => {
  const written = reportOfNothing(facts, 'https://staging.example.com/v1 refused the connection');
  t.match(written, { verdict: 'inconclusive', complete: false, problems: [/refused/] });
  t.ok(readReport(t.testdir({ 'report.json': JSON.stringify(written) })).ok);
});
