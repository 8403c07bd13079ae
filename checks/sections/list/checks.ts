/** Section 4.1: GET /pets. */
import { type Check, check, type Judge, observes } from '../../run/check.ts';
import { optional } from '../../run/scene.ts';
import type { Trace } from '../../run/trace.ts';
import { listOnceViolation, quoted, schemaViolation } from '../../wire/answer.ts';
import { type AnsweredExchange, isAnswered } from '../../wire/exchange.ts';
import { bodyOf, described, listedPets } from '../../wire/pets.ts';
import { schemaProblem } from '../../wire/schema.ts';
import { nameSent } from '../add/refused-additions.ts';
import { createdAnimals, sharedIds } from '../add/scenes.ts';
import { successBody } from '../answers.ts';
import { listFilterChecks, statuslessHidden } from './filters.ts';
import { listLimitChecks } from './limits.ts';
import { askedAgain, type Fates, fatesOf, goneInWords } from './own-animals.ts';
import { allowedQuery, isOwnAnswer, isRefused, missingFrom } from './queries.ts';
import { isWhole, type Lists, limitOf, lists, type OwnAnimal, SETTLED, shown, shows } from './scenes.ts';
import { judgeUnchanged, type Showing } from './unchanged.ts';

/** A name that was sent in a single answered addition belongs to one animal: only this run uses its names. */
function judgeNames({ exchanges }: Trace, judge: Judge): void {
  // Requests in flight when a process ended are not on record.
  if (exchanges.some(({ session = 1 }) => session > 1)) return;
  const named = exchanges.flatMap((addition) => {
    const name = addition.sentBy.startsWith('minute:') ? undefined : nameSent(addition);
    return name === undefined ? [] : [{ name, addition }];
  });
  const once = named.filter(
    ({ name, addition }) =>
      isAnswered(addition) &&
      addition.outcome.status === 201 &&
      !named.some((other) => other.name === name && other.addition !== addition),
  );
  for (const exchange of exchanges.filter(isAnswered)) {
    const listed = exchange.request.operation === 'listPets' ? (listedPets(exchange) ?? []) : [];
    for (const { name, addition } of once) {
      const [first, ...others] = listed.filter((pet) => pet.name === name);
      const other = others.find(({ id }) => id !== first?.id);
      if (first !== undefined && other !== undefined)
        judge.breaks(
          {
            expected: `one animal named ${quoted(name)}, which was added once`,
            actual: `animals ${first.id} and ${other.id} in one list`,
          },
          exchange,
          addition,
        );
    }
  }
}

/** Judges whether the lists show an animal of the run, and show it as it was created. */
function judgeListed(judge: Judge, { all, byStatus }: Lists, animal: OwnAnimal, fates: Fates): void {
  const { pet, sent, exchange } = animal;
  const showing = [all, ...byStatus.values()].filter((list) => shows(list, pet.id));
  for (const list of showing) {
    if (judgeUnchanged(judge, animal, shown(list, pet.id) ?? pet, list.exchange, fates.changes.get(pet.id)))
      judge.holds(list.exchange, exchange);
  }
  if (showing.length > 0) return;
  if (fates.gone.has(pet.id)) return judge.unsettled(goneInWords(pet.id), all.exchange);
  const status = sent?.status ?? pet.status;
  const filtered = fates.changes.has(pet.id) ? undefined : byStatus.get(status ?? '');
  // A filter that lists nothing at all is for list-status-complete to judge.
  const conclusive = filtered === undefined || filtered.pets?.length === 0 ? [all] : [all, filtered];
  const whole = conclusive.find(isWhole);
  if (whole !== undefined)
    judge.breaks(
      missingFrom(whole.pets, `${pet.id}`, `the list${whole === all ? '' : ` with status=${status}`}`),
      whole.exchange,
      exchange,
    );
  else if (all.pets === undefined)
    judge.unsettled(`the list was answered ${described(all.exchange)}`, all.exchange);
  else judge.notApplicable('the store holds more animals than a list shows');
}

/** Whether a list of this length has room for more, and an own animal that was added long before matches it. */
function wouldShow(
  list: AnsweredExchange,
  listed: number,
  { pet, exchange }: Showing,
  mayDiffer: boolean,
): boolean {
  const asked = allowedQuery(list);
  if (asked === undefined || list.sentAt < exchange.receivedAt + SETTLED) return false;
  // Where an animal without a status is listed is for list-unfiltered to judge.
  const matches =
    pet.status !== undefined && (asked.status === undefined || (!mayDiffer && asked.status === pet.status));
  return matches && listed < limitOf(asked);
}

/** Judges every list of the run: no operation changes or removes an animal, and only this run knows its animals. */
function judgeEveryList({ exchanges }: Trace, judge: Judge): void {
  const created = createdAnimals(exchanges);
  const { changes, gone } = fatesOf(exchanges);
  const listedBy = new Map<string, AnsweredExchange>();
  for (const exchange of exchanges.filter(isAnswered)) {
    const listed = exchange.request.operation === 'listPets' ? listedPets(exchange) : undefined;
    if (listed === undefined) continue;
    const byId = new Map(listed.map((pet) => [pet.id, pet]));
    for (const [id, own] of created) {
      const pet = byId.get(id);
      const keyAndId = `${exchange.key} ${id}`;
      if (pet !== undefined) {
        listedBy.set(keyAndId, exchange);
        judgeUnchanged(judge, own, pet, exchange, changes.get(id));
        continue;
      }
      const before = listedBy.get(keyAndId);
      // What another key may see is open (section 5, scopes).
      const isExpected = before !== undefined || exchange.key === own.exchange.key;
      if (!isExpected || !wouldShow(exchange, listed.length, own, changes.has(id))) continue;
      if (gone.has(id)) judge.unsettled(goneInWords(id), exchange, before ?? own.exchange);
      else
        judge.breaks(
          missingFrom(listed, `${id}`, `the list${before === undefined ? '' : ', as before'}`),
          exchange,
          before ?? own.exchange,
        );
    }
  }
}

export const listAnimalChecks: readonly Check[] = [
  // 4.1: success is 200, and the body is a JSON array.
  check('list-answers-200', {
    isBasis: true,
    needs: { lists },
    observe: observes(
      (exchange) => {
        const asked = allowedQuery(exchange);
        if (asked === undefined || !isOwnAnswer(exchange)) return undefined;
        // A limit or status that is refused as invalid is for other rows to judge.
        if (isRefused(exchange) && (asked.limit !== undefined || asked.status !== undefined))
          return undefined;
        return exchange.outcome.status !== 200 || bodyOf(exchange).ok ? bodyOf(exchange) : undefined;
      },
      (body, exchange) => {
        if (exchange.outcome.status !== 200)
          return { expected: '200 with a JSON array', actual: described(exchange) };
        return body.ok && Array.isArray(body.value)
          ? undefined
          : { expected: 'a JSON array', actual: 'JSON, but not an array' };
      },
    ),
  }),
  ...listLimitChecks,
  ...listFilterChecks,
  // 4.1: the result is a list of animals; one animal is listed once.
  check('list-each-once', {
    needs: { lists: optional(lists) },
    observe: observes(listedPets, listOnceViolation),
    conclude: judgeNames,
  }),
  // 1, 4.1: clients can list the animals that were added, as they were added.
  check(
    'list-shows-added',
    { permit: 'writes', needs: { lists, again: optional(askedAgain) }, conclude: judgeEveryList },
    ({ lists }, judge, { exchanges }) => {
      if (lists.own.length === 0) {
        const additions = exchanges.filter(({ request }) => request.operation === 'createPet');
        const reason = 'no addition was answered with the id of an animal (see add-answers-201)';
        judge.unsettled(reason, ...additions.slice(0, 1));
      }
      // Animals without a status that are not listed are for list-unfiltered to judge.
      const hidden = statuslessHidden(lists);
      const fates = fatesOf(exchanges);
      const shared = sharedIds(exchanges);
      for (const animal of lists.own) {
        if (shared.has(animal.pet.id))
          judge.unsettled('other animals have the same ids as the run’s (see pet-id-unique)');
        else if (!hidden.includes(animal)) judgeListed(judge, lists, animal, fates);
      }
    },
  ),
  // 2: each listed animal has the fields of a Pet.
  check('list-pet-schema', {
    isBasis: true,
    needs: { lists: optional(lists) },
    observe: observes(
      (exchange) => {
        const listed = successBody('listPets', exchange);
        return Array.isArray(listed) && listed.length > 0 ? listed : undefined;
      },
      (listed) => schemaViolation('pets', schemaProblem.pets(listed)),
    ),
  }),
];
