import type { Key } from '../profile/key.ts';
import { hasVersionSegment } from '../wire/base-address.ts';
import {
  type AnsweredExchange,
  type FailureOutcome,
  type FailureReason,
  wasNeverSent,
} from '../wire/exchange.ts';
import { bearsRateHeader, described, looksLikeTheService } from '../wire/pets.ts';
import { getPet, listPets } from '../wire/requests.ts';
import { conclusionOf, Inconclusive, type Reason, reasonOf, whatOf } from './reason.ts';
import type { Run } from './run.ts';
import { type SceneRun, scene } from './scene.ts';

/** Whether there is anything to judge at the target's address. */
export type Preflight =
  /** By the name of a key, why it cannot be used. */
  | { readonly kind: 'ready'; readonly unusable: ReadonlyMap<string, Reason> }
  /** Nothing there, something else there, or no key works: one line that says so. */
  | { readonly kind: 'not-ready'; readonly message: string };

/** What to do where nothing is at the address; elsewhere the message itself says it, or only the target's owner knows. */
const REMEDIES: Partial<Record<FailureReason, string>> = {
  refused: 'start the service, or correct the port of the address',
  unresolved: 'correct the host name, or connect to the network that knows it',
  unreachable: 'connect to the target’s network, and check the firewalls in between',
  'connect-timeout': 'connect to the target’s network, and check the firewalls in between',
  proxy: 'correct the proxy in the environment, or name the host in NO_PROXY',
  reset: 'check the port, and whether the service speaks http:// or https://',
};

/** One line on a target that gives no complete response to GET /pets, and what to do about it. */
export function noUsableAnswer(baseUrl: string, failure: FailureOutcome): string {
  const { reason, message } = failure;
  const what = wasNeverSent(failure) ? 'cannot be reached' : 'gives no usable answer to GET /pets';
  const remedy = REMEDIES[reason];
  return `${baseUrl} ${what}: ${message}${remedy === undefined ? '' : `; ${remedy}`}`;
}

/** What whoever answers in front of the target may want; empty where nothing tells of such. */
function wantedInFront(answer: AnsweredExchange): string {
  const { status, body } = answer.outcome;
  if (status === 400 && /certificate/i.test(body))
    return '; does a gateway in front of it want a client certificate? Name one in tls: { cert, key }';
  const isRefusal = (status >= 300 && status < 400) || status === 401 || status === 403;
  if (!isRefusal || bearsRateHeader(answer)) return '';
  return '; does a gateway in front of it want a header? Add it with --header NAME=VARIABLE, or to headers in the profile';
}

/** One line on a key that the target does not take. */
export const refusedKey = (status: number, { name, env }: Pick<Key, 'name' | 'env'>): string =>
  `the target answers ${status} to key ${name} (is the value of ${env} right?)`;

/** One line on an address at which something else answers. */
export const notTheService = (baseUrl: string, answer: AnsweredExchange): string =>
  `${baseUrl} is not the Pet Store Service: GET /pets answers ${described(answer)}${wantedInFront(answer)}`;

/** Statuses that a list may have: refused for its key or its rate, it is refused as it should be. */
const REFUSALS = new Set([401, 403, 429]);

/**
 * Whether whatever is at the address answers everything alike: another service whose address ends in /v1 as well may
 * refuse what it does not know with something like an Error. The service answers no request without a key as it answers
 * one with a key, and each of its answers bears rate headers; one operation that is broken does not make it another.
 */
async function answersEverythingAlike(run: SceneRun, key: Key, first: AnsweredExchange): Promise<boolean> {
  const { status } = first.outcome;
  if (first.request.operation !== 'listPets' || REFUSALS.has(status)) return false;
  if (status < 400 || status >= 500 || bearsRateHeader(first)) return false;
  const others = [
    () => run.send(getPet(1n), { key }),
    () => run.send(listPets({ limit: 1 }), { key: { kind: 'none' } }),
    () => run.send(getPet(1n), { key: { kind: 'none' } }),
  ];
  for (const ask of others) {
    const answer = await conclusionOf(ask());
    if (answer instanceof Inconclusive || answer.outcome.status !== status || bearsRateHeader(answer))
      return false;
  }
  return true;
}

/** A list with a key, and what else tells a wrong key from a target that refuses everybody's lists. */
async function asked(run: SceneRun, key: Key): Promise<AnsweredExchange> {
  const exchange = await run.send(listPets({ limit: 1 }), { key });
  return exchange.outcome.status === 401 ? run.send(getPet(1n), { key }) : exchange;
}

/** One request with each key before anything is judged; a resumed run asks again. */
export const preflightScene = scene(
  'preflight',
  { eachSession: true, intent: 'preflight' },
  async (run): Promise<Preflight> => {
    const { keys, baseUrl } = run.facts;
    const unusable = new Map<string, Reason>();
    const hasVersion = hasVersionSegment(baseUrl);
    let [found, wanted] = [false, ''];
    for (const [index, key] of keys.entries()) {
      const exchange = await conclusionOf(asked(run, key));
      if (exchange instanceof Inconclusive) {
        const [failure] = exchange.evidence.flatMap(({ outcome }) =>
          outcome.kind === 'failure' ? outcome : [],
        );
        if (failure?.reason === 'interrupted')
          return { kind: 'not-ready', message: `${failure.message} before anything was judged` };
        if (failure !== undefined) return { kind: 'not-ready', message: noUsableAnswer(baseUrl, failure) };
        unusable.set(key.name, exchange.reason);
        continue;
      }
      const { status } = exchange.outcome;
      // The service answers 404 in its own way at an address beside its own.
      const besideIt = status === 404 && !hasVersion;
      // A gateway may refuse a key that it does not know in a way of its own: the service is there all the same.
      if (!found && (besideIt || !looksLikeTheService(exchange))) {
        const hint = hasVersion ? '' : '; is /v1 missing from the address?';
        return { kind: 'not-ready', message: `${notTheService(baseUrl, exchange)}${hint}` };
      }
      if (index === 0 && (await answersEverythingAlike(run, key, exchange))) {
        const everything =
          'and every other request in the same way, with or without a key; is this the address of the service, up to /v1?';
        return { kind: 'not-ready', message: `${notTheService(baseUrl, exchange)}, ${everything}` };
      }
      found = true;
      wanted = wantedInFront(exchange);
      if (status === 401 || status === 403) unusable.set(key.name, reasonOf(refusedKey(status, key)));
    }
    if (keys.length === 0) return { kind: 'not-ready', message: 'the profile names no key' };
    // Where a day is all that they lack, the run says what waits for it.
    const reasons = [...unusable.values()];
    if (reasons.length === keys.length && !reasons.some(({ kind }) => kind === 'day-spent'))
      return { kind: 'not-ready', message: `${whatOf(reasons).join('; ')}${wanted}` };
    return { kind: 'ready', unusable };
  },
);

/**
 * Asks whether there is anything to judge: a target that is down, something else at its address or a wrong key are no
 * failed requirements. Keys that the target does not know are not used.
 */
export async function preflight(run: Run): Promise<Preflight> {
  await conclusionOf(run.play(preflightScene));
  // A stored run need not hold it: it was judged all the same.
  const outcome: Preflight = run.maybe(preflightScene) ?? { kind: 'ready', unusable: new Map() };
  if (outcome.kind === 'ready')
    for (const lane of run.sender.lanes) lane.unusable = outcome.unusable.get(lane.key.name);
  return outcome;
}
