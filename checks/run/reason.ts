import { type Static, type TSchema, Type } from '@sinclair/typebox';
import { currentId } from '../../spec/contract.ts';
import { count, exact, type Frozen, words } from '../../spec/json-schema.ts';
import { PERMISSIONS } from '../../spec/permissions.ts';
import { type Clocked, toldEnd } from '../limits/told-time.ts';
import { KEY_ROLES, PLAN_NAMES } from '../profile/target-profile.ts';
import type { AnsweredExchange, Exchange } from '../wire/exchange.ts';

const maybe = Type.Optional;
const what = Type.String({ description: 'What was seen, in words.' });
const key = Type.String({ minLength: 1 });
const blames = maybe(
  Type.Array(Type.String({ pattern: '^[a-z0-9]+(-[a-z0-9]+)*$' }), {
    description: 'Rows that explain this one, where they did not pass.',
  }),
);
const reason = <const K extends string, P extends Record<string, TSchema>>(
  kind: K,
  properties: P,
  description?: string,
) => exact({ kind: Type.Literal(kind), ...properties }, description);

const KeyWantedShape = exact({
  role: maybe(words(KEY_ROLES)),
  plan: maybe(words(PLAN_NAMES)),
  count: maybe(Type.Literal(2, { description: 'A key beside the first.' })),
  perMinuteAtMost: maybe(
    Type.Integer({ minimum: 0, description: 'Only a key whose plan admits no more requests a minute.' }),
  ),
  beyondMinute: maybe(
    Type.Literal(true, { description: 'Only a key whose plan admits more requests a day than a minute.' }),
  ),
});

/** Which key a profile lacks for a requirement. */
export type KeyWanted = Frozen<Static<typeof KeyWantedShape>>;

export const ReasonShape = Type.Union([
  reason('held', { times: count }),
  reason('broken', {
    times: count,
    blames,
    aside: maybe(
      Type.Literal(true, { description: 'Only in requests of other rows: asked for alone it may not show.' }),
    ),
  }),
  reason('not-permitted', { permission: words(PERMISSIONS) }),
  reason('left-out', {}),
  reason('traffic', { what }, 'Nothing was sent, and the traffic that was judged does not tell it.'),
  reason('no-key', { wanted: KeyWantedShape }),
  reason('unbound', { what }, 'The requirement does not bind this target.'),
  reason('declined', { what }, 'Our reading of the document, which the profile declines.'),
  reason('not-shown', { blames }, 'No exchange of the run is about it.'),
  reason('not-told', { what, blames }, 'It was asked for, and what came does not tell.'),
  reason('lost', { what }, 'An answer that was needed did not come.'),
  reason('interference', { what, key: maybe(key) }, 'Somebody else used the key.'),
  reason(
    'day-spent',
    {
      what,
      key: Type.String(),
      until: maybe(Type.Number({ description: 'When it has requests again, by our clock.' })),
    },
    'The key has no requests left for its day, as far as its refusals tell.',
  ),
  reason(
    'ended',
    { by: words(['interruption', 'time-limit', 'target-gone', 'bill']), what },
    'Nothing more was sent.',
  ),
  reason('not-stored', { scene: Type.String() }, 'A stored run lacks the scene.'),
  reason('in-doubt', { what }, 'Something makes the whole run doubtful as evidence.'),
]);

/** Why a row has its verdict, as data: whatever decides by it reads these fields, and reports make the sentence. */
export type Reason = Frozen<Static<typeof ReasonShape>>;

/** Words alone say what was seen and does not tell. */
export const reasonOf = (reason: Reason | string): Reason =>
  typeof reason === 'string' ? { kind: 'not-told', what: reason } : reason;

/** Thrown by a scene or a judge where it cannot tell; what verdict that makes follows from the reason's kind. */
export class Inconclusive extends Error {
  override readonly name = 'Inconclusive';
  readonly reason: Reason;
  readonly evidence: readonly Exchange[];

  /** @param reason in words: what came does not tell */
  constructor(reason: Reason | string, evidence: readonly Exchange[] = []) {
    const why = reasonOf(reason);
    super('what' in why ? why.what : why.kind);
    this.reason = why;
    this.evidence = evidence;
  }
}

/** What comes of it, or why that cannot be told. Any other error is a defect and is thrown on. */
export const conclusionOf = <T>(work: Promise<T>): Promise<T | Inconclusive> =>
  work.catch((error: unknown) => {
    if (error instanceof Inconclusive) return error;
    throw error;
  });

/** The same of what is judged at once. */
export function concluded<T>(work: () => T): T | Inconclusive {
  try {
    return work();
  } catch (error) {
    if (error instanceof Inconclusive) return error;
    throw error;
  }
}

/** What was seen, in the words of those that have some. */
export const whatOf = (reasons: Iterable<Reason>): string[] =>
  [...reasons].flatMap((reason) => ('what' in reason ? [reason.what] : []));

/** No exchange of the run is about it, and these rows explain why. */
export const notShown = (...blames: readonly string[]): Reason => ({
  kind: 'not-shown',
  blames: blames.map(currentId),
});

/** What came does not tell, and these rows explain why. */
export const notTold = (what: string, ...blames: readonly string[]): Reason => ({
  kind: 'not-told',
  what,
  blames: blames.map(currentId),
});

/** Why nothing can be told of additions where each is answered 403, on every key that there is. */
export const NO_KEY_MAY_ADD =
  'no key of the profile seems to be allowed to add animals: additions are answered 403';

/** A key was refused for its day, as far as the refusal tells. */
export function daySpent(clocked: Clocked, refusal: AnsweredExchange): Reason {
  const key = refusal.key ?? '';
  const until = toldEnd(clocked, refusal);
  const again =
    until === undefined ? '' : `, and has again at ${new Date(until).toISOString().slice(0, 16)}Z`;
  const what = `key ${key} has no requests left for its day, as it seems${again}`;
  return { kind: 'day-spent', what, key, ...(until === undefined ? {} : { until }) };
}
