/** Sections 5 and 8: a request spends the caller's quota and nobody else's. */
import { type Check, check } from '../../run/check.ts';
import type { Trace } from '../../run/trace.ts';
import { isAnswered } from '../../wire/exchange.ts';
import { REMAINING_SHOWN_BY } from '../answers.ts';
import { countedInvalid, fallOf, type Span, usedInTurn } from './quota-scenes.ts';

/**
 * Whether what a key pays beyond its own request follows the varying number of suspected requests. Requests of other
 * clients do not arrive in that proportion.
 */
function followsOthers(spans: readonly Span[]): boolean {
  const [first] = spans;
  const each = first === undefined ? 0 : ((fallOf(first) ?? 0) - 1) / first.others;
  return each > 0 && spans.every((span) => fallOf(span) === 1 + span.others * each);
}

const NOT_TOLD = `X-RateLimit-Remaining does not show what a key spent${REMAINING_SHOWN_BY}`;

/**
 * Requests without a valid key that were served all the same: the target may have counted them for a key of the run.
 * Undefined where none was.
 */
export function servedWithoutKey({ exchanges }: Pick<Trace, 'exchanges'>): string | undefined {
  const served = exchanges.filter(
    (exchange) => exchange.key === null && isAnswered(exchange) && exchange.outcome.status < 400,
  );
  const [first] = served;
  if (first === undefined) return undefined;
  const row = first.sentBy === countedInvalid.id ? 'auth-unknown-key' : first.sentBy;
  return `${served.length} of the requests without a valid key were served, and may have been counted (see ${row})`;
}

/** Why a key's X-RateLimit-Remaining fell by more than its answers show, other than for what this check looks for. */
function disturbed({ key, before, after }: Span, { exchanges }: Trace): string {
  const isLost = exchanges.some(
    (exchange) =>
      exchange.key === key.name &&
      !isAnswered(exchange) &&
      exchange.sentAt >= before.sentAt &&
      exchange.sentAt <= after.receivedAt,
  );
  return isLost
    ? `X-RateLimit-Remaining of key ${key.name} fell by more than its answers, of which one was lost`
    : `X-RateLimit-Remaining of key ${key.name} fell by more than our own requests, as if another client were using it`;
}

export const keysApartChecks: readonly Check[] = [
  // 8: the limit applies to the caller; what one key spends, no other key pays.
  check(
    'rate-keys-apart',
    {
      needs: { used: usedInTurn },
      lacks: (keys) => (keys.length < 2 ? 'the profile has no second key' : undefined),
    },
    ({ used: { once, followed } }, judge, trace) => {
      if (once.every((span) => fallOf(span) === undefined)) judge.unsettled(NOT_TOLD);
      for (const span of once) {
        const fall = fallOf(span);
        if (fall === undefined) continue;
        const last = followed.at(-1);
        if (fall <= 1) judge.holds(span.after);
        else if (last?.key.name !== span.key.name || !followsOthers(followed))
          judge.unsettled(disturbed(span, trace));
        else
          judge.breaks(
            {
              expected: `key ${span.key.name} pays only for its own requests`,
              actual: `X-RateLimit-Remaining fell by ${followed.map(fallOf).join(', ')} where it sent one request and other keys ${followed.map(({ others }) => others).join(', ')}`,
            },
            last.after,
            last.before,
          );
      }
    },
  ),
  // 5, 8: a request that names no valid key is no request of any key's plan.
  check('rate-invalid-key-free', { needs: { rounds: countedInvalid } }, ({ rounds }, judge, trace) => {
    const [once] = rounds;
    const thrice = rounds.at(-1);
    const fall = once && fallOf(once);
    if (once === undefined || thrice === undefined || fall === undefined) judge.unsettled(NOT_TOLD);
    else if (fall <= 1) judge.holds(once.after, once.before);
    else if (!followsOthers(rounds)) judge.unsettled(servedWithoutKey(trace) ?? disturbed(once, trace));
    else
      judge.breaks(
        {
          expected: 'X-RateLimit-Remaining falls only for the valid request',
          actual: `it fell by ${fall} when each kind of invalid request was sent once, and by ${fallOf(thrice)} when it was sent three times`,
        },
        thrice.after,
        thrice.before,
      );
  }),
];
