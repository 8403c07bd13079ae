/** Section 5: the bearer key that every operation requires. */
import { type Check, check, doneOf } from '../../run/check.ts';
import { type InTurn, optional, type Scene } from '../../run/scene.ts';
import { type Exchange, headerValues, isAnswered } from '../../wire/exchange.ts';
import { described } from '../../wire/pets.ts';
import { storedThoughRefused } from '../add/refused-additions.ts';
import { judgeAnswer } from '../answers.ts';
import { countedInvalid, usedInTurn } from './quota-scenes.ts';
import { emptyKey, type InvalidRequest, missingKey, nearMissKey, otherScheme, unknownKey } from './scenes.ts';

/** Defines a check that every request of a scene without a valid key was answered with 401. */
const refusesAll = (requests: Scene<InTurn<InvalidRequest>>, ways: Pick<Check, 'observe'> = {}): Check =>
  check(requests.id, { needs: { requests }, inFullWith: 'writes', ...ways }, ({ requests }, judge) => {
    for (const { credentials, exchange, mayBeMalformed } of doneOf(requests, judge)) {
      const { status } = exchange.outcome;
      const { method, path } = exchange.request;
      const isRefusedOtherwise = mayBeMalformed && status >= 400 && status < 500 && status !== 401;
      if (!isRefusedOtherwise)
        judgeAnswer(judge, status === 401, `401 for ${method} ${path} with ${credentials}`, exchange);
    }
  });

/** The credentials of a request, as the trace describes them. */
const credentialsOf = ({ request }: Exchange) =>
  headerValues(request.headers, 'authorization')[0] ?? 'no Authorization header';

export const authenticationChecks: readonly Check[] = [
  // 5: a request with a valid API key as bearer token is not refused with 401. Only a ban may do so.
  check('auth-valid-key', {
    conclude(trace, judge) {
      for (const key of trace.run.keys) {
        const answered = trace.exchanges
          .filter(isAnswered)
          .filter((exchange) => exchange.key === key.name && !/^(ban|preflight)/.test(exchange.sentBy));
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
            judge.breaks({ expected: 'no 401 for a valid key', actual: described(exchange) }, exchange, next);
        }
      }
    },
  }),
  // 5: every operation requires the bearer credential; without it the answer is 401.
  refusesAll(missingKey),
  // 5: a bearer credential with no key in it is no key.
  refusesAll(emptyKey),
  // 5: a key that the service never issued answers 401.
  refusesAll(unknownKey, {
    // Requests that test whether they are counted must be refused too.
    observe(exchange, judge) {
      if (exchange.key !== null || exchange.sentBy !== countedInvalid.id) return;
      const { status } = exchange.outcome;
      if (status < 400 || status === 401 || status === 500)
        judgeAnswer(judge, status === 401, `401 with ${credentialsOf(exchange)}`, exchange);
    },
  }),
  // 5: a valid key with a character too many, too few or in the wrong case is another key.
  refusesAll(nearMissKey),
  // 5: the key counts as a bearer token only, not under Basic, another scheme or none.
  refusesAll(otherScheme),
  // 5: a POST that was refused with 401 leaves no animal behind: no later list shows it.
  check('auth-refused-adds-nothing', {
    permit: 'writes',
    // It is enough that these take lists; every list is judged.
    needs: { used: optional(usedInTurn), rounds: countedInvalid },
    conclude: storedThoughRefused(401, 'no addition was refused with 401'),
  }),
];
