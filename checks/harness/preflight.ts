import { Unsettled } from './check.ts';
import { type AnsweredExchange, headerValues } from './exchange.ts';
import { isJsonObject } from './lossless-json.ts';
import { bodyOf, described } from './pets.ts';
import { RATE_HEADER_NAMES } from './rate-headers.ts';
import { getPet, listPets } from './requests.ts';
import type { Run } from './run.ts';

/** Whether there is anything to judge at the target's address. */
export type Preflight =
  | { readonly kind: 'ready'; readonly warnings: readonly string[] }
  /** Nothing there, something else there, or no key works: one line that says so. */
  | { readonly kind: 'not-ready'; readonly message: string };

/** Any trace of the interface: a rate header, a JSON array, or something like an Error. */
function looksLikeTheService(exchange: AnsweredExchange): boolean {
  const { headers } = exchange.outcome;
  if (Object.values(RATE_HEADER_NAMES).some((name) => headerValues(headers, name).length > 0)) return true;
  const body = bodyOf(exchange);
  if (!body.ok) return false;
  if (Array.isArray(body.value)) return true;
  const { value } = body;
  return isJsonObject(value) && ['code', 'message', 'status'].filter((field) => field in value).length >= 2;
}

/**
 * One request with each key before anything is judged: a target that is down, something else at its address or a wrong
 * key are no failed requirements.
 */
export async function preflight(run: Run): Promise<Preflight> {
  const probe = run.probe('preflight');
  const warnings: string[] = [];
  const unserviceable: AnsweredExchange[] = [];
  for (const lane of run.lanes) {
    const { key } = lane;
    try {
      let exchange = await probe.send(listPets({ limit: 1 }), { key });
      // Where a list is refused, another operation tells a wrong key from a target that refuses everybody's lists.
      if (exchange.outcome.status === 401) exchange = await probe.send(getPet(1n), { key });
      if (!looksLikeTheService(exchange)) unserviceable.push(exchange);
      const { status } = exchange.outcome;
      if (status === 401 || status === 403) {
        lane.unusable = `the target answers ${status} to key ${key.name}: is the value of ${key.env} right?`;
        warnings.push(lane.unusable);
      }
    } catch (error) {
      if (!(error instanceof Unsettled)) throw error;
      const failed = error.evidence.find(({ outcome }) => outcome.kind === 'failure');
      if (failed !== undefined)
        return {
          kind: 'not-ready',
          message: `${run.baseUrl} cannot be reached: ${error.message.replace('no answer: ', '')}`,
        };
      lane.unusable = `key ${key.name}: ${error.message}`;
      warnings.push(lane.unusable);
    }
    const [odd] = unserviceable;
    if (odd !== undefined && unserviceable.length === 1) {
      const hint = new URL(run.baseUrl).pathname.split('/').includes('v1')
        ? ''
        : '; is /v1 missing from the address?';
      return {
        kind: 'not-ready',
        message: `${run.baseUrl} is not the Pet Store Service: GET /pets answers ${described(odd)}${hint}`,
      };
    }
  }
  if (run.lanes.every(({ unusable }) => unusable !== undefined)) {
    return {
      kind: 'not-ready',
      message: run.lanes.length === 0 ? 'the profile names no key' : warnings.join('; '),
    };
  }
  return { kind: 'ready', warnings };
}
