/** Section 4.1: GET /pets. */
import { contract } from '../../spec/contract.ts';
import { type Check, type GapObserver, type Judge, Unsettled } from '../harness/check.ts';
import { type AnsweredExchange, header, isAnswered } from '../harness/exchange.ts';
import { isJsonObject } from '../harness/lossless-json.ts';
import { bodyOf, described, listedPets, type SeenPet } from '../harness/pets.ts';
import type { Probe } from '../harness/probe.ts';
import { type ListQuery, listPets } from '../harness/requests.ts';
import { schemaProblem } from '../harness/schema.ts';
import {
  isWhole,
  type Lists,
  limitOf,
  lists,
  missing,
  shown,
  shows,
  type TakenList,
  take,
  takeAll,
} from './lists.ts';

const { minimum, maximum, default: defaultLimit } = contract.limit;
/** How a parameter is refused; any other status is the operation's own answer. */
const REFUSED_AS_INVALID = [400, 413, 414, 422];

/** limit and status of a list request, where they are ones that the document allows; undefined for any other list. */
export function allowedQuery(exchange: AnsweredExchange) {
  return exchange.request.operation !== 'listPets' || exchange.key === null
    ? undefined
    : queryOf(exchange.request.path);
}

function queryOf(path: string): { limit: number | undefined; status: string | undefined } | undefined {
  const query = new URL(path, 'http://target').searchParams;
  const limit = query.get('limit');
  const status = query.get('status');
  if (limit !== null && !(/^\d{1,3}$/.test(limit) && Number(limit) >= minimum && Number(limit) <= maximum))
    return undefined;
  if (status !== null && !contract.statuses.includes(status)) return undefined;
  return { limit: limit === null ? undefined : Number(limit), status: status ?? undefined };
}

/** A 429 or a ban is the rate limit's subject; anything else is the list's own answer. */
const isOwnAnswer = (exchange: AnsweredExchange) =>
  ![401, 403, 429].includes(exchange.outcome.status) && !exchange.sentBy.startsWith('ban:');

const pets = (count: number) => (count === 1 ? '1 animal' : `${count} animals`);

const query = ({ query: { status, limit } }: TakenList) =>
  [
    ...(status === undefined ? [] : [`status=${status}`]),
    ...(limit === undefined ? ['no limit'] : [`limit=${limit}`]),
  ].join(', ');

/** How many animals match at least: those that the lists showed together, whatever they were asked for. */
function known(all: Lists, status: string | undefined): number {
  const taken = [all.all, ...all.byStatus.values()].flatMap((list) => list.pets ?? []);
  const matching = taken.filter(
    (pet) => pet.id !== undefined && (status === undefined || pet.status === status),
  );
  return new Set(matching.map(({ id }) => id)).size;
}

/**
 * Takes a list and judges its length: exactly limit where more match, all of them where not. Others may add animals
 * meanwhile, so that the number that matches is taken before and, where the length is off, after the list as well.
 */
async function judgeLength(
  probe: Probe,
  judge: Judge,
  all: Lists,
  wanted: TakenList['query'],
): Promise<void> {
  const before = known(all, wanted.status);
  for (let attempt = 1; ; attempt += 1) {
    const list = await take(probe, wanted);
    if (list.pets === undefined)
      return judge.unsettled(
        `a list with ${query(list)} was answered ${described(list.exchange)}`,
        list.exchange,
      );
    const most = limitOf(wanted);
    const least = Math.min(most, before);
    if (list.pets.length >= least) return judge.holds(list.exchange);
    // Once more what all lists together show, since others may have taken some away meanwhile.
    const after = await takeAll(probe);
    const matching = Math.min(before, known({ ...all, ...after }, wanted.status));
    const confirmed = Math.min(
      most,
      Math.max(matching, wanted.status === undefined ? (after.all.pets?.length ?? 0) : 0),
    );
    if (list.pets.length >= confirmed) return judge.holds(list.exchange);
    if (attempt === 2) {
      return judge.breaks(
        {
          expected: `${pets(confirmed)} with ${query(list)}, since lists show ${matching} that match`,
          actual: pets(list.pets.length),
        },
        list.exchange,
        after.all.exchange,
      );
    }
  }
}

/** Own animals without a status that a whole list leaves out while it shows every one that has a status. */
function statuslessHidden(all: Lists): Lists['own'] {
  const without = all.own.filter(({ sent, pet }) => sent.status === undefined && pet.status === undefined);
  const others = all.own.filter((addition) => !without.includes(addition));
  if (!isWhole(all.all) || !others.every(({ pet }) => shows(all.all, pet.id))) return [];
  return without.filter(({ pet }) => !shows(all.all, pet.id));
}

const describe = (pet: SeenPet) => `animal ${pet.id} with status ${pet.status ?? '(none)'}`;

/** Which fields of an animal differ between two showings of it. */
export function differences(created: SeenPet, shown: SeenPet): string[] {
  const fields = ['name', 'categoryId', 'status'] as const;
  return fields.flatMap((field) =>
    created[field] === shown[field]
      ? []
      : [`${field} ${created[field] ?? '(none)'} became ${shown[field] ?? '(none)'}`],
  );
}

export const listAnimalChecks: readonly Check[] = [
  {
    // 4.1: success is 200, and the body is a JSON array.
    id: 'list-answers-200',
    scenes: [lists],
    observe(exchange, judge) {
      const asked = allowedQuery(exchange);
      if (asked === undefined || !isOwnAnswer(exchange)) return;
      // A limit or status that is refused as invalid is the subject of other rows.
      const refused = REFUSED_AS_INVALID.includes(exchange.outcome.status);
      if (refused && (asked.limit !== undefined || asked.status !== undefined)) return;
      const body = bodyOf(exchange);
      if (exchange.outcome.status !== 200)
        judge.breaks({ expected: '200 with a JSON array', actual: described(exchange) }, exchange);
      else if (!body.ok) return;
      else if (Array.isArray(body.value)) judge.holds(exchange);
      else judge.breaks({ expected: 'a JSON array', actual: 'JSON that is no array' }, exchange);
    },
    async run(probe) {
      await probe.play(lists);
    },
  },
  {
    // 8, page size: limit may be any integer from 1 to 100.
    id: 'list-limit-range',
    scenes: [lists],
    observe(exchange, judge) {
      const asked = allowedQuery(exchange);
      if (asked?.limit === undefined || !isOwnAnswer(exchange)) return;
      if (exchange.outcome.status === 200) judge.holds(exchange);
      else if (REFUSED_AS_INVALID.includes(exchange.outcome.status))
        judge.breaks({ expected: `200 for limit=${asked.limit}`, actual: described(exchange) }, exchange);
    },
    async run(probe) {
      await probe.play(lists);
    },
  },
  {
    // 4.1: limit sets the maximum number of animals returned.
    id: 'list-limit-maximum',
    spends: { requests: 1 },
    scenes: [lists],
    observe(exchange, judge) {
      const asked = allowedQuery(exchange);
      const listed = listedPets(exchange);
      if (asked?.limit === undefined || listed === undefined) return;
      if (listed.length <= asked.limit) judge.holds(exchange);
      else
        judge.breaks(
          { expected: `at most ${pets(asked.limit)} with limit=${asked.limit}`, actual: pets(listed.length) },
          exchange,
        );
    },
    async run(probe) {
      await probe.play(lists);
      await probe.send(listPets({ limit: minimum + 1 }));
    },
  },
  {
    // 4.1: as many as exist, up to limit.
    id: 'list-limit-fills',
    spends: { requests: 5 },
    scenes: [lists],
    async run(probe, judge) {
      const all = await probe.play(lists);
      if (known(all, undefined) === 0)
        return judge.unsettled('the store is empty, and nothing could be added');
      for (const limit of [3, defaultLimit + 1, 50, maximum - 1, maximum]) {
        await judgeLength(probe, judge, all, { limit });
      }
    },
    async afterwards(probe, judge, history) {
      // The lists of the bursts had every limit: one that was shorter than an earlier list showed possible is suspicious.
      const suspicious = new Map<string, ListQuery>();
      const most = new Map<string, number>();
      for (const { operation, path, listed } of history.readings) {
        const asked = operation === 'listPets' && listed !== undefined ? queryOf(path) : undefined;
        if (asked === undefined || listed === undefined) continue;
        const filter = asked.status ?? '';
        const earlier = most.get(filter) ?? 0;
        if (asked.limit !== undefined && listed < Math.min(asked.limit, earlier)) {
          suspicious.set(path, {
            limit: asked.limit,
            ...(asked.status === undefined ? {} : { status: asked.status }),
          });
        }
        most.set(filter, Math.max(earlier, listed));
      }
      if (suspicious.size === 0) return;
      const all = await probe.play(lists);
      for (const query of [...suspicious.values()].slice(0, 3)) await judgeLength(probe, judge, all, query);
    },
  },
  {
    // 8, page size: default 20.
    id: 'list-limit-default',
    spends: { requests: 2 },
    scenes: [lists],
    observe(exchange, judge) {
      const asked = allowedQuery(exchange);
      const listed = listedPets(exchange);
      if (asked === undefined || asked.limit !== undefined || listed === undefined) return;
      if (listed.length > defaultLimit)
        judge.breaks(
          { expected: `at most ${defaultLimit} animals without limit`, actual: pets(listed.length) },
          exchange,
        );
    },
    async run(probe, judge) {
      const all = await probe.play(lists);
      if (known(all, undefined) <= defaultLimit) {
        judge.unsettled(
          `the store shows ${pets(known(all, undefined))}, and ${defaultLimit + 1} are needed to see the default; adding them needs the permission writes`,
        );
      }
      await judgeLength(probe, judge, all, {});
      const [largest] = [...all.byStatus].sort(
        ([, a], [, b]) => (b.pets?.length ?? 0) - (a.pets?.length ?? 0),
      );
      if (largest !== undefined) await judgeLength(probe, judge, all, { status: largest[0] });
    },
  },
  {
    // 4.1: when status is given, only animals with that status are expected.
    id: 'list-status-filter',
    scenes: [lists],
    observe(exchange, judge) {
      const asked = allowedQuery(exchange);
      if (asked?.status === undefined || !isOwnAnswer(exchange)) return;
      if (REFUSED_AS_INVALID.includes(exchange.outcome.status) && asked.limit !== maximum) {
        return judge.breaks(
          { expected: `200 for status=${asked.status}`, actual: described(exchange) },
          exchange,
        );
      }
      // An animal that shows no status tells nothing: the document makes the field optional.
      const wrong = listedPets(exchange)?.find(
        (pet) => pet.status !== undefined && pet.status !== asked.status,
      );
      if (wrong !== undefined)
        judge.breaks(
          { expected: `only animals with status ${asked.status}`, actual: describe(wrong) },
          exchange,
        );
      else if (exchange.outcome.status === 200) judge.holds(exchange);
    },
    async run(probe, judge) {
      const all = await probe.play(lists);
      for (const [status, list] of all.byStatus) {
        // Of the run's own animals the status is known even where a list does not show it. One that was added without,
        // and shows none, may count as available, which is what a target would most likely take it for.
        const [usual] = contract.statuses;
        const wrong = all.own.find(
          ({ sent, pet }) =>
            (sent.status ?? pet.status ?? usual) !== status &&
            shows(list, pet.id) &&
            !(
              sent.status === undefined &&
              pet.status === undefined &&
              shown(list, pet.id)?.status === status
            ),
        );
        if (wrong !== undefined) {
          judge.breaks(
            {
              expected: `only animals with status ${status}`,
              actual: `animal ${wrong.pet.id}, added with status ${wrong.sent.status ?? '(none)'}`,
            },
            list.exchange,
            wrong.exchange,
          );
        }
      }
    },
  },
  {
    // 4.1: a filter leaves out what does not match, and nothing else.
    id: 'list-status-complete',
    permit: 'writes',
    scenes: [lists],
    async run(probe, judge) {
      const all = await probe.play(lists);
      for (const [status, list] of all.byStatus) {
        if (list.pets === undefined)
          judge.unsettled(
            `the list with status=${status} was answered ${described(list.exchange)}`,
            list.exchange,
          );
        else if (!isWhole(list))
          judge.notApplicable(`${maximum} or more animals are ${status}: not all fit a list`);
        else {
          // What no list shows at all is list-shows-added's subject.
          const hidden = missing(list, all).find(
            ({ pet }) => shows(all.all, pet.id) || list.pets?.length === 0,
          );
          if (hidden === undefined) judge.holds(list.exchange);
          else
            judge.breaks(
              {
                expected: `animal ${hidden.pet.id} in the list with status=${status}`,
                actual: `${pets(list.pets.length)} without it`,
              },
              list.exchange,
              hidden.exchange,
            );
        }
      }
    },
  },
  {
    // 4.1: limit is the number of animals returned, so the filter comes first.
    id: 'list-filter-before-limit',
    spends: { requests: contract.statuses.length },
    scenes: [lists],
    async run(probe, judge) {
      const all = await probe.play(lists);
      for (const [index, [status, list]] of [...all.byStatus].entries()) {
        const matching = list.pets?.length ?? 0;
        if (matching === 0) judge.notApplicable(`no animal is ${status}`);
        else await judgeLength(probe, judge, all, { status, limit: Math.min(matching, index + minimum) });
      }
    },
  },
  {
    // 4.1: the status filter's default is none.
    id: 'list-unfiltered',
    scenes: [lists],
    async run(probe, judge) {
      const all = await probe.play(lists);
      if (all.all.pets === undefined)
        throw new Unsettled(`the list was answered ${described(all.all.exchange)}`, [all.all.exchange]);
      if (!isWhole(all.all))
        return judge.notApplicable(`the store holds ${maximum} animals or more: not all fit a list`);
      const [statusless] = statuslessHidden(all);
      if (statusless !== undefined)
        judge.breaks(
          {
            expected: `animal ${statusless.pet.id}, which has no status, in the list without status`,
            actual: `${pets(all.all.pets.length)} without it`,
          },
          all.all.exchange,
          statusless.exchange,
        );
      for (const [status, list] of all.byStatus) {
        // Own animals only: others may be added or changed by others between the two lists.
        const hidden = all.own.find(({ pet }) => shows(list, pet.id) && !shows(all.all, pet.id));
        if (hidden === undefined) judge.holds(all.all.exchange, list.exchange);
        else
          judge.breaks(
            {
              expected: `animal ${hidden.pet.id}, which is ${status}, in the list without status`,
              actual: `${pets(all.all.pets.length)} without it`,
            },
            all.all.exchange,
            list.exchange,
          );
      }
    },
  },
  {
    // 4.1: the result is a list of animals; one animal is listed once.
    id: 'list-each-once',
    observe(exchange, judge) {
      const ids = listedPets(exchange)?.flatMap(({ id }) => (id === undefined ? [] : [id]));
      if (ids === undefined) return;
      if (new Set(ids).size === ids.length) return judge.holds(exchange);
      const twice = ids.find((id, index) => ids.indexOf(id) !== index);
      judge.breaks({ expected: 'each animal once', actual: `animal ${twice} twice in one list` }, exchange);
    },
  },
  {
    // 1, 4.1: clients can list the animals that were added, as they were added.
    id: 'list-shows-added',
    permit: 'writes',
    scenes: [lists],
    async run(probe, judge) {
      const all = await probe.play(lists);
      const taken = [all.all, ...all.byStatus.values()];
      const elsewhere = statuslessHidden(all);
      for (const addition of all.own) {
        const { pet, sent, exchange } = addition;
        if (elsewhere.includes(addition)) continue;
        const showing = taken.find((list) => shows(list, pet.id));
        const listed = showing === undefined ? undefined : shown(showing, pet.id);
        const status = sent.status ?? pet.status;
        const filtered = status === undefined ? undefined : all.byStatus.get(status);
        const whole =
          isWhole(all.all) ||
          (filtered !== undefined && isWhole(filtered) && (filtered.pets?.length ?? 0) > 0);
        if (showing !== undefined && listed !== undefined) {
          const changed = differences(pet, listed);
          if (changed.length === 0) judge.holds(showing.exchange, exchange);
          else
            judge.breaks(
              { expected: `animal ${pet.id} as it was created`, actual: changed.join(', ') },
              showing.exchange,
              exchange,
            );
        } else if (whole) {
          judge.breaks(
            {
              expected: `animal ${pet.id} in the list`,
              actual: `${pets(all.all.pets?.length ?? 0)} without it`,
            },
            all.all.exchange,
            exchange,
          );
        } else judge.notApplicable('the store holds more animals than a list shows');
      }
    },
  },
  {
    // 2: each listed animal has the fields of a Pet.
    id: 'list-pet-schema',
    observe(exchange, judge) {
      if (exchange.request.operation !== 'listPets' || exchange.outcome.status !== 200) return;
      const body = bodyOf(exchange);
      if (!body.ok || !Array.isArray(body.value)) return;
      const problem = schemaProblem.pets(body.value);
      if (problem !== undefined)
        judge.breaks(
          { expected: 'Pets: id, name, categoryId and, where present, a status', actual: problem },
          exchange,
        );
      else if (body.value.length > 0) judge.holds(exchange);
    },
  },
];

/** Names what a target made of a limit that the document does not allow. */
function limitAnswer(list: TakenList, stored: number, asked: number): string {
  const count = list.pets?.length;
  if (list.exchange.outcome.status !== 200) return `rejected-${list.exchange.outcome.status}`;
  if (count === undefined) return 'no-list';
  const clamped = Math.min(stored, Math.max(minimum, Math.min(maximum, asked)));
  if (count === clamped && clamped !== Math.min(stored, defaultLimit)) return 'clamped';
  if (count === Math.min(stored, defaultLimit)) return 'defaulted';
  return count === 0 ? 'empty-list' : 'ignored';
}

export const listAnimalGaps: readonly GapObserver[] = [
  {
    id: 'limit-out-of-range',
    spends: { requests: 2 },
    scenes: [lists],
    async run(probe) {
      const stored = (await probe.play(lists)).all.pets?.length ?? 0;
      const taken = [];
      for (const limit of [minimum - 1, maximum + 1])
        taken.push({ limit, list: await take(probe, { limit }) });
      const answers = taken.map(({ limit, list }) => limitAnswer(list, stored, limit));
      const alike = new Set(answers).size === 1;
      const each = taken.map(({ limit }, index) => `limit=${limit}: ${answers[index]}`);
      return {
        answer: alike
          ? (answers[0] ?? '')
          : taken.map(({ limit }, index) => `${limit}-${answers[index]}`).join(' '),
        detail: each.join(', '),
        evidence: taken.map(({ list }) => list.exchange),
      };
    },
  },
  {
    id: 'limit-not-a-number',
    spends: { requests: 1 },
    async run(probe) {
      const stored = (await probe.play(lists)).all.pets?.length ?? 0;
      const list = await take(probe, { limit: 'ten' });
      return {
        answer: limitAnswer(list, stored, defaultLimit),
        detail: `limit=ten: ${described(list.exchange)}`,
        evidence: [list.exchange],
      };
    },
  },
  {
    id: 'unknown-status-filter',
    spends: { requests: 1 },
    async run(probe) {
      const list = await take(probe, { status: 'unheard-of' });
      const { status } = list.exchange.outcome;
      const answer =
        status !== 200 ? `rejected-${status}` : list.pets?.length === 0 ? 'empty-list' : 'unfiltered';
      return { answer, detail: `status=unheard-of: ${described(list.exchange)}`, evidence: [list.exchange] };
    },
  },
  {
    id: 'pagination-mechanism',
    scenes: [lists],
    async run(probe) {
      const { exchange } = (await probe.play(lists)).short;
      const { headers } = exchange.outcome;
      const link = header(headers, 'link');
      const other = headers
        .map(([name]) => name.toLowerCase())
        .filter((name) => /page|cursor|total-count|content-range|^x-total|^x-next/.test(name));
      const answer =
        link !== undefined && /rel="?(next|last|first|prev)/.test(link)
          ? 'link-header'
          : other.length > 0
            ? other.sort().join(', ')
            : 'none';
      return {
        answer,
        detail:
          answer === 'none'
            ? 'a list that is cut short names no further page'
            : `a list that is cut short has ${answer === 'link-header' ? `Link: ${link}` : answer}`,
        evidence: [exchange],
      };
    },
  },
  {
    id: 'list-order',
    permit: 'writes',
    async run(probe) {
      const { all, own } = await probe.play(lists);
      const positions = own.map(({ pet }) => all.pets?.findIndex(({ id }) => id === pet.id) ?? -1);
      if (positions.length < 3 || positions.some((position) => position < 0)) return undefined;
      const ascending = positions.every(
        (position, index) => index === 0 || position > (positions[index - 1] ?? 0),
      );
      const descending = positions.every(
        (position, index) => index === 0 || position < (positions[index - 1] ?? 0),
      );
      return {
        answer: ascending ? 'oldest-first' : descending ? 'newest-first' : 'other',
        detail: `${own.length} animals added in turn stand ${ascending ? 'in that order' : descending ? 'in the reverse order' : 'in another order'}`,
        evidence: [all.exchange],
      };
    },
  },
  {
    id: 'added-visibility',
    permit: 'writes',
    async run(probe) {
      const { own, shownLater, all } = await probe.play(lists);
      if (own.length === 0) return undefined;
      return {
        answer: shownLater ? 'later' : 'at-once',
        detail: shownLater
          ? 'an added animal was missing from a whole list and shown by a later one'
          : 'no added animal was missing from a whole list',
        evidence: [all.exchange],
      };
    },
  },
  {
    id: 'error-codes',
    conclude(history) {
      const codes = new Map<string, AnsweredExchange>();
      for (const exchange of history.exchanges.filter(isAnswered)) {
        const body = exchange.outcome.status < 400 ? undefined : bodyOf(exchange);
        const code = body?.ok === true && isJsonObject(body.value) ? body.value['code'] : undefined;
        if (typeof code === 'string' && code.length <= 100)
          codes.set(`${exchange.outcome.status} ${code}`, exchange);
      }
      const named = [...codes.keys()].sort();
      return named.length === 0
        ? undefined
        : {
            answer: named.join(', '),
            detail: `seen: ${named.join(', ')}`,
            evidence: [...codes.values()].slice(0, 3),
          };
    },
  },
];
