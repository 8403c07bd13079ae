import { join } from 'node:path';
import t from 'tap';
import { PROFILE_DEFAULTS } from '../checks/profile/target-profile.ts';
import type { Finding } from '../checks/run/findings.ts';
import { testKey } from '../checks/run/testing/test-run.ts';
import { GrowingTrace } from '../checks/run/trace.ts';
import { assertAsStored } from '../checks/testing/as-stored.ts';
import { answered } from '../checks/wire/testing/answered.ts';
import { requirements } from '../spec/contract.ts';
import { reportOf } from './from-run.ts';
import { readReport } from './report.ts';
import { exchange, SAMPLE_START } from './testing/sample-reports.ts';

const target = 'https://staging.example.com/v1';
const request = { profile: { ...PROFILE_DEFAULTS, target, keys: [] }, permissions: [] };
const asked = { command: 'petstore-harness check', required: [], baseline: [] };
const proof = exchange('lists#1', 'x'.repeat(70_000));
const lost = { kind: 'failure', reason: 'reset', message: 'closed' } as const;
const [one = '', two = ''] = requirements.map(({ id }) => id);

const trace = new GrowingTrace({
  ...{ id: 'abcdefgh', baseUrl: target, keys: [testKey()], permissions: new Set(), clockSpeed: 1 },
  ...{ sampleCategoryId: undefined, declined: new Set() },
});
const added = [200, 201, 202, 400, 500].map((status, index) =>
  answered({ id: `add#${index}`, operation: 'createPet', key: null, status, sentAt: SAMPLE_START + index }),
);
for (const one of [proof, { ...exchange('lists#2', ''), outcome: lost }, ...added])
  trace.admit(one, 'in-full');
const run = {
  ...{ trace, startedAt: SAMPLE_START, endedAt: SAMPLE_START + 1_500 },
  banned: new Set(['add#4']),
  warnings: [],
};

const failed: Finding = {
  verdict: 'fail',
  reasons: [{ kind: 'broken', times: 1_234 }],
  violation: { expected: '201', actual: '500', at: ['status'] },
  evidence: [proof],
};
const untold: Finding = {
  verdict: 'inconclusive',
  reasons: [{ kind: 'not-told', what: 'no animal', blames: [one] }],
  evidence: [],
};

t.test('what a run found, with its proof, the command that repeats it, and what it explains', async (t) => {
  const result = {
    requirements: new Map([
      [one, failed],
      [two, untold],
    ]),
    gaps: new Map(),
  };
  const written = reportOf({ ...run, result }, request, asked);
  t.match(written, { verdict: 'not-conformant', complete: true, problems: [], requests: { total: 7 } });
  t.match(written.requirements, [
    {
      id: one,
      reason: '500 (1,234 times)',
      expected: '201',
      at: ['status'],
      why: failed.reasons,
      evidence: ['lists#1'],
      curl: `curl -i -H "Authorization: Bearer $FREE_1" -H 'Accept:' '${target}/pets?limit=1'`,
      clause: requirements[0]?.clause,
    },
    { id: two, consequenceOf: one, reason: `no animal (see ${one})` },
  ]);
  t.match(written.exchanges, [{ id: 'lists#1', outcome: { bodyProblem: 'truncated-in-record' } }]);
  t.equal(written.exchanges.length, 1, 'only what evidence points to');
  t.ok(readReport(t.testdir({ 'report.json': JSON.stringify(written) })), 'it is a report');
});

t.test('a run that had nothing to judge says why', async (t) => {
  const result = { requirements: new Map(), gaps: new Map() };
  const written = reportOf({ ...run, result, nothingToJudge: 'it refused the connection' }, request, asked);
  t.match(written, {
    requests: { total: 7 },
    verdict: 'inconclusive',
    complete: false,
    problems: [/refused/],
  });
  t.ok(readReport(t.testdir({ 'report.json': JSON.stringify(written) })));
});

t.test('the facts of a run, and its requests as points, are as stored', async (t) => {
  const told = () => {
    const result = { requirements: new Map(), gaps: new Map() };
    const { run: facts, timeline } = reportOf({ ...run, result }, request, asked);
    return [{ ...facts, harnessVersion: 'V' }, ...timeline].map((one) => JSON.stringify(one)).join('\n');
  };
  const limits = { limit: '60', remaining: '7', reset: `${SAMPLE_START / 1000 + 70}` };
  const headers = Object.entries(limits).map(([name, value]) => [`x-ratelimit-${name}`, value] as const);
  const dated = ['date', new Date(SAMPLE_START + 61_000).toUTCString()] as const;
  trace.admit(exchange('lists#3', '[]', headers), 'in-full');
  const texts = { 'without a clock of the target': told() };
  trace.admit(exchange('lists#4', '[]', [...headers, dated]), 'in-full');
  const file = join(import.meta.dirname, 'testing', 'from-run.txt');
  assertAsStored(t, file, { ...texts, 'with one': told() });
});
