import { notTheService, noUsableAnswer, refusedKey } from '../../../checks/run/preflight.ts';
import { createClient, type TimeLimits } from '../../../checks/wire/client.ts';
import { type AnsweredExchange, header, isAnswered } from '../../../checks/wire/exchange.ts';
import { described, listedPets, looksLikeTheService } from '../../../checks/wire/pets.ts';
import { listPets } from '../../../checks/wire/requests.ts';
import type { PlannedKey } from '../../lib/messages.ts';
import type { LoadTarget } from './load-target.ts';

/** What one request before the load shows of the target. */
export interface Preflight {
  /** The target's clock: `at` when this machine's showed `from`, milliseconds since 1970. */
  readonly clock: { readonly from: number; readonly at: number };
  /** Ids of animals that exist, with every digit. */
  readonly ids: readonly string[];
  readonly categoryId: string;
}

/** Load would say nothing of this target: it does not answer, is another service, or refuses the key. */
export class TargetNotReady extends Error {
  override readonly name = 'TargetNotReady';
}

/** The key that pays for the load. */
type Payer = Pick<PlannedKey, 'name' | 'env'>;

const TIMEOUTS: TimeLimits = { connect: 10_000, headers: 10_000, body: 10_000 };
/** Date has whole seconds: on average half a second more has passed. */
const HALF_A_SECOND_MS = 500;

/**
 * Lists animals once, on a key that pays for the load: does the target answer, does it accept the key, which ids exist?
 * A target that does not answer within half a minute gets no load.
 *
 * @throws TargetNotReady with one line that says why, if the answer is not 200 with a list
 */
export async function preflight(
  { address, access, secrets }: Pick<LoadTarget, 'address' | 'access' | 'secrets'>,
  payer: Payer,
  signal?: AbortSignal,
  timeouts: TimeLimits = TIMEOUTS,
): Promise<Preflight> {
  const value = secrets[payer.env] ?? '';
  const client = createClient({ baseUrl: address, now: Date.now, secrets: [value], timeouts, access });
  const exchange = await client
    .exchange(
      { ...listPets({ limit: 100 }), authorization: { kind: 'key', name: payer.name, value } },
      { id: 'preflight', sentBy: 'load', intent: 'preflight' },
      signal,
    )
    .finally(() => client.close());
  signal?.throwIfAborted();
  if (exchange.outcome.kind === 'failure')
    throw new TargetNotReady(noUsableAnswer(address, exchange.outcome));
  if (!isAnswered(exchange)) throw new TargetNotReady(`${address} answers nothing`);
  const pets = listedPets(exchange);
  if (pets === undefined) throw new TargetNotReady(whyNoList(address, payer, exchange));
  const date = Date.parse(header(exchange.outcome.headers, 'date') ?? '');
  const categories = pets.flatMap(({ categoryId }) => (categoryId === undefined ? [] : [categoryId]));
  return {
    clock: { from: exchange.sentAt, at: Number.isNaN(date) ? exchange.sentAt : date + HALF_A_SECOND_MS },
    ids: pets.flatMap(({ id }) => (id === undefined ? [] : [String(id)])),
    categoryId: String(categories[0] ?? 1n),
  };
}

function whyNoList(address: string, payer: Payer, exchange: AnsweredExchange): string {
  const { status } = exchange.outcome;
  if (!looksLikeTheService(exchange)) return notTheService(address, exchange);
  if (status === 401 || status === 403) return refusedKey(status, payer);
  const why = status === 429 ? `another client is using key ${payer.name}` : 'load would measure that';
  return `${address} answers ${described(exchange)} to GET /pets: ${why}`;
}
