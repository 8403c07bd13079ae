/** Section 5: the bearer key that every operation requires. */
import { contract } from '../../../spec/contract.ts';
import type { Check, GapObserver, Judge, Scene } from '../../run/check.ts';
import { Unsettled } from '../../run/check.ts';
import type { Key } from '../../run/key-pool.ts';
import type { NoKey, Probe } from '../../run/probe.ts';
import { type Exchange, type HeaderList, header, headerValues, isAnswered } from '../../wire/exchange.ts';
import { described } from '../../wire/pets.ts';
import { misspellings, nearMisses } from '../../wire/redaction.ts';
import { addPet, getPet, type ListQuery, listPets, type RequestSpec } from '../../wire/requests.ts';
import { storedThoughRefused } from '../add/refused-additions.ts';
import { categoryId, refusedPrefix } from '../add/scenes.ts';
import { retrievals } from '../get/checks.ts';
import { take } from '../list/scenes.ts';

/**
 * The operations to try; adding only where the run may write. The lists differ from one attempt to the next, since a
 * door may be open to some queries only.
 *
 * @param animal what the addition holds beside its name; valid unless said otherwise
 */
async function operations(
  probe: Probe,
  label: string,
  query: ListQuery,
  animal?: Readonly<Record<string, unknown>>,
): Promise<RequestSpec[]> {
  const specs = [listPets(query)];
  if (probe.permits('writes')) {
    specs.push(
      addPet({
        name: `${refusedPrefix(probe.runId)} ${label}`,
        ...(animal ?? { categoryId: await categoryId(probe), status: 'sold' }),
      }),
    );
  }
  const retrieved = await probe.play(retrievals).catch(() => []);
  const served = retrieved.find(({ exchange }) => exchange.outcome.status === 200);
  if (served !== undefined) specs.push(getPet(served.known.id));
  return specs;
}

/**
 * Sends each operation with these credentials; each is to be answered with 401.
 *
 * @param mayBeMalformed whether HTTP has no such credentials (RFC 9110, 11.4), so that something in front of the target
 *   may refuse them as a bad request before a key is looked for
 */
async function refused(
  probe: Probe,
  judge: Judge,
  credentials: NoKey,
  specs: readonly RequestSpec[],
  { what, mayBeMalformed = false }: { readonly what?: string; readonly mayBeMalformed?: boolean } = {},
): Promise<void> {
  for (const spec of specs) {
    const exchange = await probe.sendWithoutKey(spec, credentials);
    const { status } = exchange.outcome;
    if (status === 401) judge.holds(exchange);
    else if (mayBeMalformed && status >= 400 && status < 500) continue;
    else
      judge.breaks(
        {
          expected: `401 for ${spec.method} ${spec.path} with ${what ?? inWords(credentials)}`,
          actual: described(exchange),
        },
        exchange,
      );
  }
  if (!probe.permits('writes')) judge.unsettled('POST /pets was not tried: it needs the permission writes');
}

const inWords = (credentials: NoKey) =>
  credentials === 'none' ? 'no Authorization header' : credentials.described;

/** A key to vary: the values that are almost it are derived from it. */
function someKey(probe: Probe): Key {
  const [key] = probe.keys;
  if (key === undefined) throw new Unsettled('no key can be used');
  return key;
}

/** The credentials of a stored request, as the record describes them. */
const credentialsOf = ({ request }: Exchange) =>
  headerValues(request.headers, 'authorization')[0] ?? 'no Authorization header';

const raw = (headerValue: string, described: string): NoKey => ({ header: headerValue, described });

/** Every additional request that carries no valid key, so that the checks' bills can be declared. */
const THREE_OPERATIONS = 3;

const needsOperations: readonly Scene<unknown>[] = [retrievals];

export const authenticationChecks: readonly Check[] = [
  {
    // 5: the API key is sent as a bearer token, and a valid one is let in; a ban may close the door again.
    id: 'auth-valid-key',
    conclude(history, judge) {
      for (const key of history.keys) {
        const answered = history.exchanges
          .filter(isAnswered)
          .filter((exchange) => exchange.key === key.name && !/^(ban|preflight)/.test(exchange.sentBy));
        for (const [index, exchange] of answered.entries()) {
          const next = answered[index + 1];
          if (exchange.outcome.status !== 401) judge.holds(exchange);
          // A ban refuses what comes next as well, and follows a 429: what is served right after was refused for nothing.
          else if (
            next !== undefined &&
            next.outcome.status !== 401 &&
            !answered.slice(0, index).some(({ outcome }) => outcome.status === 429)
          ) {
            judge.breaks({ expected: 'no 401 for a valid key', actual: described(exchange) }, exchange, next);
          }
        }
      }
    },
  },
  {
    // 5: a missing key yields 401; all operations require it, so that the rest of a request does not count: an addition
    // that is invalid too is no 400.
    id: 'auth-missing-key',
    spends: { anonymous: THREE_OPERATIONS + 2 },
    scenes: needsOperations,
    async run(probe, judge) {
      // Whoever has no key does not learn which animals there are.
      const unknown = getPet(2n ** 61n + probe.random('unknown without a key', 2n ** 61n));
      const specs = [...(await operations(probe, 'without a key', { status: 'sold', limit: 1 })), unknown];
      if (probe.permits('writes'))
        specs.push(addPet({ name: `${refusedPrefix(probe.runId)} without a key`, status: 'sold' }));
      await refused(probe, judge, 'none', specs);
    },
  },
  {
    // 5: the form is "Bearer <API_KEY>"; with nothing after it there is no key, whatever else is wrong with a request.
    id: 'auth-empty-key',
    spends: { anonymous: THREE_OPERATIONS },
    scenes: needsOperations,
    async run(probe, judge) {
      const [list, ...others] = await operations(probe, 'with an empty key', {}, { status: 'sold' });
      await refused(probe, judge, raw('Bearer ', 'Bearer and no key'), others);
      await refused(
        probe,
        judge,
        raw('', 'an empty Authorization header'),
        list === undefined ? [] : [list],
        {
          mayBeMalformed: true,
        },
      );
    },
  },
  {
    // 5: an invalid key yields 401.
    id: 'auth-unknown-key',
    spends: { anonymous: THREE_OPERATIONS },
    scenes: needsOperations,
    async run(probe, judge) {
      const unknown = `unknown-${probe.random('unknown key', 2n ** 96n).toString(36)}`;
      const [list, ...others] = await operations(probe, 'with an unknown key', { status: 'available' });
      // As long as a key in characters and longer in bytes, which comparisons in constant time stumble over.
      const accented = `${'unknown-'.padEnd(someKey(probe).value.length, 'k').slice(0, -1)}é`;
      await refused(
        probe,
        judge,
        raw(`Bearer ${accented}`, 'Bearer and an unknown key with a letter beyond ASCII'),
        list === undefined ? [] : [list],
        { mayBeMalformed: true },
      );
      const adds = others.filter(({ operation }) => operation === 'createPet');
      await refused(probe, judge, raw('Bearer null', 'Bearer and the word null'), adds);
      const gets = others.filter(({ operation }) => operation === 'getPet');
      await refused(probe, judge, raw(`Bearer ${unknown}`, 'Bearer and an unknown key'), gets);
    },
    // What is sent to see whether it is counted is no more let in.
    observe(exchange, judge) {
      if (exchange.key !== null || exchange.sentBy !== 'rate-invalid-key-free') return;
      const { status } = exchange.outcome;
      if (status === 401) judge.holds(exchange);
      else if (status < 400 || status === 500)
        judge.breaks(
          { expected: `401 with ${credentialsOf(exchange)}`, actual: described(exchange) },
          exchange,
        );
    },
  },
  {
    // 5: a key is valid as a whole; one that is almost right is invalid.
    id: 'auth-near-miss-key',
    spends: { anonymous: 6 },
    scenes: needsOperations,
    async run(probe, judge) {
      const specs = await operations(probe, 'with a key that is almost right', { limit: 1 });
      const { value: valid } = someKey(probe);
      // One operation each, in turn: keys are compared in one place, and what an operation lets in other rows try.
      const [, ...fewer] = nearMisses(valid);
      // What encodings of text end with, and readers of them cut off.
      const more = { label: 'an equals sign more', value: `${valid}=` };
      for (const [index, { label, value }] of [more, ...fewer, ...misspellings(valid)].entries()) {
        const at = index % specs.length;
        await refused(
          probe,
          judge,
          raw(`Bearer ${value}`, `Bearer and a key with ${label}`),
          specs.slice(at, at + 1),
        );
      }
    },
  },
  {
    // 5: the scheme is HTTP bearer; the key in another scheme, or in none, is no bearer token.
    id: 'auth-other-scheme',
    spends: { anonymous: 7 },
    scenes: needsOperations,
    async run(probe, judge) {
      const specs = await operations(probe, 'in another scheme', { limit: 1, status: 'pending' });
      const { value } = someKey(probe);
      const basic = Buffer.from(`${value}:`).toString('base64');
      // The scheme is read in one place: each operation comes with another one.
      const schemes = [
        raw(`Basic ${basic}`, 'Basic and a valid key'),
        raw(`ApiKey ${value}`, 'ApiKey and a valid key'),
        raw(`BearerToken ${value}`, 'BearerToken and a valid key'),
      ];
      for (const [index, scheme] of schemes.entries())
        await refused(probe, judge, scheme, specs.slice(index % specs.length).slice(0, 1));
      await refused(probe, judge, raw(`Basic ${value}`, 'Basic and a valid key as it is'), specs.slice(0, 1));
      await refused(probe, judge, raw(`Token ${value}`, 'Token and a valid key'), specs.slice(0, 1));
      await refused(probe, judge, raw(value, 'a valid key without a scheme'), specs.slice(0, 1));
      const elsewhere: HeaderList = [
        ['x-api-key', value],
        ['api-key', value],
        ['cookie', `api_key=${value}; token=${value}`],
      ];
      const listed = { ...listPets({ limit: 1 }), headers: elsewhere };
      await refused(probe, judge, 'none', [listed], {
        what: 'a valid key in X-Api-Key and in a cookie only',
      });
    },
  },
  {
    // 5: what was refused has not happened. Seen in every list that comes after.
    id: 'auth-refused-adds-nothing',
    permit: 'writes',
    spends: { requests: 2 },
    async run(probe) {
      await take(probe, { limit: contract.limit.maximum });
      await take(probe, { limit: contract.limit.maximum, status: 'sold' });
    },
    conclude: storedThoughRefused(401, 'no addition was refused with 401'),
  },
];

export const authenticationGaps: readonly GapObserver[] = [
  {
    id: 'authentication-challenge',
    conclude(history) {
      const refusal = history.exchanges
        .filter(isAnswered)
        .find(({ outcome, key }) => outcome.status === 401 && key === null);
      if (refusal === undefined) return undefined;
      const challenge = header(refusal.outcome.headers, 'www-authenticate');
      const scheme = /[^\s,]+/.exec(challenge ?? '')?.[0].toLowerCase();
      return {
        answer: scheme ?? 'none',
        detail: challenge === undefined ? 'a 401 has no WWW-Authenticate' : `WWW-Authenticate: ${challenge}`,
        evidence: [refusal],
      };
    },
  },
];
