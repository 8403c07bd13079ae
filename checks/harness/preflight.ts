import { Unsettled } from './check.ts';
import type { AnsweredExchange, FailureReason } from './exchange.ts';
import { described, looksLikeTheService } from './pets.ts';
import { getPet, listPets } from './requests.ts';
import type { Run } from './run.ts';

/** Whether there is anything to judge at the target's address. */
export type Preflight =
  | { readonly kind: 'ready'; readonly warnings: readonly string[] }
  /** Nothing there, something else there, or no key works: one line that says so. */
  | { readonly kind: 'not-ready'; readonly message: string };

/** What to do where nothing is at the address; elsewhere the message itself says it, or only the target's owner knows. */
const REMEDIES: Partial<Record<FailureReason, string>> = {
  refused: 'start the service, or correct the port of the address',
  unresolved: 'correct the host name, or connect to the network that knows it',
  unreachable: 'connect to the target’s network, and look at the firewalls in between',
  'connect-timeout': 'connect to the target’s network, and look at the firewalls in between',
  reset: 'is the port the service’s, and the address http:// or https:// as it speaks?',
};

/** Failures in which something answered, though nothing that could be read. */
const ANSWERED_AFTER_ALL: ReadonlySet<FailureReason> = new Set([
  'headers-timeout',
  'body-timeout',
  'malformed-response',
  'too-large',
  'unavailable',
]);

/**
 * One request with each key before anything is judged: a target that is down, something else at its address or a wrong
 * key are no failed requirements.
 */
export async function preflight(run: Run): Promise<Preflight> {
  const probe = run.probe('preflight');
  const warnings: string[] = [];
  const unserviceable: AnsweredExchange[] = [];
  const hasVersion = new URL(run.baseUrl).pathname.split('/').includes('v1');
  for (const lane of run.lanes) {
    const { key } = lane;
    try {
      let exchange = await probe.send(listPets({ limit: 1 }), { key });
      // Where a list is refused, another operation tells a wrong key from a target that refuses everybody's lists.
      if (exchange.outcome.status === 401) exchange = await probe.send(getPet(1n), { key });
      const { status } = exchange.outcome;
      // The service answers 404 in its own way at an address beside its own.
      const besideIt = status === 404 && !hasVersion;
      if (besideIt || !looksLikeTheService(exchange)) unserviceable.push(exchange);
      if (status === 401 || status === 403) {
        lane.unusable = `the target answers ${status} to key ${key.name}: is the value of ${key.env} right?`;
        warnings.push(lane.unusable);
      }
    } catch (error) {
      if (!(error instanceof Unsettled)) throw error;
      for (const { outcome } of error.evidence) {
        if (outcome.kind !== 'failure') continue;
        if (outcome.reason === 'interrupted')
          return { kind: 'not-ready', message: `${outcome.message} before anything was judged` };
        const what = ANSWERED_AFTER_ALL.has(outcome.reason)
          ? 'gives no usable answer to GET /pets'
          : 'cannot be reached';
        const remedy = REMEDIES[outcome.reason];
        const next = remedy === undefined ? '' : `; ${remedy}`;
        return { kind: 'not-ready', message: `${run.baseUrl} ${what}: ${outcome.message}${next}` };
      }
      lane.unusable = error.message;
      warnings.push(lane.unusable);
    }
    const [odd] = unserviceable;
    if (odd !== undefined && unserviceable.length === 1) {
      const hint = hasVersion ? '' : '; is /v1 missing from the address?';
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
