/** Section 5: the bearer key that every operation requires. */
import { type Check, check, doneOf } from '../../run/check.ts';
import { conclusionOf, Inconclusive } from '../../run/reason.ts';
import { drawNumber, type RunFacts } from '../../run/run-facts.ts';
import { inTurn, type NoKey, scene } from '../../run/scene.ts';
import { type AnsweredExchange, type Exchange, headerValues, isAnswered } from '../../wire/exchange.ts';
import { addPet, getPet, type ListQuery, listPets, type RequestSpec } from '../../wire/requests.ts';
import { storedThoughRefused } from '../animals/add-checks.ts';
import { categoryOf, refusedPrefix, storeSample } from '../animals/additions.ts';
import { retrievals, servedAnimals, unknownId } from '../animals/get-checks.ts';
import { judgeAnswer, wrongStatus } from '../answers.ts';
import { keylessInBan } from '../quota/ban.ts';
import { basic, countedInvalid, nearMissesOf, raw } from '../quota/keys-apart.ts';

/** What a request bears instead of a valid key. */
type Credentials = NoKey & {
  readonly described: string;
  /**
   * The credentials are not valid HTTP (RFC 9110, 11.4), or in a query, where RFC 6750, 2.3, would not have them: a
   * proxy in front of the target may refuse them as a bad request.
   */
  readonly mayBeMalformed?: boolean;
  /** Puts them elsewhere in the request. */
  readonly put?: (spec: RequestSpec) => RequestSpec;
};

/** The requests of a row: each operation at least once, adding only if the run may write. */
interface Asked {
  /** The lists differ from row to row, because only some queries may be unprotected. */
  readonly query: ListQuery;
  /** The fields of the addition beyond its name; valid by default. */
  readonly fields?: Readonly<Record<string, unknown>>;
  readonly more?: (facts: RunFacts, name: string) => readonly RequestSpec[];
  /** The row has no credentials among those that are sent to see whether they are counted. */
  readonly isNotCounted?: true;
}

/**
 * Defines a check that requests without a valid key are answered with 401, with each of these credentials.
 *
 * @param credentials from a valid key
 */
function refusesAll(
  id: string,
  { query, fields, more = () => [], isNotCounted }: Asked,
  credentials: (key: string, facts: RunFacts) => readonly Credentials[],
): Check {
  const requests = scene(id, {}, async (run) => {
    const { facts } = run;
    const [key] = run.keys;
    if (key === undefined) throw new Inconclusive(run.lacksKeys);
    const sample = await run.tryPlay(storeSample);
    const [served] = servedAnimals(await run.tryPlay(retrievals));
    const name = `${refusedPrefix(facts.id)} ${id}`;
    const valid = { categoryId: categoryOf(facts, sample), status: 'sold' };
    const specs = [
      listPets(query),
      ...(facts.permissions.has('writes') ? [addPet({ name, ...(fields ?? valid) })] : []),
      ...(served === undefined ? [] : [getPet(served)]),
      ...more(facts, name),
    ];
    const all = credentials(key.value, facts);
    const rounds = Array.from({ length: Math.max(specs.length, all.length) }, (_, index) => index);
    const tried = await inTurn(rounds, async (index) => {
      const [spec, one] = [specs[index % specs.length], all[index % all.length]];
      if (spec === undefined || one === undefined) return [];
      const { described, mayBeMalformed = false, put = (usual) => usual } = one;
      const exchange = await conclusionOf(run.send(put(spec), { key: one }));
      if (!(exchange instanceof Inconclusive)) return [{ described, mayBeMalformed, exchange }];
      // Such a request may be refused by closing the connection, which is no answer to judge.
      if (mayBeMalformed && exchange.reason.kind === 'lost') return [];
      throw exchange;
    });
    return tried.flat();
  });
  const scenes = [requests, ...(isNotCounted ? [] : [countedInvalid])];
  return check(id, { scenes, inFullWith: 'writes' }, (judge, seen) => {
    for (const { described, exchange, mayBeMalformed } of doneOf(seen.of(requests), judge)) {
      const { status } = exchange.outcome;
      const { method, path } = exchange.request;
      const isRefusedOtherwise = mayBeMalformed && status >= 400 && status < 500 && status !== 401;
      if (!isRefusedOtherwise)
        judgeAnswer(judge, status === 401, `401 for ${method} ${path} with ${described}`, exchange);
    }
    // Requests that test whether they are counted must be refused too.
    for (const { between, rows } of seen.maybe(countedInvalid) ?? [])
      for (const exchange of between.filter((_, index) => rows[index] === id)) {
        const { status } = exchange.outcome;
        const [sent = 'no Authorization header'] = headerValues(exchange.request.headers, 'authorization');
        if (status < 400 || status === 401 || status === 500)
          judgeAnswer(judge, status === 401, `401 with ${sent}`, exchange);
      }
  });
}

/** Whether an operation was served without a valid key that is served without any. */
const isOpen = ({ key, outcome, request }: AnsweredExchange, own: readonly Exchange[]): boolean =>
  key === null &&
  outcome.status < 400 &&
  own.some(
    (one) => isAnswered(one) && one.outcome.status < 400 && one.request.operation === request.operation,
  );

// 5: every operation requires the bearer credential; without it the answer is 401, whichever key is banned.
const missingKey = refusesAll(
  'auth-missing-key',
  {
    query: { status: 'sold', limit: 1 },
    more: (facts, name) => [
      // An unknown animal: without a key even its absence must not show.
      { ...getPet(unknownId(facts, 'unknown without a key')), acceptsAnything: true },
      // All operations require a key, and nothing else matters without one: even an invalid addition is a 401, not a 400.
      ...(facts.permissions.has('writes') ? [addPet({ name: `${name} either`, status: 'sold' })] : []),
    ],
  },
  () => [{ kind: 'none', described: 'no Authorization header' }],
);

const refusals: readonly Check[] = [
  {
    ...missingKey,
    explains: isOpen,
    decide(judge, seen) {
      missingKey.decide(judge, seen);
      const inBan = seen.maybe(keylessInBan);
      const expected = '401 without a key while a key is banned';
      if (inBan !== undefined && inBan.outcome.status !== 401)
        judge.breaks(wrongStatus(expected, inBan), inBan);
    },
  },
  // 5: a bearer credential with no key in it is no key, whatever else is wrong with the request.
  refusesAll('auth-empty-key', { query: {}, fields: { status: 'sold' }, isNotCounted: true }, () => [
    { ...raw('', 'an empty Authorization header'), mayBeMalformed: true },
    raw('Bearer ', 'Bearer and no key'),
  ]),
  // 5: a key that the service never issued answers 401.
  refusesAll('auth-unknown-key', { query: { status: 'available' } }, (key, facts) => [
    {
      // As many characters as a key but more bytes, which breaks constant-time comparisons.
      ...raw(
        `Bearer ${'unknown-'.padEnd(key.length, 'k').slice(0, -1)}é`,
        'Bearer and an unknown key with a letter beyond ASCII',
      ),
      mayBeMalformed: true,
    },
    raw('Bearer null', 'Bearer and the word null'),
    // What every object of JavaScript has is found where keys are looked up in one.
    raw('Bearer constructor', 'Bearer and the word constructor'),
    raw(
      `Bearer unknown-${drawNumber(facts, 'unknown key', 2n ** 96n).toString(36)}`,
      'Bearer and an unknown key',
    ),
  ]),
  // 5: a valid key with a character too many, too few or in the wrong case is another key.
  refusesAll('auth-near-miss-key', { query: { limit: 1 } }, (key) => [
    // Base64 padding, which decoders may strip.
    raw(`Bearer ${key}=`, 'Bearer and a key with an extra equals sign'),
    ...nearMissesOf(key).slice(1),
    { ...raw(`Bearer "${key}"`, 'Bearer and a valid key in quotes'), mayBeMalformed: true },
    { ...raw(`Bearer ${key} x`, 'Bearer, a valid key and another word'), mayBeMalformed: true },
  ]),
  // 5: the key counts as a bearer token only, not under Basic, another scheme or none.
  refusesAll('auth-other-scheme', { query: { limit: 1, status: 'pending' } }, (key) => [
    {
      kind: 'none',
      described: 'a valid key only in the query, in X-Api-Key and in a cookie',
      mayBeMalformed: true,
      put: (spec) => ({
        ...spec,
        path: `${spec.path}&api_key=${encodeURIComponent(key)}&access_token=${encodeURIComponent(key)}`,
        headers: [
          ['x-api-key', key],
          ['api-key', key],
          ['cookie', `api_key=${key}; token=${key}`],
        ],
      }),
    },
    basic(key),
    raw(`ApiKey ${key}`, 'ApiKey and a valid key'),
    raw(`BearerToken ${key}`, 'BearerToken and a valid key'),
    raw(`Basic ${key}`, 'Basic and a valid key, not encoded'),
    raw(`Token ${key}`, 'Token and a valid key'),
    raw(key, 'a valid key without a scheme'),
    raw(`Bearer${key}`, 'Bearer and a valid key, with no space between'),
  ]),
];

export const keyChecks: readonly Check[] = [
  // 5: a request with a valid API key as bearer token is not refused with 401. Only a ban may do so.
  check('auth-valid-key', {
    explains: ({ key, outcome }) => key !== null && outcome.status === 401,
    conclude(judge, trace) {
      for (const key of trace.run.keys) {
        const answered = trace.exchanges
          .filter(isAnswered)
          // A ban refuses a valid key, and what a key is the preflight asks.
          .filter((one) => one.key === key.name && one.intent !== 'ban' && one.intent !== 'preflight');
        let mayBeBanned = false;
        for (const exchange of answered) {
          const { status } = exchange.outcome;
          mayBeBanned ||= status === 429;
          if (status !== 401) judge.holds(exchange);
          if (status !== 401 || mayBeBanned) continue;
          // A ban follows a 429 and also refuses the next request. If the next one is served, the 401 had no reason.
          const next = answered.find(({ sentAt }) => sentAt >= exchange.receivedAt);
          if (next !== undefined && next.outcome.status !== 401)
            judge.breaks(wrongStatus('no 401 for a valid key', exchange), exchange, next);
        }
      }
    },
  }),
  ...refusals,
  // 5: a POST that was refused with 401 leaves no animal behind: no later list shows it.
  check('auth-refused-adds-nothing', {
    scenes: [
      ...refusals.flatMap(({ scenes }) => scenes.filter((one) => one !== countedInvalid)),
      countedInvalid,
    ],
    conclude: storedThoughRefused(401),
  }),
];
