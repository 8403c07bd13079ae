/** Sections 4.3 and 9: the deprecation of GET /pets/{petId} and its removal on 5 December 2030. */
import { contract } from '../../../spec/contract.ts';
import type { Check, GapObserver } from '../../run/check.ts';
import { type AnsweredExchange, header, headerValues, isAnswered } from '../../wire/exchange.ts';
import { answeredPet, described } from '../../wire/pets.ts';
import { isWhole, shows, type TakenList, take } from '../list/scenes.ts';
import { isGone, retrievals } from './checks.ts';
import { removal, removalDay } from './removal.ts';

/** When a Deprecation header says that the deprecation began. */
type Deprecation =
  | { readonly kind: 'deprecated'; readonly since?: number }
  | { readonly kind: 'not-deprecated' }
  | { readonly kind: 'unreadable' };

const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** RFC 9745: a structured date, `@1688169599`. Its drafts had `true` or an HTTP date, which are read as well. */
function readDeprecation(text: string): Deprecation {
  const date = /^@(-?\d{1,15})$/.exec(text);
  if (date !== null) return { kind: 'deprecated', since: Number(date[1]) * 1000 };
  if (text === 'true' || text === '?1') return { kind: 'deprecated' };
  if (text === 'false' || text === '?0') return { kind: 'not-deprecated' };
  const since = HTTP_DATE.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(since) ? { kind: 'unreadable' } : { kind: 'deprecated', since };
}

/** The document deprecates one operation; its refusals for want of a key or of quota may come before it is known. */
const concernsGet = (exchange: AnsweredExchange) => exchange.request.operation === 'getPet';

const DAY = 86_400_000;

export const deprecationChecks: readonly Check[] = [
  {
    // 4.3, 9: deprecated, and not removed before 5 December 2030.
    id: 'get-until-removal',
    scenes: [retrievals],
    async run(probe, judge) {
      const retrieved = await probe.play(retrievals);
      if (removal(probe.targetClock.at(probe.now())) !== 'before') {
        return judge.notApplicable('the removal date has come by the target’s clock');
      }
      for (const { exchange } of retrieved) {
        const { status } = exchange.outcome;
        if (status === 200) judge.holds(exchange);
        else if (isGone(exchange))
          judge.breaks(
            {
              expected: `an operation that works until ${contract.removalDate}`,
              actual: described(exchange),
            },
            exchange,
          );
      }
    },
  },
  {
    // 4.3, 9: removed on 5 December 2030.
    id: 'get-removed',
    scenes: [retrievals],
    async run(probe, judge) {
      const retrieved = await probe.play(retrievals);
      if (removal(probe.targetClock.at(probe.now())) !== 'after') {
        return judge.notApplicable(`it is not past ${contract.removalDate} by the target’s clock`);
      }
      for (const { exchange } of retrieved) {
        if (exchange.outcome.status >= 400 && exchange.outcome.status < 500) judge.holds(exchange);
        else
          judge.breaks(
            { expected: `no such operation from ${contract.removalDate} on`, actual: described(exchange) },
            exchange,
          );
      }
    },
  },
  {
    // 4.3: marked deprecated, today; no other operation is. The header is the target's choice, its meaning is not.
    id: 'deprecation-header-agrees',
    observe(exchange, judge, view) {
      const [text] = headerValues(exchange.outcome.headers, 'deprecation');
      if (text === undefined) return;
      if (!concernsGet(exchange)) {
        return judge.breaks(
          {
            expected: 'a deprecation of GET /pets/{petId} only',
            actual: `Deprecation: ${text} on ${exchange.request.method} /pets`,
          },
          exchange,
        );
      }
      const deprecation = readDeprecation(text.trim());
      const now = view.targetClock.at(exchange.receivedAt)?.latest ?? exchange.receivedAt + DAY;
      if (deprecation.kind === 'unreadable')
        judge.breaks(
          { expected: 'a date, as in Deprecation: @1688169599', actual: `Deprecation: ${text}` },
          exchange,
        );
      else if (deprecation.kind === 'not-deprecated')
        judge.breaks({ expected: 'a deprecated operation', actual: `Deprecation: ${text}` }, exchange);
      else if (
        deprecation.kind === 'deprecated' &&
        deprecation.since !== undefined &&
        deprecation.since > now
      ) {
        judge.breaks(
          {
            expected: 'an operation that is deprecated already',
            actual: `Deprecation: ${text}, which lies ahead`,
          },
          exchange,
        );
      } else judge.holds(exchange);
    },
    conclude(_history, judge) {
      judge.notApplicable('no Deprecation header was sent');
    },
  },
  {
    // 4.3: removed on 5 December 2030; RFC 8594 gives the moment as an HTTP date. Any moment of that day agrees.
    id: 'sunset-header-agrees',
    observe(exchange, judge) {
      const [text] = headerValues(exchange.outcome.headers, 'sunset');
      if (text === undefined) return;
      if (!concernsGet(exchange)) {
        return judge.breaks(
          {
            expected: 'a removal date of GET /pets/{petId} only',
            actual: `Sunset: ${text} on ${exchange.request.method} /pets`,
          },
          exchange,
        );
      }
      const time = Date.parse(text);
      if (time >= removalDay.begins && time <= removalDay.ends) judge.holds(exchange);
      else
        judge.breaks({ expected: `Sunset on ${contract.removalDate}`, actual: `Sunset: ${text}` }, exchange);
    },
    conclude(_history, judge) {
      judge.notApplicable('no Sunset header was sent');
    },
  },
  {
    // 4.3: clients should use GET /pets with the status filter instead, so what one serves the other does.
    id: 'deprecation-successor',
    permit: 'writes',
    scenes: [retrievals],
    spends: { requests: contract.statuses.length },
    async run(probe, judge) {
      const retrieved = (await probe.play(retrievals)).filter(
        ({ own, exchange }) => own && exchange.outcome.status === 200,
      );
      // Taken after the retrieval: what the one serves the other does.
      const lists = new Map<string, TakenList>();
      for (const status of new Set(
        retrieved.flatMap(({ exchange }) => answeredPet(exchange)?.status ?? []),
      )) {
        if (contract.statuses.includes(status))
          lists.set(status, await take(probe, { status, limit: contract.limit.maximum }));
      }
      for (const { known, exchange } of retrieved) {
        const list = lists.get(answeredPet(exchange)?.status ?? '');
        if (list?.pets === undefined) continue;
        if (shows(list, known.id)) judge.holds(exchange, list.exchange);
        else if (isWhole(list))
          judge.breaks(
            {
              expected: `animal ${known.id} in the list with status=${list.query.status}`,
              actual: `a list of ${list.pets.length} without it`,
            },
            list.exchange,
            exchange,
          );
        else judge.notApplicable('the store holds more animals of that status than a list shows');
      }
      if (removal(probe.targetClock.at(probe.now())) !== 'before')
        judge.notApplicable('the operation is past its removal date');
    },
  },
];

export const deprecationGaps: readonly GapObserver[] = [
  {
    id: 'deprecation-announcement',
    conclude(history) {
      const seen = history.exchanges
        .filter(isAnswered)
        .find((exchange) => concernsGet(exchange) && exchange.outcome.status === 200);
      if (seen === undefined) return undefined;
      const names = ['deprecation', 'sunset'].filter(
        (name) => header(seen.outcome.headers, name) !== undefined,
      );
      const values = names.map((name) => `${name}: ${header(seen.outcome.headers, name)}`);
      return {
        answer: names.length === 0 ? 'none' : names.join('-and-'),
        detail: names.length === 0 ? 'no header announces it' : values.join(', '),
        evidence: [seen],
      };
    },
  },
];
