/** Requests without a valid key, in every form that resembles one. */
import type { Key } from '../../profile/key.ts';
import { conclusionOf, Inconclusive } from '../../run/inconclusive.ts';
import { drawNumber } from '../../run/run-facts.ts';
import { type InTurn, inTurn, NOTHING_TRIED, type Scene, scene } from '../../run/scene.ts';
import type { NoKey, SceneRun } from '../../run/scene-run.ts';
import type { AnsweredExchange, HeaderList } from '../../wire/exchange.ts';
import { nearMisses } from '../../wire/redaction.ts';
import { addPet, getPet, type ListQuery, listPets, type RequestSpec } from '../../wire/requests.ts';
import { categoryOf, refusedPrefix, type StoreSample, storeSample } from '../animals/additions.ts';
import { type Retrieval, retrievals, unknownId } from '../animals/retrievals.ts';

/** A request that carried no valid key, and its answer. */
export interface InvalidRequest {
  /** A description of its credentials. */
  readonly credentials: string;
  readonly exchange: AnsweredExchange;
  /**
   * The credentials are not valid HTTP (RFC 9110, 11.4), or in a query, where RFC 6750, 2.3, would not have them: a
   * proxy in front of the target may refuse them as a bad request.
   */
  readonly mayBeMalformed: boolean;
}

/** What is known of the store. */
interface Store {
  readonly sample: StoreSample | undefined;
  readonly retrieved: InTurn<Retrieval> | undefined;
}

/**
 * The operations to try; adding only if the run may write. The lists differ from scene to scene, because only some
 * queries may be unprotected.
 *
 * @param fields the fields of the addition beyond its name; valid by default
 */
function operations(
  { facts }: SceneRun,
  { sample, retrieved = NOTHING_TRIED }: Store,
  label: string,
  query: ListQuery,
  fields: Readonly<Record<string, unknown>> = { categoryId: categoryOf(facts, sample), status: 'sold' },
): readonly [list: RequestSpec, ...others: RequestSpec[]] {
  const served = retrieved.done.find(({ exchange }) => exchange.outcome.status === 200);
  return [
    listPets(query),
    ...(facts.permissions.has('writes')
      ? [addPet({ name: `${refusedPrefix(facts.id)} ${label}`, ...fields })]
      : []),
    ...(served === undefined ? [] : [getPet(served.known.id)]),
  ];
}

/** A request, and the credentials that it carries instead of a valid key. */
type Planned = readonly [spec: RequestSpec, credentials: NoKey, options?: Partial<InvalidRequest>];

/** A scene that sends requests without a valid key. */
const invalidRequests = (
  id: string,
  plan: (run: SceneRun, store: Store) => readonly Planned[],
): Scene<InTurn<InvalidRequest>> =>
  scene(id, {}, async (run) => {
    const sample = await run.tryPlay(storeSample);
    const retrieved = await run.tryPlay(retrievals);
    const tried = await inTurn(
      plan(run, { sample, retrieved }),
      async ([spec, credentials, { mayBeMalformed = false } = {}]) => {
        const exchange = await conclusionOf(run.sendWithoutKey(spec, credentials));
        if (exchange instanceof Inconclusive) {
          // Such a request may be refused by closing the connection, which is no answer to judge.
          if (mayBeMalformed && exchange.reason.kind === 'lost') return [];
          throw exchange;
        }
        const inWords = credentials === 'none' ? 'no Authorization header' : credentials.described;
        return [{ credentials: inWords, mayBeMalformed, exchange }];
      },
    );
    return { ...tried, done: tried.done.flat() };
  });

/** The key from which near-miss values are derived. */
function someKey({ keys: [key], lacksKeys }: SceneRun): Key {
  if (key === undefined) throw new Inconclusive(lacksKeys);
  return key;
}

const raw = (headerValue: string, described: string): NoKey => ({ header: headerValue, described });

/** Pairs each of the credentials with one of the requests, in rotation. */
const alternating = (specs: readonly RequestSpec[], credentials: readonly NoKey[]): Planned[] =>
  credentials.flatMap((one, index) => {
    const spec = specs[index % specs.length];
    return spec === undefined ? [] : [[spec, one] as const];
  });

export const missingKey = invalidRequests('auth-missing-key', (run, store) => {
  const { facts } = run;
  const specs = [
    ...operations(run, store, 'without a key', { status: 'sold', limit: 1 }),
    // An unknown animal: without a key even its absence must not show.
    getPet(unknownId(facts, 'unknown without a key')),
    // All operations require a key, and nothing else matters without one: even an invalid addition is a 401, not a 400.
    ...(facts.permissions.has('writes')
      ? [addPet({ name: `${refusedPrefix(facts.id)} without a key`, status: 'sold' })]
      : []),
  ];
  return specs.map((spec) => [spec, 'none']);
});

export const emptyKey = invalidRequests('auth-empty-key', (run, store) => {
  // Nothing after Bearer means no key, whatever else is wrong with the request.
  const [list, ...others] = operations(run, store, 'with an empty key', {}, { status: 'sold' });
  return [
    ...others.map((spec): Planned => [spec, raw('Bearer ', 'Bearer and no key')]),
    [list, raw('', 'an empty Authorization header'), { mayBeMalformed: true }],
  ];
});

export const unknownKey = invalidRequests('auth-unknown-key', (run, store) => {
  const unknown = `unknown-${drawNumber(run.facts, 'unknown key', 2n ** 96n).toString(36)}`;
  // As many characters as a key but more bytes, which breaks constant-time comparisons.
  const accented = `${'unknown-'.padEnd(someKey(run).value.length, 'k').slice(0, -1)}é`;
  const [list, ...others] = operations(run, store, 'with an unknown key', { status: 'available' });
  return [
    [
      list,
      raw(`Bearer ${accented}`, 'Bearer and an unknown key with a letter beyond ASCII'),
      { mayBeMalformed: true },
    ],
    ...others.map(
      (spec): Planned => [
        spec,
        spec.operation === 'createPet'
          ? raw('Bearer null', 'Bearer and the word null')
          : raw(`Bearer ${unknown}`, 'Bearer and an unknown key'),
      ],
    ),
  ];
});

export const nearMissKey = invalidRequests('auth-near-miss-key', (run, store) => {
  const { value: valid } = someKey(run);
  const [, ...others] = nearMisses(valid);
  // Base64 padding, which decoders may strip.
  const more = { label: 'an extra equals sign', value: `${valid}=` };
  const specs = operations(run, store, 'with a key that is almost right', { limit: 1 });
  // One operation each is enough: keys are compared in one place, and other scenes try all operations.
  return [
    ...alternating(
      specs,
      [more, ...others].map(({ label, value }) => raw(`Bearer ${value}`, `Bearer and a key with ${label}`)),
    ),
    ...alternating(specs.slice(0, 1), [
      raw(`Bearer "${valid}"`, 'Bearer and a valid key in quotes'),
      raw(`Bearer ${valid} x`, 'Bearer, a valid key and another word'),
    ]).map(([spec, one]): Planned => [spec, one, { mayBeMalformed: true }]),
  ];
});

export const otherScheme = invalidRequests('auth-other-scheme', (run, store) => {
  const { value } = someKey(run);
  const specs = operations(run, store, 'in another scheme', { limit: 1, status: 'pending' });
  const basic = Buffer.from(`${value}:`).toString('base64');
  const elsewhere: HeaderList = [
    ['x-api-key', value],
    ['api-key', value],
    ['cookie', `api_key=${value}; token=${value}`],
  ];
  const spec = listPets({ limit: 1 });
  const inQuery = encodeURIComponent(value);
  return [
    // The scheme is parsed in one place, so each operation tries a different one.
    ...alternating(specs, [
      raw(`Basic ${basic}`, 'Basic and a valid key'),
      raw(`ApiKey ${value}`, 'ApiKey and a valid key'),
      raw(`BearerToken ${value}`, 'BearerToken and a valid key'),
    ]),
    ...alternating(specs.slice(0, 1), [
      raw(`Basic ${value}`, 'Basic and a valid key, not encoded'),
      raw(`Token ${value}`, 'Token and a valid key'),
      raw(value, 'a valid key without a scheme'),
      raw(`Bearer${value}`, 'Bearer and a valid key, with no space between'),
    ]),
    [
      { ...spec, path: `${spec.path}&api_key=${inQuery}&access_token=${inQuery}`, headers: elsewhere },
      'none',
      { credentials: 'a valid key only in the query, in X-Api-Key and in a cookie', mayBeMalformed: true },
    ],
  ];
});
