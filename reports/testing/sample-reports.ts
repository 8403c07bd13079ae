/** Reports of fictional requirements: small, so that a test sees at a glance what it is about. */
import type { Exchange, HeaderList } from '../../checks/wire/exchange.ts';
import { buildReport } from '../build-report.ts';
import { FORMATS, type Format } from '../formats.ts';
import { REPORT_FORMAT_VERSION, type Report, type RequirementResult } from '../report.ts';
import type { Screen } from '../terminal.ts';
import { isComplete, verdictOf } from '../verdict.ts';

/** A report in a format. */
export const render = (report: Report, format: string, screen?: Screen): string =>
  new Map(Object.entries<Format>(FORMATS)).get(format)?.render(buildReport(report), screen) ?? '';

/** When every sample run began. */
export const SAMPLE_START = Date.UTC(2026, 10, 21, 12, 0, 4);

/** A requirement's row; it passed unless told otherwise. */
export const row = (id: string, facts: Partial<RequirementResult> = {}): RequirementResult => ({
  id,
  section: '4.1',
  level: 'MUST',
  title: `Title of ${id}`,
  statement: `What ${id} asks.`,
  clause: `The clause of ${id}.`,
  verdict: 'pass',
  reason: 'held in one observation',
  why: [{ kind: 'held', times: 1 }],
  evidence: [],
  ...facts,
});

/** A row that was skipped for want of a permission. */
export const unpermitted = (id: string, permission: 'writes' | 'exhaust' | 'ban' | 'day') =>
  row(id, {
    verdict: 'skipped',
    reason: `needs the permission ${permission}`,
    why: [{ kind: 'not-permitted', permission }],
    permit: permission,
  });

/** A row that could not be told, for reasons that may blame others. */
export const untold = (id: string, what: string, blames: readonly string[] = []) =>
  row(id, { verdict: 'inconclusive', reason: what, why: [{ kind: 'not-told', what, blames }] });

export const broken = (id: string, facts: Partial<RequirementResult> = {}): RequirementResult =>
  row(id, {
    verdict: 'fail',
    reason: `${id} came otherwise`,
    why: [{ kind: 'broken', times: 1 }],
    expected: `as ${id} asks`,
    actual: `${id} came otherwise`,
    evidence: ['lists#1'],
    curl: `curl -i -H "Authorization: Bearer $KEY" 'https://staging.example.com/v1/pets?limit=1'`,
    ...facts,
  });

/** An exchange whose answer has this body and these headers. */
export const exchange = (id: string, body: string, headers: HeaderList = []): Exchange => ({
  id,
  sentBy: 'lists',
  intent: 'ordinary',
  key: 'free-1',
  sentAt: SAMPLE_START + 1_000,
  receivedAt: SAMPLE_START + 1_250,
  request: {
    operation: 'listPets',
    method: 'GET',
    path: '/pets?limit=1',
    headers: [['authorization', 'Bearer <free-1>']],
  },
  outcome: {
    kind: 'response',
    status: 200,
    headers: [['content-type', 'application/json'], ...headers],
    body,
    bodyBytes: body.length,
  },
});

/** A list of animals with ids beyond 2^53; the status of one may differ. */
export const petList = (length: number, odd?: { readonly index: number; readonly status: string }): string =>
  `[${Array.from({ length }, (_, index) => `{"id":${9007199254740991n + BigInt(index)},"name":"Rex ${index}","categoryId":3,"status":"${odd?.index === index ? odd.status : 'sold'}"}`).join(',')}]`;

/** A report of these rows; its verdict and completeness follow from them. */
export function reportWith(rows: readonly RequirementResult[], more: Partial<Report> = {}): Report {
  const { gaps = [], problems = [] } = more;
  return {
    formatVersion: REPORT_FORMAT_VERSION,
    run: {
      id: 'abcdefgh',
      startedAt: new Date(SAMPLE_START).toISOString(),
      durationSeconds: 119.4,
      harnessVersion: '0.1.0',
      target: 'https://staging.example.com/v1',
      permissions: ['writes'],
      keys: [{ name: 'free-1', plan: 'free', roles: ['functional'] }],
      clockSpeed: 1,
      animalsAdded: 9,
      command: 'petstore-harness check --profile staging.yaml --permit writes',
    },
    verdict: verdictOf(rows, gaps, problems),
    complete: isComplete(rows),
    problems,
    requirements: rows,
    gaps,
    requests: { total: 1_234, byKey: { 'free-1': 1_234 } },
    timeline: [
      { at: 1, key: 'free-1', operation: 'listPets', status: 200, limit: 60, remaining: 1, reset: 60 },
      { at: 2, key: 'free-1', operation: 'listPets', status: 200, limit: 60, remaining: 0, reset: 60 },
      { at: 3, key: 'free-1', operation: 'listPets', status: 429, limit: 60, remaining: 0, reset: 60 },
    ],
    exchanges: [exchange('lists#1', petList(3))],
    ...more,
  };
}

const drifted = {
  id: 'list-order',
  section: '4.1',
  question: 'In which order?',
  observed: 'oldest-first',
  pinned: 'newest-first',
  verdict: 'drifted',
  detail: 'Seen in 2 lists.',
  evidence: [],
} as const;

/** Everything was verified. */
export const conformantReport = (): Report =>
  reportWith([row('one'), row('two'), row('three'), row('four', { section: '8' })]);

/** Two causes, one of which explains a third row; a pinned answer drifted, and a permission was missing. */
export const notConformantReport = (): Report =>
  reportWith(
    [
      broken('one'),
      broken('two'),
      { ...untold('three', 'not counted', ['two']), consequenceOf: 'two' },
      unpermitted('four', 'day'),
    ],
    { gaps: [drifted] },
  );

/** A signal ended the run; nothing was broken so far. Perhaps one animal was added. */
export function inconclusiveReport(): Report {
  const lost = { at: 1, key: 'free-1', operation: 'createPet', status: 0 };
  const report = reportWith([row('one'), untold('two', 'the run was interrupted')], { timeline: [lost] });
  const resume = 'petstore-harness check --resume petstore-results';
  const more = { interrupted: 'SIGINT', resume, clockSpeed: 60, animalsAdded: 0, permissions: [] };
  return { ...report, run: { ...report.run, ...more, way: { proxy: 'http://p', insecure: true } } };
}
