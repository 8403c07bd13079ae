/** Section 4.1: GET /pets. */
import type { Check, Judge } from '../../run/check.ts';
import { type AnsweredExchange, type Exchange, isAnswered } from '../../wire/exchange.ts';
import { bodyOf, described, listedPets, quoted, type SeenPet } from '../../wire/pets.ts';
import { schemaProblem } from '../../wire/schema.ts';
import { nameSent } from '../add/refused-additions.ts';
import { createdAnimals } from '../add/scenes.ts';
import { listFilterChecks, statuslessHidden } from './filters.ts';
import { listLimitChecks } from './limits.ts';
import { allowedQuery, isOwnAnswer, pets, REFUSED_AS_INVALID } from './queries.ts';
import { isWhole, limitOf, lists, SETTLED, shown, shows } from './scenes.ts';

/** Which fields of an animal differ between two showings of it. */
export function differences(created: SeenPet, shown: SeenPet): string[] {
  const fields = ['name', 'categoryId', 'status'] as const;
  return fields.flatMap((field) =>
    created[field] === shown[field]
      ? []
      : [`${field} ${inWords(created[field])} became ${inWords(shown[field])}`],
  );
}

const inWords = (value: string | bigint | undefined) =>
  typeof value === 'string' ? quoted(value) : (value ?? '(none)');

interface Shown {
  readonly pet: SeenPet;
  readonly exchange: AnsweredExchange;
}

/**
 * Nobody but this run knows its animals, and no operation changes one: each showing is of the animal as it was created.
 *
 * @returns whether it is
 */
export function judgeUnchanged(
  judge: Judge,
  { pet, exchange: creation }: Shown,
  shown: SeenPet,
  exchange: AnsweredExchange,
): boolean {
  const changed = differences(pet, shown);
  if (changed.length === 0) return true;
  judge.breaks(
    { expected: `animal ${pet.id} as it was created`, actual: changed.join(', ') },
    exchange,
    creation,
  );
  return false;
}

/** Whether a list that holds so many has room for everything that matches, and an own animal matches, added long enough before. */
function wouldShow(list: AnsweredExchange, listed: number, { pet, exchange }: Shown): boolean {
  const asked = allowedQuery(list);
  if (asked === undefined || list.sentAt < exchange.receivedAt + SETTLED) return false;
  // Where an animal without a status is listed is list-unfiltered's subject.
  const matches = pet.status !== undefined && (asked.status ?? pet.status) === pet.status;
  return matches && listed < limitOf(asked);
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
  ...listLimitChecks,
  ...listFilterChecks,
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
    conclude(history, judge) {
      // A name that one addition had, and was answered, is that of one animal: nobody else gives names of this run.
      // Of a burst some exchanges may not be on record, nor what was under way when a process ended.
      if (history.readings.some(({ resumed }) => resumed === true)) return;
      // Undefined where it was sent more than once.
      const additions = new Map<string, Exchange | undefined>();
      for (const exchange of history.exchanges) {
        const name = nameSent(exchange);
        if (name !== undefined && !exchange.sentBy.startsWith('minute:'))
          additions.set(name, additions.has(name) ? undefined : exchange);
      }
      for (const exchange of history.exchanges.filter(isAnswered)) {
        const listed = exchange.request.operation === 'listPets' ? listedPets(exchange) : undefined;
        const firstOf = new Map<string, SeenPet>();
        for (const pet of listed ?? []) {
          const { name = '' } = pet;
          const addition = additions.get(name);
          if (addition === undefined || !isAnswered(addition) || addition.outcome.status !== 201) continue;
          const other = firstOf.get(name) ?? pet;
          firstOf.set(name, other);
          if (other.id !== pet.id)
            judge.breaks(
              {
                expected: `one animal named ${quoted(name)}, which was added once`,
                actual: `animals ${other.id} and ${pet.id} in one list`,
              },
              exchange,
              addition,
            );
        }
      }
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
      if (all.own.length === 0) judge.unsettled('no animal could be added (see add-answers-201)');
      const elsewhere = statuslessHidden(all);
      for (const addition of all.own) {
        const { pet, sent, exchange } = addition;
        if (elsewhere.includes(addition)) continue;
        const showing = taken.filter((list) => shows(list, pet.id));
        const status = sent.status ?? pet.status;
        const filtered = all.byStatus.get(status ?? '');
        // That a filter lists nothing at all is list-status-complete's subject.
        const telling = filtered === undefined || filtered.pets?.length === 0 ? [] : [filtered];
        const whole = [all.all, ...telling].find(isWhole);
        for (const list of showing) {
          if (judgeUnchanged(judge, addition, shown(list, pet.id) ?? pet, list.exchange))
            judge.holds(list.exchange, exchange);
        }
        if (showing.length > 0) continue;
        if (whole !== undefined) {
          judge.breaks(
            {
              expected: `animal ${pet.id} in the list${whole === all.all ? '' : ` with status=${status}`}`,
              actual: `${pets(whole.pets?.length ?? 0)} without it`,
            },
            whole.exchange,
            exchange,
          );
        } else if (all.all.pets === undefined)
          judge.unsettled(`the list was answered ${described(all.all.exchange)}`, all.all.exchange);
        else judge.notApplicable('the store holds more animals than a list shows');
      }
    },
    conclude(history, judge) {
      // Nobody but this run knows its animals, and no operation changes or removes one.
      const created = createdAnimals(history.exchanges);
      const listedBy = new Map<string, AnsweredExchange>();
      for (const exchange of history.exchanges.filter(isAnswered)) {
        const listed = exchange.request.operation === 'listPets' ? listedPets(exchange) : undefined;
        if (listed === undefined) continue;
        const byId = new Map(listed.map((pet) => [pet.id, pet]));
        for (const [id, own] of created) {
          const pet = byId.get(id);
          const seen = `${exchange.key} ${id}`;
          if (pet === undefined) {
            const before = listedBy.get(seen);
            // What another key may see is open (5, scopes).
            const isItsOwn = exchange.key === own.exchange.key;
            if ((before !== undefined || isItsOwn) && wouldShow(exchange, listed.length, own))
              judge.breaks(
                {
                  expected: `animal ${id} in the list${before === undefined ? '' : ', as before'}`,
                  actual: `${pets(listed.length)} without it`,
                },
                exchange,
                before ?? own.exchange,
              );
            continue;
          }
          listedBy.set(seen, exchange);
          judgeUnchanged(judge, own, pet, exchange);
        }
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
