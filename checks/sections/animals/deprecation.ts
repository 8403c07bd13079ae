/** Sections 4.3 and 9: the deprecation of GET /pets/{petId} and its removal on 5 December 2030. */
import { contract, currentId } from '../../../spec/contract.ts';
import { DAY } from '../../limits/time.ts';
import { type Check, check, doneOf, observes } from '../../run/check.ts';
import { notShown, notTold } from '../../run/reason.ts';
import { allOf, scene } from '../../run/scene.ts';
import type { Violation } from '../../wire/answer.ts';
import { type AnsweredExchange, header } from '../../wire/exchange.ts';
import { answeredPet } from '../../wire/pets.ts';
import { judgeAnswer } from '../answers.ts';
import { askedAgain, fatesOf, judgeMissing } from './life.ts';
import { isWhole, LONGEST, missingFrom, shows, take } from './lists.ts';
import { removalDay } from './removal.ts';
import { during, isGone, type Retrieval, retrievals } from './retrievals.ts';

const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;
/** RFC 9745: a structured date. Its drafts used `true` or an HTTP date, which are accepted too. */
const STRUCTURED_DATE = /^@(-?\d{1,15})$/;

/** Only this operation is deprecated. A refusal for a key or for quota may be made before the operation is known. */
const concernsGet = (exchange: AnsweredExchange) => exchange.request.operation === 'getPet';

/** What is wrong with a Deprecation header of the operation. */
function deprecationViolation(header: string, now: number): Violation | undefined {
  const text = header.trim();
  const actual = `Deprecation: ${header}`;
  if (text === 'true' || text === '?1') return undefined;
  if (text === 'false' || text === '?0') return { expected: 'a deprecated operation', actual };
  const seconds = STRUCTURED_DATE.exec(text)?.[1];
  const since = seconds === undefined ? Date.parse(HTTP_DATE.test(text) ? text : '') : Number(seconds) * 1000;
  if (Number.isNaN(since)) return { expected: 'a date, as in Deprecation: @1688169599', actual };
  return since <= now
    ? undefined
    : { expected: 'an operation that is already deprecated', actual: `${actual}, which lies ahead` };
}

const ownServed = (retrieved: readonly Retrieval[]): readonly Retrieval[] =>
  retrieved.filter(({ own, exchange }) => own && exchange.outcome.status === 200);

/** Lists with the statuses of own animals that were retrieved, taken afterwards: they must show the same animals. */
const successorLists = scene('successor-lists', {}, async (run) => {
  const served = ownServed(doneOf(await run.play(retrievals)));
  const statuses = new Set(served.map(({ exchange }) => answeredPet(exchange)?.status));
  const asked = contract.statuses.filter((status) => statuses.has(status));
  const taken = await allOf(asked, (status) => take(run, { ...LONGEST, status }));
  return new Map(taken.map((list) => [list.query.status, list]));
});

/** An animal of the run that was not retrieved, or that has no status to list it by, shows nothing. */
const NO_SUCCESSOR = notShown('get-until-removal', 'get-same-animal', 'add-echoes-status');

/** What of a list or a retrieval explains that the successor does not show the animal. */
const SHOWN_ALIKE = ['list-shows-added', 'list-status-complete', 'get-same-animal'].map(currentId);

export const deprecationChecks: readonly Check[] = [
  // 4.3, 9: deprecated, and not removed before 5 December 2030.
  check(
    'get-until-removal',
    { scenes: [retrievals] },
    during('before', 'the removal date has come', (judge, seen) => {
      const expected = `an operation that works until ${contract.removalDate}`;
      for (const { exchange } of doneOf(seen.of(retrievals), judge)) {
        const isServed = exchange.outcome.status === 200;
        if (isServed || isGone(exchange)) judgeAnswer(judge, isServed, expected, exchange);
      }
    }),
  ),
  // 4.3, 9: removed on 5 December 2030.
  check(
    'get-removed',
    { scenes: [retrievals] },
    during('after', `it is not past ${contract.removalDate}`, (judge, seen) => {
      const expected = `no such operation from ${contract.removalDate} on`;
      for (const { exchange } of doneOf(seen.of(retrievals), judge)) {
        const { status } = exchange.outcome;
        judgeAnswer(judge, status >= 400 && status < 500, expected, exchange);
      }
    }),
  ),
  // 4.3: marked deprecated, today; no other operation is. Sending the header is optional, its meaning is fixed.
  check('deprecation-header-agrees', {
    scenes: [retrievals],
    observe: observes(
      ({ outcome }) => header(outcome.headers, 'deprecation'),
      (text, exchange, { targetClock }) =>
        concernsGet(exchange)
          ? deprecationViolation(
              text,
              Math.max(
                exchange.receivedAt,
                targetClock.ever(exchange.receivedAt)?.latest ?? exchange.receivedAt + DAY,
              ),
            )
          : {
              expected: 'a deprecation of GET /pets/{petId} only',
              actual: `Deprecation: ${text} on ${exchange.request.method} /pets`,
            },
    ),
    conclude: (judge) => judge.notApplicable('no Deprecation header was sent'),
  }),
  // 4.3: removed on 5 December 2030; RFC 8594 gives the moment as an HTTP date. Any moment of that day agrees.
  check('sunset-header-agrees', {
    scenes: [retrievals],
    observe: observes(
      ({ outcome }) => header(outcome.headers, 'sunset'),
      (text, exchange) => {
        const actual = `Sunset: ${text}`;
        if (!concernsGet(exchange)) {
          const expected = 'a removal date for GET /pets/{petId} only';
          return { expected, actual: `${actual} on ${exchange.request.method} /pets` };
        }
        const time = Date.parse(text);
        if (time >= removalDay.begins && time <= removalDay.ends) return undefined;
        return { expected: `Sunset on ${contract.removalDate}`, actual };
      },
    ),
    conclude: (judge) => judge.notApplicable('no Sunset header was sent'),
  }),
  // 4.3: clients should use GET /pets with the status filter instead, so both must serve the same animals.
  check(
    'deprecation-successor',
    { scenes: [retrievals, successorLists, askedAgain] },
    during('before', 'the operation is past its removal date', (judge, seen) => {
      const done = doneOf(seen.of(retrievals));
      const taken = seen.of(successorLists);
      const fates = fatesOf(seen);
      const declined = SHOWN_ALIKE.filter((id) => seen.trace.run.declined.has(id));
      let isCompared = false;
      for (const { known, exchange } of ownServed(done)) {
        const list = taken.get(answeredPet(exchange)?.status ?? '');
        // Skips animals that changed after they were retrieved.
        if (list?.pets === undefined || fates.changes.has(known.id)) continue;
        isCompared = true;
        const violation = missingFrom(list.pets, `${known.id}`, `the list with status=${list.query.status}`);
        if (shows(list, known.id)) judge.holds(exchange, list.exchange);
        else if (isWhole(list) && declined.length > 0)
          judge.inconclusive(notTold(violation.actual, ...declined), list.exchange, exchange);
        else if (isWhole(list)) judgeMissing(judge, fates, known.id, violation, list.exchange, exchange);
        else judge.notApplicable('the store holds more animals of that status than a list shows');
      }
      if (!isCompared) judge.inconclusive(NO_SUCCESSOR);
    }),
  ),
];
