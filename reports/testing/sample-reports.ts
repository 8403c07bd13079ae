/**
 * Reports of runs that never were, for the tests of the renderers: realistic in size and text, deterministic,
 * made in code so that no large file is kept.
 */
import type { Exchange } from '../../checks/wire/exchange.ts';
import { type Gap, gaps, type Requirement, requirements } from '../../spec/contract.ts';
import type {
  GapResult,
  Report,
  RequestBill,
  RequirementResult,
  RunFacts,
  TimelinePoint,
} from '../report.ts';
import { errorBody, petList, SAMPLE_START, sampleExchange } from './sample-exchanges.ts';
import { sampleTimeline } from './sample-timeline.ts';

const RUN: RunFacts = {
  id: '7f3a91c2',
  startedAt: new Date(SAMPLE_START).toISOString(),
  durationSeconds: 119.4,
  harnessVersion: '0.1.0',
  target: 'https://staging.example.com/v1',
  permissions: ['writes', 'exhaust', 'ban'],
  keys: [
    { name: 'free-1', plan: 'free', roles: ['functional', 'exhaust'] },
    { name: 'pro-1', plan: 'pro', roles: ['functional', 'exhaust'] },
    { name: 'business-1', plan: 'business', roles: ['exhaust'] },
    { name: 'free-ban', plan: 'free', roles: ['ban'] },
  ],
  clockSpeed: 1,
  animalsAdded: 9,
  targetClockSkewMs: -240,
  command: 'petstore-harness check --profile staging.yaml --permit writes,exhaust,ban --out petstore-results',
};

const baseUrl = RUN.target;

/** Three exchanges for each checked requirement; the checks of section 8 are in the timeline only. */
function functionalExchanges(): Exchange[] {
  return requirements
    .filter((row) => row.excluded === undefined && row.section !== '8')
    .flatMap((row, index) =>
      [1, 2, 3].map((count) => {
        const id = `${row.id}#${count}`;
        const at = 0.4 + index * 0.05 + count * 0.01;
        if (row.section === '4.2') {
          const body = `{"name":"harness-7f3a Rex ${index}","categoryId":3,"status":"available"}`;
          const post = { operation: 'createPet', method: 'POST', path: '/pets', body } as const;
          return row.id.startsWith('add-rejects')
            ? sampleExchange(id, at, 'free-1', post, {
                status: 400,
                body: errorBody(400, 'name is required'),
              })
            : sampleExchange(id, at, 'pro-1', post, {
                status: 201,
                body: body.replace('{', `{"id":${9007199254740990n + BigInt(index)},`),
              });
        }
        if (row.section === '5') {
          const list = { operation: 'listPets', method: 'GET', path: '/pets?limit=1' } as const;
          return sampleExchange(id, at, null, list, {
            status: 401,
            body: errorBody(401, 'API key is missing or invalid'),
          });
        }
        if (row.section === '4.3') {
          const get = { operation: 'getPet', method: 'GET', path: '/pets/9007199254740993' } as const;
          return sampleExchange(id, at, 'free-1', get, {
            status: 200,
            body: petList(1).slice(1, -1),
            headers: [
              ['deprecation', '@1764892800'],
              ['sunset', 'Thu, 05 Dec 2030 00:00:00 GMT'],
            ],
          });
        }
        const limit = [20, 1, 100][count - 1] ?? 20;
        const list = { operation: 'listPets', method: 'GET', path: `/pets?limit=${limit}` } as const;
        return sampleExchange(id, at, 'free-1', list, { status: 200, body: petList(limit) });
      }),
    );
}

function passed(row: Requirement): RequirementResult {
  const { id, section, level, title, statement, excluded } = row;
  const facts = { id, section, level, title, statement };
  if (excluded !== undefined) return { ...facts, verdict: 'not-applicable', reason: excluded, evidence: [] };
  if (id === 'get-removed') {
    return {
      ...facts,
      verdict: 'not-applicable',
      reason: 'By the target’s clock it is before 5 December 2030.',
      evidence: [],
    };
  }
  if (id.endsWith('-enterprise')) {
    return {
      ...facts,
      verdict: 'not-applicable',
      reason: 'The target offers no Enterprise plan (profile).',
      evidence: [],
    };
  }
  const evidence = section === '8' ? [] : [`${id}#1`, `${id}#2`, `${id}#3`];
  return { ...facts, verdict: 'pass', reason: 'Every exchange agrees.', evidence };
}

const OBSERVED: Readonly<Record<string, string>> = {
  'limit-out-of-range': 'rejected-400',
  'limit-not-a-number': 'rejected-400',
  'status-when-omitted': 'available',
  'error-codes': 'bad_request, not_found, rate_limited, unauthorized',
  'ban-answer': 'banned-429',
  'ban-duration': '20 s',
  'ban-threshold': '10',
  'retry-after-format': 'seconds',
  'rate-headers-window': 'minute',
  'rate-window-kind': 'fixed',
};

function answeredGap(row: Gap): GapResult {
  const { id, section, question } = row;
  const facts = { id, section, question, pinned: null, evidence: [] };
  if (row.unobservable !== undefined) {
    return { ...facts, observed: null, verdict: 'unobservable', detail: row.unobservable };
  }
  const observed = OBSERVED[id] ?? row.answers[0] ?? null;
  if (observed === null)
    return { ...facts, observed, verdict: 'not-observed', detail: 'No exchange showed it.' };
  const pinned = id === 'limit-out-of-range' ? observed : null;
  return {
    ...facts,
    observed,
    pinned,
    verdict: pinned === null ? 'observed' : 'kept',
    detail: 'Seen in 2 exchanges.',
  };
}

function bill(timeline: readonly TimelinePoint[]): RequestBill {
  const byKey: Record<string, number> = {};
  for (const { key } of timeline) byKey[key ?? '(none)'] = (byKey[key ?? '(none)'] ?? 0) + 1;
  return { total: timeline.length, byKey };
}

/** A complete run in which everything that can be checked passes. */
export function conformantReport(): Report {
  const timeline = sampleTimeline();
  return {
    formatVersion: 2,
    run: { ...RUN, permissions: ['writes', 'exhaust', 'ban', 'day'] },
    verdict: 'conformant',
    complete: true,
    problems: [],
    requirements: requirements.map(passed),
    gaps: gaps.map(answeredGap),
    requests: bill(timeline),
    timeline,
    exchanges: functionalExchanges(),
  };
}

/** Replaces requirements, gaps and exchanges of the same id, and adds exchanges of a new one. */
function amend(
  report: Report,
  changes: {
    readonly requirements?: Readonly<Record<string, Partial<RequirementResult>>>;
    readonly gaps?: Readonly<Record<string, Partial<GapResult>>>;
    readonly exchanges?: readonly Exchange[];
  },
): Report {
  const replaced = new Set(changes.exchanges?.map(({ id }) => id));
  return {
    ...report,
    requirements: report.requirements.map((row) => ({ ...row, ...changes.requirements?.[row.id] })),
    gaps: report.gaps.map((row) => ({ ...row, ...changes.gaps?.[row.id] })),
    exchanges: [...report.exchanges.filter(({ id }) => !replaced.has(id)), ...(changes.exchanges ?? [])],
  };
}

const DAY_NOT_PERMITTED = { verdict: 'skipped', reason: 'needs the permission day', evidence: [] } as const;

const DAY_ROWS = {
  'rate-day-free': DAY_NOT_PERMITTED,
  'rate-day-pro': DAY_NOT_PERMITTED,
  'rate-day-business': DAY_NOT_PERMITTED,
  'rate-day-refusal': DAY_NOT_PERMITTED,
} as const;

/** A complete run against a faulty server: six failures, one of them known, one drifted gap, the day skipped. */
export function notConformantReport(): Report {
  const list = { operation: 'listPets', method: 'GET', path: '/pets?limit=5&status=sold' } as const;
  const unauthorized = { operation: 'listPets', method: 'GET', path: '/pets?limit=1' } as const;
  const report = conformantReport();
  const timeline = sampleTimeline({ proSurplus: 3 });
  return amend(
    {
      ...report,
      run: { ...report.run, permissions: ['writes', 'exhaust', 'ban'] },
      verdict: 'not-conformant',
      complete: false,
      timeline,
      requests: bill(timeline),
    },
    {
      exchanges: [
        sampleExchange(
          'error-status-matches#1',
          1.2,
          'free-1',
          { operation: 'getPet', method: 'GET', path: '/pets/9223372036854775807' },
          {
            status: 404,
            body: errorBody(404, 'The requested animal cannot be found', 200),
          },
        ),
        sampleExchange('rate-headers-on-401#1', 1.4, null, unauthorized, {
          status: 401,
          body: errorBody(401, 'API key is missing or invalid'),
          without: ['x-ratelimit-remaining', 'x-ratelimit-reset'],
        }),
        sampleExchange('list-filter-before-limit#2', 2.1, 'pro-1', list, {
          status: 200,
          body: petList(2, 'sold'),
        }),
        sampleExchange('retry-after-honest#1', 10.1, 'free-1', list, {
          status: 429,
          body: errorBody(429, 'Rate limit exceeded'),
          headers: [['retry-after', '1']],
        }),
        sampleExchange('rate-minute-pro#301', 15.4, 'pro-1', list, { status: 200, body: petList(5, 'sold') }),
        sampleExchange('authentication-challenge#1', 1.5, null, unauthorized, {
          status: 401,
          body: errorBody(401, 'API key is missing or invalid'),
        }),
      ],
      requirements: {
        ...DAY_ROWS,
        'error-status-matches': {
          verdict: 'fail',
          reason: 'The field status of the Error is 200 where the response is 404.',
          expected: 'Error.status is 404, the HTTP status of the response',
          actual: 'Error.status is 200, the HTTP status of the response is 404',
          evidence: ['error-status-matches#1'],
          curl: `curl -i -H "Authorization: Bearer $PETSTORE_FREE_KEY" '${baseUrl}/pets/9223372036854775807'`,
        },
        'rate-headers-on-401': {
          verdict: 'fail',
          reason: '14 of 14 responses with 401 lack X-RateLimit-Remaining and X-RateLimit-Reset.',
          expected: 'X-RateLimit-Limit, X-RateLimit-Remaining and X-RateLimit-Reset are present',
          actual: 'X-RateLimit-Limit is present; X-RateLimit-Remaining and X-RateLimit-Reset are missing',
          evidence: ['rate-headers-on-401#1', 'auth-missing-key#1', 'auth-empty-key#1'],
          curl: `curl -i -H 'Authorization: Bearer <a key that was never issued>' '${baseUrl}/pets?limit=1'`,
        },
        'list-filter-before-limit': {
          verdict: 'fail',
          reason: 'The list held 2 of at least 7 sold animals although limit allows 5.',
          expected: '5 animals with status sold (limit=5, at least 7 exist)',
          actual: '2 animals with status sold',
          evidence: ['list-filter-before-limit#2', 'list-filter-before-limit#1'],
          curl: `curl -i -H "Authorization: Bearer $PETSTORE_PRO_KEY" '${baseUrl}/pets?limit=5&status=sold'`,
        },
        'rate-minute-pro': {
          verdict: 'fail',
          reason: '303 requests were admitted in one minute window, twice.',
          expected: '300 requests admitted per minute, the 301st refused with 429',
          actual: '303 requests admitted, the 304th refused with 429',
          evidence: ['rate-minute-pro#301'],
          curl: `curl -i -H "Authorization: Bearer $PETSTORE_PRO_KEY" '${baseUrl}/pets?limit=5&status=sold'`,
        },
        'retry-after-honest': {
          verdict: 'fail',
          reason: 'Refused again with 429 after the 1 s that Retry-After asked for.',
          expected: 'The request is served after Retry-After (1 s)',
          actual: 'The request is refused with 429 after Retry-After (1 s), X-RateLimit-Reset was 46 s ahead',
          evidence: ['retry-after-honest#1'],
          curl: `curl -i -H "Authorization: Bearer $PETSTORE_FREE_KEY" '${baseUrl}/pets?limit=5&status=sold'`,
        },
        'json-well-formed': {
          verdict: 'fail',
          reason: 'Listed in the baseline: a known failure.',
          expected: 'One well-formed JSON text',
          actual: 'A JSON text followed by a line feed and a second JSON text',
          evidence: ['json-well-formed#1'],
          baselined: true,
        },
      },
      gaps: {
        'authentication-challenge': {
          observed: 'none',
          pinned: 'bearer',
          verdict: 'drifted',
          detail:
            'This target used to answer "bearer"; 14 of 14 responses with 401 have no WWW-Authenticate.',
          evidence: ['authentication-challenge#1'],
        },
      },
    },
  );
}

/** A run that a signal ended after 41 s: nothing broken so far, most of section 8 not verified. */
export function inconclusiveReport(): Report {
  const report = conformantReport();
  const reason = 'The run was interrupted (SIGINT) before this check had ended.';
  const open = report.requirements.filter(({ section, verdict }) => section === '8' && verdict === 'pass');
  const timeline = report.timeline.filter(({ at }) => at < 41);
  return {
    ...amend(report, {
      requirements: {
        ...Object.fromEntries(open.map(({ id }) => [id, { verdict: 'inconclusive' as const, reason }])),
        ...DAY_ROWS,
        'ban-ends': {
          verdict: 'skipped',
          reason: 'the profile has no key of plan free with the role ban',
        },
      },
    }),
    run: {
      ...report.run,
      permissions: ['writes', 'exhaust'],
      durationSeconds: 41.2,
      interrupted: 'SIGINT',
      clockSpeed: 60,
    },
    verdict: 'inconclusive',
    complete: false,
    timeline,
    requests: bill(timeline),
  };
}

/** A run that was permitted to add animals and nothing more: everything asked for passed. */
export function partialReport(): Report {
  const report = conformantReport();
  const skipped = (id: string) =>
    id.startsWith('rate-day') ? 'day' : id.startsWith('ban-') ? 'ban' : 'exhaust';
  const limits = report.requirements.filter(({ section, verdict }) => section === '8' && verdict === 'pass');
  const changed = limits.map(({ id }) => {
    const reason = `needs the permission ${skipped(id)}`;
    return [id, { verdict: 'skipped' as const, reason, evidence: [] }] as const;
  });
  const command = 'npx petstore-harness check --profile staging.yaml --permit writes';
  const costOfSkipped = { requests: 5_310, seconds: 412 };
  return {
    ...amend(report, { requirements: Object.fromEntries(changed) }),
    run: { ...report.run, permissions: ['writes'], command, costOfSkipped },
    complete: false,
  };
}
