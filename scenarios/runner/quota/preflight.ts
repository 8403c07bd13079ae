import { notTheService, noUsableAnswer, refusedKey } from '../../../checks/run/preflight.ts';
import { createClient } from '../../../checks/wire/client.ts';
import type { TimeLimits } from '../../../checks/wire/dispatch-once.ts';
import { type AnsweredExchange, header, isAnswered } from '../../../checks/wire/exchange.ts';
import { described, listedPets, looksLikeTheService } from '../../../checks/wire/pets.ts';
import { listPets } from '../../../checks/wire/requests.ts';
import type { LoadPlan, PlannedKey } from '../../lib/messages.ts';
import type { LoadTarget } from './load-target.ts';

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
 * @returns what the plan of the load leaves open
 * @throws TargetNotReady with one line that says why, if the answer is not 200 with a list
 */
export async function preflight(
  target: Pick<LoadTarget, 'address' | 'access' | 'secrets' | 'clockSpeed' | 'categoryId'>,
  payer: Payer,
  signal?: AbortSignal,
  timeouts: TimeLimits = TIMEOUTS,
): Promise<Pick<LoadPlan, 'clock' | 'samples'>> {
  const { address, access, secrets, clockSpeed: speed } = target;
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
  const from = exchange.sentAt;
  const categoryId = target.categoryId ?? pets.find((pet) => pet.categoryId !== undefined)?.categoryId ?? 1;
  return {
    clock: { from, at: Number.isNaN(date) ? from : date + HALF_A_SECOND_MS, speed },
    samples: {
      categoryId: String(categoryId),
      ids: pets.flatMap(({ id }) => (id === undefined ? [] : [String(id)])),
    },
  };
}

function whyNoList(address: string, payer: Payer, exchange: AnsweredExchange): string {
  const { status } = exchange.outcome;
  if (!looksLikeTheService(exchange)) return notTheService(address, exchange);
  if (status === 401 || status === 403) return refusedKey(status, payer);
  const why = status === 429 ? `another client is using key ${payer.name}` : 'load would measure that';
  return `${address} answers ${described(exchange)} to GET /pets: ${why}`;
}
