/** Sections 5 and 8: a request spends the caller's quota and nobody else's. */
import { type Check, check } from '../../run/check.ts';
import { notTold, type Reason } from '../../run/reason.ts';
import type { Trace } from '../../run/trace.ts';
import { isAnswered } from '../../wire/exchange.ts';
import { REMAINING_SHOWN_BY } from '../answers.ts';
import { lostOn } from './admitted.ts';
import { countedInvalid, fallOf, type Span, usedInTurn } from './keys-apart-scenes.ts';
import { interference } from './measurements.ts';

/** What a key paid beyond its own request. */
const beyondOwn = (span: Span): number => (fallOf(span) ?? Number.NaN) - 1;

/**
 * Whether what a key pays beyond its own request follows the varying number of suspected requests. Requests of other
 * clients do not arrive in that proportion.
 */
const followsOthers = ([first, ...spans]: readonly Span[]): boolean =>
  first !== undefined &&
  beyondOwn(first) > 0 &&
  spans.every((span) => beyondOwn(span) * first.between.length === beyondOwn(first) * span.between.length);

/** The keys whose requests a key pays too; none where what it paid does not follow from what they sent. */
export function paidFor(spans: readonly Span[]): readonly string[] {
  const quiet = spans.filter(({ between }) => between.length === 0);
  const others = spans.flatMap(({ between }) => between[0]?.key ?? []);
  const sentBy = (name: string) => spans.filter(({ between }) => between[0]?.key === name);
  const paid = [...new Set(others)].filter((name) => sentBy(name).some((span) => beyondOwn(span) !== 0));
  return paid.every((name) => followsOthers([...sentBy(name), ...quiet])) ? paid : [];
}

const NOT_TOLD = notTold('X-RateLimit-Remaining does not show what a key spent', ...REMAINING_SHOWN_BY);

/**
 * Requests without a valid key that were served all the same: the target may have counted them for a key of the run.
 * Undefined where none was.
 */
export function servedWithoutKey({ exchanges }: Pick<Trace, 'exchanges'>): Reason | undefined {
  const served = exchanges.filter(
    (exchange) => exchange.key === null && isAnswered(exchange) && exchange.outcome.status < 400,
  );
  const [first] = served;
  if (first === undefined) return undefined;
  const row = first.sentBy === countedInvalid.id ? 'auth-unknown-key' : first.sentBy;
  return notTold(
    `${served.length} of the requests without a valid key were served, and may have been counted`,
    row,
  );
}

/** Why a key's X-RateLimit-Remaining fell by more than its answers show, other than for what this check looks for. */
function disturbed({ key, before, after }: Span, trace: Trace): Reason {
  const isLost = lostOn(trace, key.name, before.sentAt, after.receivedAt).length > 0;
  const fell = `X-RateLimit-Remaining of key ${key.name} fell by more than`;
  return isLost
    ? { kind: 'lost', what: `${fell} its answers, of which one was lost` }
    : interference(key, `${fell} our own requests`);
}

export const keysApartChecks: readonly Check[] = [
  // 8: the limit applies to the caller; what one key spends, no other key pays.
  check(
    'rate-keys-apart',
    {
      scenes: [usedInTurn],
      explainsShortage: true,
      lacks: (keys) => (keys.length < 2 ? { count: 2 } : undefined),
    },
    (judge, seen) => {
      const { once, followed } = seen.of(usedInTurn);
      if (once.every((span) => fallOf(span) === undefined)) judge.inconclusive(NOT_TOLD);
      for (const span of once) {
        const fall = fallOf(span);
        if (fall === undefined) continue;
        const sharers = followed[0]?.key.name === span.key.name ? paidFor(followed) : [];
        const shown = followed.find(({ between: [sent] }) => sharers.includes(sent?.key ?? ''));
        if (fall <= 1) judge.holds(span.after);
        else if (shown === undefined) judge.inconclusive(disturbed(span, seen.trace));
        else {
          const { key, between } = shown;
          const expected = `key ${key.name} pays only for its own requests`;
          const actual = `X-RateLimit-Remaining fell by ${fallOf(shown)} where it sent one request and key ${between[0]?.key} ${between.length}; it pays for ${sharers.join(', ')}`;
          judge.breaks({ expected, actual }, shown.after, shown.before);
        }
      }
    },
  ),
  // 5, 8: a request that names no valid key is no request of any key's plan.
  check('rate-invalid-key-free', { scenes: [countedInvalid], explainsShortage: true }, (judge, seen) => {
    const rounds = seen.of(countedInvalid);
    const [once] = rounds;
    const thrice = rounds.at(-1);
    const fall = once && fallOf(once);
    if (once === undefined || thrice === undefined || fall === undefined) judge.inconclusive(NOT_TOLD);
    else if (fall <= 1) judge.holds(once.after, once.before);
    else if (!followsOthers(rounds))
      judge.inconclusive(servedWithoutKey(seen.trace) ?? disturbed(once, seen.trace));
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
