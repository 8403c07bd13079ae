/** Section 5: the bearer key that every operation requires. */
import { type Check, check, doneOf, type Judge } from '../../run/check.ts';
import type { InTurn, Scene } from '../../run/scene.ts';
import {
  type AnsweredExchange,
  type Exchange,
  headerValues,
  type Intent,
  isAnswered,
} from '../../wire/exchange.ts';
import { storedThoughRefused } from '../animals/refused-additions.ts';
import { judgeAnswer, wrongStatus } from '../answers.ts';
import { keylessInBan } from '../quota/ban.ts';
import { countedInvalid } from '../quota/keys-apart.ts';
import {
  emptyKey,
  type InvalidRequest,
  missingKey,
  nearMissKey,
  otherScheme,
  unknownKey,
} from './invalid-keys.ts';

/** Judges that every request of a scene without a valid key was answered with 401. */
function judgeRefused(requests: InTurn<InvalidRequest>, judge: Judge): void {
  for (const { described, exchange, mayBeMalformed } of doneOf(requests, judge)) {
    const { status } = exchange.outcome;
    const { method, path } = exchange.request;
    const isRefusedOtherwise = mayBeMalformed && status >= 400 && status < 500 && status !== 401;
    if (!isRefusedOtherwise)
      judgeAnswer(judge, status === 401, `401 for ${method} ${path} with ${described}`, exchange);
  }
}

/** Defines such a check. Additions are among its requests only where the run may write. */
const refusesAll = (requests: Scene<InTurn<InvalidRequest>>): Check =>
  check(requests.id, { scenes: [requests], inFullWith: 'writes' }, (judge, seen) =>
    judgeRefused(seen.of(requests), judge),
  );

/** The credentials of a request, as the trace describes them. */
const credentialsOf = ({ request }: Exchange) =>
  headerValues(request.headers, 'authorization')[0] ?? 'no Authorization header';

/** A ban refuses a valid key, and what a key is the preflight asks. */
const MAY_BE_REFUSED: ReadonlySet<Intent> = new Set(['ban', 'preflight']);

/** Whether an operation was served without a valid key that is served without any. */
const isOpen = ({ key, outcome, request }: AnsweredExchange, own: readonly Exchange[]): boolean =>
  key === null &&
  outcome.status < 400 &&
  own.some(
    (one) => isAnswered(one) && one.outcome.status < 400 && one.request.operation === request.operation,
  );

export const keyChecks: readonly Check[] = [
  // 5: a request with a valid API key as bearer token is not refused with 401. Only a ban may do so.
  check('auth-valid-key', {
    explains: ({ key, outcome }) => key !== null && outcome.status === 401,
    conclude(judge, trace) {
      for (const key of trace.run.keys) {
        const answered = trace.exchanges
          .filter(isAnswered)
          .filter((exchange) => exchange.key === key.name && !MAY_BE_REFUSED.has(exchange.intent));
        const firstRefusal = answered.findIndex(({ outcome }) => outcome.status === 429);
        for (const [index, exchange] of answered.entries()) {
          if (exchange.outcome.status !== 401) {
            judge.holds(exchange);
            continue;
          }
          const mayBeBanned = firstRefusal !== -1 && firstRefusal < index;
          // A ban follows a 429 and also refuses the next request. If the next one is served, the 401 had no reason.
          const next = answered.find(({ sentAt }) => sentAt >= exchange.receivedAt);
          if (next !== undefined && next.outcome.status !== 401 && !mayBeBanned)
            judge.breaks(wrongStatus('no 401 for a valid key', exchange), exchange, next);
        }
      }
    },
  }),
  // 5: every operation requires the bearer credential; without it the answer is 401, whichever key is banned.
  check(missingKey.id, { scenes: [missingKey], inFullWith: 'writes', explains: isOpen }, (judge, seen) => {
    judgeRefused(seen.of(missingKey), judge);
    const inBan = seen.maybe(keylessInBan);
    const expected = '401 without a key while a key is banned';
    if (inBan !== undefined && inBan.outcome.status !== 401)
      judge.breaks(wrongStatus(expected, inBan), inBan);
  }),
  // 5: a bearer credential with no key in it is no key.
  refusesAll(emptyKey),
  // 5: a key that the service never issued answers 401.
  check(unknownKey.id, { scenes: [unknownKey, countedInvalid], inFullWith: 'writes' }, (judge, seen) => {
    judgeRefused(seen.of(unknownKey), judge);
    // Requests that test whether they are counted must be refused too.
    for (const exchange of (seen.maybe(countedInvalid) ?? []).flatMap(({ between }) => between)) {
      const { status } = exchange.outcome;
      if (status < 400 || status === 401 || status === 500)
        judgeAnswer(judge, status === 401, `401 with ${credentialsOf(exchange)}`, exchange);
    }
  }),
  // 5: a valid key with a character too many, too few or in the wrong case is another key.
  refusesAll(nearMissKey),
  // 5: the key counts as a bearer token only, not under Basic, another scheme or none.
  refusesAll(otherScheme),
  // 5: a POST that was refused with 401 leaves no animal behind: no later list shows it.
  check('auth-refused-adds-nothing', {
    scenes: [missingKey, emptyKey, unknownKey, nearMissKey, otherScheme, countedInvalid],
    conclude: storedThoughRefused(401, 'no addition was refused with 401'),
  }),
];
