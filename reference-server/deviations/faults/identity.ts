import type { Call } from '../../call.ts';
import { readJsonObject } from '../../json-members.ts';
import type { IdSource, NewPet } from '../../pet-store.ts';
import { type Personality, together } from '../personality.ts';
import { adding, heldBack, readingPet } from '../shapes.ts';
import type { FaultTable } from './fault.ts';

const ids = (change: (usual: IdSource) => IdSource): Personality => ({
  recipe: ({ nextId }) => ({ nextId: change(nextId) }),
});

/** Puts an added animal under another id, where there is one. */
const puttingUnder = (idOf: (animal: NewPet, call: Call) => string | undefined) =>
  adding((usual, animal, call, { store }) => {
    const id = idOf(animal, call);
    return id === undefined ? usual(animal, call) : store.put({ ...animal, id });
  });

/** Takes an id from a member of the body. */
const takingOver = (member: string, accept: (digits: string) => boolean) => () => {
  const sent = new WeakMap<Call, string>();
  return together(
    readingPet((usual, body, call) => {
      const json = readJsonObject(body);
      const digits = json.kind === 'object' ? json.members.get(member)?.replaceAll('"', '') : undefined;
      if (digits !== undefined && /^-?\d{1,18}$/.test(digits) && accept(digits)) sent.set(call, digits);
      return usual(body, call);
    }),
    puttingUnder((_animal, call) => sent.get(call)),
  );
};

/** Section 2: ids are unique, and the service's own. */
// biome-ignore format: a table, a line or two for each fault
export const IDENTITY_FAULTS: FaultTable = {
  'pet-id-assigned-by-service': {
    'id-of-client-kept': ['An id that the client sends is taken over.', takingOver('id', () => true)],
    'large-id-of-client-kept': ['An id that the client sends is taken over where it has ten digits or more.',
      takingOver('id', (digits) => digits.length >= 10)],
  },
  'pet-id-unique': {
    'id-from-clock': ['The id is the second at which the animal was added.',
      puttingUnder((_animal, call) => String(Math.floor(call.now / 1000)))],
    'id-every-other-repeated': ['Every second animal gets the id of the one before it.', ids((usual) => {
      let times = 0;
      let id = '';
      return () => {
        if (times++ % 2 === 0) id = usual();
        return id;
      };
    })],
    'id-of-existing-animal': ['The first animal added gets the id of one that is in the store.',
      ({ store }) => {
        let taken = false;
        return puttingUnder(() => {
          const existing = taken ? undefined : store.having(null).at(-1);
          taken ||= existing !== undefined;
          return existing?.id;
        });
      }],
    'id-per-category': ['Ids are counted for each category.', () => {
      const counts = new Map<string, number>();
      return puttingUnder(({ categoryId }) => {
        const count = (counts.get(categoryId) ?? 5_000_000) + 1;
        counts.set(categoryId, count);
        return String(count);
      });
    }],
    'id-races': [
      'Animals added at one moment share an id: it is read on arrival and counted up with the answer.',
      () => {
        let free = 8_000_000_000;
        const countedUp = heldBack(({ status }) => (status === 201 ? 3 : 0), () => { free += 1; });
        return together(puttingUnder(() => String(free)), countedUp);
      }],
  },
};
